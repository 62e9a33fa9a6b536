"""Conversations, session after session, to what each adds to the statistics of an archive.

What an earlier session has already is left out. Responses are told one by one: a copy of one
may stand in any session, and whoever adds up counts each once.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nlargest

from plait.conversation.changes import CHANGING, Touch, of_call
from plait.conversation.model import (
    Called,
    Compacted,
    Conversation,
    Conversations,
    Folded,
    Item,
    Noted,
    Response,
    Said,
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
from plait.conversation.stats.statistics import LONGEST, SERVICE
from plait.conversation.tools import tool_named
from plait.conversation.totals import TYPED
from plait.conversation.walk import calls_of, opened
from plait.record.codec import mapping, said
from plait.record.time import moment, sortable, stamp_of

FOR_EVER = "~"
NOTHING_COPIED: Mapping[str, str] = {}


class Ownership:
    """Knows which records were met before, and which lie between two moments.

    A session that was resumed or forked in another file carries copies of records of the
    earlier one: whoever comes first owns them. A copy under another id is the record that it
    says it was copied from, and that one what it was copied from itself.
    """

    def __init__(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        mark_of: Callable[[str], int] = hash,
    ) -> None:
        self._since, self._until = stamp_of(since), stamp_of(until) or FOR_EVER
        self._mark_of = mark_of
        self.met: set[int] = set()
        """The marks of all records so far."""
        self._renamed: set[int] = set()
        """Those of records that were copied under other ids."""
        self._own: set[str] = set()
        self._origins: dict[str, str] = {}
        self.begin()

    def begin(self, copied: Mapping[str, str] = NOTHING_COPIED) -> None:
        """Begins another session, in which some records were copied from others."""
        self._own.clear()
        self._renamed.update(map(self._mark_of, copied))
        self._origins.update({uuid: self._origin(origin) for uuid, origin in copied.items()})
        self.first: str | None = None
        """Of what the session at hand owns."""
        self.last: str | None = None
        self.earliest: str | None = None
        """Of all that stands in it."""
        self.latest: str | None = None

    def are_new(self, marks: Iterable[int]) -> bool:
        """Tells whether no session so far has anything of another, under whatever id."""
        return self.met.isdisjoint(marks) and self._renamed.isdisjoint(marks)

    @property
    def is_any(self) -> bool:
        """Tells whether the session at hand owns anything."""
        return bool(self._own)

    def owns(self, item: Item) -> bool:
        """Tells whether the session at hand is the first with the record of an item."""
        key = self._origin(item.uuid) if item.uuid else _loose_key(item)
        if key is None or not (key in self._own or self._is_first(key, item.time)):
            return False
        self._own.add(key)
        return True

    def has(self, response: Response) -> bool:
        """Tells whether the session at hand owns the records of a response."""
        return any(self._origin(uuid) in self._own for uuid in response.uuids)

    def _origin(self, uuid: str) -> str:
        return self._origins.get(uuid, uuid)

    def is_in_time(self, time: str | None) -> bool:
        """Tells whether something lies between the moments; what has no time does."""
        stamp = sortable(time)
        if stamp is None:
            return True
        self.earliest = min(self.earliest or stamp, stamp)
        self.latest = max(self.latest or stamp, stamp)
        return self._since <= stamp < self._until

    def _is_first(self, key: str, time: str | None) -> bool:
        """Tells whether something lies in time and was not met before; from now on it was."""
        if not self.is_in_time(time):
            return False
        mark = self._mark_of(key)  # takes a third of the room; two that clash are not to be met
        if mark in self.met:
            return False
        self.met.add(mark)
        if stamp := sortable(time):
            self.first = min(self.first or stamp, stamp)
            self.last = max(self.last or stamp, stamp)
        return True


def _loose_key(item: Item) -> str | None:
    return f"{item.time} {item.text}" if isinstance(item, Told) else None


WORDS = 200
UNKNOWN = "unknown"
AGENTS = frozenset({"agent", "service"})


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
        types = _agent_types(conversations)
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
        is_first = True
        for item in _items_in(conversation):
            self.found.has_records = self.found.has_records or item.uuid is not None
            if not self.ownership.owns(item):
                continue
            if is_first:
                is_first = False
                self._add_conversation(conversation, agents)
            if isinstance(item, Called):
                self._add_call(item, agents)
            elif isinstance(item, Told):
                self._add_told(item, is_of_person=agents is None)
            elif isinstance(item, Said):
                is_heard = not conversation.responses[item.response].is_synthetic
                self._count("words_said", _words_said(item) if is_heard else 0)
            elif name := _counted_as(item):
                self._count(name)

    def _add_conversation(self, conversation: Conversation, agents: str | None) -> None:
        if agents:
            self.found.agents.setdefault(agents, AgentCounts()).agents += 1
        self._count("agents", conversation.kind == "agent")
        self._count("service_agents", conversation.kind == "service")
        self._count("rewinds", conversation.kind == "branch")

    def _add_call(self, called: Called, agents: str | None) -> None:
        if called.is_intermediate:
            return
        self._add_tool(called.name or UNNAMED, called)
        self._count("calls")
        self._count("failed", called.outcome == "failed")
        self._count("rejected", called.outcome == "rejected")
        self.found.note("call", _quarter_of(called.time))
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

    def _add_told(self, told: Told, *, is_of_person: bool) -> None:
        self._count("interruptions", told.kind == "interruption")
        if not is_of_person:
            return
        self._count("commands", told.kind == "command")
        self._count("shell_lines", told.kind == "bash")
        if told.is_typed and told.kind in TYPED:
            self._count("prompts")
            self._count("queued", told.kind == "queued")
            self._count("words_typed", len(told.text.split()))
            self.found.note("prompt", _quarter_of(told.time))

    def _add_responses(self, conversation: Conversation, agents: str | None) -> None:
        """Counts the responses of a model, and the errors that stand in their place."""
        for response in conversation.responses:
            self._count("api_errors", response.is_error and self.ownership.has(response))
            if not response.is_synthetic and self.ownership.is_in_time(response.started):
                self.found.answers.append(_answer_of(response, agents))

    def _add_turns(self, conversation: Conversation) -> None:
        """Counts the turns whose prompt is the session's own."""
        found, spent = self.found, self.found.spent
        for turn in conversation.turns:
            if turn.opener and self.ownership.owns(turn.opener):
                working = turn.working_ms or 0
                self._count("turns")
                self.working.append(working)
                spent["working_ms"] = spent.get("working_ms", 0) + working
                spent["asking_ms"] = spent.get("asking_ms", 0) + turn.asking_ms
                spent["waiting_ms"] = spent.get("waiting_ms", 0) + (turn.waited_ms or 0)
                longer = (*found.turns, _long_turn(conversation, turn, turn.opener))
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


def _answer_of(response: Response, agents: str | None) -> ResponseCount:
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


def _items_in(conversation: Conversation) -> Iterator[Item]:
    for turn in conversation.turns:
        for item in turn.items:
            if isinstance(item, Folded):
                yield item
                yield from opened((item,))
            else:
                yield item


def _words_said(said_: Said) -> int:
    """Returns the words of the model, none where it says them again in full."""
    return 0 if said_.is_intermediate else len(said_.text.split())


def _counted_as(item: Item) -> str | None:
    match item:
        case Compacted():
            return "compactions"
        case Folded(reason="retracted" | "resent"):
            return "retracted"
        case Noted(subtype="api_error"):
            return "api_retries"
        case _:
            return None


def _agent_types(conversations: Conversations) -> dict[str, str]:
    known = {
        name: _agent_type(call)
        for conversation in conversations.by_line.values()
        for _, call in calls_of(conversation)
        for name in call.agents
    }
    return {
        one.id: SERVICE if one.kind == "service" else known.get(one.id, UNKNOWN)
        for one in conversations.by_line.values()
        if one.kind in AGENTS
    }


def _agent_type(called: Called) -> str:
    view = mapping(called.result.detail if called.result else None)
    asked = said(mapping(called.input), "subagent_type") or said(view, "agentType")
    return asked or tool_named(called.name).agent or called.name
