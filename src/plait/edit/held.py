"""A session's log to its records, held in memory, with what the system said of the file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plait.conversation.prices import Prices
from plait.edit.measure import measures
from plait.edit.model import Measures
from plait.errors import SourceError
from plait.line import FileStamp, LogFile, lines, stamp_of
from plait.record import Record, client_record, entry_of, record_of


@dataclass(frozen=True)
class HeldLog:
    """The records of a log as it was at one moment, as the client reads them."""

    file: LogFile
    stamp: FileStamp
    records: list[Record]
    lines: int
    is_ended: bool
    """False where its last line lacks its newline."""

    @cached_property
    def measures(self) -> Measures:
        """How large the session is."""
        return self.measured(None)

    def measured(self, prices: Prices | None) -> Measures:
        """Returns the same, and with prices what its next prompt costs."""
        size = self.stamp.size
        return measures(self.file, self.records, lines=self.lines, size=size, prices=prices)


def held(file: LogFile) -> HeldLog:
    """Reads a log."""
    stamp = stamp_now(file.path)
    records: list[Record] = []
    count, is_ended = 0, True
    for line in lines(file.path, end=stamp.size):
        count, is_ended = count + 1, line.is_ended
        if record := client_record(entry_of(line)):
            records.append(record)
    return HeldLog(file, stamp, records, count, is_ended)


def followed_by(records: Sequence[Record], added: Iterable[bytes]) -> list[Record]:
    """Returns records with those on some lines behind them, each at a place of its own."""
    found = list(records)
    for data in added:
        last = found[-1] if found else None
        line, offset = (last.line + 1, last.offset + len(last.raw) + 1) if last else (1, 0)
        found.append(record_of(data, line, offset))
    return found


def stamp_now(path: Path) -> FileStamp:
    """Returns what the system says of a file, or raises where it has gone."""
    stamp = stamp_of(path)
    if stamp is None:
        raise gone(path)
    return stamp


def gone(path: Path) -> SourceError:
    """Returns the error that a file went while it was looked at."""
    return SourceError(f"'{path}' has gone")
