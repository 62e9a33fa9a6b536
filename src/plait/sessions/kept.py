"""Sessions that only the backup store still has, as sessions of an archive.

A session whose own log still exists is read from there. One whose log is gone is read from the
store entirely, whatever the cleanup left of its agents, unless it only moved:

    backed up  projects/-home-me-shop/<id>.jsonl
    later      projects/-srv-shop/<id>.jsonl    same id below the same root, no older, and not
                                                backed up there before: it is this session

Two logs with one id that were backed up side by side are two sessions and stay two. A store knows
agents by folder and file name; an archive assigns them to the session that their log names.

Files are extracted into a bounded cache when one of them is opened; it can be deleted any time:

    <cache>/<digest>/projects/<slug>/<session>.jsonl      the path below its root
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING

from plait.errors import SourceError
from plait.index.freshness import FileStamp, is_indexed
from plait.line import LogFile, Root
from plait.line.discovery import LOG_SUFFIX, PROJECTS, make_log_file
from plait.line.files import Line, register_source
from plait.record.reader import parse_entry
from plait.record.types import Record
from plait.sessions.discovery import RECORDS_WITH_ID, DeletedSessions, is_uuid
from plait.sessions.model import Session, StorePlace
from plait.sources.places import FOLDERS, KeptLog, is_candidate

if TYPE_CHECKING:
    from plait.store.model import KeptFile, KeptSession
    from plait.store.store import Store


GRAIN = 1000
"""Nanoseconds by which times stored in seconds may differ."""


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A session's own log: its present or former path, its modification time, its backup time."""

    place: str
    modified: int
    kept: str | None


class Moves:
    """Present and former places of sessions, by root and id."""

    def __init__(
        self, kept: Iterable["KeptSession"], here: Mapping[str, float] | None = None
    ) -> None:
        self._logs: dict[tuple[str, str], dict[str, LogPlace]] = defaultdict(dict)
        self._real: dict[str, str] = {}
        for session in kept:
            log = self._log_of(session)
            if log:
                self._logs[self._key(session)][log.place] = log
        if here and self._logs:
            self._add(here)

    def _add(self, here: Mapping[str, float]) -> None:
        """Add the logs at their source, with their times in seconds."""
        names = defaultdict(list)
        for root, name in self._logs:
            names[name].append(root)
        for place, seconds in here.items():
            name = os.path.basename(place).removesuffix(LOG_SUFFIX)  # noqa: PTH119
            for root in names.get(name, ()):
                if place.startswith(f"{root}{os.sep}"):
                    logs = self._logs[root, name]
                    known = logs.get(place)
                    logs[place] = LogPlace(
                        place, round(seconds * 1e9), known.kept if known else None
                    )

    def has_left(self, kept: "KeptSession") -> bool:
        """Return whether a backed-up session has moved elsewhere since, or before its last backup."""
        own = self._log_of(kept)
        logs = self._logs.get(self._key(kept), {})
        return own is not None and any(
            (
                log.place != own.place
                and log.modified + GRAIN >= own.modified
                and (log.kept is None or log.kept > (own.kept or ""))
            )
            for log in logs.values()
        )

    def _key(self, kept: "KeptSession") -> tuple[str, str]:
        if kept.root not in self._real:
            self._real[kept.root] = os.path.realpath(kept.root)
        return self._real[kept.root], kept.session

    def _log_of(self, kept: "KeptSession") -> LogPlace | None:
        log = kept.log
        if (
            log is None
            or not is_uuid(kept.session)
            or not log.path.endswith(f"/{kept.session}{LOG_SUFFIX}")
        ):
            return None
        place = os.path.join(self._key(kept)[0], *log.path.split("/"))  # noqa: PTH118
        return LogPlace(place, log.modified, log.kept)


def earlier_places(kept: "KeptSession", others: Iterable["KeptSession"]) -> list["KeptSession"]:
    """Return a session as it was backed up at the place it moved from."""
    same = [
        session
        for session in others
        if (session.root, session.session) == (kept.root, kept.session)
    ]
    return [
        session for session in same if session != kept and Moves([kept, session]).has_left(session)
    ]


def group_by_session(store: "Store") -> list["KeptSession"]:
    """Return all sessions of a store by id, each with its own agents."""
    found: list[KeptSession] = []
    alone: list[KeptSession] = []
    homes: dict[tuple[str, str], list[int]] = defaultdict(list)
    for kept in store.sessions():
        if kept.log is None:
            alone.append(kept)
            continue
        name = (
            kept.session if is_uuid(kept.session) else _is_named_in(store, kept.log) or kept.session
        )
        homes[kept.root, name].append(len(found))
        found.append(kept if name == kept.session else replace(kept, session=name))
    for kept in alone:
        near = homes.get((kept.root, kept.session))
        if near is None:
            found.append(kept)
        else:
            place = max(near, key=lambda number: _count_shared_parts(found[number], kept))
            files = sorted((*found[place].files, *kept.files), key=lambda file: file.path)
            found[place] = replace(found[place], files=tuple(files))
    return found


def _is_named_in(store: "Store", log: "KeptFile") -> str | None:
    try:
        data = next(store.pieces(log), b"")
    except SourceError:  # damaged: its file name decides
        return None
    for number, line in enumerate(islice(data.split(b"\n"), RECORDS_WITH_ID), 1):
        entry = parse_entry(Line(number, 0, line, True))
        if isinstance(entry, Record) and entry.session_id:
            return entry.session_id
    return None


def _count_shared_parts(session: "KeptSession", other: "KeptSession") -> int:
    left, right = _split_parts(session.files), _split_parts(other.files)
    return next(
        (at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]),
        min(len(left), len(right)),
    )


def _split_parts(files: "Sequence[KeptFile]") -> list[str]:
    first = next((file for file in files if file.kind == "session"), files[0])
    return first.path.split("/")


MOST = 1 << 29
"""Size of the cache in bytes; the session extracted last always stays."""
READ = frozenset({"session", "agent", "journal", "beside"})
"""Kinds of files that a session is read from."""


class KeptFileCache:
    """A cache of extracted sessions of a store, shared by a process."""

    def __init__(self, place: StorePlace) -> None:
        self.place = place
        self._known: dict[str, KeptSession] = {}
        self._paths: dict[str, frozenset[str]] = {}
        self._lock = Lock()
        self._held: int | None = None
        """Bytes in the cache as far as this process knows; None before it has looked."""
        begin = f"{__name__}:offer_kept_files", (str(place.folder), str(place.cache))
        register_source(place.cache, self.fetch, begin)

    def folder_of(self, session: "KeptSession") -> Path:
        """Return the folder of an extracted session, which has its files as below its root."""
        read = replace(session, files=tuple(file for file in session.files if file.kind in READ))
        names = "".join(f"{file.path}\0{file.sha256}\n" for file in read.files)
        key = sha256(f"{session.root}\0{names}".encode("utf-8", "surrogatepass")).hexdigest()[:20]
        if key not in self._known:
            self._known[key] = read
            self._paths[key] = frozenset(file.path for file in read.files)
        return self.place.cache.absolute() / key

    def fetch(self, path: Path) -> bool:
        """Extract the session of a file; return whether the file exists then."""
        key, *below = path.relative_to(self.place.cache.absolute()).parts
        if "/".join(below) not in self._paths.get(key, ()):
            return False
        with self._lock:
            folder = self.place.cache / key
            if not folder.exists():
                self._put(self._known[key], folder)
        return path.exists()

    def _put(self, session: "KeptSession", folder: Path) -> None:
        draft = folder.with_name(f".{folder.name}.{token_hex(4)}")
        try:
            draft.mkdir(parents=True, mode=0o700)
            from plait.store.store import Store

            Store.open(self.place.folder).restore(session, draft, partial=True)
            with suppress(OSError):  # another process was first
                draft.rename(folder)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(
                f"cannot unpack kept session '{session.session}' to '{folder}': {reason}",
                "`plait restore SESSION --to DIR` restores it elsewhere",
            ) from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        if self._held is not None:
            self._held += session.size
        if self._held is None or self._held > MOST:
            # Delete the oldest folders while the cache is too large, and return those left.
            held = sorted(
                [path for path in _list_entries(self.place.cache) if not path.name.startswith(".")],
                key=_sort_by_age,
            )
            sizes = {path: self._measure_folder(path) for path in held}
            total = sum(sizes.values())
            for item in held:
                if total > MOST and item != folder:
                    total -= sizes[item]
                    # renamed first, so that readers find all of it or nothing
                    discarded = item.with_name(f".{item.name}.{token_hex(4)}")
                    with suppress(OSError):
                        os.rename(item, discarded)  # noqa: PTH104  a folder that is gone is no fault
                        shutil.rmtree(discarded, ignore_errors=True)
            self._held = total

    def _measure_folder(self, folder: Path) -> int:
        known = self._known.get(folder.name)
        if known is not None:
            return known.size
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@lru_cache(maxsize=8)
def get_cache(place: StorePlace) -> KeptFileCache:
    """Return the cache of a store, shared by all archives that use it."""
    return KeptFileCache(place)


def offer_kept_files(place: tuple[str, str]) -> bytes:
    """Make backed-up sessions readable in this process, by the folders of the store and the cache."""
    from plait.store.store import Store

    folder, shelf = map(Path, place)
    known = get_cache(StorePlace(folder, shelf))
    for session in group_by_session(Store.open(folder)):
        known.folder_of(session)
    return b""


def _list_entries(shelf: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from shelf.iterdir()


def _sort_by_age(folder: Path) -> float:
    try:
        return folder.stat().st_ctime
    except OSError:
        return 0.0


LOGS = frozenset({"session", "agent", "journal"})
HEAD = 4096
"""Bytes from which a log of another agent is recognised."""
DIGITS = 15
"""Digits of a checksum that fit where the index stores a file's inode."""


def list_kept_only(
    place: StorePlace, roots: Sequence[Root], files: Sequence[LogFile]
) -> DeletedSessions:
    """Return the backed-up sessions of some roots whose log is gone, excluding these files."""
    from plait.store.store import Store

    there = _Sources(roots, files)
    found: dict[Path, tuple[Session, KeptSession]] = {}
    stamps: dict[str, FileStamp] = {}
    left: set[Path] = set()
    shelf = get_cache(place)
    for kept, root in _iter_kept_only(group_by_session(Store.open(place.folder)), there, place):
        folder = shelf.folder_of(kept)
        logs = [
            make_log_file(folder.joinpath(*file.path.split("/")), file.size, file.modified / 1e9)
            for file in kept.files
            if file.kind in LOGS
        ]
        own = next((file for file in logs if file.kind == "session"), None)
        if not logs:
            session = None
        else:
            session = Session(
                id=kept.session,
                project=(own or logs[0]).project,
                file=own,
                agents=tuple(file for file in logs if file.kind == "agent"),
                journals=tuple(file for file in logs if file.kind == "journal"),
                config=root.config if root else None,
                is_kept=True,
                is_incomplete=kept.mark == "incomplete",
            )
        if session is not None:
            found[session.path] = session, kept
            for kept_file in kept.files:
                path = str(folder.joinpath(*kept_file.path.split("/")))
                if is_indexed(path):
                    inode = int(kept_file.sha256[:DIGITS], 16)  # changes when the content does
                    stamps[path] = FileStamp(kept_file.size, kept_file.modified, inode)
            left.update(there.left_of(kept))
    return DeletedSessions(
        tuple(session for session, _ in found.values()),
        {path: kept for path, (_, kept) in found.items()},
        stamps,
        frozenset(left),
    )


def translate_kept(
    deleted: DeletedSessions, place: StorePlace, translations: Path | None
) -> DeletedSessions:
    """Return kept sessions with those of other agents as their translations."""
    from plait.store.store import Store

    copies: list[KeptLog] = []
    owners: dict[Path, Path] = {}
    shelf = get_cache(place)
    for path, kept in deleted.kept.items():
        folder, root = shelf.folder_of(kept), Path(kept.root)
        for file in kept.files if kept.log else ():
            source = root.joinpath(*file.path.split("/"))
            is_claude = file.path.startswith(f"{PROJECTS}/") and root.name not in FOLDERS
            if file.kind not in LOGS or (is_claude and "/chats/" not in file.path):
                continue
            try:
                head = next(Store.open(place.folder).pieces(file), b"")
            except SourceError:
                continue
            if root.name in FOLDERS or is_candidate(source, head[:HEAD]):
                copy = folder.joinpath(*file.path.split("/"))
                copies.append(KeptLog(copy, source, head, file.size, file.modified))
                owners[copy] = path
    if not copies:
        return deleted
    from plait.sources.cache import find_kept_sources, make_temporary_folder
    from plait.sources.cache import get_cache as get_translations

    found = find_kept_sources(copies, get_translations(translations or make_temporary_folder()))
    replaced = {owners[path] for path in found.claimed}
    known = {session.path: session for session in deleted.sessions}
    sessions = [known[path] for path in known if path not in replaced]
    kept_by_path = {path: kept for path, kept in deleted.kept.items() if path not in replaced}
    stamps = dict(deleted.stamps)
    for path in found.claimed:
        stamps.pop(str(path), None)
    for item in found.sessions:
        owner = owners[Path(item.log.path)]
        session = Session(
            id=item.log.id,
            project=item.files[0][0].project,
            file=item.files[0][0],
            agents=tuple(file for file, _ in item.files[1:]),
            is_kept=True,
            is_incomplete=known[owner].is_incomplete,
            origin=item.log,
        )
        sessions.append(session)
        kept_by_path[session.path] = deleted.kept[owner]
        for translation, log in item.files:
            stamps[str(translation.path)] = FileStamp(log.size, log.modified, log.modified)
    return DeletedSessions(tuple(sessions), kept_by_path, stamps, deleted.leftovers)


def _iter_kept_only(
    sessions: "Sequence[KeptSession]", there: "_Sources", place: StorePlace
) -> "Iterator[tuple[KeptSession, Root | None]]":
    """Yield the sessions that exist only in the backup; one known from elsewhere too comes once."""
    strangers: list[KeptSession] = []
    places: dict[str, tuple[KeptSession, Root]] = {}
    known = set(there.sessions)
    moves = Moves(sessions, there.times)
    for kept in sorted(sessions, key=lambda session: session.modified):
        root = there.root_of(kept)
        if root is not None and not there.holds(kept) and not moves.has_left(kept):
            known.add(kept.session)
            places[there.place_of(kept)] = kept, root  # the newest, of one backed up from two roots
        elif root is None and _is_stranger(kept, place):
            strangers.append(kept)
    yield from places.values()
    for kept in sorted(strangers, key=lambda stranger: stranger.modified, reverse=True):
        if kept.session not in known:
            known.add(kept.session)
            yield kept, None


class _Sources:
    """The files under some roots, by real path."""

    def __init__(self, roots: Sequence[Root], files: Iterable[LogFile]) -> None:
        self._roots = {os.path.realpath(root.logs): root for root in roots if root.logs.is_dir()}
        self._real: dict[str, str] = {}
        folders: dict[Path, str] = {}
        self._files: dict[str, LogFile] = {}
        for file in files:
            folder = file.path.parent
            if folder not in folders:
                folders[folder] = os.path.realpath(folder)
            self._files[f"{folders[folder]}{os.sep}{file.path.name}"] = file

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions whose own logs are there."""
        logs = (file for file in self._files.values() if file.kind == "session")
        return frozenset(file.session for file in logs if file.session)

    @property
    def times(self) -> dict[str, float]:
        """When each session's own log was last written, in seconds, by real path."""
        logs = self._files.items()
        return {place: file.modified for place, file in logs if file.kind == "session"}

    def root_of(self, kept: "KeptSession") -> Root | None:
        """Return the root that a backed-up session was below."""
        place = self.place_of(kept)
        return next(
            (root for logs, root in self._roots.items() if place.startswith(f"{logs}{os.sep}")),
            None,
        )

    def place_of(self, kept: "KeptSession") -> str:
        """Return the former place of a session: its own log, else the first of its files."""
        return self._place_of(kept, kept.log or kept.files[0])

    def holds(self, kept: "KeptSession") -> bool:
        """Return whether a session is at its source: its own log, else any of its agents' logs."""
        own = [kept.log] if kept.log else [file for file in kept.files if file.kind in LOGS]
        return any(self._place_of(kept, file) in self._files for file in own)

    def left_of(self, kept: "KeptSession") -> Iterator[Path]:
        """Yield the logs at the source of a session whose own log is gone."""
        places = (self._place_of(kept, file) for file in kept.files if file.kind in LOGS)
        yield from (self._files[place].path for place in places if place in self._files)

    def _place_of(self, kept: "KeptSession", file: "KeptFile") -> str:
        if kept.root not in self._real:
            self._real[kept.root] = os.path.realpath(kept.root)
        return os.path.join(self._real[kept.root], *file.path.split("/"))  # noqa: PTH118


def _is_stranger(kept: "KeptSession", place: StorePlace) -> bool:
    """Return whether a session comes from a folder that is not on this machine and is not to be
    shown.
    """
    is_elsewhere = place.includes_foreign and not os.path.isdir(kept.root)  # noqa: PTH112
    return is_elsewhere or place.includes_all
