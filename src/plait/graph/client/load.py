"""An entry of the chain to small facts about it: its blocks, its calls, what it preserved."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from plait.graph.client.model import LeftOut, Loaded, Reason
from plait.graph.entries import CHAIN_TYPES, MISSING, ROOT, Entries, Told, link_up
from plait.record import Record, System
from plait.record.codec import BYTE_ORDER_MARK
from plait.record.model import BlockHead
from plait.record.record import content_blocks, has_message
from plait.record.time import milliseconds
from plait.record.types.kinds import NOTHING, Preserved


def block_heads(record: Record) -> list[BlockHead]:
    """Returns the heads of the content blocks; none for a string."""
    message = record.envelope.message
    if message is None:
        return []
    if message.content is None:  # a list with something else among its blocks
        return [BlockHead(type=block["type"]) for block in content_blocks(record)]
    return message.content if isinstance(message.content, list) else []


def call_ids(record: Record) -> list[str]:
    """Returns the ids of the tool calls that an answer makes."""
    return [head.id for head in block_heads(record) if head.type == "tool_use" and head.id]


def has_calls(record: Record) -> bool:
    """Whether an answer calls a tool."""
    is_answer = record.envelope.type == "assistant"
    return is_answer and "tool_use" in [head.type for head in block_heads(record)]


def result_ids(record: Record) -> list[str]:
    """Returns the ids of the calls that an entry answers."""
    heads = block_heads(record)
    return [head.tool_use_id for head in heads if head.type == "tool_result" and head.tool_use_id]


def is_result(record: Record) -> bool:
    """Whether an entry carries a tool result."""
    is_user = record.envelope.type == "user"
    return is_user and "tool_result" in [head.type for head in block_heads(record)]


def is_boundary(record: Record) -> bool:
    """Whether a compaction begins here."""
    envelope = record.envelope
    return envelope.type == "system" and envelope.subtype == "compact_boundary"


def is_note(record: Record) -> bool:
    """Whether an entry only accompanies others: an attachment, a notice, a meta prompt."""
    kind = record.envelope.type
    if kind == "user":
        return record.is_meta and not is_result(record)
    return kind == "attachment" or (kind == "system" and not is_boundary(record))


def is_blank(block: dict[str, Any]) -> bool:
    """Whether a block is a text of nothing but white space."""
    return block["type"] == "text" and not block["text"].strip()


def is_thinking(block: dict[str, Any]) -> bool:
    """Whether a block is a thought of the model."""
    return block["type"] in ("thinking", "redacted_thinking")


def model_of(record: Record) -> str | None:
    """Returns the model that answered."""
    return record.envelope.message.model if record.envelope.message else None


def preserved_by(record: Record) -> Preserved:
    """Returns what a compaction keeps in the context."""
    return (record.preserved if isinstance(record, System) else None) or NOTHING


RECORDS: Told[Record] = Told(
    kind=attrgetter("envelope.type"),
    subtype=attrgetter("envelope.subtype"),
    is_sidechain=attrgetter("is_sidechain"),
    time=lambda record: milliseconds(record.envelope.timestamp),
    response=attrgetter("message_id"),
    has_calls=has_calls,
    is_result=is_result,
    is_note=is_note,
    is_boundary=is_boundary,
    preserved=preserved_by,
)


WHOLE_FILE = 5_242_880
"""Above this size the client skips what stands before the last compaction."""


def load(records: Iterable[Record], size: int) -> tuple[Loaded, list[LeftOut]]:
    """Returns the entries of a file, and the records that are no entries with the reason."""
    lines, skipped = _since_compaction(list(records), size)
    reader = Reader()
    for record in lines:
        reader.take(record)
    loaded = reader.loaded()
    link_up(loaded)
    return loaded, [*skipped, *reader.left_out]


def _since_compaction(records: list[Record], size: int) -> tuple[list[Record], list[LeftOut]]:
    starts = [place for place, record in enumerate(records) if is_boundary(record)]
    if size <= WHOLE_FILE or not starts:
        return records, []
    head, tail = records[: starts[-1]], records[starts[-1] :]
    kept = {id(record) for record in _preserved_lines(head, tail[0])}
    skipped = [
        LeftOut(record.uuid, record.line, Reason.BEFORE_COMPACTION)
        for record in head
        if record.uuid is not None and id(record) not in kept
    ]
    still = [record for record in head if record.uuid is None or id(record) in kept]
    return [*still, *tail], skipped


def _preserved_lines(before: list[Record], boundary: Record) -> list[Record]:
    preserved = preserved_by(boundary)
    if preserved.listed is not None:
        chosen = frozenset(preserved.listed)
        return [record for record in before if record.uuid in chosen]
    head = preserved.head
    starts = [place for place, record in enumerate(before) if record.uuid == head]
    return before[starts[0] :] if head is not None and starts else []


class Reader:
    """Takes one record after another."""

    def __init__(self) -> None:
        self.entries: Loaded = Entries(RECORDS)
        self.parent_uuids: list[str | None] = []
        self.bridges: dict[str, str | None] = {}
        self.left_out: list[LeftOut] = []

    def take(self, record: Record) -> None:
        """Adds a record: an entry, a bridge, a pointer, or nothing to the client."""
        envelope = record.envelope
        kind, uuid = envelope.type, envelope.uuid
        if record.offset and record.raw.startswith(BYTE_ORDER_MARK):
            if uuid:
                self.left_out.append(LeftOut(uuid, record.line, Reason.UNREAD))
        elif kind == "last-prompt":
            self.entries.point(envelope.leaf_uuid, explicit=envelope.explicit is True)
        elif not uuid or kind is None:
            return
        elif kind in CHAIN_TYPES:
            self.enter(record, uuid)
        elif kind == "progress":
            self.bridge(record, uuid)
        else:
            # format: unknown types are not bridged, their children look for a parent by time
            self.left_out.append(LeftOut(uuid, record.line, Reason.UNKNOWN_TYPE))

    def enter(self, record: Record, uuid: str) -> None:
        """Adds an entry; a uuid that came before keeps its place and takes the new content."""
        parent = record.parent_uuid or None
        # format: bridges hold only for lines that follow them
        parent = self.bridges.get(parent, parent) if parent is not None else None
        number = self.entries.index.setdefault(uuid, len(self.entries.records))
        if number == len(self.entries.records):
            self.entries.records.append(record)
            self.parent_uuids.append(parent)
        else:
            replaced = self.entries.records[number]
            self.left_out.append(LeftOut(uuid, replaced.line, Reason.REPLACED))
            self.entries.records[number] = record
            self.parent_uuids[number] = parent
        if not record.is_sidechain and _is_readable(record):
            self.entries.lines.append(number)
            self.entries.is_explicit = self.entries.is_cleared = False
        if is_boundary(record):
            self.entries.pointer = None  # format: what was pointed to is over

    def bridge(self, record: Record, uuid: str) -> None:
        """Lets the children of a record that is no entry attach to its parent."""
        parent = record.parent_uuid or None
        self.bridges[uuid] = self.bridges.get(parent, parent) if parent is not None else None
        self.left_out.append(LeftOut(uuid, record.line, Reason.BRIDGED))

    def loaded(self) -> Loaded:
        """Returns the entries with their parents by number."""
        entries = self.entries
        entries.is_read = [_is_readable(record) for record in entries.records]
        entries.parents = [
            ROOT if parent is None else entries.index.get(parent, MISSING)
            for parent in self.parent_uuids
        ]
        return entries


def _is_readable(record: Record) -> bool:
    return record.envelope.type in ("attachment", "system") or has_message(record)
