"""Tokens and cost of responses, of turns and of a session.

A response logs its own usage; that of a compaction is in no other line than the cost state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any

from plait.chat.events import (
    AgentEvent,
    Compacted,
    Event,
    ResponseLogged,
    ToolFinished,
    ToolStarted,
)
from plait.conversation.prices import Prices
from plait.conversation.usage import NO_TOKENS, Tokens, parse_tokens
from plait.record.billing import Figures
from plait.record.codec import as_mapping, convert_leniently
from plait.write.lines import Clock, Fields, utc_now

TOKEN_FIELDS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


def count_tokens(usage: Mapping[str, Any]) -> int:
    """Return the tokens of a request and its response, as the API reports them."""
    counts = (usage.get(name) for name in TOKEN_FIELDS)
    return sum(number for number in counts if isinstance(number, int))


class Meter:
    """Sums up the usage of responses."""

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.tokens: Tokens = NO_TOKENS
        self.dollars = 0.0
        """The cost of responses whose price is known."""
        self.unpriced_responses = 0
        """The number of responses whose price is unknown."""
        self.responses = 0

    @property
    def cost(self) -> float | None:
        """The cost in dollars; None if a price is unknown."""
        return None if self.unpriced_responses else self.dollars

    def add(self, model: str, usage: Mapping[str, Any], when: datetime) -> None:
        """Count a response."""
        tokens = parse_tokens(convert_leniently(usage, Figures))
        dollars = self.prices.cost(model, tokens, when)
        self.tokens += tokens
        self.responses += 1
        if dollars is None:
            self.unpriced_responses += 1
        else:
            self.dollars += dollars

    def by_kind(self) -> dict[str, int]:
        """Return the tokens by their API names."""
        return {
            "input_tokens": self.tokens.input,
            "cache_creation_input_tokens": self.tokens.cache_write,
            "cache_read_input_tokens": self.tokens.cache_read,
            "output_tokens": self.tokens.output,
        }


TOTALS = (
    "totalAPIDuration",
    "totalAPIDurationWithoutRetries",
    "totalToolDuration",
    "totalLinesAdded",
    "totalLinesRemoved",
)
TOKENS_BY_FIELD = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadInputTokens": "cache_read",
    "cacheCreationInputTokens": "cache_write",
    "cacheCreationEphemeral5mInputTokens": "cache_write_5m",
    "cacheCreationEphemeral1hInputTokens": "cache_write_1h",
    "webSearchRequests": "web_searches",
}
USAGE_LABELS = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadInputTokens": "cache read",
    "cacheCreationInputTokens": "cache write",
}
TWO_DECIMALS_FROM = 0.5
"""Amount from which two decimals are enough."""


@dataclass(slots=True)
class SessionCost:
    """The cost of a session, including what it had cost before it was resumed."""

    prices: Prices
    before: Mapping[str, Any] = field(default_factory=dict)
    """The last cost line of the log; empty if there is none."""
    clock: Clock = utc_now
    has_grown: bool = False
    """Whether anything was added since."""
    _totals: dict[str, float] = field(default_factory=dict)
    _by_model: dict[str, dict[str, float]] = field(default_factory=dict)
    _is_unpriced: bool = False
    _began: float = field(default_factory=monotonic)
    _last: float = field(default_factory=monotonic)
    _calls: dict[str, float] = field(default_factory=dict)

    def record(self, event: Event) -> None:
        """Update from an event."""
        moment = monotonic()
        while isinstance(event, AgentEvent):
            event = event.event
        match event:
            case ResponseLogged():
                self._add_usage(event.model, event.usage)
                for name in TOTALS[:2]:
                    self._add_total(name, (moment - self._last) * 1000)
            case Compacted():
                self._add_usage(event.model, event.usage)
            case ToolStarted():
                self._calls[event.call] = moment
            case ToolFinished():
                self._add_total(TOTALS[2], (moment - self._calls.pop(event.call, moment)) * 1000)
                output = as_mapping(event.outcome.output)
                for hunk in output.get("structuredPatch") or ():
                    changed = [str(line)[:1] for line in as_mapping(hunk).get("lines") or ()]
                    self._add_total(TOTALS[3], changed.count("+"))
                    self._add_total(TOTALS[4], changed.count("-"))
                if output.get("type") == "create":
                    self._add_total(TOTALS[3], len(str(output.get("content", "")).splitlines()))
        self._last = moment

    def _add_usage(self, model: str, usage: Mapping[str, Any]) -> None:
        tokens = parse_tokens(convert_leniently(usage, Figures))
        dollars = self.prices.cost(model, tokens, self.clock())
        self._is_unpriced = self._is_unpriced or dollars is None
        self.has_grown = True
        kept = self._by_model.setdefault(model, {})
        thought = as_mapping(usage.get("output_tokens_details")).get("thinking_tokens")
        found = {name: float(getattr(tokens, part)) for name, part in TOKENS_BY_FIELD.items()}
        for name, value in (
            found | {"thinkingTokens": float(thought if isinstance(thought, int) else 0)}
        ).items():
            kept[name] = kept.get(name, 0) + value
        kept["costUSD"] = kept.get("costUSD", 0.0) + (dollars or 0.0)

    def _add_total(self, name: str, value: float) -> None:
        self._totals[name] = self._totals.get(name, 0) + value

    @property
    def fields(self) -> Fields:
        """The sums for the log, in total and by model."""
        took = round((monotonic() - self._began) * 1000)
        began = round(self.clock().timestamp() * 1000) - took
        before = as_mapping(self.before.get("modelUsage"))
        found: dict[str, dict[str, Any]] = {}
        for model in (*before, *(name for name in self._by_model if name not in before)):
            old, new = as_mapping(before.get(model)), self._by_model.get(model, {})
            names = ("inputTokens", "outputTokens", "thinkingTokens", *list(TOKENS_BY_FIELD)[2:])
            counts = {name: round(_get_number(old, name) + new.get(name, 0)) for name in names}
            found[model] = counts | {
                "costUSD": _get_number(old, "costUSD") + new.get("costUSD", 0.0)
            }
        return {
            "totalCostUSD": sum(model.get("costUSD", 0.0) for model in found.values()),
            **{
                name: round(_get_number(self.before, name) + self._totals.get(name, 0))
                for name in TOTALS
            },
            "totalDuration": round(_get_number(self.before, "totalDuration")) + took,
            "startTime": self.before.get("startTime") or began,
            "modelUsage": found,
            "hasUnknownModelCost": self._is_unpriced
            or self.before.get("hasUnknownModelCost") is True,
        }


def format_usage_lines(fields: Mapping[str, Any]) -> list[str]:
    """Return the cost of a session in the words that the client prints and logs."""
    unsure = fields.get("hasUnknownModelCost") is True
    warning = " (costs may be inaccurate due to usage of unknown models)" if unsure else ""
    added, removed = (round(_get_number(fields, name)) for name in TOTALS[3:])
    models = as_mapping(fields.get("modelUsage"))
    return [
        f"Total cost:            {_format_dollars(_get_number(fields, 'totalCostUSD'))}{warning}",
        f"Total duration (API):  {_format_duration(_get_number(fields, TOTALS[0]))}",
        f"Total duration (wall): {_format_duration(_get_number(fields, 'totalDuration'))}",
        f"Total code changes:    {_format_line_count(added)} added, {_format_line_count(removed)} removed",
        *(["Usage by model:"] if models else [f"Usage:                 {_format_usage({})}"]),
        *(
            f"{f'{model}:':>21}  {_format_usage(item, has_cost=True)}"
            for model, item in models.items()
        ),
    ]


def _format_usage(used: Mapping[str, Any], *, has_cost: bool = False) -> str:
    counts = ", ".join(
        f"{_format_count(_get_number(used, name))} {words}" for name, words in USAGE_LABELS.items()
    )
    return f"{counts} ({_format_dollars(_get_number(used, 'costUSD'))})" if has_cost else counts


def _format_dollars(value: float) -> str:
    return f"${value:.2f}" if value > TWO_DECIMALS_FROM else f"${value:.4f}"


def _format_duration(milliseconds: float) -> str:
    seconds = int(milliseconds // 1000)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    parts = [f"{hours}h"] if hours else []
    parts += [f"{minutes}m"] if hours or minutes else []
    return " ".join([*parts, f"{seconds % 60}s"])


def _format_line_count(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _format_count(value: float) -> str:
    for unit, scale in (("m", 1_000_000), ("k", 1_000)):
        if value >= scale:
            return f"{value / scale:.1f}{unit}"
    return str(round(value))


def _get_number(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name)
    return value if isinstance(value, int | float) else 0
