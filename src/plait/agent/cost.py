"""What happens in a session to what it cost in all, as the client notes it when it leaves.

A response says its own usage; what a summary took stands in no other line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from plait.agent.events import Answered, Called, Compacted, Event, Resulted, Within
from plait.conversation.prices import Prices
from plait.conversation.usage import Tokens, tokens_of
from plait.record.billing import Figures
from plait.record.codec import lenient, mapping
from plait.write.ids import Clock, now
from plait.write.model import Fields

SUMS = (
    "totalAPIDuration",
    "totalAPIDurationWithoutRetries",
    "totalToolDuration",
    "totalLinesAdded",
    "totalLinesRemoved",
)
BY_MODEL = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadInputTokens": "cache_read",
    "cacheCreationInputTokens": "cache_write",
    "cacheCreationEphemeral5mInputTokens": "cache_write_5m",
    "cacheCreationEphemeral1hInputTokens": "cache_write_1h",
    "webSearchRequests": "web_searches",
}
TOLD = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadInputTokens": "cache read",
    "cacheCreationInputTokens": "cache write",
}
CENTS_FROM = 0.5
"""Dollars from which on cents are enough."""


@dataclass(slots=True)
class SessionCost:
    """Sums up what a session takes, on top of what it took before it was gone on with."""

    prices: Prices
    before: Mapping[str, Any] = field(default_factory=dict)
    """The last line of its kind; nothing where there is none."""
    clock: Clock = now
    has_grown: bool = False
    """Whether anything was taken since."""
    _sums: dict[str, float] = field(default_factory=dict)
    _models: dict[str, dict[str, float]] = field(default_factory=dict)
    _is_unpriced: bool = False
    _began: float = field(default_factory=monotonic)
    _last: float = field(default_factory=monotonic)
    _calls: dict[str, float] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Takes note of what happens."""
        moment = monotonic()
        while isinstance(event, Within):
            event = event.event
        match event:
            case Answered():
                self._add(event.model, event.usage)
                for name in SUMS[:2]:
                    self._sum(name, (moment - self._last) * 1000)
            case Compacted():
                self._add(event.model, event.usage)
            case Called():
                self._calls[event.call] = moment
            case Resulted():
                self._sum(SUMS[2], (moment - self._calls.pop(event.call, moment)) * 1000)
                self._count_lines(event.outcome.output)
        self._last = moment

    def _add(self, model: str, usage: Mapping[str, Any]) -> None:
        tokens = tokens_of(lenient(usage, Figures))
        dollars = self.prices.cost(model, tokens, self.clock())
        self._is_unpriced = self._is_unpriced or dollars is None
        self.has_grown = True
        kept = self._models.setdefault(model, {})
        for name, value in _by_name(tokens, usage).items():
            kept[name] = kept.get(name, 0) + value
        kept["costUSD"] = kept.get("costUSD", 0.0) + (dollars or 0.0)

    def _count_lines(self, output: object) -> None:
        for hunk in mapping(output).get("structuredPatch") or ():
            changed = [str(line)[:1] for line in mapping(hunk).get("lines") or ()]
            self._sum(SUMS[3], changed.count("+"))
            self._sum(SUMS[4], changed.count("-"))
        if mapping(output).get("type") == "create":
            self._sum(SUMS[3], len(str(mapping(output).get("content", "")).splitlines()))

    def _sum(self, name: str, value: float) -> None:
        self._sums[name] = self._sums.get(name, 0) + value

    @property
    def fields(self) -> Fields:
        """What is noted: all sums, in all and by model."""
        took = round((monotonic() - self._began) * 1000)
        began = round(self.clock().timestamp() * 1000) - took
        models = _joined(mapping(self.before.get("modelUsage")), self._models)
        return {
            "totalCostUSD": sum(one.get("costUSD", 0.0) for one in models.values()),
            **{name: round(_number(self.before, name) + self._sums.get(name, 0)) for name in SUMS},
            "totalDuration": round(_number(self.before, "totalDuration")) + took,
            "startTime": self.before.get("startTime") or began,
            "modelUsage": models,
            "hasUnknownModelCost": self._is_unpriced
            or self.before.get("hasUnknownModelCost") is True,
        }


def usage_lines(told: Mapping[str, Any]) -> list[str]:
    """Returns what a session cost in all in the words that the client prints and logs."""
    unsure = told.get("hasUnknownModelCost") is True
    warning = " (costs may be inaccurate due to usage of unknown models)" if unsure else ""
    added, removed = (round(_number(told, name)) for name in SUMS[3:])
    models = mapping(told.get("modelUsage"))
    return [
        f"Total cost:            {_dollars(_number(told, 'totalCostUSD'))}{warning}",
        f"Total duration (API):  {_time(_number(told, SUMS[0]))}",
        f"Total duration (wall): {_time(_number(told, 'totalDuration'))}",
        f"Total code changes:    {_lines(added)} added, {_lines(removed)} removed",
        *(["Usage by model:"] if models else [f"Usage:                 {_usage({})}"]),
        *(f"{f'{model}:':>21}  {_usage(one, has_cost=True)}" for model, one in models.items()),
    ]


def _usage(used: Mapping[str, Any], *, has_cost: bool = False) -> str:
    counts = ", ".join(f"{_count(_number(used, name))} {words}" for name, words in TOLD.items())
    return f"{counts} ({_dollars(_number(used, 'costUSD'))})" if has_cost else counts


def _dollars(value: float) -> str:
    return f"${value:.2f}" if value > CENTS_FROM else f"${value:.4f}"


def _time(milliseconds: float) -> str:
    seconds = int(milliseconds // 1000)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    parts = [f"{hours}h"] if hours else []
    parts += [f"{minutes}m"] if hours or minutes else []
    return " ".join([*parts, f"{seconds % 60}s"])


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _count(value: float) -> str:
    for unit, scale in (("m", 1_000_000), ("k", 1_000)):
        if value >= scale:
            return f"{value / scale:.1f}{unit}"
    return str(round(value))


def _by_name(tokens: Tokens, usage: Mapping[str, Any]) -> dict[str, float]:
    thought = mapping(usage.get("output_tokens_details")).get("thinking_tokens")
    found = {name: float(getattr(tokens, part)) for name, part in BY_MODEL.items()}
    return found | {"thinkingTokens": float(thought if isinstance(thought, int) else 0)}


def _joined(
    before: Mapping[str, Any], added: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for model in (*before, *(name for name in added if name not in before)):
        old, new = mapping(before.get(model)), added.get(model, {})
        names = ("inputTokens", "outputTokens", "thinkingTokens", *list(BY_MODEL)[2:])
        counts = {name: round(_number(old, name) + new.get(name, 0)) for name in names}
        found[model] = counts | {"costUSD": _number(old, "costUSD") + new.get("costUSD", 0.0)}
    return found


def _number(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name)
    return value if isinstance(value, int | float) else 0
