"""Sessions at their source to new blocks and new lines of the journal; what is known is not read.

    stamps as in the journal ── nothing to do
    read on from a known beginning ── its hash is that of the known state ── only the rest is cut
    read whole ── cut into blocks ── those that the store lacks go to a pack

Blocks are on the disk before the journal speaks of them. A run that is cut off has kept what it
committed; the next one goes on from there.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from io import BytesIO, FileIO

from msgspec.structs import replace

from plait.keep.blocks import LEAST, Cutter
from plait.keep.journal import Journal, States
from plait.keep.model import (
    KeepPlan,
    KeepReport,
    KeptFile,
    NewFile,
    Progress,
    Report,
    Source,
    SourceFile,
    Sources,
    Stamp,
    Unread,
)
from plait.keep.pack_writer import PackWriter
from plait.keep.packs import Packs
from plait.keep.sources import stamp_of
from plait.line.folder import unwritable

PIECE = 1 << 20
UNKNOWN = Stamp(-1, -1, -1, -1, -1)


def plan(
    states: States, found: Sources, *, again: bool = False, damaged: frozenset[str] = frozenset()
) -> KeepPlan:
    """Returns what is new at the sources, by what the system says of the files alone.

    A file with a damaged block is read again.
    """
    new: list[SourceFile] = []
    grown: list[SourceFile] = []
    changed: list[SourceFile] = []
    sessions: list[Source] = []
    unchanged = 0
    for source in found:
        fresh: list[SourceFile] = []
        for file in source.files:
            known = states.files.get((source.root, file.path))
            if known is None:
                if again or not _is_forgotten(states, source.root, file):
                    fresh.append(file)
                    new.append(file)
                else:
                    unchanged += 1
            elif known[-1].stamp == file.stamp and damaged.isdisjoint(known[-1].blocks):
                unchanged += 1
            else:
                fresh.append(file)
                (grown if file.stamp.size > known[-1].size else changed).append(file)
        if fresh:
            sessions.append(replace(source, files=tuple(fresh)))
    return KeepPlan(tuple(new), tuple(grown), tuple(changed), unchanged, tuple(sessions))


def _is_forgotten(states: States, root: str, file: SourceFile) -> bool:
    forgotten = states.forgotten.get((root, file.path))
    mark = (file.stamp.size, file.stamp.modified)
    return forgotten is not None and (forgotten.size, forgotten.modified) == mark


class Run:
    """One run that keeps what is new, under the lock of the store."""

    def __init__(self, journal: Journal, packs: Packs, states: States) -> None:
        self.states = states
        self.report = KeepReport()
        self._journal = journal
        self._packs = packs
        self._writer = PackWriter(packs)
        self._lines: list[KeptFile] = []
        self._owners: set[tuple[str, str, str]] = set()
        """The sessions that are in the report."""
        self._now = now()
        self.cutter = Cutter()
        self.room = memoryview(bytearray(PIECE))

    def keep(self, found: KeepPlan, report: Report | None = None) -> KeepReport:
        """Keeps all files of a plan, a pack at a time."""
        self.report.unchanged = found.unchanged
        of_files, of_bytes, count = len(found.files), found.bytes, 0

        def tell(path: str, read: int) -> None:
            if report:
                report(Progress(count, of_files, self.report.bytes + read, of_bytes, path))

        with self.whole():
            for source in found.sessions:
                for file in source.files:
                    tell(file.path, 0)
                    self._keep(source, file, partial(tell, file.path))
                    count += 1
        tell("", 0)
        return self.report

    def put(self, files: Iterable[NewFile]) -> tuple[KeptFile, ...]:
        """Keeps files that are given as bytes."""
        with self.whole():
            return tuple(map(self._put, files))

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Commits what the block takes in, or leaves the store as the last commit left it."""
        try:
            yield
            self.commit()
        except BaseException:
            self._writer.give_up()
            raise

    def turn_to(self, one: Source | NewFile | KeptFile) -> None:
        """Says whose blocks follow."""
        try:
            self._writer.turn_to(one.root, one.project, one.session)
        except OSError as error:
            raise unwritable(self._packs.folder, error) from error

    def _put(self, file: NewFile) -> KeptFile:
        self.turn_to(file)
        digest = sha256(file.data).hexdigest()
        known = self.states.newest(file.root, file.path)
        if known and known.sha256 == digest and known.mark == file.mark:
            return known
        parts = self.cutter.blocks(BytesIO(file.data).readinto)
        names = tuple(self.store(sha256(part).hexdigest(), part) for part in parts)
        state = KeptFile(
            root=file.root,
            path=file.path,
            project=file.project,
            session=file.session,
            kind=file.kind,
            size=len(file.data),
            sha256=digest,
            modified=time.time_ns() if file.modified is None else file.modified,
            mode=file.mode,
            kept=self._now,
            grew_from=_beginning(file.data, known),
            mark=file.mark,
            blocks=names,
        )
        self.add(state)
        return state

    def _keep(self, source: Source, file: SourceFile, tell: Callable[[int], None]) -> None:
        self.turn_to(source)
        try:
            file.path.encode()
            with open(file.place, "rb", buffering=0, opener=_unblocked) as opened:
                before = stamp_of(os.fstat(opened.fileno()))
                known = self.states.newest(source.root, file.path)
                read = _Reading(self, opened, before.size, tell)
                names, digest, grew_from = read.of(known)
                after = stamp_of(os.fstat(opened.fileno()))
        except (OSError, UnicodeEncodeError) as error:
            self.report.unread.append(Unread(file.place, _words(error)))
            return
        # what was written to while it was read is looked at again by the next run
        stamp = before if before == after and read.size == before.size else UNKNOWN
        state = KeptFile(
            root=source.root,
            path=file.path,
            project=source.project,
            session=source.session,
            kind=file.kind,
            size=read.size,
            sha256=digest,
            modified=before.modified,
            mode=before.mode,
            kept=self._now,
            changed=stamp.changed,
            inode=stamp.inode,
            grew_from=grew_from,
            blocks=names,
        )
        self.add(state)
        self.report.places.append(file.place)
        self.report.bytes += read.size

    def add(self, state: KeptFile) -> None:
        """Takes a state in whose blocks are stored."""
        self._lines.append(state)
        self.report.files += 1
        owner = state.root, state.project, state.session
        if owner not in self._owners:
            self._owners.add(owner)
            self.report.sessions.append(state.session)
        if self._writer.is_full:
            self.commit()

    def store(self, name: str, data: bytes | memoryview) -> str:
        """Takes a block in, unless the store has it; returns its name."""
        if not self._writer.has(name):
            try:
                self._writer.add(name, data)
            except OSError as error:  # not to be taken for one of the source
                raise unwritable(self._packs.folder, error) from error
            self.report.new_bytes += len(data)
        return name

    def has(self, name: str) -> bool:
        """Tells whether a block is in the store, or on its way there."""
        return self._writer.has(name)

    def has_all(self, known: KeptFile) -> bool:
        """Tells whether every block of a state is in the store."""
        return self._packs.places.keys() >= set(known.blocks)

    def size_of(self, name: str) -> int:
        """Returns how many bytes a block of the store has."""
        return self._packs.places[name].size

    def commit(self) -> None:
        """Waits until all that was kept is on the disk, first the blocks, then who needs them."""
        self._writer.commit()
        if self._lines:
            self._journal.add(self._lines, self.states)
            self._lines = []
        self.report.stored_bytes = self._writer.stored


def now() -> str:
    """Returns the time as the journal has it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _beginning(data: bytes, known: KeptFile | None) -> str:
    """Returns the name of a known state if the data begins with it."""
    if known and sha256(memoryview(data)[: known.size]).hexdigest() == known.sha256:
        return known.sha256
    return ""


def _unblocked(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _words(error: OSError | UnicodeEncodeError) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return "its name is no text"


class _Reading:
    """A file that is read once, from its beginning to where it ended when it was opened."""

    def __init__(self, run: "Run", file: FileIO, size: int, tell: Callable[[int], None]) -> None:
        self._run = run
        self._file = file
        self._tell = tell
        self._left = size
        self.size = 0
        self._digest = sha256()

    def of(self, known: KeptFile | None) -> tuple[tuple[str, ...], str, str]:
        """Returns the names of its blocks, its own, and that of the state it has grown from."""
        if known and known.blocks and known.size <= self._left and self._run.has_all(known):
            grown = self._grown(known)
            if grown:
                return grown
            self._file.seek(0)
            self._left += self.size
            self.size, self._digest = 0, sha256()
        return self._whole()

    def _whole(self) -> tuple[tuple[str, ...], str, str]:
        if self._left <= LEAST:  # one block, whose name is that of the file
            data = self._file.read(self._left)
            self._count(data)
            digest = self._digest.hexdigest()
            return ((self._run.store(digest, data),) if data else ()), digest, ""
        return self._cut(b""), self._digest.hexdigest(), ""

    def _grown(self, known: KeptFile) -> tuple[tuple[str, ...], str, str] | None:
        """Reads on from a state that is known, unless the file begins with something else."""
        room = self._run.room
        while self.size < known.size and self._fill(room[: known.size - self.size]):
            pass
        if self.size < known.size or self._digest.hexdigest() != known.sha256:
            return None
        last, size = known.blocks[-1], self._run.size_of(known.blocks[-1])
        self._file.seek(known.size - size)
        tail = self._file.read(size)
        if sha256(tail).hexdigest() != last:
            return None
        names = (*known.blocks[:-1], *self._cut(tail))
        return names, self._digest.hexdigest(), known.sha256

    def _cut(self, first: bytes) -> tuple[str, ...]:
        parts = self._run.cutter.blocks(self._fill, first)
        return tuple(self._run.store(sha256(part).hexdigest(), part) for part in parts)

    def _fill(self, room: memoryview) -> int:
        part = room[: self._left]
        count = self._file.readinto(part) or 0
        self._count(part[:count])
        if self._left > 0:
            self._tell(self.size)
        return count

    def _count(self, data: bytes | memoryview) -> None:
        self._digest.update(data)
        self.size += len(data)
        self._left -= len(data)
