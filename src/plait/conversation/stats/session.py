"""Conversations, session after session, to what each adds to the statistics of an archive.

What an earlier session has already is left out. Responses are told one by one: a copy of one
may stand in any session, and whoever adds up counts each once.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nlargest

from plait.conversation.agent_types import agent_types
from plait.conversation.changes import CHANGING, Touch, of_call
from plait.conversation.model import (
    Called,
    Conversation,
    Conversations,
    Response,
    Told,
    Turn,
)
from plait.conversation.stats.model import (
    QUARTER,
    UNNAMED,
    AgentCounts,
    FileCounts,
    LongSession,
    LongTurn,
    ResponseCount,
    SessionCounts,
    SessionShare,
    ToolCounts,
    digest,
)
from plait.conversation.stats.owning import (
    NOTHING_COPIED,
    Ownership,
    counted_errors,
    counted_items,
    counted_responses,
    counted_turns,
)
from plait.conversation.stats.statistics import LONGEST
from plait.record.time import moment

WORDS = 200


class SessionCounter:
    """Takes sessions one by one; only what lies between two moments, where they are given."""

    def __init__(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        mark_of: Callable[[str], int] = hash,
    ) -> None:
        self._ownership = Ownership(since, until, mark_of)

    def counts_of(
        self, conversations: Conversations, copied: Mapping[str, str] = NOTHING_COPIED
    ) -> SessionCounts:
        """Returns what all conversations of a session add that no session before it has."""
        self._ownership.begin(copied)
        counting = Counting(self._ownership)
        types = agent_types(conversations)
        for conversation in conversations.by_line.values():
            counting.add(conversation, types.get(conversation.id))
        return counting.counts(conversations.active)

    def takes(self, share: SessionShare) -> bool:
        """Takes a session that was counted alone, if no session so far has anything of it."""
        marks = array("q", share.marks)
        if share.is_copy or not self._ownership.are_new(marks):
            return False
        self._ownership.met.update(marks)
        return True


def share_of(
    conversations: Conversations,
    copied: Mapping[str, str],
    since: datetime | None,
    until: datetime | None,
) -> SessionShare:
    """Returns what a session adds where no other has anything of it, and what tells whether."""
    counter = SessionCounter(since, until, digest)
    counts = counter.counts_of(conversations, copied)
    return SessionShare(counts, array("q", counter._ownership.met).tobytes(), bool(copied))


@dataclass
class Counting:
    """Counts what one session owns."""

    ownership: Ownership
    found: SessionCounts = field(default_factory=SessionCounts)
    times: dict[str, "array[float]"] = field(default_factory=dict)
    working: list[float] = field(default_factory=list)
    """How long each turn took."""

    def counts(self, active: Conversation) -> SessionCounts:
        """Returns what was counted, under the name of the session."""
        found, owned = self.found, self.ownership
        for name, times in self.times.items():
            found.tools[name].times = times.tobytes()
        found.first, found.last = owned.first, owned.last
        found.earliest, found.latest = owned.earliest, owned.latest
        if owned.is_any:
            working = sum(self.working)
            found.session = LongSession(
                active.session, active.project, active.title, len(self.working), working
            )
        return found

    def add(self, conversation: Conversation, agents: str | None) -> None:
        """Counts a conversation, of a kind of agents or of the person."""
        self._add_items(conversation, agents)
        self._add_responses(conversation, agents)
        if agents is None:
            self._add_turns(conversation)

    def _count(self, name: str, count: int = 1) -> None:
        if count:
            self.found.counts[name] = self.found.counts.get(name, 0) + count

    def _add_items(self, conversation: Conversation, agents: str | None) -> None:
        """Counts what stands in a conversation."""
        found = self.found
        for one in counted_items(conversation, agents, self.ownership):
            item = one.item
            found.has_records = found.has_records or item.uuid is not None
            for name, count in one.adds.items():
                self._count(name, count)
            if one.begins and agents:
                found.agents.setdefault(agents, AgentCounts()).agents += 1
            if isinstance(item, Called) and "calls" in one.adds:
                self._add_call(item, agents)
            elif "prompts" in one.adds:
                found.note("prompt", _quarter_of(item.time))

    def _add_call(self, called: Called, agents: str | None) -> None:
        self._add_tool(called.name or UNNAMED, called)
        self.found.note("call", _quarter_of(called.time))
        if called.outcome == "failed":
            self.found.note("failed", _quarter_of(called.time))
        if agents:
            self.found.agents.setdefault(agents, AgentCounts()).calls += 1
        touch = of_call(called, 0) if called.outcome == "ok" else None
        if touch:
            self._add_touch(touch)

    def _add_tool(self, name: str, called: Called) -> None:
        outcomes = self.found.tools.setdefault(name, ToolCounts()).outcomes
        outcomes[called.outcome] = outcomes.get(called.outcome, 0) + 1
        took = called.took_ms
        if took is not None:
            self.times.setdefault(name, array("f")).append(took)

    def _add_touch(self, touch: Touch) -> None:
        file = self.found.files.setdefault(touch.path, FileCounts())
        file.changes += touch.action in CHANGING
        file.reads += touch.action == "read"
        if touch.patch:
            file.added += touch.patch.added
            file.removed += touch.patch.removed

    def _add_responses(self, conversation: Conversation, agents: str | None) -> None:
        """Counts the responses of a model, and the errors that stand in their place."""
        self._count("api_errors", sum(1 for _ in counted_errors(conversation, self.ownership)))
        for _, response in counted_responses(conversation, self.ownership):
            self.found.answers.append(answer_of(response, agents))

    def _add_turns(self, conversation: Conversation) -> None:
        """Counts the turns whose prompt is the session's own."""
        found, spent = self.found, self.found.spent
        for turn, opener in counted_turns(conversation, self.ownership):
            working = turn.working_ms or 0
            self._count("turns")
            self.working.append(working)
            spent["working_ms"] = spent.get("working_ms", 0) + working
            spent["asking_ms"] = spent.get("asking_ms", 0) + turn.asking_ms
            spent["waiting_ms"] = spent.get("waiting_ms", 0) + (turn.waited_ms or 0)
            longer = (*found.turns, _long_turn(conversation, turn, opener))
            found.turns = nlargest(LONGEST, longer, lambda one: one.working_ms)


def _long_turn(conversation: Conversation, turn: Turn, opener: Told) -> LongTurn:
    return LongTurn(
        conversation.session,
        conversation.id,
        turn.number,
        turn.started,
        turn.working_ms or 0,
        opener.text[:WORDS].strip(),
    )


def answer_of(response: Response, agents: str | None) -> ResponseCount:
    """Returns a response as it is counted."""
    key = response.key
    return ResponseCount(
        digest(key) if key else None,
        response.model or UNNAMED,
        agents,
        response.tokens,
        _quarter_of(response.started),
    )


def _quarter_of(stamp: str | None) -> int | None:
    """Returns the quarter of an hour that a time lies in; None where it is none."""
    time = moment(stamp)
    return int(time.timestamp() // QUARTER) if time else None
