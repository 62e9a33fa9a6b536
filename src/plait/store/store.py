"""The store: backs up sessions, restores, verifies, forgets, and exchanges them as parcels.

    store = Store.open(folder)
    store.keep(find_sources(roots))
    store.restore(store.session("3f2a"))

Backing up reads only what is new:

    same stamp as in the journal ── nothing to do
    starts with the known state (same hash) ── only the rest is split into blocks
    anything else ── split into blocks; new ones go to a pack

Blocks are on disk before the journal names them, so an interrupted run keeps what it committed.
Small packs are merged, and packs with many unneeded blocks rewritten; the new pack is on disk
before the old one is deleted, so an interruption leaves at worst a block in two packs. Verifying
rewrites what is redundant (indexes, the copy of the journal) and marks damaged blocks to be stored
again.

A parcel is a store in one file:

    manifest.json                       its contents, with sizes and SHA-256
    store/journal.jsonl, store/packs/…

It may come from anybody: names may only lead to where sessions are, sizes are limited before
anything is unpacked, and every block and file must match its hash.
"""

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from io import BytesIO, FileIO
from itertools import takewhile
from pathlib import Path, PurePosixPath
from shutil import rmtree

from msgspec.structs import replace

from plait.errors import AmbiguousSession, NoSuchSession, Refused, SourceError, UserError
from plait.line.discovery import LOG_SUFFIX, PROJECTS
from plait.line.files import iter_bytes, make_read_error, open_without_blocking
from plait.line.output import (
    OWNER_FILE,
    OWNER_FOLDER,
    is_plain_name,
    lock_file,
    make_write_error,
    replace_file,
    sync_folder,
)
from plait.line.pack import LARGE, MOST_TIMES, Member, Pack, write_pack
from plait.line.replacement import install_new_file
from plait.store.journal import JOURNAL, Forgotten, Journal, JournalState
from plait.store.model import (
    Damage,
    Freed,
    KeepPlan,
    KeepReport,
    KeptFile,
    KeptSession,
    Limits,
    Merged,
    NewFile,
    Progress,
    Report,
    Restored,
    Source,
    SourceFile,
    Sources,
    Stamp,
    StoreSize,
    Unread,
)
from plait.store.packs import (
    FLAGS,
    FULL,
    INDEX,
    MIN_BLOCK,
    PACK,
    BlockSplitter,
    IndexLine,
    LostBlock,
    Packs,
    PackWriter,
    iter_places,
    mark_damaged,
    read_damaged_blocks,
    remove_drafts,
    write_index,
)
from plait.store.sources import HISTORY, LISTS, SIGNS, TASKS, TITLE, build_stamp

README_NAME = "README.txt"
README_TEXT = r"""Claude Code sessions, backed up by Plait (`plait keep`). They can be read without
Plait, with zstd and sha256sum.

journal.jsonl        one JSON line for each backed-up state of a file; the last line of a path
                     is the newest. "sha256" is the checksum of the whole file, "blocks" are
                     those of its blocks: the file is the concatenation of its blocks. "crc" is
                     the CRC-32 of the line without that field. A line with "forget" deletes
                     the states before it.
packs/NNNNNN.pack    zstd frames: `zstd -dc NNNNNN.pack` prints all blocks of the pack.
packs/NNNNNN.index   one JSON line for each block: its "sha256", its offset ("at") in the output
                     of `zstd -dc`, and its "size"; "frame" and "packed" are the offset and
                     size, in the pack, of the frame that contains it.

To check a block:    zstd -dc packs/NNNNNN.pack | tail -c +$((at + 1)) | head -c $size | sha256sum

To restore a file, run this in a shell in this folder, with its "path" in $1.

    file=$1   # its path in the journal: projects/…/….jsonl
    plain=$(mktemp -d)
    for pack in packs/*.pack; do
        zstd -dc "$pack" > "$plain/$(basename "$pack" .pack)"
    done
    line=$(grep -F "\"path\":\"$file\"" journal.jsonl | tail -n 1)
    for block in $(printf '%s\n' "$line" | sed 's/.*"blocks":\[//' | grep -o '[0-9a-f]\{64\}'); do
        entry=$(grep -H "$block" packs/*.index | tail -n 1)
        number=$(basename "${entry%%.index:*}")
        at=$(printf '%s\n' "$entry" | sed 's/.*"at":\([0-9]*\).*/\1/')
        size=$(printf '%s\n' "$entry" | sed 's/.*"size":\([0-9]*\).*/\1/')
        tail -c +$((at + 1)) "$plain/$number" | head -c "$size"
    done > "$plain/file"
    sha256sum "$plain/file"                                        # compare with the journal:
    printf '%s\n' "$line" | sed 's/.*"sha256":"\([0-9a-f]*\)".*/\1/'
"""


PIECE = 1 << 20
UNKNOWN = Stamp(-1, -1, -1, -1, -1)


def plan_backup(
    states: JournalState,
    found: Sources,
    *,
    again: bool = False,
    damaged: frozenset[str] = frozenset(),
) -> KeepPlan:
    """Plan what to back up, from the stamps of the files alone.

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
                forgotten = states.forgotten.get((source.root, file.path))
                mark = (file.stamp.size, file.stamp.modified)
                if again or forgotten is None or (forgotten.size, forgotten.modified) != mark:
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


class BackupRun:
    """A backup run, under the lock of the store."""

    def __init__(self, journal: Journal, packs: Packs, states: JournalState) -> None:
        self.states = states
        self.report = KeepReport()
        self._journal = journal
        self._packs = packs
        self._writer = PackWriter(packs)
        self._lines: list[KeptFile] = []
        self._owners: set[tuple[str, str, str]] = set()
        """The sessions that are in the report."""
        self._now = time_now()
        self.cutter = BlockSplitter()
        self.room = memoryview(bytearray(PIECE))

    def keep(self, found: KeepPlan, report: Report | None = None) -> KeepReport:
        """Back up all files of a plan, a pack at a time."""
        self.report.unchanged = found.unchanged
        of_files, of_bytes, count = len(found.files), found.bytes, 0

        def report_progress(path: str, read: int) -> None:
            if report:
                report(Progress(count, of_files, self.report.bytes + read, of_bytes, path))

        with self.transaction():
            for source in found.sessions:
                for file in source.files:
                    report_progress(file.path, 0)
                    self._keep(source, file, partial(report_progress, file.path))
                    count += 1
        report_progress("", 0)
        return self.report

    def put(self, files: Iterable[NewFile]) -> tuple[KeptFile, ...]:
        """Back up files that are given as bytes."""
        with self.transaction():
            return tuple(map(self._put, files))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block adds, or leave the store as the last commit left it."""
        try:
            yield
            self.commit()
        except BaseException:
            self._writer.roll_back()
            raise

    def start_owner(self, source: Source | NewFile | KeptFile) -> None:
        """Start the blocks of another session."""
        try:
            self._writer.start_owner(source.root, source.project, source.session)
        except OSError as error:
            raise make_write_error(self._packs.folder, error) from error

    def _put(self, file: NewFile) -> KeptFile:
        self.start_owner(file)
        digest = sha256(file.data).hexdigest()
        known = self.states.find_newest(file.root, file.path)
        if known and known.sha256 == digest and known.mark == file.mark:
            return known
        parts = self.cutter.split(BytesIO(file.data).readinto)
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
            grew_from=known.sha256
            if known and sha256(memoryview(file.data)[: known.size]).hexdigest() == known.sha256
            else "",
            mark=file.mark,
            blocks=names,
        )
        self.add(state)
        return state

    def _keep(self, source: Source, file: SourceFile, report_read: Callable[[int], None]) -> None:
        self.start_owner(source)
        try:
            file.path.encode()
            with open(file.place, "rb", buffering=0, opener=open_without_blocking) as opened:
                before = build_stamp(os.fstat(opened.fileno()))
                known = self.states.find_newest(source.root, file.path)
                read = _Reading(self, opened, before.size, report_read)
                names, digest, grew_from = read.of(known)
                after = build_stamp(os.fstat(opened.fileno()))
        except (OSError, UnicodeEncodeError) as error:
            self.report.unread.append(
                Unread(
                    file.place,
                    (error.strerror or str(error)).lower()
                    if isinstance(error, OSError)
                    else "its name is not valid text",
                )
            )
            return
        # what was written to while it was read is examined again by the next run
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
        """Add a state whose blocks are stored."""
        self._lines.append(state)
        self.report.files += 1
        owner = state.root, state.project, state.session
        if owner not in self._owners:
            self._owners.add(owner)
            self.report.sessions.append(state.session)
        if self._writer.is_full:
            self.commit()

    def store(self, name: str, data: bytes | memoryview) -> str:
        """Store a block unless the store has it, and return its name."""
        if not self._writer.has(name):
            try:
                self._writer.add(name, data)
            except OSError as error:  # must not be mistaken for one of the source
                raise make_write_error(self._packs.folder, error) from error
            self.report.new_bytes += len(data)
        return name

    def has(self, name: str) -> bool:
        """Return whether a block is in the store or about to be written."""
        return self._writer.has(name)

    def has_all(self, known: KeptFile) -> bool:
        """Return whether every block of a state is in the store."""
        return self._packs.places.keys() >= set(known.blocks)

    def size_of(self, name: str) -> int:
        """Return the size of a block in the store."""
        return self._packs.places[name].size

    def commit(self) -> None:
        """Sync everything to disk: blocks first, then the journal lines that need them."""
        self._writer.commit()
        if self._lines:
            self._journal.add(self._lines, self.states)
            self._lines = []
        self.report.stored_bytes = self._writer.stored


def time_now() -> str:
    """Return the current time in the journal's form."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class _Reading:
    """Reads a file once, up to the size it had when it was opened."""

    def __init__(
        self, run: "BackupRun", file: FileIO, size: int, report: Callable[[int], None]
    ) -> None:
        self._run = run
        self._file = file
        self._report = report
        self._left = size
        self.size = 0
        self._digest = sha256()

    def of(self, known: KeptFile | None) -> tuple[tuple[str, ...], str, str]:
        """Return the names of the file's blocks, its digest, and that of the state it continues."""
        if known and known.blocks and known.size <= self._left and self._run.has_all(known):
            grown = self._grown(known)
            if grown:
                return grown
            self._file.seek(0)
            self._left += self.size
            self.size, self._digest = 0, sha256()
        if self._left <= MIN_BLOCK:  # one block, whose name is that of the file
            data = self._file.read(self._left)
            self._count(data)
            digest = self._digest.hexdigest()
            return ((self._run.store(digest, data),) if data else ()), digest, ""
        return self._cut(b""), self._digest.hexdigest(), ""

    def _grown(self, known: KeptFile) -> tuple[tuple[str, ...], str, str] | None:
        """Read on from a known state; return None if the file starts with something else."""
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
        parts = self._run.cutter.split(self._fill, first)
        return tuple(self._run.store(sha256(part).hexdigest(), part) for part in parts)

    def _fill(self, room: memoryview) -> int:
        part = room[: self._left]
        count = self._file.readinto(part) or 0
        self._count(part[:count])
        if self._left > 0:
            self._report(self.size)
        return count

    def _count(self, data: bytes | memoryview) -> None:
        self._digest.update(data)
        self.size += len(data)
        self._left -= len(data)


TIERS = (256 << 10, 2 << 20, 16 << 20, FULL)
"""Sizes below which packs are merged with similar ones."""
MANY = 5
MOST_DEAD = 0.25
"""The share of a large pack that may be unneeded."""


def compact_packs(store: "Store", states: JournalState) -> None:
    """Merge small packs where there are many, and shorten a journal that repeats itself.

    Without disk space for that, everything stays as it is.
    """
    with suppress(OSError):
        tiers: dict[int, set[int]] = {}
        for number in store.packs.numbers():
            size = store.packs.path(number).stat().st_size
            tier = next((number for number in TIERS if size < number), None)
            if tier:
                tiers.setdefault(tier, set()).add(number)
        many = (alike for alike in tiers.values() if len(alike) >= MANY)
        merging = set().union(*many)
        if merging:
            rewrite_packs(
                store.packs,
                states,
                {*merging, *find_wasteful_packs(store.packs, states, MOST_DEAD)},
            )
        if states.is_wordy and not states.lost:
            store.journal.rewrite(states)


def find_wasteful_packs(packs: Packs, states: JournalState, more_than: float = 0.0) -> set[int]:
    """Return the packs with a larger share of blocks that are unneeded or stored elsewhere too."""
    live = states.find_needed_blocks()
    found: set[int] = set()
    for number in packs.numbers():
        dead = total = 0
        for name, place in packs.index(number):
            total += place.size
            if name not in live or packs.places[name] != place:
                dead += place.size
        if dead > more_than * total or not total:
            found.add(number)
    return found


def rewrite_packs(packs: Packs, states: JournalState, numbers: Iterable[int]) -> None:
    """Copy the needed blocks of some packs into new ones, then delete the old packs."""
    old = set(numbers)
    if not old:
        return
    moving: dict[str, KeptFile] = {}
    for state in sorted(states.iter_states(), key=_owner):
        for name in state.blocks:
            if name in packs.places and packs.places[name].pack in old:
                moving.setdefault(name, state)
    writer = PackWriter(packs)
    damaged: set[int] = set()
    try:
        for name, state in moving.items():
            pack = packs.places[name].pack
            writer.start_owner(*_owner(state))
            try:
                writer.add(name, packs.read(name))
            except LostBlock:
                damaged.add(pack)
            if writer.is_full:
                writer.commit()
        writer.commit()
    except BaseException:
        writer.roll_back()
        raise
    for number in sorted(old - damaged):  # a damaged pack may become readable again
        packs.path(number, PACK).unlink(missing_ok=True)
        packs.path(number, INDEX).unlink(missing_ok=True)
    sync_folder(packs.folder)
    packs.forget()


def _owner(state: KeptFile) -> tuple[str, str, str]:
    return state.root, state.project, state.session


DAY = 86_400 * 10**9


class _Restoring:
    """Writes files one after the other, each under a temporary name first."""

    def __init__(
        self, store: "Store", partial: bool, files: list[KeptFile], report: Report | None
    ) -> None:
        self._packs = store.packs
        self._partial = partial
        self._report = report
        self._files, self._bytes = len(files), sum(file.size for file in files)
        self._done = 0
        self.written: list[Path] = []
        self.damaged: list[Damage] = []

    def restore(self, file: KeptFile, path: Path, is_there: bool) -> None:
        """Write one file, unless a block of it is damaged and partial files are not wanted."""
        draft = path.with_name(f".{file.sha256[:16]}.{os.getpid()}.restored")
        damaged: list[Damage] = []
        try:
            path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            self._write(draft, file, damaged)
            if damaged and not self._partial:
                draft.unlink()
            else:
                draft.chmod(file.mode)
                os.utime(draft, ns=(file.modified, file.modified))
                if is_there:
                    draft.replace(path)
                else:
                    install_new_file(draft, path)
                self.written.append(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise make_write_error(path, error) from error
        self.damaged += damaged

    def _write(self, draft: Path, file: KeptFile, damaged: list[Damage]) -> None:
        digest = sha256()
        with os.fdopen(os.open(draft, FLAGS, OWNER_FILE), "wb") as out:
            for name in file.blocks:
                try:
                    data = self._packs.read(name)
                except LostBlock as error:
                    where = self._packs.describe_place(name)
                    damaged.append(Damage(name, where, str(error), (file,)))
                    continue
                digest.update(data)
                out.write(data)
                count = len(data)
                self._done += count
                if self._report:
                    files = len(self.written)
                    self._report(Progress(files, self._files, self._done, self._bytes, file.path))
        if not damaged and digest.hexdigest() != file.sha256:
            damaged.append(
                Damage("", "the journal", "the listed blocks do not match the file", (file,))
            )


STORE, PACKS = "store", "packs"
FORMAT_VERSION = 1
HOMES = frozenset({PROJECTS, TASKS, LISTS, HISTORY})
BLOCK_NAME = re.compile(r"[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
PACK_NAME = re.compile(r"\d{6,9}\.(pack|index)")
LATEST = 1 << 62


def _copy_states(source: "Store", run: BackupRun, chosen: Iterable[KeptFile]) -> None:
    """Copy states from another store, with the blocks that are missing here."""
    with run.transaction():
        for state in sorted(chosen, key=lambda state: (*_owner(state), state.kept)):
            run.start_owner(state)
            for name in state.blocks:
                if not run.has(name):
                    run.store(name, source.block(name, state))
            run.add(state)


def _merge_states(
    states: Iterable[KeptFile], stored: int, left_out: tuple[str, ...] = ()
) -> Merged:
    states = tuple(states)
    names = tuple(dict.fromkeys(state.session for state in states))
    return Merged(names, len(states), sum(state.size for state in states), stored, left_out)


def _check_parcel(path: Path, other: "Store", states: JournalState) -> None:
    """Refuse a parcel with a journal that no store would write, or with damaged blocks or files."""
    if states.damaged or states.forgotten:
        raise _make_parcel_error(path, "its journal is damaged")
    unpacked = 0
    for state in states.iter_states():
        unpacked += state.size
        if not _is_sound(state):
            raise _make_parcel_error(path, f"'{state.path[:80]}' is not a session file")
    if unpacked > LARGE and unpacked > MOST_TIMES * path.stat().st_size:
        raise _make_parcel_error(path, "its files are far larger than the packed file")
    for state in states.iter_states():
        digest, size = sha256(), 0
        for name in state.blocks:
            try:
                data = other.packs.read(name)
            except LostBlock as error:
                raise _make_parcel_error(path, f"block {name[:16]} is damaged") from error
            digest.update(data)
            size += len(data)
            if size > state.size:
                break
        if size != state.size or digest.hexdigest() != state.sha256:
            raise _make_parcel_error(path, f"'{state.path}' does not match its journal")


def _is_sound(state: KeptFile) -> bool:
    parts = tuple(state.path.split("/"))
    names = (*parts, state.session, *filter(None, [state.project]))
    # Settings, hooks and commands have other places: a parcel must not be able to install any.
    if parts[0] in HOMES:
        is_session_file = len(parts) > 1
    else:
        is_log = parts[-1].endswith(LOG_SUFFIX) or parts[-1] == TITLE
        is_session_file = is_log or not SIGNS.isdisjoint(parts[:-1])
    is_text = state.root.isprintable() and state.mark.isprintable() and len(state.root) < 4096
    return (
        all("/" not in name and is_plain_name(name) for name in names)
        and is_session_file
        and is_text
        and all(map(BLOCK_NAME.fullmatch, (state.sha256, *state.blocks)))
        and TIME.fullmatch(state.kept) is not None
        and 0 <= state.modified < LATEST
        and 0 <= state.mode <= 0o777
        and state.size >= 0
    )


def _begins(store: "Store", longer: KeptFile, other: "Store", shorter: KeptFile) -> bool:
    """Return whether a state begins with another one; only the last block can be split
    differently.
    """
    pairs = zip(longer.blocks, shorter.blocks, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = shorter.blocks[alike:]
    if len(rest) > 1 or shorter.size > longer.size:
        return False
    if not rest:
        return True
    last, start = other.block(rest[0], shorter), b""
    for name in longer.blocks[alike:]:
        if len(start) >= len(last):
            break
        start += store.block(name, longer)
    return start.startswith(last)


def _make_parcel_error(path: Path, why: str) -> Refused:
    return Refused(f"refusing to unpack '{path}': {why}", "nothing was changed")


LOCK = "lock"
DRAFT = "unpacking-"
"""The prefix of the folder in which a parcel is unpacked for checking."""
PATIENCE = 60.0
"""Seconds to wait for another run."""


class Store:
    """The backup store; nothing is created on disk before something is stored."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packs = Packs(folder / "packs")
        self.journal = Journal(folder)
        self.lock = folder / LOCK

    @classmethod
    def open(cls, folder: Path) -> "Store":
        """Return the store in a folder, which need not exist yet."""
        if folder.exists() and not folder.is_dir():
            raise UserError(f"'{folder}' is not a folder")
        return cls(folder)

    def states(self) -> JournalState:
        """Return the present content of the journal."""
        try:
            return self.journal.read()
        except OSError as error:
            raise make_read_error(self.journal.path, error) from error

    @contextmanager
    def open_for_writing(
        self, wait: float = PATIENCE, known: JournalState | None = None
    ) -> Iterator[JournalState]:
        """Lock the store for writing, and delete what an interrupted run left.

        Known states are not read again, unless the journal was replaced.
        """
        try:
            with lock_file(self.lock, wait) as is_ours:
                if not is_ours:
                    where = f"another process is writing to '{self.folder}'"
                    raise UserError(where, "try again when it is done")
                self.packs.forget()
                remove_drafts(self.packs)
                for draft in self.folder.glob(f"{DRAFT}*"):
                    rmtree(draft, ignore_errors=True)
                path = self.folder / README_NAME
                if not path.exists():
                    replace_file(path, README_TEXT.encode())
                is_known = known is not None and known.mark == self.journal.mark() != ()
                states = known if known is not None and is_known else self.states()
                if states.damaged and not states.lost:
                    self.journal.rewrite(states)
                yield states
        except OSError as error:
            raise make_write_error(self.folder, error) from error

    def plan(self, sources: Sources, *, again: bool = False) -> KeepPlan:
        """Return what `keep` would read; nothing is written."""
        return plan_backup(
            self.states(), sources, again=again, damaged=read_damaged_blocks(self.folder)
        )

    def keep(
        self,
        sources: Sources,
        *,
        report: Report | None = None,
        again: bool = False,
        wait: float = PATIENCE,
    ) -> KeepReport:
        """Back up what is new in some sessions; with `again` also what was forgotten in its
        present state.
        """
        found, damaged = tuple(sources), read_damaged_blocks(self.folder)
        known = self.states()
        planned = plan_backup(known, found, again=again, damaged=damaged)
        if not planned.sessions:
            return KeepReport(unchanged=planned.unchanged)
        with self.open_for_writing(wait, known) as states:
            self.packs.skip(damaged)
            if states is not known:
                planned = plan_backup(states, found, again=again, damaged=damaged)
            done = BackupRun(self.journal, self.packs, states).keep(planned, report)
            mark_damaged(self.folder, damaged - self.packs.places.keys())
            compact_packs(self, states)
        return done

    def put(self, files: Iterable[NewFile]) -> tuple[KeptFile, ...]:
        """Store files that exist nowhere else; an unchanged one changes nothing."""
        with self.open_for_writing() as states:
            kept = BackupRun(self.journal, self.packs, states).put(files)
            compact_packs(self, states)
        return kept

    def sessions(self) -> tuple[KeptSession, ...]:
        """Return every session in the store, with the newest state of each of its files."""
        together: dict[tuple[str, str, str], list[list[KeptFile]]] = {}
        for states in self.states().files.values():
            file = states[-1]
            together.setdefault((file.root, file.project, file.session), []).append(states)
        sessions = []
        for key, files in sorted(together.items()):
            newest = sorted((states[-1] for states in files), key=lambda file: file.path)
            earlier = tuple(file for states in files for file in states[:-1])
            sessions.append(KeptSession(*key, tuple(newest), earlier))
        return tuple(sessions)

    def session(self, name: str) -> KeptSession:
        """Return the session with this id or prefix."""
        found = [session for session in self.sessions() if session.session.startswith(name)]
        exact = [session for session in found if session.session == name]
        if not found:
            raise NoSuchSession(f"no backed-up session starts with '{name}'")
        if len(exact or found) > 1:
            where = "', '".join(f"{item.root}/{item.project}" for item in (exact or found)[:3])
            raise AmbiguousSession(f"'{name}' matches several backed-up sessions", f"in '{where}'")
        return (exact or found)[0]

    def read(self, file: KeptFile) -> bytes:
        """Return the bytes of a file; raise if some of them are damaged."""
        return b"".join(self.pieces(file))

    def pieces(self, file: KeptFile) -> Iterator[bytes]:
        """Yield the bytes of a file, block by block; raise if one is damaged."""
        read = 0
        try:
            for name in file.blocks:
                data = self.block(name, file)
                yield data
                read += len(data)
        except SourceError:
            longer = self._grown(file)
            if longer is None:
                raise
            yield longer[read:]

    def _grown(self, file: KeptFile) -> bytes | None:
        """Return the bytes of a state that a newer one has replaced meanwhile."""
        newer = self.states().find_newest(*file.key)
        if newer is None or newer.blocks == file.blocks or newer.size < file.size:
            return None
        data = b"".join(self.block(name, newer) for name in newer.blocks)[: file.size]
        return data if sha256(data).hexdigest() == file.sha256 else None

    def block(self, name: str, file: KeptFile) -> bytes:
        """Return one block of a file; raise if it is damaged."""
        try:
            return self.packs.read(name)
        except LostBlock as error:
            raise SourceError(
                f"'{file.path}' is damaged in the backup: block {name[:16]}, {error}",
                "`plait keep verify` lists all damage",
            ) from error
        except OSError as error:
            raise make_read_error(self.packs.folder, error) from error

    def restore(
        self,
        session: KeptSession,
        to: Path | None = None,
        *,
        overwrite: bool = False,
        partial: bool = False,
        report: Report | None = None,
    ) -> Restored:
        """Restore the files of a session to where they were, or below another folder.

        A differing existing file is not overwritten unless requested. A file with a damaged block
        is left out; with `partial` it lacks the lines of that block.
        """
        if to is None and session.is_foreign:
            raise UserError(
                f"session '{session.session}' came from another machine",
                "choose where to restore it: `--to DIR`",
            )
        home = Path(session.root) if to is None else to
        places: list[Path] = []
        for file in session.files:
            parts = PurePosixPath(file.path).parts
            if not parts or any(part in ("/", "..", "") or "\0" in part for part in parts):
                raise SourceError(f"refusing to write '{file.path[:80]}': it is outside the folder")
            places.append(home.joinpath(*parts))
        there = [os.path.lexists(path) for path in places]
        pairs = [*zip(session.files, places, there, strict=True)]

        def is_same(path: Path, file: KeptFile) -> bool:
            try:
                if path.is_symlink() or not path.is_file() or path.stat().st_size != file.size:
                    return False
            except OSError as error:
                raise make_read_error(path, error) from error
            digest = sha256()
            for piece in iter_bytes(path):
                digest.update(piece)
            return digest.hexdigest() == file.sha256

        same = [path for file, path, is_there in pairs if is_there and is_same(path, file)]
        in_the_way = [path for _, path, is_there in pairs if is_there and path not in same]
        if in_the_way and not overwrite:
            more = f" and {len(in_the_way) - 1} more" if len(in_the_way) > 1 else ""
            raise Refused(
                f"not the same as in the backup: '{in_the_way[0]}'{more}",
                "restore to another folder with `--to DIR`, or overwrite with `--overwrite`",
            )
        missing = [pair for pair in pairs if pair[1] not in same]
        restoring = _Restoring(self, partial, [file for file, _, _ in missing], report)
        for file, path, is_there in missing:
            restoring.restore(file, path, is_there)
        first = session.files.index(session.log) if session.log else 0
        return Restored(
            places[first],
            session.files[first].sha256,
            tuple(restoring.written),
            tuple(same),
            tuple(restoring.damaged),
        )

    def verify(self, *, report: Report | None = None) -> tuple[Damage, ...]:
        """Read every block once and return what is damaged, with the files that need it."""
        states = self.states()
        self.packs.forget()
        found = [*self._verify_journal(states), *self._verify_indexes()]
        blocks = [*self._verify_blocks(states, report)]
        mark_damaged(self.folder, (damage.block for damage in blocks))
        return (*found, *blocks)

    def _verify_journal(self, states: JournalState) -> Iterator[Damage]:
        journal = self.journal
        for number in states.damaged:
            copy = "and so is its copy" if number in states.lost else "but its copy is intact"
            yield Damage("", journal.path.name, f"line {number} is damaged, {copy}")
        if states.damaged or not states.complete_bytes:
            return
        with suppress(OSError), lock_file(self.lock) as is_ours:
            expected = journal.path.read_bytes()[: states.complete_bytes]
            if is_ours and journal.copy.read() != expected:
                # A copy that only lags behind is no damage: a run was interrupted before writing it.
                is_behind = journal.copy.end() != len(expected)
                journal.copy.remake(journal.path)
                if not is_behind:
                    yield Damage("", journal.copy.path.name, "was damaged and has been rebuilt")

    def _verify_indexes(self) -> Iterator[Damage]:
        """Yield the self.packs whose index disagrees with them, and rewrite wrong indexes."""
        for number in self.packs.numbers():
            index, listed = self.packs.read_index(number), self.packs.scan_pack(number)
            if index == listed:
                continue
            if index is not None and self._can_read(number, index, listed):
                yield Damage("", self.packs.path(number).name, "the list of blocks is damaged")
                continue
            if self._can_read(number, listed, index or []):
                with suppress(OSError):
                    write_index(self.packs.path(number, INDEX), listed)
            yield Damage(
                "",
                self.packs.path(number, INDEX).name,
                "damaged, but the pack has the same information",
            )
        self.packs.forget()

    def _can_read(self, number: int, lines: list[IndexLine], other: list[IndexLine]) -> bool:
        """Return whether all blocks that are only in the first list can be read."""
        alone = {line.sha256 for line in {*lines} - {*other}}
        for name, place in iter_places(number, lines):
            if name in alone:
                try:
                    self.packs.read_at(name, place)
                except LostBlock:
                    return False
        return bool(alone)

    def _verify_blocks(self, states: JournalState, report: Report | None) -> Iterator[Damage]:
        needed: dict[str, list[KeptFile]] = {}
        for state in states.iter_states():
            for name in dict.fromkeys(state.blocks):
                needed.setdefault(name, []).append(state)
        places = self.packs.places
        order = sorted(needed, key=lambda name: places[name][:5] if name in places else ())
        done, total = 0, sum(places[name].size for name in needed if name in places)
        for number, name in enumerate(order):
            if report and number % 64 == 0:
                report(Progress(number, len(order), done, total, name[:16]))
            try:
                done += len(self.packs.read(name))
            except LostBlock as error:
                yield Damage(name, self.packs.describe_place(name), str(error), tuple(needed[name]))
        if report:
            report(Progress(len(order), len(order), done, total, ""))

    def forget(self, sessions: Iterable[KeptSession]) -> Freed:
        """Delete sessions with all states of their files, and free unneeded space."""
        chosen = tuple(sessions)
        if not chosen:
            return Freed((), 0, 0, 0)
        with self.open_for_writing() as states:
            before = self.stored_bytes()
            lines = [
                Forgotten(
                    root=file.root,
                    path=file.path,
                    size=file.size,
                    modified=file.modified,
                    kept=time_now(),
                )
                for session in chosen
                for file in session.files
                if file.key in states.files
            ]
            if lines:
                self.journal.add(lines, states)
            rewrite_packs(self.packs, states, find_wasteful_packs(self.packs, states))
            self.journal.rewrite(states)
            after = self.stored_bytes()
        names = tuple(dict.fromkeys(session.session for session in chosen))
        size = sum(session.size for session in chosen)
        return Freed(names, len(lines), size, before - after)

    def select_expired(self, limits: Limits, now: float) -> tuple[KeptSession, ...]:
        """Return the sessions older than the limit, then the oldest until the rest fits.

        A session counts with the blocks that no newer one needs.
        """
        sessions = sorted(self.sessions(), key=lambda session: session.modified)
        gone: list[KeptSession] = []
        if limits.max_age is not None:
            oldest = now * 10**9 - limits.max_age * DAY
            gone = [session for session in sessions if session.modified < oldest]
        if limits.max_bytes is None:
            return tuple(gone)
        left = sessions[len(gone) :]
        used: set[str] = set()
        shares: list[int] = []
        for session in reversed(left):
            blocks = {name for file in (*session.files, *session.earlier) for name in file.blocks}
            new = [name for name in blocks - used if name in self.packs.places]
            places = [self.packs.places[name] for name in new]
            shares.append(round(sum(place.packed * place.size / place.plain for place in places)))
            used |= blocks
        total = sum(shares)
        for session, share in zip(left, reversed(shares), strict=True):
            if total <= limits.max_bytes:
                break
            gone.append(session)
            total -= share
        return tuple(gone)

    def pack(self, path: Path, sessions: Iterable[KeptSession] | None = None) -> Merged:
        """Write sessions, or all, to one file for another machine."""
        packed = tuple(self.sessions() if sessions is None else sessions)
        found = [file for session in packed for file in (*session.earlier, *session.files)]
        chosen = [file for file in found if _is_sound(file)]
        left_out = tuple(dict.fromkeys(file.path for file in found if not _is_sound(file)))
        if not chosen:
            raise UserError("nothing to pack", "`plait keep` backs up sessions first")
        folder = path.absolute().parent
        try:
            with tempfile.TemporaryDirectory(dir=folder, prefix=".packing-") as draft:
                small = Store(Path(draft))
                with small.open_for_writing() as states:
                    _copy_states(self, BackupRun(small.journal, small.packs, states), chosen)
                about = {
                    "keep": FORMAT_VERSION,
                    "sessions": sorted({session.session for session in packed}),
                }
                files = [small.journal.path]
                for number in small.packs.numbers():
                    files += [small.packs.path(number, PACK), small.packs.path(number, INDEX)]
                members = [
                    Member(
                        f"{STORE}/{file.relative_to(small.folder).as_posix()}",
                        partial(iter_bytes, file),
                        0,
                        is_compressed=file.suffix == PACK,
                    )
                    for file in files
                    if file.exists()
                ]
                write_pack(path, members, about)
        except OSError as error:
            raise make_write_error(path, error) from error
        return _merge_states(chosen, path.stat().st_size, left_out)

    def unpack(self, path: Path) -> Merged:
        """Add what another machine packed; what exists here stays as it is."""

        def is_expected(parts: tuple[str, ...]) -> bool:
            is_pack = len(parts) == 3 and parts[:2] == (STORE, PACKS)
            return parts == (STORE, JOURNAL) or (is_pack and bool(PACK_NAME.fullmatch(parts[2])))

        parcel = Pack(path, is_expected)
        if parcel.manifest.about.get("keep") != FORMAT_VERSION:
            raise _make_parcel_error(path, "it was not made by `plait keep pack`")
        with (
            self.open_for_writing() as states,
            tempfile.TemporaryDirectory(dir=self.folder, prefix=DRAFT) as draft,
        ):
            other = Store(Path(draft))
            (other.folder / PACKS).mkdir()
            for name in parcel.files:
                with other.folder.joinpath(*PurePosixPath(name).parts[1:]).open("xb") as out:
                    for piece in parcel.content(name)():
                        out.write(piece)
            there = other.states()
            _check_parcel(path, other, there)
            run = BackupRun(self.journal, self.packs, states)
            # The states that no state of this store begins with.
            found: list[KeptFile] = []
            for state in there.iter_states():
                known = states.files.get(state.key, [])
                if any(_begins(self, file, other, state) for file in known):
                    continue
                earlier = next((file for file in known if _begins(other, state, self, file)), None)
                grew_from = earlier.sha256 if earlier else ""
                found.append(
                    replace(state, grew_from=grew_from, is_foreign=True, changed=0, inode=0)
                )
            _copy_states(other, run, found)
        return _merge_states(found, run.report.stored_bytes)

    def size(self) -> StoreSize:
        """Return how much is stored, and its size on disk."""
        sessions = self.sessions()
        stored = self.stored_bytes()
        files = [file for session in sessions for file in session.files]
        return StoreSize(len(sessions), len(files), sum(file.size for file in files), stored)

    def stored_bytes(self) -> int:
        """Return the size of everything on disk."""
        return self.packs.stored_bytes() + self.journal.stored_bytes()
