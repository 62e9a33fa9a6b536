"""Statistics of sessions, one after the other, in which every record counts once.

What an earlier session contains is left out. Responses are listed one by one: a copy of one may be
in any session, and whoever adds them up counts each once.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property
from heapq import nlargest
from operator import attrgetter
from statistics import median
from typing import TypeVar

from msgspec.structs import astuple, replace

from plait.conversation.changes import CHANGING, list_touches
from plait.conversation.model import (
    Conversation,
    Conversations,
    Response,
    ToolCall,
)
from plait.conversation.session_counts import (
    NOTHING_COPIED,
    QUARTER,
    UNNAMED,
    AgentCounts,
    AgentFigures,
    ArchiveFigures,
    DayEvent,
    DayFigures,
    FileCounts,
    FileFigures,
    LongSession,
    LongTurn,
    ModelFigures,
    Ownership,
    ResponseCount,
    SessionCounts,
    SessionPart,
    SessionShare,
    ToolCounts,
    ToolFigures,
    hash_text,
    iter_counted_errors,
    iter_counted_items,
    iter_counted_responses,
    iter_counted_turns,
)
from plait.conversation.usage import NO_TOKENS, Tokens, supersedes
from plait.conversation.walk import find_agent_types
from plait.record.time import parse_time

WORDS = 200
WORKING_TIME = attrgetter("working_ms")


class SessionCounter:
    """Counts sessions one by one, optionally within a period."""

    def __init__(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        mark_of: Callable[[str], int] = hash,
    ) -> None:
        self._ownership = Ownership(since, until, mark_of)

    def count_session(
        self, conversations: Conversations, copied: Mapping[str, str] = NOTHING_COPIED
    ) -> SessionCounts:
        """Return what all conversations of a session add that no earlier session has."""
        self._ownership.start_session(copied)
        counting = SessionCounting(self._ownership)
        types = find_agent_types(conversations)
        for conversation in conversations.by_line.values():
            counting.add(conversation, types.get(conversation.id))
        return counting.counts(conversations.active)

    def can_add(self, share: SessionShare) -> bool:
        """Add a session that was counted alone, if no earlier session shares anything with it."""
        marks = array("q", share.marks)
        if share.is_copy or not self._ownership.are_new(marks):
            return False
        self._ownership.seen.update(marks)
        return True


def compute_share(
    conversations: Conversations,
    copied: Mapping[str, str],
    since: datetime | None,
    until: datetime | None,
) -> SessionShare:
    """Return what a session adds if no other shares anything with it, and how to tell."""
    counter = SessionCounter(since, until, hash_text)
    counts = counter.count_session(conversations, copied)
    return SessionShare(counts, array("q", counter._ownership.seen).tobytes(), bool(copied))


@dataclass
class SessionCounting:
    """Counts what one session owns."""

    ownership: Ownership
    found: SessionCounts = field(default_factory=SessionCounts)
    times: dict[str, "array[float]"] = field(default_factory=dict)
    working: list[float] = field(default_factory=list)
    """The durations of turns."""

    def counts(self, active: Conversation) -> SessionCounts:
        """Return the counts, under the name of the session."""
        found, owned = self.found, self.ownership
        for name, times in self.times.items():
            found.tools[name].times = times.tobytes()
        found.first, found.last = owned.first, owned.last
        found.earliest, found.latest = owned.earliest, owned.latest
        if owned.owns_anything:
            working = sum(self.working)
            found.session = LongSession(
                active.session, active.project, active.title, len(self.working), working
            )
        return found

    def add(self, conversation: Conversation, agents: str | None) -> None:
        """Count a conversation, with the kind of agent or none."""
        found = self.found
        for counted in iter_counted_items(conversation, agents, self.ownership):
            item = counted.item
            found.has_records = found.has_records or item.uuid is not None
            for name, count in counted.adds.items():
                self._count(name, count)
            if counted.is_first and agents:
                found.agents.setdefault(agents, AgentCounts()).agents += 1
            if isinstance(item, ToolCall) and "calls" in counted.adds:
                self._add_tool(item.name or UNNAMED, item)
                found.note("call", _quarter_of(item.time))
                if item.outcome == "failed":
                    found.note("failed", _quarter_of(item.time))
                if agents:
                    found.agents.setdefault(agents, AgentCounts()).calls += 1
                for touch in list_touches(item, 0) if item.outcome == "ok" else ():
                    file = found.files.setdefault(touch.path, FileCounts())
                    file.changes += touch.action in CHANGING
                    file.reads += touch.action == "read"
                    if touch.patch:
                        file.added += touch.patch.added
                        file.removed += touch.patch.removed
            elif "prompts" in counted.adds:
                found.note("prompt", _quarter_of(item.time))
        self._count("api_errors", sum(1 for _ in iter_counted_errors(conversation, self.ownership)))
        for _, response in iter_counted_responses(conversation, self.ownership):
            self.found.answers.append(count_response(response, agents))
        if agents is None:
            self._add_turns(conversation)

    def _count(self, name: str, count: int = 1) -> None:
        if count:
            self.found.counts[name] = self.found.counts.get(name, 0) + count

    def _add_tool(self, name: str, called: ToolCall) -> None:
        outcomes = self.found.tools.setdefault(name, ToolCounts()).outcomes
        outcomes[called.outcome] = outcomes.get(called.outcome, 0) + 1
        took = called.duration_ms
        if took is not None:
            self.times.setdefault(name, array("f")).append(took)

    def _add_turns(self, conversation: Conversation) -> None:
        """Count the turns whose prompt is the session's own."""
        found, spent = self.found, self.found.spent
        for turn, opener in iter_counted_turns(conversation, self.ownership):
            working = turn.working_ms or 0
            self._count("turns")
            self.working.append(working)
            spent["working_ms"] = spent.get("working_ms", 0) + working
            spent["asking_ms"] = spent.get("asking_ms", 0) + turn.asking_ms
            spent["waiting_ms"] = spent.get("waiting_ms", 0) + (turn.waited_ms or 0)
            long_turn = LongTurn(
                conversation.session,
                conversation.id,
                turn.number,
                turn.started,
                working,
                opener.text[:WORDS].strip(),
            )
            found.turns = nlargest(LONGEST, (*found.turns, long_turn), WORKING_TIME)


def count_response(response: Response, agents: str | None) -> ResponseCount:
    """Return a response in the form for counting."""
    key = response.key
    return ResponseCount(
        hash_text(key) if key else None,
        response.model or UNNAMED,
        agents,
        response.tokens,
        _quarter_of(response.started),
    )


def _quarter_of(stamp: str | None) -> int | None:
    """Return the quarter of an hour of a time; None if it is invalid."""
    time = parse_time(stamp)
    return int(time.timestamp() // QUARTER) if time else None


# Adds up sessions, one after the other, so that every record counts once.
#
# Of a session only numbers are kept, so that an archive of any size can be counted.


F = TypeVar("F")
K = TypeVar("K")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class ToolCount:
    """The calls of one tool."""

    outcomes: Counter[str] = field(default_factory=Counter)
    times: "array[float]" = field(default_factory=lambda: array("f"))

    def add(self, counted: ToolCounts) -> None:
        """Add the calls of a session."""
        self.outcomes.update(counted.outcomes)
        self.times.extend(counted.durations())

    def figures(self, name: str) -> ToolFigures:
        """Return the sums."""
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
    """Responses that are added up together."""

    responses: int = 0
    tokens: Tokens = NO_TOKENS

    def add(self, answer: ResponseCount) -> None:
        """Add one response, or several."""
        self.responses += answer.responses
        self.tokens += answer.tokens


class ResponseCounts:
    """Responses, each once; the figures with the most output count, the last among equals."""

    def __init__(self) -> None:
        self._known: dict[int | str, ResponseCount] = {}
        self._owners: dict[int | str, int] = {}

    def add(self, answer: ResponseCount, owner: int = 0) -> bool:
        """Add a response of a session, given by its number, and return whether it is new."""
        mark = f"{len(self._known)}" if answer.key is None else answer.key
        known = self._known.get(mark)
        if known is None:
            self._known[mark] = answer
            self._owners[mark] = owner
        elif supersedes(answer, known):
            self._known[mark] = replace(known, tokens=answer.tokens)
        return known is None

    def settled(self) -> list[ResponseCount]:
        """Return them added up by model and agent, as belonging to no other session."""
        summed = self.by(lambda answer: (answer.model, answer.agents))
        return [
            ResponseCount(None, model, agents, count.tokens, None, count.responses)
            for (model, agents), count in summed.items()
        ]

    def owned(self, name_of: Callable[[ResponseCount], K]) -> dict[int, dict[K, ResponseSum]]:
        """Return them added up by session and by the result of a function."""
        found: dict[int, dict[K, ResponseSum]] = {}
        for mark, answer in self._known.items():
            named = found.setdefault(self._owners[mark], {})
            named.setdefault(name_of(answer), ResponseSum()).add(answer)
        return found

    def by(self, name_of: Callable[[ResponseCount], K]) -> dict[K, ResponseSum]:
        """Return them added up by the result of a function."""
        found: dict[K, ResponseSum] = {}
        for answer in self._known.values():
            found.setdefault(name_of(answer), ResponseSum()).add(answer)
        return found


class Calendar:
    """Converts moments to hours of the day, days of the week and days, in one time zone."""

    def __init__(self, zone: tzinfo | None) -> None:
        self.zone = zone
        self.hours = [0] * 24
        self.weekdays = [0] * 7
        self._days: dict[date, Counter[str]] = {}
        self._known: dict[int, datetime | None] = {}

    def add(self, quarter: int, happened: Mapping[DayEvent, int]) -> None:
        """Add what happened in a quarter of an hour."""
        if quarter not in self._known:
            try:
                start = (EPOCH + timedelta(seconds=quarter * QUARTER)).astimezone(self.zone)
            except (OverflowError, ValueError, OSError):  # a year beyond the calendar
                start = None
            self._known[quarter] = start
        here = self._known[quarter]
        if here is None:
            return
        self._days.setdefault(here.date(), Counter()).update(happened)
        prompts = happened.get("prompt", 0)
        self.hours[here.hour] += prompts
        self.weekdays[here.weekday()] += prompts

    def days(self) -> tuple[DayFigures, ...]:
        """Return the days with activity, in order."""
        return tuple(
            DayFigures(
                day.isoformat(), what["prompt"], what["response"], what["call"], what["failed"]
            )
            for day, what in sorted(self._days.items())
        )


def _by_size(figures: Iterable[F], *names: str) -> tuple[F, ...]:
    return tuple(sorted(figures, key=lambda row: tuple(-getattr(row, name) for name in names)))


LONGEST = 5
SERVICE = "service"


class Statistics:
    """Adds up sessions one by one, optionally within a period."""

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
    def _counter(self) -> SessionCounter:
        return SessionCounter(self.since, self.until)

    def add(self, conversations: Conversations, copied: Mapping[str, str] = {}) -> None:
        """Count all conversations of a session; what an earlier one has is left out.

        `copied` gives the originals of records that were copied under other ids.
        """
        self.add_counts(self._counter.count_session(conversations, copied))

    def add_counts(self, counted: SessionCounts) -> None:
        """Count what a session adds."""
        self._counts.update(counted.counts)
        for name, spent in counted.spent.items():
            self._spent[name] += spent
        for name, calls in counted.tools.items():
            self._tools[name].add(calls)
        for name, agents in counted.agents.items():
            self._agents[name].add(agents)
        for path, touched in counted.files.items():
            self._files[path].add(touched)
        for answer in counted.answers:
            is_new = self._answers.add(answer, len(self._parts))
            if is_new and answer.quarter is not None:
                self._calendar.add(answer.quarter, {"response": 1})
        for quarter, happened in counted.moments.items():
            self._calendar.add(quarter, happened)
        if counted.first and counted.last:
            self._span = [min([*self._span, counted.first]), max([*self._span, counted.last])]
        self._turns = nlargest(LONGEST, (*self._turns, *counted.turns), WORKING_TIME)
        self._counts["all_sessions"] += 1
        prompts = {quarter: what.get("prompt", 0) for quarter, what in counted.moments.items()}
        part = SessionPart(
            session=counted.session,
            counts=counted.counts,
            spent=counted.spent,
            tools={name: tool.outcomes for name, tool in counted.tools.items()},
            agents=counted.agents,
            files=counted.files,
            prompts={quarter: count for quarter, count in prompts.items() if count},
        )
        self._parts.append(part)
        if counted.session:
            self._counts["sessions"] += 1
            self._projects.add(counted.session.project)
            sessions = (*self._sessions, counted.session)
            self._sessions = nlargest(LONGEST, sessions, WORKING_TIME)
        elif counted.has_records:
            self._counts["copied_sessions"] += 1

    def figures(self) -> ArchiveFigures:
        """Return the figures so far."""
        answers = self._answers.by(lambda _: "all").get("all", ResponseSum())
        models = self._answers.by(lambda answer: answer.model).items()
        return ArchiveFigures(
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
            models=_by_size(
                (ModelFigures(name, n.responses, n.tokens) for name, n in models), "responses"
            ),
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
        """Return the share of each session in the figures, in the order they were added."""
        models = self._answers.owned(lambda answer: answer.model)
        agents = self._answers.owned(lambda answer: answer.agents)
        return tuple(
            replace(
                part,
                models={n: (c.responses, c.tokens) for n, c in models.get(place, {}).items()},
                agent_tokens={n: c.tokens for n, c in agents.get(place, {}).items() if n},
            )
            for place, part in enumerate(self._parts)
        )

    def _agent_figures(self) -> tuple[AgentFigures, ...]:
        answers = self._answers.by(lambda answer: answer.agents)
        found: list[AgentFigures] = []
        for name, counts in self._agents.items():
            spoken = answers.get(name, ResponseSum())
            found.append(
                AgentFigures(name, counts.agents, counts.calls, spoken.responses, spoken.tokens)
            )
        return tuple(sorted(_by_size(found, "agents"), key=lambda row: row.type == SERVICE))


def settle_counts(counted: SessionCounts) -> SessionCounts:
    """Return the counts of a session that shares nothing with others, its responses added up."""
    answers = ResponseCounts()
    moments = {quarter: dict(happened) for quarter, happened in counted.moments.items()}
    found = replace(counted, moments=moments)
    for answer in counted.answers:
        if answers.add(answer):
            found.note("response", answer.quarter)
    return replace(found, answers=answers.settled())
