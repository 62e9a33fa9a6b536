"""Lines of a log to its ids and what points to them: small facts, none of the texts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from plait.line import Line
from plait.record import Record, System, entry_of
from plait.record.record import content_blocks
from plait.record.types.kinds import FileHistoryDelta, FileHistorySnapshot

NOBODY = "00000000-0000-0000-0000-000000000000"
"""What the client writes to point to nothing."""
POINTERS = frozenset({"last-prompt", "summary"})
BACKUPS = (FileHistorySnapshot, FileHistoryDelta)


class Place(NamedTuple):
    """Where something stands: its line, and the record on it."""

    line: int
    uuid: str | None


class Pointer(NamedTuple):
    """A field of a record that names another one."""

    field: str
    target: str
    place: Place


@dataclass(slots=True)
class LogFacts:
    """The ids of a log, and what names them."""

    first: dict[str, int] = field(default_factory=dict)
    """The line on which each uuid stands first."""
    parents: dict[str, str | None] = field(default_factory=dict)
    speakers: dict[str, str] = field(default_factory=dict)
    """Prompts and answers: the response that an answer is part of, else the record itself."""
    begun: set[str] = field(default_factory=set)
    """Records that broken lines begin with: the client reads them."""
    repeats: list[Place] = field(default_factory=list)
    pointers: list[Pointer] = field(default_factory=list)
    calls: dict[str, Place] = field(default_factory=dict)
    results: dict[str, Place] = field(default_factory=dict)
    thoughts: dict[bytes, Place] = field(default_factory=dict)
    """What the model thought and signed, by a digest."""

    def take(self, record: Record, line: int | None = None) -> None:
        """Adds what a record says of itself and of others; its line may have moved."""
        place = Place(line or record.line, record.uuid)
        if record.uuid:
            self._enter(record, record.uuid, place)
        self.pointers.extend(Pointer(name, target, place) for name, target in pointers_of(record))
        heads = record.block_heads
        for head in heads:
            if head.type == "tool_use" and head.id:
                self.calls.setdefault(head.id, place)
            elif head.type == "tool_result" and head.tool_use_id:
                self.results.setdefault(head.tool_use_id, place)
        if any(head.type in ("thinking", "redacted_thinking") for head in heads):
            self.thoughts.update(dict.fromkeys(_thoughts_of(record), place))

    def _enter(self, record: Record, uuid: str, place: Place) -> None:
        if uuid in self.first:
            self.repeats.append(place)
        self.first.setdefault(uuid, place.line)
        self.parents[uuid] = record.parent_uuid or None
        if speaker := _speaker_of(record, uuid):
            self.speakers[uuid] = speaker


def facts_of(lines: Iterable[Line]) -> LogFacts:
    """Returns the ids of a log and what names them."""
    facts = LogFacts()
    for line in lines:
        entry = entry_of(line)
        if isinstance(entry, Record):
            facts.take(entry)
    return facts


def pointers_of(record: Record) -> Iterator[tuple[str, str]]:
    """Yields the records that a record names, each with what it is to it."""
    if record.parent_uuid:
        yield "parent", record.parent_uuid
    if record.logical_parent_uuid:
        yield "logical parent", record.logical_parent_uuid
    if record.source_tool_assistant_uuid:
        yield "answer with its call", record.source_tool_assistant_uuid
    leaf = record.envelope.leaf_uuid if record.type in POINTERS else None
    if leaf and leaf != NOBODY:
        yield "leaf", leaf
    if isinstance(record, System):
        preserved = record.preserved
        named = (*preserved.uuids, preserved.anchor) if preserved else ()
        yield from (("preserved record", uuid) for uuid in dict.fromkeys(named) if uuid)
    elif isinstance(record, BACKUPS):
        yield from (("record of a backup", uuid) for uuid in dict.fromkeys(_backed_up(record)))


def _backed_up(record: FileHistorySnapshot | FileHistoryDelta) -> Iterator[str]:
    if record.message_id:
        yield record.message_id
    if isinstance(record, FileHistoryDelta):
        inner = record.snapshot_message_id
    else:
        inner = record.snapshot.message_id if record.snapshot else None
    if inner:
        yield inner


def _speaker_of(record: Record, uuid: str) -> str | None:
    if record.type == "assistant":
        return record.message_id or uuid
    is_prompt = record.type == "user" and not record.is_meta
    return uuid if is_prompt and not _holds_result(record) else None


def _holds_result(record: Record) -> bool:
    return any(head.type == "tool_result" for head in record.block_heads)


def _thoughts_of(record: Record) -> Iterator[bytes]:
    for block in content_blocks(record):
        words = (block.get("thinking"), block.get("signature"), block.get("data"))
        if block["type"] in ("thinking", "redacted_thinking"):
            yield blake2b(repr(words).encode("utf-8", "surrogatepass"), digest_size=12).digest()
