"""A session's log as loaded records, and its size: lines, turns, bytes, tokens of the next resume.

A log that is too large to load is read line by line. The client reads only what follows the last
compaction; if even that is too much, the last response gives the tokens and the typed prompts give
the turns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from plait.conversation.build import build_conversations
from plait.conversation.model import Conversation
from plait.conversation.next_prompt import (
    NextPrompt,
    compute_break_even_turns,
    estimate_next_prompt,
)
from plait.conversation.prices import Prices
from plait.edit.plan import Difference, Measures, Plan
from plait.errors import SourceError
from plait.graph.build import Builder
from plait.graph.client import find_resumed_leaf
from plait.graph.client.entries import is_boundary
from plait.graph.facts import FileFacts, Source, make_source_file
from plait.graph.leaf import find_leaf
from plait.graph.model import Place
from plait.line import FileStamp, Line, LogFile, iter_lines, read_file_stamp, read_small
from plait.record import Record, get_client_record, parse_entry, parse_record
from plait.record.prompts import is_human_prompt
from plait.view.context import NO_COST, NextCost


def split_lines(pieces: Iterable[bytes]) -> Iterator[Line]:
    """Yield the lines of a file that arrives in pieces."""
    number, offset = 1, 0
    rest = b""
    for piece in pieces:
        *complete, rest = (rest + piece).split(b"\n")
        for data in complete:
            yield Line(number, offset, data, True)
            number, offset = number + 1, offset + len(data) + 1
    if rest:
        yield Line(number, offset, rest, False)


PIECE = 1 << 20
SHOWN = 3
"""Differences of each kind that a plan shows."""


def join_pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield bytes in pieces of a size suited for writing."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= PIECE:
            yield b"".join(held)
            held.clear()
            size = 0
    if held:
        yield b"".join(held)


def rewrite_lines(lines: Iterable[Line], rewrite: Callable[[Line], bytes]) -> Iterator[bytes]:
    """Yield lines as a function leaves them, each with the end it had, in pieces to write."""
    return join_pieces(rewrite(line) + b"\n" * line.is_ended for line in lines)


def rewrite_log(
    path: Path, rewrite: Callable[[Line], bytes], size: int | None = None
) -> Iterator[bytes]:
    """Yield the first bytes of a log, or all of it, with each line as a function leaves it."""
    return rewrite_lines(iter_lines(path, end=size), rewrite)


@dataclass(slots=True)
class RewrittenLines:
    """How many lines of some logs a rewrite changes, and a few of them to show."""

    lines: int = 0
    grown: int = 0
    """How many bytes the logs are longer than before."""
    differences: list[Difference] = field(default_factory=list)

    def count(
        self,
        path: Path,
        size: int,
        rewrite: Callable[[Line], bytes],
        show: Callable[[Line, bytes], Difference],
    ) -> None:
        """Add what changes in the first bytes of a log."""
        for line in iter_lines(path, end=size):
            data = rewrite(line)
            if data != line.data:
                self.lines += 1
                self.grown += len(data) - len(line.data)
                if len(self.differences) < SHOWN:
                    self.differences.append(show(line, data))


LARGE_LOG_BYTES = 64_000_000
"""Size from which a log is not held in memory."""


def measure_log(log: LogFile, size: int, prices: Prices | None = None) -> Measures:
    """Return the size of a session, from the first bytes of its log."""
    found = iter_lines(log.path, end=size)
    if size >= LARGE_LOG_BYTES:
        return measure_large_log(found, size, prices)
    records: list[Record] = []
    count = 0
    for line in found:
        count += 1
        if record := get_client_record(parse_entry(line)):
            records.append(record)
    return measure_records(log, records, lines=count, size=size, prices=prices)


def measure_records(
    file: LogFile,
    records: Sequence[Record],
    *,
    lines: int,
    size: int,
    prices: Prices | None = None,
) -> Measures:
    """Return the size of a session with these records, including broken lines.

    With prices, also the cost of its next prompt.
    """
    found = Measures(lines, count_turns(file, records, size), size, None)
    return _with_next(found, estimate_next_prompt(records, size), prices)


def _with_next(found: Measures, sent: NextPrompt, prices: Prices | None) -> Measures:
    cost = NextCost(sent.warm_usd(prices), sent.cold_usd(prices)) if prices else NO_COST
    return replace(found, tokens=sent.tokens, cost_usd=None if cost == NO_COST else cost)


def add_break_even(plan: Plan, before: Sequence[Record], now: datetime) -> Plan:
    """Return a plan with the number of turns after which it has paid for rewriting the cache."""
    was, will_be = plan.before.cost_usd or NO_COST, plan.after.cost_usd or NO_COST
    turns = compute_break_even_turns(
        estimate_next_prompt(before, plan.before.bytes),
        warm=was.warm,
        warm_after=will_be.warm,
        cold_after=will_be.cold,
        now=now,
    )
    return replace(plan, break_even_turns=turns)


def count_turns(file: LogFile, records: Sequence[Record], size: int) -> int:
    """Count the turns of the active conversation; what comes before the first prompt is no turn."""
    active = find_active_conversation(file, records, size)
    return sum(turn.number > 0 for turn in active.turns) if active else 0


def find_active_conversation(
    file: LogFile, records: Sequence[Record], size: int
) -> Conversation | None:
    """Return the active conversation, or None if there is none."""

    def client_leaf(facts: FileFacts) -> str | None:
        return find_resumed_leaf(records, size) or find_leaf(facts)

    builder = Builder(leaf_of=client_leaf)
    builder.add(Source(make_source_file(file), records))
    graph = builder.graph()
    if not graph.sessions:
        return None
    by_offset = {record.offset: record for record in records}

    def record_at(place: Place) -> Record | None:
        return by_offset.get(place.offset)

    name = file.session if file.session in graph.sessions else next(iter(graph.sessions))
    return build_conversations(graph, name or "", record_at).active


@dataclass(slots=True)
class _Tail:
    """What is kept of a log that is too large to hold in memory."""

    records: list[Record] = field(default_factory=list)
    bytes: int = 0
    is_held: bool = True
    """False once even what follows the last compaction is too large."""
    last: Record | None = None
    """The last response of the main conversation."""

    def take(self, record: Record) -> None:
        """Add the next record."""
        if is_boundary(record):
            self.records, self.bytes, self.is_held = [], 0, True
        if record.kind == "assistant" and not record.is_sidechain:
            self.last = record
        self.bytes += len(record.raw)
        self.is_held = self.is_held and self.bytes < LARGE_LOG_BYTES
        if self.is_held:
            self.records.append(record)
        else:
            self.records.clear()


def measure_large_log(found: Iterable[Line], size: int, prices: Prices | None = None) -> Measures:
    """Return the size of a session whose log is not held in memory."""
    count = turns = 0
    tail = _Tail()
    for line in found:
        count += 1
        if record := get_client_record(parse_entry(line)):
            turns += is_human_prompt(record)
            tail.take(record)
    sent = estimate_next_prompt(tail.records or ([tail.last] if tail.last else []), size)
    return _with_next(Measures(count, turns, size, None), sent, prices)


@dataclass(frozen=True)
class LoadedLog:
    """The records of a log at one moment, as the client reads them."""

    file: LogFile
    stamp: FileStamp
    records: list[Record]
    lines: int
    is_ended: bool
    """False if its last line has no newline."""

    @cached_property
    def measures(self) -> Measures:
        """The size of the session."""
        return self.measure_with(None)

    def measure_with(self, prices: Prices | None) -> Measures:
        """Return the same with the cost of its next prompt."""
        size = self.stamp.size
        return measure_records(self.file, self.records, lines=self.lines, size=size, prices=prices)


def load_log(file: LogFile) -> LoadedLog:
    """Read a log."""
    stamp = read_stamp(file.path)
    records: list[Record] = []
    count, is_ended = 0, True
    for line in iter_lines(file.path, end=stamp.size):
        count, is_ended = count + 1, line.is_ended
        if record := get_client_record(parse_entry(line)):
            records.append(record)
    return LoadedLog(file, stamp, records, count, is_ended)


def append_records(records: Sequence[Record], added: Iterable[bytes]) -> list[Record]:
    """Return records followed by those on further lines, with consecutive positions."""
    found = list(records)
    for data in added:
        last = found[-1] if found else None
        line, offset = (last.line + 1, last.offset + len(last.raw) + 1) if last else (1, 0)
        found.append(parse_record(data, line, offset))
    return found


def read_stamp(path: Path) -> FileStamp:
    """Return the state of a file; raise if it is gone."""
    stamp = read_file_stamp(path)
    if stamp is None:
        raise SourceError(f"'{path}' no longer exists")
    return stamp


def read_existing(path: Path) -> bytes:
    """Return what a small file holds, or raise where it is gone."""
    data = read_small(path)
    if data is None:
        raise SourceError(f"'{path}' no longer exists")
    return data
