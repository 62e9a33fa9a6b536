"""Sessions to what the index takes in of them, read by this process or by several."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from plait.archive.index.rows import IndexedSession
from plait.archive.index_or_logs import without_collector
from plait.archive.model import Session
from plait.index.charges import charges_in
from plait.index.documents import words_to_index
from plait.index.freshness import FileStamp
from plait.index.rows import rows_to_keep
from plait.index.store import SessionEntry

if TYPE_CHECKING:  # little is read without others
    from plait.line.workers import Workers

WORTH = 12_000_000
"""Bytes of logs from which on several processes are sooner done with them."""
PAID_KINDS = frozenset({"session", "agent"})
TASK = f"{__name__}:packed_entry"


class Due(NamedTuple):
    """A session that is to be read, and the numbers it gets."""

    key: str
    session: Session
    stamps: dict[str, FileStamp]
    """Of its files, by path."""
    sid: int
    first_file: int

    @property
    def size(self) -> int:
        """The bytes of its logs."""
        return sum(file.size for file in self.session.files)


def numbered(
    sessions: Iterable[tuple[Session, set[str]]],
    stamps: Mapping[str, FileStamp],
    first: tuple[int, int],
) -> list[Due]:
    """Returns sessions and their files with their numbers, from the first ones on."""
    sid, file = first
    found: list[Due] = []
    for session, paths in sessions:
        own = {path: stamps[path] for path in paths if path in stamps}
        bare = replace(session, archive=None)
        found.append(Due(str(session.path), bare, own, sid, file))
        sid, file = sid + 1, file + len(paths)
    return found


@contextmanager
def helpers(size: int, jobs: int, losses: list[str]) -> "Iterator[Workers | None]":
    """Gives the processes that read so many bytes, none where this one is as soon done.

    They begin before anything else runs beside this one: then they are copies of it.
    """
    if jobs == 1 or size < WORTH:
        yield None
        return
    from plait.line.workers import Workers

    with Workers(jobs, losses) as workers:
        yield workers


def entries(due: list[Due], workers: "Workers | None") -> Iterator[SessionEntry]:
    """Yields what the index takes in of sessions, in their order."""
    if workers is None:
        yield from map(entry_of, due)
        return
    for data in workers.each(TASK, due, [one.size for one in due]):
        yield _unpack(data)


_unpack = msgspec.msgpack.Decoder(SessionEntry).decode


def packed_entry(due: Due) -> bytes:
    """Returns what the index takes in of a session, as bytes."""
    with without_collector():
        return msgspec.msgpack.encode(entry_of(due))


def entry_of(due: Due) -> SessionEntry:
    """Reads a session."""
    reading = IndexedSession(due.session)
    logs = {file.path for file in reading.files}
    rows = reading.catalogued(due.stamps, sorted(due.stamps.keys() - logs))
    bills = {
        mark.path: charges_in(Path(mark.path), mark.kind, reading.data_of(mark.path))
        for mark in rows.files
        if mark.kind in PAID_KINDS
    }
    return SessionEntry(
        due.sid,
        rows.project.encode("utf-8", "replace").decode(),
        rows_to_keep(due.sid, due.first_file, rows, bills),
        words_to_index(reading.passages(), due.sid, due.first_file),
    )
