"""Files that were read before to all their records now: only what is new is read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from plait.archive.conversations import Shelf
from plait.errors import SourceError
from plait.graph.source import Source, source_file
from plait.line import LogFile, lines, read_slice
from plait.record import Record
from plait.record.read import entry_of, read_if_there
from plait.record.sidecar import agent_meta, title_file


class Stamp(NamedTuple):
    """What the system said of a file before it was read."""

    inode: int
    size: int
    changed: int


@dataclass(frozen=True)
class Stock:
    """The records of some files, and how those were when they were read."""

    shelf: Shelf
    stamps: dict[str, Stamp | None]
    epoch: str
    """The same as long as files have only grown."""


def stocked(files: Iterable[LogFile], before: Stock | None = None) -> Stock:
    """Returns the records of files; of those that have only grown, the old ones and the new."""
    given = list(files)
    stamps = {str(file.path): stamp_of(file.path) for file in given}
    held = {path: known_records(Path(path), now, before) for path, now in stamps.items()}
    shelf = Shelf(
        source_of(file, read_if_there(file.path) if known is None else known)
        for file, known in zip(given, held.values(), strict=True)
    )
    is_grown = before is not None and all(
        held.get(path) is not None for path, stamp in before.stamps.items() if stamp
    )
    return Stock(shelf, stamps, before.epoch if before and is_grown else epoch_of(stamps))


def epoch_of(stamps: dict[str, Stamp | None]) -> str:
    """Returns what stands for files as they were when all of them were read."""
    text = repr(sorted(stamps.items())).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).hexdigest()


def source_of(file: LogFile, records: Iterable[Record]) -> Source:
    """Returns records with the name of their file and what lies beside it."""
    meta = agent_meta(file.path) if file.kind == "agent" else None
    title = title_file(file.folder) if file.kind == "session" else None
    return Source(source_file(file), records, meta, title)


def stamp_of(path: Path) -> Stamp | None:
    """Returns what the system says of a file, None where it has gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return Stamp(status.st_ino, status.st_size, max(status.st_mtime_ns, status.st_ctime_ns))


def known_records(path: Path, now: Stamp | None, before: Stock | None) -> list[Record] | None:
    """Returns the records of a file that was read before, with the new ones.

    None where it must be read anew: it is another file, or no longer begins as it did.
    """
    then = before.stamps.get(str(path)) if before else None
    if before is None or now is None or then is None or now.inode != then.inode:
        return None
    known = before.shelf.records_of(str(path))
    if now == then:
        return known
    if not known or now.size < then.size or not is_still_there(path, known[-1]):
        return None
    return [*known, *records_after(path, known[-1])]


def is_still_there(path: Path, record: Record) -> bool:
    """Tells whether a line still stands where it stood, whole."""
    try:
        data = read_slice(path, record.offset, len(record.raw) + 1)
    except SourceError:
        return False
    return data[:-1] == record.raw and data[-1:] == b"\n"


def records_after(path: Path, last: Record) -> Iterator[Record]:
    """Yields the records behind one."""
    end = last.offset + len(last.raw) + 1
    try:
        for line in lines(path, offset=end, number=last.line + 1):
            entry = entry_of(line)
            if isinstance(entry, Record):
                yield entry
    except SourceError:  # gone since
        return
