"""Shares of session after session to counts of tools, answers, files, hours and days."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from statistics import median
from typing import TypeVar

from msgspec.structs import replace

from plait.conversation.figures import (
    AgentFigures,
    DayFigures,
    FileFigures,
    ModelFigures,
    ToolFigures,
)
from plait.conversation.share import (
    QUARTER,
    AgentShare,
    Answer,
    FileShare,
    Happening,
    ToolShare,
)
from plait.conversation.tokens import NOTHING, Tokens

F = TypeVar("F")
K = TypeVar("K")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class ToolCount:
    """The calls of one tool."""

    outcomes: Counter[str] = field(default_factory=Counter)
    times: "array[float]" = field(default_factory=lambda: array("f"))

    def add(self, share: ToolShare) -> None:
        """Takes in the calls of a session."""
        self.outcomes.update(share.outcomes)
        self.times.extend(share.took())

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

    def add(self, share: AgentShare) -> None:
        """Takes in the agents of a session."""
        self.agents += share.agents
        self.calls += share.calls

    def figures(self, name: str, answers: "AnswerCount | None") -> AgentFigures:
        """Returns what they come to, with what they answered."""
        found = answers or AnswerCount()
        return AgentFigures(name, self.agents, self.calls, found.responses, found.tokens)


@dataclass(slots=True)
class AnswerCount:
    """Responses that belong together."""

    responses: int = 0
    tokens: Tokens = NOTHING

    def add(self, answer: Answer) -> None:
        """Takes in one response, or several."""
        self.responses += answer.responses
        self.tokens += answer.tokens


class Answers:
    """Responses, each once; the figures with the most output count, the last among equals."""

    def __init__(self) -> None:
        self._known: dict[int | str, Answer] = {}

    def add(self, answer: Answer) -> bool:
        """Takes in a response and tells whether it is new."""
        mark = f"{len(self._known)}" if answer.key is None else answer.key
        known = self._known.get(mark)
        if known is None:
            self._known[mark] = answer
        elif answer.tokens.output >= known.tokens.output:
            self._known[mark] = replace(known, tokens=answer.tokens)
        return known is None

    def settled(self) -> list[Answer]:
        """Returns them added up by model and agent, as one that no other session shares."""
        found: dict[tuple[str, str | None], AnswerCount] = {}
        for answer in self._known.values():
            found.setdefault((answer.model, answer.agents), AnswerCount()).add(answer)
        return [
            Answer(None, model, agents, count.tokens, None, count.responses)
            for (model, agents), count in found.items()
        ]

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
            found.setdefault(name_of(answer), AnswerCount()).add(answer)
        return found


@dataclass(slots=True)
class FileCount:
    """What happened to one file."""

    changes: int = 0
    reads: int = 0
    added: int = 0
    removed: int = 0

    def add(self, share: FileShare) -> None:
        """Takes in what a session did to it."""
        self.changes += share.changes
        self.reads += share.reads
        self.added += share.added
        self.removed += share.removed

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
        self._known: dict[int, datetime | None] = {}

    def add(self, quarter: int, happened: Mapping[Happening, int]) -> None:
        """Takes in what happened in a quarter of an hour."""
        if quarter not in self._known:
            self._known[quarter] = self._here(quarter)
        here = self._known[quarter]
        if here is None:
            return
        self._days.setdefault(here.date(), Counter()).update(happened)
        prompts = happened.get("prompt", 0)
        self.hours[here.hour] += prompts
        self.weekdays[here.weekday()] += prompts

    def days(self) -> tuple[DayFigures, ...]:
        """Returns the days on which something happened, in order."""
        return tuple(
            DayFigures(day.isoformat(), what["prompt"], what["response"], what["call"])
            for day, what in sorted(self._days.items())
        )

    def _here(self, quarter: int) -> datetime | None:
        """Returns when a quarter begins in the zone; None in a year that no clock knows."""
        try:
            return (EPOCH + timedelta(seconds=quarter * QUARTER)).astimezone(self.zone)
        except (OverflowError, ValueError, OSError):
            return None


def by_size(figures: Iterable[F], *names: str) -> tuple[F, ...]:
    """Returns figures, those with the largest counts first."""
    return tuple(sorted(figures, key=lambda one: tuple(-getattr(one, name) for name in names)))
