"""Sessions, one after the other, to statistics in which every record counts once.

What is kept of a session is numbers, so that an archive of any size can be counted.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property
from heapq import nlargest
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import astuple, replace

from plait.conversation.stats.model import (
    QUARTER,
    AgentCounts,
    AgentFigures,
    DayFigures,
    Figures,
    FileCounts,
    FileFigures,
    Happening,
    LongSession,
    LongTurn,
    ModelFigures,
    ResponseCount,
    SessionCounts,
    SessionPart,
    ToolCounts,
    ToolFigures,
)
from plait.conversation.usage import NOTHING, Tokens, supersedes

if TYPE_CHECKING:
    from plait.conversation.model import Conversations
    from plait.conversation.stats.session import SessionCounter


F = TypeVar("F")
K = TypeVar("K")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class ToolCount:
    """The calls of one tool."""

    outcomes: Counter[str] = field(default_factory=Counter)
    times: "array[float]" = field(default_factory=lambda: array("f"))

    def add(self, counted: ToolCounts) -> None:
        """Takes in the calls of a session."""
        self.outcomes.update(counted.outcomes)
        self.times.extend(counted.took())

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
class ResponseSum:
    """Responses that belong together."""

    responses: int = 0
    tokens: Tokens = NOTHING

    def add(self, answer: ResponseCount) -> None:
        """Takes in one response, or several."""
        self.responses += answer.responses
        self.tokens += answer.tokens


class ResponseCounts:
    """Responses, each once; the figures with the most output count, the last among equals."""

    def __init__(self) -> None:
        self._known: dict[int | str, ResponseCount] = {}
        self._owners: dict[int | str, int] = {}

    def add(self, answer: ResponseCount, owner: int = 0) -> bool:
        """Takes in a response of a session, the how-many-th, and tells whether it is new."""
        mark = f"{len(self._known)}" if answer.key is None else answer.key
        known = self._known.get(mark)
        if known is None:
            self._known[mark] = answer
            self._owners[mark] = owner
        elif supersedes(answer, known):
            self._known[mark] = replace(known, tokens=answer.tokens)
        return known is None

    def settled(self) -> list[ResponseCount]:
        """Returns them added up by model and agent, as one that no other session shares."""
        summed = self.by(lambda one: (one.model, one.agents))
        return [
            ResponseCount(None, model, agents, count.tokens, None, count.responses)
            for (model, agents), count in summed.items()
        ]

    def owned(self, name_of: Callable[[ResponseCount], K]) -> dict[int, dict[K, ResponseSum]]:
        """Returns them added up by session and by what a function says of each."""
        found: dict[int, dict[K, ResponseSum]] = {}
        for mark, answer in self._known.items():
            named = found.setdefault(self._owners[mark], {})
            named.setdefault(name_of(answer), ResponseSum()).add(answer)
        return found

    def by(self, name_of: Callable[[ResponseCount], K]) -> dict[K, ResponseSum]:
        """Returns them added up by what a function says of each."""
        found: dict[K, ResponseSum] = {}
        for answer in self._known.values():
            found.setdefault(name_of(answer), ResponseSum()).add(answer)
        return found


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
            DayFigures(
                day.isoformat(), what["prompt"], what["response"], what["call"], what["failed"]
            )
            for day, what in sorted(self._days.items())
        )

    def _here(self, quarter: int) -> datetime | None:
        """Returns when a quarter begins in the zone; None in a year that no clock knows."""
        try:
            return (EPOCH + timedelta(seconds=quarter * QUARTER)).astimezone(self.zone)
        except (OverflowError, ValueError, OSError):
            return None


def _by_size(figures: Iterable[F], *names: str) -> tuple[F, ...]:
    return tuple(sorted(figures, key=lambda one: tuple(-getattr(one, name) for name in names)))


LONGEST = 5
SERVICE = "service"


class Statistics:
    """Counts sessions one by one; only what lies between two moments, where they are given."""

    def __init__(
        self,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> None:
        self.since, self.until = since, until
        self._counts: Counter[str] = Counter()
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._projects: set[str] = set()
        self._span: list[str] = []
        self._calendar = Calendar(zone)
        self._tools: defaultdict[str, ToolCount] = defaultdict(ToolCount)
        self._agents: defaultdict[str, AgentCounts] = defaultdict(AgentCounts)
        self._files: defaultdict[str, FileCounts] = defaultdict(FileCounts)
        self._answers = ResponseCounts()
        self._turns: list[LongTurn] = []
        self._sessions: list[LongSession] = []
        self._parts: list[SessionPart] = []

    @cached_property
    def _counter(self) -> "SessionCounter":
        from plait.conversation.stats.session import SessionCounter

        return SessionCounter(self.since, self.until)

    def add(self, conversations: "Conversations", copied: Mapping[str, str] = {}) -> None:
        """Counts all conversations of a session; what an earlier one had is left out.

        Of records that were copied under other ids it is said which they are copies of.
        """
        self.take(self._counter.counts_of(conversations, copied))

    def take(self, counted: SessionCounts) -> None:
        """Counts what a session adds."""
        self._counts.update(counted.counts)
        for name, spent in counted.spent.items():
            self._spent[name] += spent
        self._take_parts(counted)
        for answer in counted.answers:
            is_new = self._answers.add(answer, len(self._parts))
            if is_new and answer.quarter is not None:
                self._calendar.add(answer.quarter, {"response": 1})
        for quarter, happened in counted.moments.items():
            self._calendar.add(quarter, happened)
        if counted.first and counted.last:
            self._span = [min([*self._span, counted.first]), max([*self._span, counted.last])]
        self._turns = nlargest(LONGEST, (*self._turns, *counted.turns), lambda one: one.working_ms)
        self._counts["all_sessions"] += 1
        self._parts.append(_part_of(counted))
        if counted.session:
            self._take_session(counted.session)
        elif counted.has_records:
            self._counts["copied_sessions"] += 1

    def _take_parts(self, counted: SessionCounts) -> None:
        for name, calls in counted.tools.items():
            self._tools[name].add(calls)
        for name, agents in counted.agents.items():
            self._agents[name].add(agents)
        for path, touched in counted.files.items():
            self._files[path].add(touched)

    def _take_session(self, session: LongSession) -> None:
        """Counts a session that owns something."""
        self._counts["sessions"] += 1
        self._projects.add(session.project)
        found = (*self._sessions, session)
        self._sessions = nlargest(LONGEST, found, lambda one: one.working_ms)

    def figures(self) -> Figures:
        """Returns what has been counted so far."""
        answers = self._answers.by(lambda _: "all").get("all", ResponseSum())
        return Figures(
            **self._counts,
            working_ms=self._spent["working_ms"],
            asking_ms=self._spent["asking_ms"],
            waiting_ms=self._spent["waiting_ms"],
            projects=len(self._projects),
            first=self._span[0] if self._span else None,
            last=self._span[1] if self._span else None,
            responses=answers.responses,
            tokens=answers.tokens,
            tools=_by_size((n.figures(name) for name, n in self._tools.items()), "calls"),
            models=_by_size(self._model_figures(), "responses"),
            agent_types=self._agent_figures(),
            files=_by_size(
                (FileFigures(path, *astuple(n)) for path, n in self._files.items()),
                "changes",
                "reads",
            ),
            hours=tuple(self._calendar.hours),
            weekdays=tuple(self._calendar.weekdays),
            days=self._calendar.days(),
            longest_turns=tuple(self._turns),
            longest_sessions=tuple(self._sessions),
        )

    def parts(self) -> tuple[SessionPart, ...]:
        """Returns the part of each session in the figures, in the order in which they came."""
        models = self._answers.owned(lambda one: one.model)
        agents = self._answers.owned(lambda one: one.agents)
        return tuple(
            replace(
                part,
                models={n: (c.responses, c.tokens) for n, c in models.get(place, {}).items()},
                agent_tokens={n: c.tokens for n, c in agents.get(place, {}).items() if n},
            )
            for place, part in enumerate(self._parts)
        )

    def _model_figures(self) -> Iterator[ModelFigures]:
        for name, count in self._answers.by(lambda one: one.model).items():
            yield ModelFigures(name, count.responses, count.tokens)

    def _agent_figures(self) -> tuple[AgentFigures, ...]:
        answers = self._answers.by(lambda one: one.agents)
        found = [
            AgentFigures(name, one.agents, one.calls, spoken.responses, spoken.tokens)
            for name, one in self._agents.items()
            for spoken in [answers.get(name, ResponseSum())]
        ]
        return tuple(sorted(_by_size(found, "agents"), key=lambda one: one.type == SERVICE))


def _part_of(counted: SessionCounts) -> SessionPart:
    prompts = {quarter: what.get("prompt", 0) for quarter, what in counted.moments.items()}
    return SessionPart(
        session=counted.session,
        counts=counted.counts,
        spent=counted.spent,
        tools={name: one.outcomes for name, one in counted.tools.items()},
        agents=counted.agents,
        files=counted.files,
        prompts={quarter: count for quarter, count in prompts.items() if count},
    )


def settled_counts(counted: SessionCounts) -> SessionCounts:
    """Returns the counted of a session that shares nothing with others, its responses added up."""
    answers = ResponseCounts()
    moments = {quarter: dict(happened) for quarter, happened in counted.moments.items()}
    found = replace(counted, moments=moments)
    for answer in counted.answers:
        if answers.add(answer):
            found.note("response", answer.quarter)
    return replace(found, answers=answers.settled())
