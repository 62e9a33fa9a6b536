"""Calls, responses, files and moments to counts of them, one at a time."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from statistics import median
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.figures import (
    AgentFigures,
    DayFigures,
    FileFigures,
    ModelFigures,
    ToolFigures,
)
from plait.conversation.files import CHANGING, Touch
from plait.conversation.model import Called, Outcome, Response
from plait.conversation.times import between
from plait.conversation.tokens import NOTHING, Tokens
from plait.conversation.totals import response_key, tokens_in

F = TypeVar("F")
K = TypeVar("K")
UNNAMED = "unnamed"


@dataclass(slots=True)
class ToolCount:
    """The calls of one tool."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    times: "array[float]" = field(default_factory=lambda: array("f"))

    def add(self, called: Called) -> None:
        """Takes in one call."""
        self.outcomes[called.outcome] += 1
        took = between(called.time, called.answered_at)
        if took is not None:
            self.times.append(took)

    def figures(self, name: str) -> ToolFigures:
        """Returns what they come to."""
        outcomes = self.outcomes
        return ToolFigures(
            name,
            outcomes.total(),
            outcomes["failed"],
            outcomes["rejected"],
            outcomes["interrupted"],
            outcomes["missing"],
            sum(self.times),
            median(self.times) if self.times else None,
        )


@dataclass(slots=True)
class AgentCount:
    """The agents of one kind."""

    agents: int = 0
    calls: int = 0

    def figures(self, name: str, answers: "AnswerCount | None") -> AgentFigures:
        """Returns what they come to, with what they answered."""
        found = answers or AnswerCount()
        return AgentFigures(name, self.agents, self.calls, found.responses, found.tokens)


@dataclass(slots=True)
class AnswerCount:
    """Responses that belong together."""

    responses: int = 0
    tokens: Tokens = NOTHING

    def add(self, tokens: Tokens) -> None:
        """Takes in one response."""
        self.responses += 1
        self.tokens += tokens


class Answer(Struct, frozen=True, gc=False):
    """What is kept of a response."""

    model: str
    agents: str | None
    """The kind of agent that it belongs to."""
    tokens: Tokens


class Answers:
    """Responses, each once; the figures with the most output count, the last among equals."""

    def __init__(self) -> None:
        self._known: dict[int, Answer] = {}

    def add(self, response: Response, agents: str | None) -> bool:
        """Takes in a response and tells whether it is new."""
        key = response_key(response)
        mark = hash(key) if key else -len(self._known)
        known, tokens = self._known.get(mark), tokens_in(response)
        if known is None:
            self._known[mark] = Answer(response.model or UNNAMED, agents, tokens)
        elif tokens.output >= known.tokens.output:
            self._known[mark] = replace(known, tokens=tokens)
        return known is None

    def total(self) -> AnswerCount:
        """Returns all together."""
        return self._summed(lambda _: "all").get("all", AnswerCount())

    def by_model(self) -> Iterator[ModelFigures]:
        """Yields what each model answered."""
        for name, count in self._summed(lambda answer: answer.model).items():
            yield ModelFigures(name, count.responses, count.tokens)

    def by_agents(self) -> Mapping[str | None, AnswerCount]:
        """Returns what each kind of agent answered."""
        return self._summed(lambda answer: answer.agents)

    def _summed(self, name_of: Callable[[Answer], K]) -> dict[K, AnswerCount]:
        found: dict[K, AnswerCount] = {}
        for answer in self._known.values():
            found.setdefault(name_of(answer), AnswerCount()).add(answer.tokens)
        return found


@dataclass(slots=True)
class FileCount:
    """What happened to one file."""

    changes: int = 0
    reads: int = 0
    added: int = 0
    removed: int = 0

    def add(self, touch: Touch) -> None:
        """Takes in one thing that was done to it."""
        self.changes += touch.action in CHANGING
        self.reads += touch.action == "read"
        if touch.patch:
            self.added += touch.patch.added
            self.removed += touch.patch.removed

    def figures(self, path: str) -> FileFigures:
        """Returns what it comes to."""
        return FileFigures(path, self.changes, self.reads, self.added, self.removed)


class Calendar:
    """Moments to hours of the day, days of the week and days, in one time zone."""

    def __init__(self, zone: tzinfo | None) -> None:
        self.zone = zone
        self.hours = [0] * 24
        self.weekdays = [0] * 7
        self._days: dict[date, Counter[str]] = {}

    def add(self, what: str, time: datetime | None) -> None:
        """Takes in something that happened; one without a time belongs to no day."""
        if time is None:
            return
        try:
            here = time.astimezone(self.zone)
        except (OverflowError, ValueError, OSError):  # a year that no clock knows
            return
        self._days.setdefault(here.date(), Counter())[what] += 1
        if what == "prompt":
            self.hours[here.hour] += 1
            self.weekdays[here.weekday()] += 1

    def days(self) -> tuple[DayFigures, ...]:
        """Returns the days on which something happened, in order."""
        return tuple(
            DayFigures(day.isoformat(), what["prompt"], what["response"], what["call"])
            for day, what in sorted(self._days.items())
        )


def by_size(figures: Iterable[F], *names: str) -> tuple[F, ...]:
    """Returns figures, those with the largest counts first."""
    return tuple(sorted(figures, key=lambda one: tuple(-getattr(one, name) for name in names)))
