"""A record of a session to all that the client needs to stand there, nothing of what came after.

    U₁ ── A₁ ── U₂ ── A₂        standing at A₁: U₁ A₁
           └─── U₃ ── A₃        at A₂: U₁ A₁ U₂ A₂, also where A₃ goes on

The client's own chain to the record, its parallel calls and preserved messages with it; what its
parents lead through; and, past a compaction, the conversation before it, so that no pointer ends
in nothing and nobody's words are lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plait.errors import UserError
from plait.graph.ascent import walk
from plait.graph.client import chain_at
from plait.graph.client.chain import with_parallel
from plait.graph.client.load import (
    call_ids,
    is_boundary,
    is_note,
    is_result,
    load,
    result_ids,
)
from plait.graph.client.model import Loaded
from plait.graph.entries import CHAIN_TYPES
from plait.graph.leaf import leaf
from plait.record import Record, System
from plait.record.strings import names_any

OF_THE_SESSION = frozenset(
    "agent-color agent-name agent-setting ai-title custom-title mode permission-mode pr-link "
    "summary tag worktree-state".split()
)
"""Lines that say something of the session as a whole, wherever they stand."""
POINTER = "last-prompt"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the client would stand, and what it needs for that."""

    leaf: str
    """The record that it would go on from."""
    uuids: frozenset[str]
    """The records on the way there."""
    lines: frozenset[int]
    """The numbers of the lines that belong to it."""


def standing_at(records: Sequence[Record], uuid: str, *, is_before: bool = False) -> Standing:
    """Returns what the client needs to stand at a record, or at what comes before it."""
    log = _Log(records)
    number, loaded = log.loaded_for(uuid)
    number = _above(loaded, number) if is_before else _whole_response(loaded, number)
    return _standing(log, loaded, number)


def way_to(records: Sequence[Record], uuid: str) -> tuple[Loaded, list[int]]:
    """Returns the entries as the client has them standing at a record, and its chain there."""
    number, loaded = _Log(records).loaded_for(uuid)
    return loaded, chain_at(loaded, _whole_response(loaded, number))


def standing_now(records: Sequence[Record], size: int) -> Standing | None:
    """Returns what the client needs to go on from where it does, None where from nowhere."""
    loaded, _ = load(records, size)
    number = None if loaded.is_cleared else leaf(loaded)
    if number is None:
        return None
    return _standing(_Log(records), loaded, number)


def _standing(log: "_Log", loaded: Loaded, number: int) -> Standing:
    log.keep_way_to(loaded, number)
    log.keep_results()
    log.keep_all_named()
    uuid = loaded.records[number].uuid or ""
    lines = frozenset(log.lines_kept())
    return Standing(uuid, frozenset(log.kept), lines)


def _above(loaded: Loaded, number: int) -> int:
    way = walk(loaded, number)
    if len(way) < 2:
        raise UserError("nothing stands before it: a new session begins there")
    return way[-2]


def _whole_response(loaded: Loaded, number: int) -> int:
    """Returns the last record of a response and of the results of its calls.

    A result that hangs on none of its parts is sent behind it all the same, but nothing that
    goes on from there would follow the call. What stands behind the next prompt is no part of
    what was asked for, whatever it is called.
    """
    record = loaded.records[number]
    if record.type != "assistant" and not is_result(record):
        return number
    way = walk(loaded, number)
    parts = _parts(loaded, way)
    behind = reversed(with_parallel(loaded, way))
    return next(one for one in behind if one == number or _hangs_on(loaded, one, parts, number))


def _parts(loaded: Loaded, way: Sequence[int]) -> frozenset[int]:
    """Returns the records of the last response on a way."""
    answers = (one for one in reversed(way) if loaded.records[one].type == "assistant")
    last = next(answers, way[-1])
    name = loaded.records[last].message_id
    return frozenset({last, *(loaded.members().get(name, ()) if name else ())})


def _hangs_on(loaded: Loaded, number: int, parts: frozenset[int], end: int) -> bool:
    """Tells whether an entry is, or follows, a part of a response beside the way to an end."""
    way = frozenset(walk(loaded, end))
    is_part = False
    for one in reversed(walk(loaded, number)):
        is_part = is_part or one in parts
        if one in way or not _is_within_response(loaded.records[one]):
            return is_part and one in way
    return False


def _is_within_response(record: Record) -> bool:
    return record.type == "assistant" or is_result(record) or is_note(record)


class _Log:
    """The records of a log, and which of them are kept."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.by_uuid = {record.uuid: record for record in records if record.uuid}
        self.callers = {call: one for one in self.by_uuid for call in self._calls_of(one)}
        self.kept: set[str] = set()

    def _calls_of(self, uuid: str) -> list[str]:
        record = self.by_uuid[uuid]
        return call_ids(record) if record.type == "assistant" else []

    def loaded_for(self, uuid: str) -> tuple[int, Loaded]:
        """Returns the entries as the client would have them at a record, and that record's number.

        A compaction that came later, and that the record does not stand on, never was.
        """
        passed = frozenset(self.above(uuid))
        line = next((record.line for record in self.records if record.uuid == uuid), 0)
        at_hand = [
            record
            for record in self.records
            if record.line < line or not is_boundary(record) or record.uuid in passed
        ]
        loaded, _ = load(at_hand, 0)
        number = loaded.readable(uuid)
        if number is None:
            raise UserError(f"'{uuid}' is no message that a session can go on from")
        return number, loaded

    def above(self, uuid: str | None) -> Iterator[str]:
        """Yields a record and those that it stands on, by the parents they name."""
        seen: set[str] = set()
        while uuid and uuid not in seen:
            seen.add(uuid)
            yield uuid
            record = self.by_uuid.get(uuid)
            uuid = self.before(record) if record else None

    def before(self, record: Record) -> str | None:
        """Returns what a record stands on, also past a compaction."""
        if record.parent_uuid or not is_boundary(record):
            return record.parent_uuid
        logical = record.logical_parent_uuid
        return logical if logical in self.by_uuid else self.last_before(record)

    def last_before(self, boundary: Record) -> str | None:
        """Returns the record of the main conversation before a compaction that names none."""
        found = None
        for record in self.records:
            if record is boundary:
                break
            if record.uuid and record.type in CHAIN_TYPES and not record.is_sidechain:
                found = record.uuid
        return found

    def keep_way_to(self, loaded: Loaded, number: int) -> None:
        """Keeps the client's chain to an entry, what lies between, and what was compacted."""
        waiting = [(loaded, number)]
        begun: set[str | None] = {None}
        while waiting:
            entries, end = waiting.pop()
            way = [entries.records[one] for one in chain_at(entries, end)]
            self.kept.update(record.uuid for record in way if record.uuid)
            for boundary in filter(is_boundary, way):
                uuid = None if boundary.parent_uuid else self.before(boundary)
                if uuid not in begun and (found := self._loaded_from(uuid)):
                    waiting.append(found)
                begun.add(uuid)

    def _loaded_from(self, uuid: str | None) -> tuple[Loaded, int] | None:
        """Returns the entries as they were before a compaction, None where it names no entry."""
        try:
            number, loaded = self.loaded_for(uuid or "")
        except UserError:
            return None
        return loaded, number

    def keep_all_named(self) -> None:
        """Keeps what kept records name, and what those name in turn."""
        count = -1
        while count != len(self.kept):
            count = len(self.kept)
            for uuid in list(self.kept):
                self.keep_named(self.by_uuid[uuid])

    def keep_named(self, record: Record) -> None:
        """Keeps the records that one names: parents up to a kept one, its call, what it keeps."""
        preserved = record.preserved if isinstance(record, System) else None
        named = [record.parent_uuid, record.source_tool_assistant_uuid]
        named += [self.callers.get(call) for call in result_ids(record)]
        named += [*preserved.uuids, preserved.anchor] if preserved else []
        for start in named:
            for uuid in self.above(start):
                if uuid in self.kept or uuid not in self.by_uuid:
                    break
                self.kept.add(uuid)

    def keep_results(self) -> None:
        """Keeps what answers a kept call and hangs on what is kept, be it sent or not."""
        own = [record for record in self.by_uuid.values() if record.uuid in self.kept]
        made = {call for record in own for call in call_ids(record)}
        for record in self.records:
            is_answer = record.uuid and record.parent_uuid in self.kept and is_result(record)
            if is_answer and not made.isdisjoint(result_ids(record)):
                self.kept.add(record.uuid or "")

    def lines_kept(self) -> Iterator[int]:
        """Yields the numbers of the lines of kept records, and of those that go with them."""
        left = frozenset(self.by_uuid) - self.kept
        span = self.span()
        owner: str | None = None
        for record in self.records:
            if record.uuid and record.type in CHAIN_TYPES | {"progress"}:
                owner = record.uuid
            if self.is_kept(record, owner, span, left):
                if record.uuid:
                    self.kept.add(record.uuid)
                yield record.line

    def span(self) -> tuple[float, float]:
        """Returns the lines of the first and the last kept record; endless where none follows."""
        links = [record for record in self.records if record.uuid]
        kept = [one.line for one in links if one.uuid in self.kept]
        first, last = min(kept, default=0), max(kept, default=0)
        return first, last if any(one.line > last for one in links) else float("inf")

    def is_kept(
        self, record: Record, owner: str | None, span: tuple[float, float], left: frozenset[str]
    ) -> bool:
        """Tells whether a line belongs to what is kept."""
        if record.uuid in self.kept:
            return not self.is_astray(record)
        if record.uuid:
            return self.is_side_line(record, span)
        if record.type == POINTER:
            return False
        is_own = record.line < span[1] and (owner is None or owner in self.kept)
        return (record.type in OF_THE_SESSION or is_own) and not names_any(record.raw, left)

    def is_astray(self, record: Record) -> bool:
        """Tells whether an earlier line of a kept record hangs on one that is left out."""
        if record is self.by_uuid[record.uuid or ""]:
            return False
        return record.parent_uuid in self.by_uuid and record.parent_uuid not in self.kept

    def is_side_line(self, record: Record, span: tuple[float, float]) -> bool:
        """Tells whether a record of an agent within the log was sent out from what is kept.

        None was before anything was said; and the SDK does not list what one begins with.
        """
        parent = record.parent_uuid
        is_hanging = parent is None or parent in self.kept or parent not in self.by_uuid
        return record.is_sidechain and span[0] < record.line < span[1] and is_hanging


def kept_records(records: Iterable[Record], standing: Standing) -> list[Record]:
    """Returns the records that belong to where the client would stand."""
    return [record for record in records if record.line in standing.lines]
