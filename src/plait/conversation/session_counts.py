"""The counts of one session for the statistics of an archive, and which session owns a record.

A session that was resumed or forked holds copies of records: only the first session with a record
counts it. Totals and index rows are computed from the same counts.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from plait.conversation.costs import TYPED
from plait.conversation.model import (
    AssistantText,
    ClientNote,
    CompactionItem,
    Conversation,
    FoldedItems,
    Item,
    Response,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.usage import NO_TOKENS, Tokens
from plait.conversation.walk import unfold_items
from plait.graph.model import LineKind
from plait.record.time import format_sortable, format_timestamp


class ToolFigures(Struct, frozen=True):
    """Number, outcomes and durations of a tool's calls."""

    name: str
    calls: int
    failed: int
    rejected: int
    interrupted: int
    missing: int
    """Calls without a result in the log."""
    total_ms: float
    """From the call to its result, including time for permission; parallel calls each count."""
    median_ms: float | None


class ModelFigures(Struct, frozen=True):
    """The responses of a model."""

    model: str
    responses: int
    tokens: Tokens


class AgentFigures(Struct, frozen=True):
    """The agents of one kind."""

    type: str
    agents: int
    calls: int
    responses: int
    tokens: Tokens


class FileFigures(Struct, frozen=True):
    """How often a file was touched."""

    path: str
    changes: int
    reads: int
    added: int
    removed: int


class DayFigures(Struct, frozen=True):
    """What happened on one day."""

    day: str
    prompts: int
    responses: int
    calls: int
    failed: int = 0


class LongTurn(Struct, frozen=True):
    """One of the longest turns."""

    session: str
    conversation: str
    turn: int
    started: str | None
    working_ms: int | float
    words: str
    """The beginning of its prompt."""


class LongSession(Struct, frozen=True):
    """One of the sessions with the most work time."""

    session: str
    project: str
    title: str | None
    turns: int
    working_ms: int | float


class ArchiveFigures(Struct, frozen=True, kw_only=True):
    """The figures of an archive or a part of it; every record counts once."""

    sessions: int = 0
    """Sessions with content of their own."""
    all_sessions: int = 0
    """Sessions that were read."""
    copied_sessions: int = 0
    """Sessions whose content others contain, or without content in this period."""
    projects: int = 0
    first: str | None = None
    last: str | None = None
    turns: int = 0
    prompts: int = 0
    """Typed by the user, including queued and retracted ones."""
    queued: int = 0
    retracted: int = 0
    commands: int = 0
    shell_lines: int = 0
    interruptions: int = 0
    responses: int = 0
    """Of models, in all conversations."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    api_errors: int = 0
    """Errors in place of a response."""
    api_retries: int = 0
    rewinds: int = 0
    compactions: int = 0
    agents: int = 0
    service_agents: int = 0
    words_typed: int = 0
    words_said: int = 0
    working_ms: float = 0
    asking_ms: float = 0
    waiting_ms: float = 0
    tokens: Tokens = NO_TOKENS
    tools: tuple[ToolFigures, ...] = ()
    models: tuple[ModelFigures, ...] = ()
    agent_types: tuple[AgentFigures, ...] = ()
    """Agents by kind; the client's background requests come last, as one kind."""
    files: tuple[FileFigures, ...] = ()
    hours: tuple[int, ...] = (0,) * 24
    """Prompts by the hour of the day."""
    weekdays: tuple[int, ...] = (0,) * 7
    """Prompts by the day of the week, Monday first."""
    days: tuple[DayFigures, ...] = ()
    """The days with activity."""
    longest_turns: tuple[LongTurn, ...] = ()
    longest_sessions: tuple[LongSession, ...] = ()


DayEvent: TypeAlias = Literal["prompt", "response", "call", "failed"]
QUARTER = 15 * 60
"""Time zones differ by quarters of an hour: so hours and days are sums of quarters."""
UNNAMED = "unnamed"


class ToolCounts(Struct, array_like=True):
    """The calls of one tool."""

    outcomes: dict[str, int] = field(default_factory=dict)
    times: bytes = b""
    """The duration of each in milliseconds, as an array of floats."""

    def durations(self) -> "array[float]":
        """Return the duration of each call."""
        return array("f", self.times)


class AgentCounts(Struct, gc=False, array_like=True):
    """The agents of one kind."""

    agents: int = 0
    calls: int = 0

    def add(self, other: "AgentCounts") -> None:
        """Add the agents of another session."""
        self.agents += other.agents
        self.calls += other.calls


class FileCounts(Struct, gc=False, array_like=True):
    """The touches of one file."""

    changes: int = 0
    reads: int = 0
    added: int = 0
    removed: int = 0

    def add(self, other: "FileCounts") -> None:
        """Add the touches of another session."""
        self.changes += other.changes
        self.reads += other.reads
        self.added += other.added
        self.removed += other.removed


class ResponseCount(Struct, frozen=True, gc=False, array_like=True):
    """A response, or several that need not be distinguished."""

    key: int | None
    """Its key; None for a response without any, and for several."""
    model: str = UNNAMED
    agents: str | None = None
    """The kind of agent that it belongs to."""
    tokens: Tokens = NO_TOKENS
    quarter: int | None = None
    """When it began; None if unknown or already counted."""
    responses: int = 1

    @property
    def output_tokens(self) -> int:
        """Its output tokens, which decide which of its copies counts."""
        return self.tokens.output


class SessionCounts(Struct, array_like=True):
    """What a session adds; nothing of it counts if it owns no record."""

    counts: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int | float] = field(default_factory=dict)
    tools: dict[str, ToolCounts] = field(default_factory=dict)
    agents: dict[str, AgentCounts] = field(default_factory=dict)
    files: dict[str, FileCounts] = field(default_factory=dict)
    answers: list[ResponseCount] = field(default_factory=list)
    moments: dict[int, dict[DayEvent, int]] = field(default_factory=dict)
    """What happened in each quarter of an hour since 1970."""
    turns: list[LongTurn] = field(default_factory=list)
    """The longest turns."""
    session: LongSession | None = None
    """None if it owns nothing."""
    first: str | None = None
    last: str | None = None
    earliest: str | None = None
    """The time of its first record, its own or not."""
    latest: str | None = None
    has_records: bool = False
    """Whether it has any record of a conversation, its own or not."""

    def note(self, what: DayEvent, quarter: int | None) -> None:
        """Add something that happened; without a time it belongs to no day."""
        if quarter is not None:
            counts = self.moments.setdefault(quarter, {})
            counts[what] = counts.get(what, 0) + 1


class SessionPart(Struct, frozen=True, kw_only=True, gc=False):
    """The share of one session in the figures of many: all shares add up to them."""

    session: LongSession | None
    """None if it owns nothing."""
    counts: dict[str, int]
    spent: dict[str, int | float]
    tools: dict[str, dict[str, int]]
    """Calls by tool and outcome."""
    agents: dict[str, AgentCounts]
    files: dict[str, FileCounts]
    prompts: dict[int, int]
    """By the quarter of an hour in which they were typed."""
    models: dict[str, tuple[int, Tokens]] = {}
    """Responses and their usage, by model."""
    agent_tokens: dict[str, Tokens] = {}
    """By the kind of agent."""


class SessionShare(Struct, frozen=True, array_like=True):
    """What a session adds if it shares nothing with others, and how to tell whether it does."""

    counts: SessionCounts
    marks: bytes
    """Hashes of its records, stable between runs."""
    is_copy: bool
    """Whether some of its records were copied under other ids."""


def hash_text(text: str) -> int:
    """Return a hash of a text that is stable between runs."""
    data = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(data, "little", signed=True)


END_OF_TIME = "~"
NOTHING_COPIED: Mapping[str, str] = {}
NO_COUNTS: Mapping[str, int] = {}
STARTED: Mapping[LineKind, str] = {
    "agent": "agents",
    "service": "service_agents",
    "branch": "rewinds",
}
"""The figure that a conversation itself adds to."""


class Ownership:
    """Knows which records were seen before, and which are in a period.

    A session that was resumed or forked in another file contains copies of earlier records: the
    first session owns them. A copy under another id is the record it was copied from, and that in
    turn its own original.
    """

    def __init__(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        mark_of: Callable[[str], int] = hash,
    ) -> None:
        self._since, self._until = format_timestamp(since), format_timestamp(until) or END_OF_TIME
        self._mark_of = mark_of
        self.seen: set[int] = set()
        """The hashes of all records so far."""
        self._renamed: set[int] = set()
        """Those of records that were copied under other ids."""
        self._own: set[str] = set()
        self._origins: dict[str, str] = {}
        self.start_session()

    def start_session(self, copied: Mapping[str, str] = NOTHING_COPIED) -> None:
        """Begin another session, in which some records were copied from others."""
        self._own.clear()
        self._renamed.update(map(self._mark_of, copied))
        self._origins.update({uuid: self._origin(origin) for uuid, origin in copied.items()})
        self.first: str | None = None
        """The first time of what the current session owns."""
        self.last: str | None = None
        self.earliest: str | None = None
        """The first time of everything in it."""
        self.latest: str | None = None

    def are_new(self, marks: Iterable[int]) -> bool:
        """Return whether no earlier session has any of its records, under whatever id."""
        return self.seen.isdisjoint(marks) and self._renamed.isdisjoint(marks)

    @property
    def owns_anything(self) -> bool:
        """Return whether the current session owns anything."""
        return bool(self._own)

    def owns(self, item: Item) -> bool:
        """Return whether the current session is the first with the record of an item."""
        if item.uuid:
            key = self._origin(item.uuid)
        elif isinstance(item, UserMessage):
            key = f"{item.time} {item.text}"
        else:
            return False
        if not (key in self._own or self._is_first(key, item.time)):
            return False
        self._own.add(key)
        return True

    def owns_response(self, response: Response) -> bool:
        """Return whether the current session owns the records of a response."""
        return any(self._origin(uuid) in self._own for uuid in response.uuids)

    def _origin(self, uuid: str) -> str:
        return self._origins.get(uuid, uuid)

    def is_in_time(self, time: str | None) -> bool:
        """Return whether a time is in the period; no time counts as inside."""
        stamp = format_sortable(time)
        if stamp is None:
            return True
        self.earliest = min(self.earliest or stamp, stamp)
        self.latest = max(self.latest or stamp, stamp)
        return self._since <= stamp < self._until

    def _is_first(self, key: str, time: str | None) -> bool:
        """Return whether something is in the period and new; remember it."""
        if not self.is_in_time(time):
            return False
        mark = self._mark_of(key)  # a third of the memory; collisions are too improbable to matter
        if mark in self.seen:
            return False
        self.seen.add(mark)
        if stamp := format_sortable(time):
            self.first = min(self.first or stamp, stamp)
            self.last = max(self.last or stamp, stamp)
        return True


class CountedItem(NamedTuple):
    """An item of a conversation, and what it adds."""

    turn: Turn
    item: Item
    is_own: bool
    """Whether no earlier session has it."""
    is_first: bool
    """Whether it is the first in its conversation that counts."""
    adds: Mapping[str, int]
    """By the name of the figure."""


def iter_counted_items(
    conversation: Conversation, agents: str | None, ownership: Ownership
) -> Iterator[CountedItem]:
    """Yield all items of a conversation, with the kind of agent or none."""
    begun = False
    for turn in conversation.turns:
        for item in _unfold_turn(turn):
            if not ownership.owns(item):
                yield CountedItem(turn, item, False, False, NO_COUNTS)
                continue
            adds = _count_item(item, conversation, is_of_person=agents is None)
            if not begun and (name := STARTED.get(conversation.kind)):
                adds = {name: 1, **adds}
            yield CountedItem(turn, item, True, not begun, adds)
            begun = True


def iter_counted_errors(
    conversation: Conversation, ownership: Ownership
) -> Iterator[tuple[int, Response]]:
    """Yield the errors in place of responses, after all items were iterated."""
    for number, response in enumerate(conversation.responses):
        if response.is_error and ownership.owns_response(response):
            yield number, response


def iter_counted_responses(
    conversation: Conversation, ownership: Ownership
) -> Iterator[tuple[int, Response]]:
    """Yield the responses of models, including copies: whoever adds them up counts each once."""
    for number, response in enumerate(conversation.responses):
        if not response.is_synthetic and ownership.is_in_time(response.started):
            yield number, response


def iter_counted_turns(
    conversation: Conversation, ownership: Ownership
) -> Iterator[tuple[Turn, UserMessage]]:
    """Yield the turns whose prompt is the session's own, after all items were iterated."""
    for turn in conversation.turns:
        if turn.opener and ownership.owns(turn.opener):
            yield turn, turn.opener


def _unfold_turn(turn: Turn) -> Iterator[Item]:
    for item in turn.items:
        if isinstance(item, FoldedItems):
            yield item
            yield from unfold_items((item,))
        else:
            yield item


def _count_item(item: Item, conversation: Conversation, *, is_of_person: bool) -> Mapping[str, int]:
    match item:
        case ToolCall(is_intermediate=False, outcome=outcome):
            return {"calls": 1, outcome: 1} if outcome in ("failed", "rejected") else CALL
        case UserMessage():
            if item.kind == "interruption":
                return INTERRUPTION
            if not is_of_person:
                return NO_COUNTS
            if item.is_typed and item.kind in TYPED:
                queued = {"queued": 1} if item.kind == "queued" else NO_COUNTS
                return {"prompts": 1, **queued, "words_typed": len(item.text.split())}
            return OF_PERSON.get(item.kind, NO_COUNTS)
        case AssistantText(is_intermediate=False) if not conversation.responses[
            item.response
        ].is_synthetic:
            return {"words_said": len(item.text.split())}
        case CompactionItem():
            return COMPACTION
        case FoldedItems(reason="retracted" | "resent"):
            return RETRACTION
        case ClientNote(subtype="api_error"):
            return RETRY
        case _:
            return NO_COUNTS


CALL = {"calls": 1}
COMPACTION = {"compactions": 1}
RETRACTION = {"retracted": 1}
RETRY = {"api_retries": 1}
INTERRUPTION = {"interruptions": 1}
OF_PERSON: Mapping[str, Mapping[str, int]] = {
    "command": {"commands": 1},
    "bash": {"shell_lines": 1},
}
