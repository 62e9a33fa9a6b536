"""The entries of a session file as the client loads them, and the values of a resumed context."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any, TypeAlias

from plait.graph.leaf import (
    CHAIN_TYPES,
    Entries,
    EntryAccessors,
    keep_preserved,
    resolve_parents,
)
from plait.record import Record, System
from plait.record.codec import BYTE_ORDER_MARK, BlockHead
from plait.record.time import parse_javascript_time
from plait.record.types import (
    NOTHING_PRESERVED,
    Preserved,
    get_content_blocks,
    get_timestamp,
    has_message,
)

Block: TypeAlias = dict[str, Any]
"""One content block as the API takes it."""

Message: TypeAlias = tuple[str, list[Block]]
"""A role and its blocks."""

NO_CONTENT = "(no content)"
"""What the client sends in place of empty content."""


class Reason(StrEnum):
    """Why a record is not among the messages."""

    ABANDONED = "abandoned branch"
    API_ERROR = "api error"
    BEFORE_COMPACTION = "before compaction"
    BRIDGED = "bridged progress"
    CLEARED = "before a cleared context"
    EMPTY = "empty"
    NO_MESSAGE = "no message"
    NO_RENDERED_TEXT = "attachment without text"
    OTHER_SESSION = "of another session"
    OWN_WORDS = "sent with text that no log contains"
    REPLACED = "replaced by a later line"
    SIDECHAIN = "sidechain"
    SYSTEM = "system entry"
    THINKING_ONLY = "thinking-only"
    UNANSWERED = "unanswered call dropped"
    UNKNOWN_TYPE = "unknown type"
    UNREAD = "line that Claude Code cannot read"
    """It begins with a byte order mark, and the file does not begin with it."""
    UNSEEN = "not part of the conversation"
    """On the active line, but not on the chain that the client sends."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record of the file that is not in the messages."""

    uuid: str
    line: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where the client resumes, without what it would send."""

    chain: tuple[str, ...] = ()
    """The records of the chain, oldest first; empty if it would not resume."""
    open_calls: tuple[str, ...] = ()
    """Calls at its end that the client answers itself because they have no result."""
    needs_answer: bool = False
    """Whether it then adds an answer too."""


@dataclass(frozen=True, slots=True)
class Context:
    """What Claude will see when a session is resumed."""

    resumes: bool
    why_not: str | None
    leaf: str | None
    chain: tuple[str, ...]
    messages: list[Message]
    """In the form for comparing: no reminders, no system texts, no signatures."""
    request: list[Message]
    """Complete: reminders, system texts and signatures kept, ready for sending."""
    left_out: tuple[LeftOut, ...]


LoadedEntries: TypeAlias = Entries[Record]
"""The records of a file as the client loads them."""


@dataclass(frozen=True, slots=True)
class OutgoingEntry:
    """One entry of the chain as it will be sent: its role and blocks."""

    number: int
    """The entry it comes from; ROOT if the client added it."""
    role: str
    blocks: list[Block]
    message_id: str | None = None
    is_note: bool = False
    """Whether it is an attachment, which moves to the beginning of its turn."""
    is_apart: bool = False
    """Whether it is an attachment that follows a result and never becomes part of it."""
    place: int = 0
    """The position of this text among those of its attachment."""
    is_queued: bool = False
    """Whether it was typed while the model worked: it comes before the others of its turn."""
    is_plain: bool = False
    """Whether its prompt is a string, not blocks."""
    blank: tuple[Block, ...] = ()
    """Blank texts of an answer that has nothing else: sent if no other part joins its response."""
    is_error: bool = False
    """Whether it is an API error: not sent, but it separates its neighbours."""


def get_block_heads(record: Record) -> list[BlockHead]:
    """Return the heads of the content blocks; none for a string."""
    message = record.envelope.message
    if message is None:
        return []
    if message.content is None:  # a list with something else among its blocks
        return [BlockHead(type=block["type"]) for block in get_content_blocks(record)]
    return message.content if isinstance(message.content, list) else []


def get_call_ids(record: Record) -> list[str]:
    """Return the ids of the tool calls in a response."""
    return [head.id for head in get_block_heads(record) if head.type == "tool_use" and head.id]


def has_calls(record: Record) -> bool:
    """Return whether a response calls a tool."""
    is_answer = record.envelope.type == "assistant"
    return is_answer and "tool_use" in [head.type for head in get_block_heads(record)]


def get_result_ids(record: Record) -> list[str]:
    """Return the ids of the calls that an entry answers."""
    heads = get_block_heads(record)
    return [head.tool_use_id for head in heads if head.type == "tool_result" and head.tool_use_id]


def is_result(record: Record) -> bool:
    """Return whether an entry carries a tool result."""
    is_user = record.envelope.type == "user"
    return is_user and "tool_result" in [head.type for head in get_block_heads(record)]


def is_boundary(record: Record) -> bool:
    """Return whether a compaction begins here."""
    envelope = record.envelope
    return envelope.type == "system" and envelope.subtype == "compact_boundary"


def is_note(record: Record) -> bool:
    """Return whether an entry only accompanies others: an attachment, a notice, a meta prompt."""
    kind = record.envelope.type
    if kind == "user":
        return record.is_meta and not is_result(record)
    return kind == "attachment" or (kind == "system" and not is_boundary(record))


def is_blank(block: dict[str, Any]) -> bool:
    """Return whether a block is a text of white space only."""
    return block["type"] == "text" and not block["text"].strip()


def is_thinking(block: dict[str, Any]) -> bool:
    """Return whether a block is thinking."""
    return block["type"] in ("thinking", "redacted_thinking")


def get_model(record: Record) -> str | None:
    """Return the model of a response."""
    return record.envelope.message.model if record.envelope.message else None


def get_preserved(record: Record) -> Preserved:
    """Return what a compaction preserves."""
    return (record.preserved if isinstance(record, System) else None) or NOTHING_PRESERVED


RECORD_ACCESSORS: EntryAccessors[Record] = EntryAccessors(
    kind=attrgetter("envelope.type"),
    subtype=attrgetter("envelope.subtype"),
    side=attrgetter("envelope.is_sidechain"),
    time=lambda record: parse_javascript_time(record.envelope.timestamp),
    timestamp=lambda record: get_timestamp(record.envelope),
    response=attrgetter("message_id"),
    calls=get_call_ids,
    results=get_result_ids,
    is_result=is_result,
    is_note=is_note,
    attends=lambda record: getattr(record.envelope.attachment, "tool_use_id", None),
    is_boundary=is_boundary,
    preserved=get_preserved,
)


FULL_READ_LIMIT = 5_242_880
"""File size above which the client skips what is before the last compaction."""


def load_session(records: Iterable[Record], size: int) -> tuple[LoadedEntries, list[LeftOut]]:
    """Return the entries of a file, and the other records with the reason why they are left out."""
    lines, skipped = list(records), list[LeftOut]()
    starts = [place for place, record in enumerate(lines) if is_boundary(record)]
    if size > FULL_READ_LIMIT and starts:
        head, tail = lines[: starts[-1]], lines[starts[-1] :]
        preserved = get_preserved(tail[0])
        if preserved.listed is not None:
            chosen = frozenset(preserved.listed)
            kept = {id(record) for record in head if record.uuid in chosen}
        else:
            first = preserved.head
            uuids = [record.uuid for record in head]
            start = uuids.index(first) if first is not None and first in uuids else len(head)
            kept = set(map(id, head[start:]))
        skipped = [
            LeftOut(record.uuid, record.line, Reason.BEFORE_COMPACTION)
            for record in head
            if record.uuid is not None and id(record) not in kept
        ]
        still = [record for record in head if record.uuid is None or id(record) in kept]
        lines = [*still, *tail]
    reader = EntryLoader()
    for record in lines:
        reader.take(record)
    loaded = reader.finish()
    return loaded, [*skipped, *reader.left_out]


class EntryLoader:
    """Loads one record after another."""

    def __init__(self) -> None:
        self.entries: LoadedEntries = Entries(RECORD_ACCESSORS)
        self.parent_uuids: list[str | None] = []
        self.bridges: dict[str, str | None] = {}
        self.dropped: dict[str, str | None] = {}
        self.left_out: list[LeftOut] = []
        self.newest = ""

    def take(self, record: Record) -> None:
        """Add a record: an entry, a bridge, a pointer, or something the client ignores."""
        envelope = record.envelope
        kind, uuid = envelope.type, envelope.uuid
        if record.offset and record.raw.startswith(BYTE_ORDER_MARK):
            if uuid:
                self.left_out.append(LeftOut(uuid, record.line, Reason.UNREAD))
        elif kind == "last-prompt":
            names_leaf = envelope.leaf_uuid is not None or b'"leafUuid"' in record.raw  # or null
            self.entries.has_pointer = self.entries.has_pointer or names_leaf
            self.entries.point(envelope.leaf_uuid, explicit=envelope.explicit is True)
        elif not uuid or kind is None:
            return
        elif kind in CHAIN_TYPES:
            self.enter(record, uuid)
        elif kind == "progress":
            parent = record.parent_uuid or None
            self.bridges[uuid] = self.bridges.get(parent, parent) if parent is not None else None
            self.left_out.append(LeftOut(uuid, record.line, Reason.BRIDGED))
        else:
            # format: unknown types are not bridged; their children look for a parent by time
            self.left_out.append(LeftOut(uuid, record.line, Reason.UNKNOWN_TYPE))

    def enter(self, record: Record, uuid: str) -> None:
        """Add an entry; a repeated uuid keeps its position and takes the new content."""
        parent = record.parent_uuid or None
        # format: bridges count only for lines that follow them
        parent = self.bridges.get(parent, parent) if parent is not None else None
        entries = self.entries
        if not _is_readable(record):
            reason = Reason.SIDECHAIN if record.is_sidechain else Reason.NO_MESSAGE
            self.left_out.append(LeftOut(uuid, record.line, reason))
            if uuid not in entries.index:
                self.dropped[uuid] = parent
            return
        number = entries.index.setdefault(uuid, len(entries.records))
        if number == len(entries.records):
            entries.records.append(record)
            self.parent_uuids.append(parent)
        else:
            self.left_out.append(LeftOut(uuid, entries.records[number].line, Reason.REPLACED))
            entries.records[number] = record
            self.parent_uuids[number] = parent
        if not record.is_sidechain:
            entries.lines.append(number)
            entries.follow()
            time = get_timestamp(record.envelope) or ""
            if time > self.newest:
                entries.newest, self.newest = number, time
        if is_boundary(record):
            entries.forget_pointer()  # format: earlier pointers no longer count

    def finish(self) -> LoadedEntries:
        """Return the entries with their parents by number."""
        entries = self.entries
        entries.is_read = [True] * len(entries.records)
        entries.parents = resolve_parents(entries.index, self.parent_uuids, self.dropped)
        keep_preserved(entries)
        return entries


def _is_readable(record: Record) -> bool:
    return record.envelope.type in ("attachment", "system") or has_message(record)
