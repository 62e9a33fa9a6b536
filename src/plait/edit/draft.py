"""A log while it is changed, and the plans that write the result.

`Draft` holds every line as it is now with the reason why it changed, and can revert. `DraftedLog`
turns it into the plan of a new session or of one that replaces the old log.

The usage of a response says what was sent at that time. Where an edit removes something before it,
the record that lost it, or a neighbour of the gap, notes how many tokens went, so that the size of
the next prompt can be computed from the log alone, in copies and forks too.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from itertools import accumulate
from uuid import UUID, uuid4

from plait.conversation.prices import Prices
from plait.edit.check import iter_pointers
from plait.edit.clone import (
    NEW_IDS,
    IdMap,
    build_side_writes,
    collect_ids,
    read_side_stamps,
)
from plait.edit.log import (
    LARGE_LOG_BYTES,
    SHOWN,
    join_pieces,
    measure_large_log,
    measure_records,
    read_stamp,
    rewrite_log,
    split_lines,
)
from plait.edit.plan import (
    Change,
    Difference,
    Fate,
    Measures,
    Operation,
    Plan,
    Remove,
    Step,
    Subject,
    Write,
)
from plait.edit.side_files import SideFile, list_side_files, select_referenced
from plait.graph.client import list_contributions
from plait.graph.client.entries import Block
from plait.graph.client.tokens import estimate_block_tokens
from plait.line import FileStamp, Line, LogFile, iter_lines, read_file_mode
from plait.line.discovery import LOG_SUFFIX
from plait.record import Entry, Record, iter_client_records, parse_entry
from plait.record.codec import encode
from plait.record.json_text import decode_string, is_pointer_field, iter_json_strings
from plait.record.reader import read_if_exists
from plait.record.time import format_timestamp
from plait.record.types import TRIMMED


@dataclass(slots=True)
class DraftLine:
    """A line being edited."""

    entry: Entry
    data: bytes
    is_ended: bool = True
    number: int | None = None
    """Its number in the original log; None for an added line."""
    original: bytes | None = None
    """Its bytes in the original log."""
    reasons: tuple[str, ...] = ()
    is_dropped: bool = False

    @property
    def record(self) -> Record | None:
        """The record on it; None if there is none or it is removed."""
        return self.entry if isinstance(self.entry, Record) and not self.is_dropped else None


@dataclass(slots=True)
class Draft:
    """A log while it is changed."""

    log: LogFile
    lines: list[DraftLine]
    external_uuids: frozenset[str] = frozenset()
    """Records of other logs that the first record may follow."""
    undo_stack: list[Callable[[], None]] = field(default_factory=list)
    """Functions that revert the changes, newest last."""

    @property
    def record_lines(self) -> Iterator[tuple[DraftLine, Record]]:
        """Yield the lines that hold a record, in order."""
        for line in self.lines:
            if record := line.record:
                yield line, record

    @property
    def records(self) -> list[Record]:
        """The records as they are now."""
        return [record for _, record in self.record_lines]

    @property
    def size(self) -> int:
        """The size of the drafted log in bytes."""
        return sum(len(line.data) + line.is_ended for line in self.lines if not line.is_dropped)

    @property
    def is_changed(self) -> bool:
        """Whether anything changed."""
        return any(line.reasons for line in self.lines)

    def rewrite(self, line: DraftLine, data: bytes, reason: str) -> None:
        """Replace the bytes of a line."""
        self._remember(line)
        line.data = data
        line.entry = _parse_entry(data, line.number or 0)
        line.reasons = tuple(dict.fromkeys((*line.reasons, reason)))

    def end_line(self, line: DraftLine, reason: str) -> None:
        """Add the missing newline of a line."""
        self._remember(line)
        line.is_ended = True
        line.reasons = tuple(dict.fromkeys((*line.reasons, reason)))

    def drop(self, line: DraftLine, reason: str) -> None:
        """Drop a line."""
        self._remember(line)
        line.is_dropped = True
        line.reasons = (*line.reasons, reason)

    def insert(self, after: DraftLine | None, pieces: Iterable[bytes], reason: str) -> None:
        """Add lines after another one, or before all others."""
        made = [DraftLine(_parse_entry(data, 0), data, reasons=(reason,)) for data in pieces]
        place = 0
        if after is not None:
            self._remember(after)
            after.is_ended = after.is_ended or bool(made)
            place = next(place for place, line in enumerate(self.lines) if line is after) + 1
        self.lines[place:place] = made
        self.undo_stack.append(lambda: self._remove_lines(made))

    def append(self, data: bytes, reason: str) -> None:
        """Add a line at the end."""
        self.insert(self.lines[-1], [data], reason)

    def revert_to(self, count: int) -> None:
        """Undo all changes but the first `count`."""
        while len(self.undo_stack) > count:
            self.undo_stack.pop()()

    def _remove_lines(self, made: list[DraftLine]) -> None:
        self.lines = [
            line for line in self.lines if all(line is not draft_line for draft_line in made)
        ]

    def _remember(self, line: DraftLine) -> None:
        entry, data, is_ended, reasons = line.entry, line.data, line.is_ended, line.reasons

        def undo() -> None:
            line.entry, line.data, line.is_ended, line.reasons = entry, data, is_ended, reasons
            line.is_dropped = False

        self.undo_stack.append(undo)


def open_draft(log: LogFile, lines: Iterable[Line]) -> Draft:
    """Return an unchanged draft of a log."""
    found = [
        DraftLine(parse_entry(line), line.data, line.is_ended, line.number, line.data)
        for line in lines
    ]
    return Draft(log, found)


def _parse_entry(data: bytes, number: int) -> Entry:
    return parse_entry(Line(number, 0, data, True))


def replace_field(record: Record, name: str, value: object) -> bytes:
    """Return the line of a record with another value of one field, all else byte for byte.

    If the field is not in the client's form, the line is encoded again.
    """
    wanted = {**record.fields, name: value}
    old = encode({name: record.fields.get(name)})[1:-1]
    new = encode({name: value})[1:-1]
    if record.raw.count(old) == 1:
        data = record.raw.replace(old, new)
        entry = _parse_entry(data, 0)
        if isinstance(entry, Record) and entry.fields == wanted:
            return data
    return encode(wanted)


def nearest_time(draft: Draft, record: Record) -> str:
    """Return the time of the nearest record before a line, else after it, else of the file."""
    records = draft.records
    place = next(n for n, item in enumerate(records) if item.uuid == record.uuid)
    for item in (*reversed(records[:place]), *records[place:]):
        if item.time and item.timestamp:
            return item.timestamp
    return format_timestamp(datetime.fromtimestamp(draft.log.modified, UTC))


def derive_uuid(seed: bytes) -> str:
    """Return a uuid for a new record, derived from its source so that plans are reproducible."""
    return str(UUID(bytes=blake2b(seed, digest_size=16).digest(), version=4))


def replace_pointers(record: Record, others: Mapping[str, str]) -> bytes:
    """Return the line of a record with references to some records replaced by others."""
    if not any(target in others for _, target in iter_pointers(record)):
        return record.raw
    data = record.raw
    for _, target in iter_pointers(record):
        if target in others:
            data = data.replace(encode_text(target), encode_text(others[target]))
    return data


ID = re.compile(rb'"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"')
OWN, ORIGIN = b"uuid", b"messageUuid"


def encode_text(text: str) -> bytes:
    """Return a text as a quoted JSON string in the client's form."""
    return encode({"": text})[4:-1]


def redirect_pointers(data: bytes, moved: Mapping[str, str | None]) -> bytes:
    """Return a line with references to removed records redirected."""
    parts, end = list[bytes](), 0
    for spot in iter_json_strings(data):
        if (
            spot.is_words
            or not is_pointer_field(spot)
            or ((spot.field == OWN and spot.depth == 1) or spot.field == ORIGIN)
        ):
            continue
        uuid = decode_string(data, spot)
        if uuid in moved:
            kept = moved[uuid]
            parts += [data[end : spot.start], encode_text(kept) if kept else b"null"]
            end = spot.stop
    return b"".join((*parts, data[end:]))


class SideFileChanges:
    """The side files of a log, and which of them are removed with records."""

    def __init__(self, subject: Subject, draft: Draft) -> None:
        self.files = list_side_files(subject, subject.id)
        # The original records of lines that change or are removed.
        changed: list[Record] = []
        for line in draft.lines if self.files else ():
            if line.reasons and line.original is not None:
                entry = parse_entry(Line(line.number or 0, 0, line.original, True))
                changed += [entry] if isinstance(entry, Record) else []
        named = select_referenced(self.files, changed, by_parent=False) if self.files else ()
        sources = frozenset(side_file.source for side_file in named)

        def remaining() -> Iterator[Record]:
            yield from draft.records
            for side_file in self.files:
                if side_file.is_log and side_file.source not in sources:
                    yield from read_if_exists(side_file.source)

        still_named = select_referenced(named, remaining(), by_parent=False) if named else ()
        self.lost = sources - {side_file.source for side_file in still_named}

    def stays(self, side_file: SideFile) -> bool:
        """Return whether the session still has a file."""
        return side_file.source not in self.lost

    @property
    def parents(self) -> dict[str, str | None]:
        """The parents of the records in removed logs."""
        logs = (
            side_file.source
            for side_file in self.files
            if side_file.is_log and not self.stays(side_file)
        )
        found = (record for path in logs for record in read_if_exists(path))
        return {record.uuid: record.parent_uuid for record in found if record.uuid}

    def build_writes(self, gone: Mapping[str, str | None]) -> Iterator[Write]:
        """Yield the remaining logs that refer to removed records, redirected."""
        names = {uuid.encode() for uuid in gone}

        def redirect(line: Line) -> bytes:
            is_record = isinstance(parse_entry(line), Record)
            return redirect_pointers(line.data, gone) if is_record else line.data

        for side_file in self.files if names else ():
            if (
                side_file.is_log
                and self.stays(side_file)
                and any(
                    not names.isdisjoint(ID.findall(line.data))
                    for line in iter_lines(side_file.source)
                )
            ):
                stamp = read_stamp(side_file.source)
                content = partial(rewrite_log, side_file.source, redirect, stamp.size)
                yield Write(side_file.source, content, stamp)


class DraftedLog:
    """A log as drafted: changed lines are held in memory, all others are read again on demand."""

    def __init__(self, log: LogFile, size: int, draft: Draft) -> None:
        self.log = log
        self.size = size
        self.outcomes: dict[int, tuple[list[bytes], list[bytes], bool]] = {}
        """What is left of each changed line, what is added after it, and whether it is ended."""
        self.head: tuple[bytes, ...] = ()
        """What is added before all other lines."""
        self.changed = [line for line in draft.lines if line.reasons]
        self.kept = sum(not line.reasons for line in draft.lines)
        last: DraftLine | None = None
        added: list[bytes] = []
        for line in (*draft.lines, None):
            if line is not None and line.number is None:
                added.append(line.data)
                continue
            if last is not None and last.number and (last.reasons or added):
                kept = [] if last.is_dropped else [last.data]
                self.outcomes[last.number] = kept, added, last.is_ended
            if last is None:
                self.head = tuple(added)
            last, added = line, []

    def lines(self, ids: IdMap | None = None) -> Iterator[bytes]:
        """Yield the lines with their newlines, under new ids if these are given."""
        for data in self.head:
            yield _map_ids(data, ids) + b"\n"
        for line in iter_lines(self.log.path, end=self.size):
            unchanged: tuple[list[bytes], list[bytes], bool] = [line.data], [], line.is_ended
            left, added, is_ended = self.outcomes.get(line.number, unchanged)
            for data in left:
                yield _map_ids(data, ids) + b"\n" * is_ended
            for data in added:
                yield _map_ids(data, ids) + b"\n"

    def pieces(self, ids: IdMap | None = None) -> Iterator[bytes]:
        """Yield the bytes of the log."""
        return join_pieces(self.lines(ids))

    def measures(self, ids: IdMap | None = None, prices: Prices | None = None) -> Measures:
        """Return the size of the resulting session."""
        sizes = [len(line) for line in self.lines(ids)]
        if sum(sizes) >= LARGE_LOG_BYTES:
            return measure_large_log(split_lines(self.pieces()), sum(sizes), prices)
        records = list(iter_client_records(split_lines(self.pieces())))
        return measure_records(self.log, records, lines=len(sizes), size=sum(sizes), prices=prices)

    def changes(self, untouched: Fate, reason: str) -> tuple[Change, ...]:
        """Return how many lines change, and why."""
        found: Counter[tuple[Fate, str]] = Counter()
        for line in self.changed:
            fate: Fate = "added" if line.number is None else "rewritten"
            if line.is_dropped and line.number is not None:
                fate = "dropped"
            found[fate, "; ".join(dict.fromkeys(line.reasons))] += 1
        changes = [Change(fate, count, why) for (fate, why), count in found.items()]
        return (*([Change(untouched, self.kept, reason)] if self.kept else ()), *changes)

    def differences(self) -> tuple[Difference, ...]:
        """Return some lines before and after, a few of each kind."""
        shown: Counter[str] = Counter()
        found: list[Difference] = []
        for line in self.changed:
            why = "; ".join(dict.fromkeys(line.reasons))
            shown[why] += 1
            if shown[why] <= SHOWN:
                entry = line.entry
                uuid = entry.uuid if isinstance(entry, Record) else None
                after = None if line.is_dropped else line.data
                found.append(Difference(line.number, uuid, line.original, after, why))
        return tuple(found)


def _map_ids(data: bytes, ids: IdMap | None) -> bytes:
    return ids.rewrite_line(Line(0, 0, data, True)) if ids else data


def plan_draft(
    operation: Operation,
    subject: Subject,
    stamp: FileStamp,
    draft: Draft,
    before: Measures,
    *,
    is_in_place: bool,
    untouched: str,
    side_files: SideFileChanges | None = None,
    instead: Mapping[str, str | None] = {},
    prices: Prices | None = None,
) -> Plan:
    """Return the plan that writes a draft in place of its log, or as a new session.

    Files beside the log that only removed records named go, or are not copied. What the others name
    that is not in the draft is replaced by what is to be named instead.
    """
    log, drafted = subject.log, DraftedLog(subject.log, stamp.size, draft)
    session = subject.id if is_in_place else str(uuid4())
    if is_in_place:
        found = side_files.files if side_files else ()
    else:
        found = list_side_files(subject, session)
    kept = [item for item in found if not side_files or side_files.stays(item)]
    ids: IdMap | None = None
    if is_in_place:
        path, read = log.path, [(log.path, stamp)]
        gone = [item.source for item in found if item not in kept]
        steps: list[Step] = [Write(path, drafted.pieces, stamp)]
        steps += (Remove(source, read_stamp(source)) for source in gone)
        steps += side_files.build_writes(instead) if side_files else ()
    else:
        ids = collect_ids(subject, session)
        ids.add_all(split_lines(drafted.pieces()))
        for removed, other in instead.items():
            if other:
                ids.substitute(removed, other)
        path = log.path.with_name(session + LOG_SUFFIX)
        read = [(log.path, stamp), *read_side_stamps(kept)]
        steps = [Write(path, partial(drafted.pieces, ids), mode=read_file_mode(log.path))]
        steps += build_side_writes(kept, ids)
    return Plan(
        operation=operation,
        source=subject,
        session=session,
        path=path,
        steps=tuple(steps),
        before=before,
        after=drafted.measures(ids, prices),
        changes=drafted.changes(*(("kept", untouched) if is_in_place else ("rewritten", NEW_IDS))),
        differences=drafted.differences(),
        read=tuple(read),
    )


def plan_nothing(
    operation: Operation,
    subject: Subject,
    stamp: FileStamp,
    before: Measures,
    *,
    untouched: str,
    why: str,
) -> Plan:
    """Return the plan of an edit that finds nothing to do, and says why."""
    return Plan(
        operation=operation,
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=(),
        before=before,
        after=before,
        changes=(Change("kept", before.lines, untouched),) if before.lines else (),
        read=((subject.log.path, stamp),),
        notes=(why,),
    )


NOTED = "records how many tokens were removed"


def weigh_chain(records: Iterable[Record], size: int) -> dict[int, int]:
    """Return the tokens of each record of the chain by line, including what it lost earlier."""
    return {
        record.line: sum(map(estimate_block_tokens, blocks)) + record.trimmed_tokens
        for record, blocks in list_contributions(records, size)
    }


def note_removed_tokens(draft: Draft, before: Mapping[int, int]) -> None:
    """Note in a draft how many tokens were removed, given what the lines took before.

    What was removed before a response had been read by it: the record above notes it, so that it
    counts for that request. What a response itself lost was read by the next one.
    """
    chain = list(list_contributions(draft.records, draft.size))
    gone_answers: dict[str | None, list[int]] = defaultdict(list)
    for line in draft.lines:
        entry = line.entry
        if line.is_dropped and line.number and isinstance(entry, Record) and entry.message_id:
            gone_answers[entry.message_id].append(line.number)
    savings = _count_savings_by_line(chain, before)
    losses: Counter[int] = Counter()
    """The removed tokens by the line that notes them."""
    noted = above = 0
    for record, blocks in chain:
        seen = sum(map(estimate_block_tokens, blocks)) + record.trimmed_tokens
        if record.line not in before:
            continue  # it is new
        gone = savings[record.line] - noted
        if gone > 0:
            own = gone
            if above and record.type == "assistant":
                lost = gone_answers.get(record.message_id, ())
                parts = sum(before.get(line, 0) for line in lost if above < line < record.line)
                own = min(max(before[record.line] - seen, 0) + parts, gone)
            losses[record.line] += own
            losses[above or record.line] += gone - own
            noted += gone
        above = record.line
    lines = {line.number: line for line in draft.lines if line.number and not line.is_dropped}
    records = {record.line: record for record, _ in chain}
    for number, tokens in (+losses).items():
        line, record = lines[number], records[number]
        total, end = record.trimmed_tokens + tokens, record.raw.rfind(b"}")
        if TRIMMED in record.fields or end < 0:
            data = replace_field(record, TRIMMED, total)
        else:  # added as the last field, all else stays byte for byte
            data = b'%b,"%b":%d%b' % (record.raw[:end], TRIMMED.encode(), total, record.raw[end:])
        draft.rewrite(line, data, line.reasons[-1] if line.reasons else NOTED)


def _count_savings_by_line(
    chain: Sequence[tuple[Record, list[Block]]], before: Mapping[int, int]
) -> dict[int, int]:
    """Return how many tokens less are sent up to each line, there and in every later place.

    If the client reorders what remains, fewer tokens at one place can mean more at the next.
    """
    had, has = dict(zip(before, accumulate(before.values()), strict=True)), 0
    found: dict[int, int] = {}
    for record, blocks in chain:
        has += sum(map(estimate_block_tokens, blocks)) + record.trimmed_tokens
        if record.line in before:
            found[record.line] = had[record.line] - has
    least: int | None = None
    for line in reversed(found):
        least = found[line] = found[line] if least is None else min(found[line], least)
    return found
