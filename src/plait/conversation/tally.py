"""Sessions, one after the other, to figures in which every record counts once.

What is kept of a session is numbers, so that an archive of any size can be counted.
"""

from collections import Counter, defaultdict
from datetime import datetime, tzinfo
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.conversation.counters import (
    AgentCount,
    Answers,
    Calendar,
    FileCount,
    ToolCount,
    by_size,
)
from plait.conversation.figures import AgentFigures, Figures, LongSession, LongTurn
from plait.conversation.share import Share

if TYPE_CHECKING:  # shares that were kept are added up without a conversation
    from plait.conversation.model import Conversations
    from plait.conversation.sharing import Sharing

LONGEST = 5
SERVICE = "service"


class Tally:
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
        self._agents: defaultdict[str, AgentCount] = defaultdict(AgentCount)
        self._files: defaultdict[str, FileCount] = defaultdict(FileCount)
        self._answers = Answers()
        self._turns: list[LongTurn] = []
        self._sessions: list[LongSession] = []

    @cached_property
    def _sharing(self) -> "Sharing":
        from plait.conversation.sharing import Sharing

        return Sharing(self.since, self.until)

    def add(self, conversations: "Conversations") -> None:
        """Counts all conversations of a session; what an earlier one had is left out."""
        self.take(self._sharing.share(conversations))

    def take(self, share: Share) -> None:
        """Counts what a session adds."""
        self._counts.update(share.counts)
        for name, spent in share.spent.items():
            self._spent[name] += spent
        self._take_parts(share)
        for answer in share.answers:
            if self._answers.add(answer) and answer.quarter is not None:
                self._calendar.add(answer.quarter, {"response": 1})
        for quarter, happened in share.moments.items():
            self._calendar.add(quarter, happened)
        if share.first and share.last:
            self._span = [min([*self._span, share.first]), max([*self._span, share.last])]
        self._turns = nlargest(LONGEST, (*self._turns, *share.turns), lambda one: one.working_ms)
        if share.session:
            self._take_session(share.session)

    def _take_parts(self, share: Share) -> None:
        for name, calls in share.tools.items():
            self._tools[name].add(calls)
        for name, agents in share.agents.items():
            self._agents[name].add(agents)
        for path, touched in share.files.items():
            self._files[path].add(touched)

    def _take_session(self, session: LongSession) -> None:
        """Counts a session that owns something."""
        self._counts["sessions"] += 1
        self._projects.add(session.project)
        found = (*self._sessions, session)
        self._sessions = nlargest(LONGEST, found, lambda one: one.working_ms)

    def figures(self) -> Figures:
        """Returns what has been counted so far."""
        answers = self._answers.total()
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
            tools=by_size((n.figures(name) for name, n in self._tools.items()), "calls"),
            models=by_size(self._answers.by_model(), "responses"),
            agent_types=self._agent_figures(),
            files=by_size((n.figures(path) for path, n in self._files.items()), "changes", "reads"),
            hours=tuple(self._calendar.hours),
            weekdays=tuple(self._calendar.weekdays),
            days=self._calendar.days(),
            longest_turns=tuple(self._turns),
            longest_sessions=tuple(self._sessions),
        )

    def _agent_figures(self) -> tuple[AgentFigures, ...]:
        answers = self._answers.by_agents()
        found = (n.figures(name, answers.get(name)) for name, n in self._agents.items())
        return tuple(sorted(by_size(found, "agents"), key=lambda one: one.type == SERVICE))


def settled(share: Share) -> Share:
    """Returns the share of a session that shares nothing with others, its responses added up."""
    answers = Answers()
    moments = {quarter: dict(happened) for quarter, happened in share.moments.items()}
    found = replace(share, moments=moments)
    for answer in share.answers:
        if answers.add(answer):
            found.note("response", answer.quarter)
    return replace(found, answers=answers.settled())
