"""Lines of a log to a draft of another: each line as it is now, and why it changed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from uuid import UUID

from plait.edit.check.facts import pointers_of
from plait.line import Line, LogFile
from plait.record import Entry, Record, entry_of
from plait.record.codec import encode


@dataclass(slots=True)
class DraftLine:
    """A line in the making."""

    entry: Entry
    data: bytes
    is_ended: bool = True
    number: int | None = None
    """In the log as it was; None for one that is added."""
    was: bytes | None = None
    """Its bytes in the log as it was."""
    reasons: tuple[str, ...] = ()
    is_gone: bool = False

    @property
    def record(self) -> Record | None:
        """The record on it, None where there is none, or it goes."""
        return self.entry if isinstance(self.entry, Record) and not self.is_gone else None


@dataclass(slots=True)
class Draft:
    """A log while it is changed."""

    log: LogFile
    lines: list[DraftLine]
    elsewhere: frozenset[str] = frozenset()
    """Records of other logs that the first one may go on from."""
    undoings: list[Callable[[], None]] = field(default_factory=list)
    """What takes the changes back, the last one last."""

    @property
    def spoken(self) -> Iterator[tuple[DraftLine, Record]]:
        """Yields the lines that hold a record, in order."""
        for line in self.lines:
            if record := line.record:
                yield line, record

    @property
    def records(self) -> list[Record]:
        """The records as they are now."""
        return [record for _, record in self.spoken]

    @property
    def size(self) -> int:
        """How many bytes the drafted log has."""
        return sum(len(line.data) + line.is_ended for line in self.lines if not line.is_gone)

    @property
    def is_changed(self) -> bool:
        """Whether anything changed."""
        return any(line.reasons for line in self.lines)

    def rewrite(self, line: DraftLine, data: bytes, reason: str) -> None:
        """Gives a line other bytes."""
        self._remember(line)
        line.data = data
        line.entry = _entry_of(data, line.number or 0)
        line.reasons = tuple(dict.fromkeys((*line.reasons, reason)))

    def end(self, line: DraftLine, reason: str) -> None:
        """Ends a line that has no end."""
        self._remember(line)
        line.is_ended = True
        line.reasons = tuple(dict.fromkeys((*line.reasons, reason)))

    def drop(self, line: DraftLine, reason: str) -> None:
        """Lets a line go."""
        self._remember(line)
        line.is_gone = True
        line.reasons = (*line.reasons, reason)

    def insert(self, after: DraftLine | None, pieces: Iterable[bytes], reason: str) -> None:
        """Adds lines behind another one, or before all others."""
        made = [DraftLine(_entry_of(data, 0), data, reasons=(reason,)) for data in pieces]
        place = 0
        if after is not None:
            self._remember(after)
            after.is_ended = after.is_ended or bool(made)
            place = next(place for place, line in enumerate(self.lines) if line is after) + 1
        self.lines[place:place] = made
        self.undoings.append(lambda: self._take_out(made))

    def append(self, data: bytes, reason: str) -> None:
        """Adds a line at the end."""
        self.insert(self.lines[-1], [data], reason)

    def take_back(self, count: int) -> None:
        """Takes all changes back but the first so many."""
        while len(self.undoings) > count:
            self.undoings.pop()()

    def _take_out(self, made: list[DraftLine]) -> None:
        self.lines = [line for line in self.lines if all(line is not one for one in made)]

    def _remember(self, line: DraftLine) -> None:
        entry, data, is_ended, reasons = line.entry, line.data, line.is_ended, line.reasons

        def undo() -> None:
            line.entry, line.data, line.is_ended, line.reasons = entry, data, is_ended, reasons
            line.is_gone = False

        self.undoings.append(undo)


def draft_of(log: LogFile, lines: Iterable[Line]) -> Draft:
    """Returns the draft of a log with nothing changed yet."""
    found = [
        DraftLine(entry_of(line), line.data, line.is_ended, line.number, line.data)
        for line in lines
    ]
    return Draft(log, found)


def _entry_of(data: bytes, number: int) -> Entry:
    return entry_of(Line(number, 0, data, True))


def with_field(record: Record, name: str, value: object) -> bytes:
    """Returns the line of a record with another value of one field, all else byte for byte.

    Where the field does not stand as the client writes it, the line is encoded anew.
    """
    wanted = {**record.fields, name: value}
    old = encode({name: record.fields.get(name)})[1:-1]
    new = encode({name: value})[1:-1]
    if record.raw.count(old) == 1:
        data = record.raw.replace(old, new)
        if _holds(data, wanted):
            return data
    return encode(wanted)


def _holds(data: bytes, wanted: dict[str, object]) -> bool:
    """Whether a line holds just these fields."""
    entry = _entry_of(data, 0)
    return isinstance(entry, Record) and entry.fields == wanted


def time_near(draft: Draft, record: Record) -> str:
    """Returns the time of the nearest record before one, else after it, else of the file."""
    records = draft.records
    place = next(n for n, one in enumerate(records) if one.uuid == record.uuid)
    for one in (*reversed(records[:place]), *records[place:]):
        if one.time and one.timestamp:
            return one.timestamp
    written = datetime.fromtimestamp(draft.log.modified, UTC)
    return written.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def made_uuid(seed: bytes) -> str:
    """Returns the uuid of a record that is made: the same for the same, so plans are too."""
    return str(UUID(bytes=blake2b(seed, digest_size=16).digest(), version=4))


def with_pointers(record: Record, others: Mapping[str, str]) -> bytes:
    """Returns the line of a record with other records in the place of some that it names."""
    if not any(target in others for _, target in pointers_of(record)):
        return record.raw
    data = record.raw
    for _, target in pointers_of(record):
        if target in others:
            data = data.replace(encode_text(target), encode_text(others[target]))
    return data


def encode_text(text: str) -> bytes:
    """Returns a text as it stands in a line, in its quotes."""
    return encode({"": text})[4:-1]
