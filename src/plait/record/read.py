"""Lines to records, one for one: what is not a record is blank or broken, never lost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from plait.errors import SourceError
from plait.line import Line, lines
from plait.record.decode import TOO_DEEP, NotAnObject, envelope_of
from plait.record.kinds import KINDS, kind_of
from plait.record.record import Record
from plait.record.recover import Recovered, recover


@dataclass(frozen=True, slots=True)
class Blank:
    """A line with nothing on it."""

    line: Line


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is not one JSON object, with what can still be read of it."""

    line: Line
    reason: str
    recovered: tuple[Recovered, ...]


Entry: TypeAlias = Record | Blank | Broken


def read(path: Path | str) -> Iterator[Record]:
    """Yields the records of a file in order; blank and broken lines are passed over."""
    for line in lines(Path(path)):
        entry = entry_of(line)
        if isinstance(entry, Record):
            yield entry


def read_if_there(path: Path) -> Iterator[Record]:
    """Yields the records of a file that was found a moment ago; none where it has gone."""
    try:
        yield from read(path)
    except SourceError:
        return


def entries(source: Iterable[Line]) -> Iterator[Entry]:
    """Yields one entry for every line."""
    for line in source:
        yield entry_of(line)


def entry_of(line: Line) -> Entry:
    """Returns what a line holds."""
    try:
        return record_of(line.data, line.number, line.offset)
    except NotAnObject as error:
        if not line.data.strip():
            return Blank(line)
        return broken(line, str(error))


def record_of(data: bytes, line: int = 0, offset: int = 0) -> Record:
    """Returns the record in the bytes of one line, or raises NotAnObject."""
    envelope = envelope_of(data)
    kind = KINDS.get(envelope.type or "") or kind_of(envelope)
    return kind(envelope, data, line, offset)


def broken(line: Line, error: str) -> Broken:
    """Says what is wrong with a line and saves what can be read of it."""
    found = recover(line)
    return Broken(line, reason_of(line, error, found), found)


def reason_of(line: Line, error: str, found: tuple[Recovered, ...]) -> str:
    """Names the way in which a line is broken, in the words of a finding."""
    whole = sum(one.is_whole for one in found)
    if not line.data.strip(b"\0 \t\r"):
        return "nul bytes only"
    if error == TOO_DEEP:
        return error
    if whole > 1:
        return f"{whole} records glued together"
    if whole:
        return "a record beside the remains of another"
    if not line.is_ended:
        return "torn: the line does not end"
    if found:
        return "the head of a cut line" if line.data.startswith(b"{") else "the tail of a cut line"
    return f"not an object: {error}"
