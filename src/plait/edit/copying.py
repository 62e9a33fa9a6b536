"""A session's log to a copy of it under new ids: line by line, never more than one in memory."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from plait.edit.ids import Ids
from plait.edit.model import Change, Difference, Fate
from plait.line import Line, LogFile, lines
from plait.record import Blank, Broken, Record, client_record, entry_of, record_of

PIECE = 1 << 20
SHOWN = 3
"""Differences of each kind that a plan shows."""
NEW_IDS = "new ids"
NO_IDS = "nothing in it names this session"
AS_IT_IS = "no record: copied as it is"
BLANK, BROKEN = "blank", "no record can be read from it"
BEGUN = "what the client reads of a broken line"
SPLIT = "records on a broken line, each on a line of its own"

Choice: TypeAlias = Callable[[Record], str | None]
"""Says why a record is left out, None where it is copied."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What becomes of one line."""

    line: Line
    data: bytes | None
    """None where it is left out."""
    fate: Fate
    reason: str
    uuid: str | None = None
    told: bytes | None = None
    """What alone is shown of it, where its own bytes are not for everyone."""


@dataclass(frozen=True, slots=True)
class LogCopy:
    """The log of a session as it will be under new ids."""

    log: LogFile
    size: int
    """How much of the log was there when the plan was made."""
    ids: Ids
    choose: Choice | None = None
    is_clean: bool = False
    """Blank and broken lines stay behind, but for the records that can be read from them."""
    added: tuple[tuple[bytes, str], ...] = ()
    """Lines that follow, each with what it is there for."""
    origins: int | None = None
    """The last line that says where it was copied from; None where all do."""

    def lines(self) -> Iterator[Copied]:
        """Yields what becomes of each line."""
        for line in lines(self.log.path, end=self.size):
            entry = entry_of(line)
            if isinstance(entry, Record):
                yield self._record(line, entry)
            elif self.choose:
                yield self._begun(line, entry, self.choose)
            elif self.is_clean:
                yield self._cleaned(line, entry)
            else:
                yield self._broken(line)

    def _record(self, line: Line, record: Record) -> Copied:
        why = self.choose(record) if self.choose else None
        if why is not None:
            return Copied(line, None, "dropped", why, record.uuid)
        is_told = self.origins is None or record.line <= self.origins
        data = self.ids.record(record, is_main=is_told)
        is_same = data == line.data
        return Copied(
            line,
            data,
            "kept" if is_same else "rewritten",
            NO_IDS if is_same else NEW_IDS,
            record.uuid,
        )

    def _broken(self, line: Line) -> Copied:
        data = self.ids.line(line)
        is_same = data == line.data
        fate: Fate = "kept" if is_same else "rewritten"
        return Copied(line, data, fate, AS_IT_IS if is_same else NEW_IDS)

    def _begun(self, line: Line, entry: Blank | Broken, choose: Choice) -> Copied:
        record = client_record(entry)
        if record is None:
            return _left(line, entry)
        if why := choose(record):
            return Copied(line, None, "dropped", why, record.uuid)
        return Copied(line, self.ids.record(record), "rewritten", BEGUN, record.uuid)

    def _cleaned(self, line: Line, entry: Blank | Broken) -> Copied:
        found = entry.recovered if isinstance(entry, Broken) else ()
        whole = [record_of(one.data) for one in found if one.is_whole]
        if not whole:
            return _left(line, entry)
        data = b"\n".join(self.ids.record(record) for record in whole)
        return Copied(line, data, "rewritten", SPLIT, whole[0].uuid)

    def pieces(self) -> Iterator[bytes]:
        """Yields the bytes of the copy, as it is written."""
        return joined(self._endings())

    def _endings(self) -> Iterator[bytes]:
        is_open = False
        for one in self.lines():
            if one.data is not None:
                yield from (one.data, b"\n") if one.line.is_ended else (one.data,)
                is_open = not one.line.is_ended
        for data, _ in self.added:
            yield from (b"\n", data, b"\n") if is_open else (data, b"\n")
            is_open = False


def _left(line: Line, entry: Blank | Broken) -> Copied:
    return Copied(line, None, "dropped", BLANK if isinstance(entry, Blank) else BROKEN)


def joined(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yields bytes in pieces of a size that is good to write."""
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


@dataclass(slots=True)
class Tally:
    """What becomes of a whole log."""

    fates: Counter[tuple[Fate, str]] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0

    @property
    def changes(self) -> tuple[Change, ...]:
        """How lines fare, and why."""
        return tuple(Change(fate, count, why) for (fate, why), count in self.fates.items())


def tally_of(copy: LogCopy) -> Tally:
    """Counts what becomes of each line, and keeps a few differences to show."""
    found = Tally()
    is_open = False
    for one in copy.lines():
        found.fates[one.fate, one.reason] += 1
        if one.data is not None:
            found.bytes += len(one.data) + one.line.is_ended
            found.lines += one.data.count(b"\n") + 1
            is_open = not one.line.is_ended
        if one.fate != "kept" and found.fates[one.fate, one.reason] <= SHOWN:
            found.differences.append(_difference(one))
    for data, why in copy.added:
        found.fates["added", why] += 1
        found.bytes += len(data) + 1 + is_open
        found.lines += 1
        is_open = False
        found.differences.append(Difference(None, None, None, data, why))
    return found


def _difference(one: Copied) -> Difference:
    number, uuid = one.line.number, one.uuid
    if one.told is not None:
        return Difference(number, uuid, None, one.told, one.reason)
    return Difference(number, uuid, one.line.data, one.data, one.reason)


def chosen(numbers: Container[int], why: str) -> Choice:
    """Returns a choice of lines by their numbers."""

    def choice(record: Record) -> str | None:
        return None if record.line in numbers else why

    return choice
