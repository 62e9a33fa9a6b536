"""Events of a turn to the figures and words of its result, in the client's own names."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plait.agent.capacity import capacity_of
from plait.agent.events import Answered, Ending, Event, Resulted, Said, Thought, TurnEnded

Json: TypeAlias = dict[str, Any]
PER_MODEL = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
}
USAGE = tuple(PER_MODEL.values())
KEPT = ("ephemeral_1h_input_tokens", "ephemeral_5m_input_tokens")
ALWAYS = {
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
}
"""What the client says of usage whatever it was."""
SYNTHETIC = "<synthetic>"
SUBTYPES: dict[Ending, str] = {
    "max_turns": "error_max_turns",
    "max_budget": "error_max_budget_usd",
    "interrupted": "error_during_execution",
}
"""Endings without a result; all others have one, also where it is an error."""
REASONS: dict[Ending, str] = {
    "done": "completed",
    "refused": "completed",
    "failed": "api_error",
    "max_turns": "max_turns",
    "max_budget": "budget_exhausted",
    "interrupted": "aborted",
}


@dataclass
class Tally:
    """Counts what a run comes to; figures of one turn, money and models of all."""

    session: Callable[[], str]
    """The id of the session, which a command may change."""
    uuid: Callable[[], str]
    clock: Callable[[], float] = time.monotonic
    price: Callable[[str, Mapping[str, Any]], float | None] = lambda model, usage: None
    limits: Mapping[str, Any] = field(default_factory=dict)
    models: dict[str, Json] = field(default_factory=dict)
    cost: float = 0.0
    results: int = 0
    _usage: Json = field(default_factory=dict)
    _kept: Json = field(default_factory=dict)
    """What was written to the cache, by how long it stays."""
    _denials: list[Json] = field(default_factory=list)
    _given: dict[str, Any] = field(default_factory=dict)
    _stop_reason: str | None = None
    _began: float = 0.0
    _asked: float = 0.0
    """Since when the model is asked."""
    _answering: float = 0.0
    """Seconds that it took to answer, in all."""
    _status: int | None = None
    """What the API failed with."""
    _first: float | None = None

    def begin(self) -> None:
        """Forgets the last turn."""
        self._usage, self._kept = dict.fromkeys(USAGE, 0), dict.fromkeys(KEPT, 0)
        self._denials, self._given = [], {}
        self._stop_reason, self._first, self._status = None, None, None
        self._began = self._asked = self.clock()
        self._answering = 0.0

    @property
    def took_ms(self) -> int:
        """How long the turn has taken so far."""
        return round((self.clock() - self._began) * 1000)

    def of_command(self, event: TurnEnded, name: str) -> Json:
        """Returns the result of a command that the model has no part in."""
        return {**self._result(event), "local_command": name}

    def note(self, line: Mapping[str, Any]) -> None:
        """Takes a line of the log: it says what the API failed with."""
        if line.get("isApiErrorMessage"):
            self._status = line.get("apiErrorStatus")
            self._stop_reason = line["message"].get("stop_reason")

    def add(self, event: Event) -> Json | None:
        """Takes an event; returns the result where the turn ends with it."""
        if isinstance(event, Resulted):
            self._asked = self.clock()
        match event:
            case Said() | Thought():
                self._first = self._first or self.clock()
            case Answered():
                self._answered(event)
            case Resulted(is_denied=True):
                self._denials.append(self._denial(event))
            case TurnEnded():
                return self._result(event)
            case _:
                pass
        return None

    def _answered(self, event: Answered) -> None:
        self._stop_reason = event.stop_reason
        self._answering += self.clock() - self._asked
        for block in event.content:
            if block.get("type") == "tool_use":
                self._given[str(block.get("id"))] = block.get("input")
        if event.model == SYNTHETIC:
            return
        model = self.models.setdefault(event.model, _unused(event.model))
        for name, wire in PER_MODEL.items():
            count = event.usage.get(wire) or 0
            self._usage[wire] += count
            model[name] += count
        kept = event.usage.get("cache_creation") or {}
        for name in KEPT:
            self._kept[name] += kept.get(name) or 0
        model["costUSD"] += self.price(event.model, event.usage) or 0.0

    def _denial(self, event: Resulted) -> Json:
        given = self._given.get(event.call, {})
        return {"tool_name": event.tool, "tool_use_id": event.call, "tool_input": given}

    def _result(self, event: TurnEnded) -> Json:
        self.cost += event.cost or 0.0
        self.results += 1
        is_error = event.ending not in ("done", "refused")
        return {
            "type": "result",
            "subtype": SUBTYPES.get(event.ending, "success"),
            "is_error": is_error,
            "api_error_status": self._status,
            "duration_ms": event.duration_ms,
            "duration_api_ms": round(self._answering * 1000),
            "num_turns": event.responses + (event.ending == "max_turns"),
            **self._words(event),
            "stop_reason": self._stop_reason,
            "session_id": self.session(),
            "total_cost_usd": self.cost,
            "usage": {**self._usage, "cache_creation": dict(self._kept), **ALWAYS},
            "modelUsage": {name: dict(figures) for name, figures in self.models.items()},
            "permission_denials": list(self._denials),
            "terminal_reason": REASONS[event.ending],
            **self._first_word(),
            "result_index": self.results - 1,
            "uuid": self.uuid(),
        }

    def _words(self, event: TurnEnded) -> Json:
        if event.ending not in SUBTYPES:
            return {"result": event.text}
        return {"errors": [in_words(event, self.limits)]}

    def _first_word(self) -> Json:
        if self._first is None:
            return {}
        return {"ttft_ms": round((self._first - self._began) * 1000)}


def _unused(model: str) -> Json:
    """Returns the figures of a model that has not answered yet."""
    capacity = capacity_of(model)
    return {
        **dict.fromkeys(PER_MODEL, 0),
        "webSearchRequests": 0,
        "costUSD": 0.0,
        "contextWindow": capacity.window,
        "maxOutputTokens": capacity.output,
    }


def in_words(event: TurnEnded, limits: Mapping[str, Any]) -> str:
    """Returns why a turn has no result, in the client's words."""
    match event.ending:
        case "max_turns":
            return f"Reached maximum number of turns ({limits.get('max_turns')})"
        case "max_budget":
            return f"Reached maximum budget (${limits.get('max_budget_usd')})"
        case _:
            return event.text or "Request was aborted."
