"""Discovery of sessions: which log files under the configured roots form which session.

`Inventory` is what there is under some roots and in the backup store. `find_session_at` finds the
session of a file anywhere.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from errno import EACCES
from functools import cached_property
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from plait.errors import NoSuchSession, SourceError, UserError
from plait.line import Discovery, LogFile, Root, discover
from plait.line.discovery import AGENT_PREFIX, LOG_SUFFIX, find_session_folder, make_log_file
from plait.line.files import make_read_error
from plait.record.reader import is_log, read_if_exists
from plait.record.side_files import list_running_sessions
from plait.sessions.model import Project, Session, StorePlace
from plait.sources.places import FoundSources, find_candidates

if TYPE_CHECKING:
    from plait.index.freshness import FileStamp
    from plait.sessions.project_folders import ProjectFolders
    from plait.sources.base import SourceLog
    from plait.store.model import KeptSession

RECORDS_WITH_ID = 20
"""Records after which a log that names no session is assumed to name none."""
LIST_SESSIONS = "`plait ls` lists your sessions"
Home: TypeAlias = tuple[Path, str]
"""The folder of a session's own file, and the name of that file without its suffix."""


def build_sessions(files: Sequence[LogFile], roots: Iterable[Root]) -> tuple[Session, ...]:
    """Group log files by session; an agent whose session is gone forms one of its own."""
    own: dict[Home, LogFile] = {}
    ids: dict[Home, str] = {}
    homes_by_id: dict[str, list[Home]] = defaultdict(list)
    for file in files:
        if file.kind == "session":
            name = file.path.stem
            home = file.path.parent, name
            own[home] = file
            ids[home] = name if is_uuid(name) else _read_session_id(file) or name
            homes_by_id[ids[home]].append(home)
    others: dict[Home, list[LogFile]] = defaultdict(list)
    for file in files:
        if file.kind != "session":
            others[_find_home(file, own, homes_by_id)].append(file)

    configs = [root for root in roots if root.config]

    def build(home: Home) -> Session:
        log, side_files = own.get(home), others.get(home, [])
        first = log or side_files[0]
        return Session(
            id=ids.get(home, home[1]),
            project=first.project,
            file=log,
            agents=tuple(file for file in side_files if file.kind == "agent"),
            journals=tuple(file for file in side_files if file.kind == "journal"),
            config=next((root.config for root in configs if root.logs in first.path.parents), None),
        )

    return tuple(build(home) for home in own | others)


def _find_home(file: LogFile, own: dict[Home, LogFile], homes_by_id: dict[str, list[Home]]) -> Home:
    """Return the session that an agent's or a workflow's file belongs to.

    Newer clients put it below the session's folder, older ones beside the log: then the id in its
    records decides, and of several logs with that id the nearest one.
    """
    by_path = (file.path.parent, "")
    if file.session is not None:
        by_path = file.path.parents[4 if file.run else 2], file.session
    if by_path in own:
        return by_path
    name = _read_session_id(file)
    homes = homes_by_id.get(name or "", [])
    if homes:
        return max(homes, key=lambda home: _count_shared_parts(home[0], file.path))
    return by_path if file.session else (file.path.parent, name or file.path.stem)


def _count_shared_parts(left: Path, right: Path) -> int:
    count = 0
    for left_part, right_part in zip(left.parts, right.parts, strict=False):
        if left_part != right_part:
            break
        count += 1
    return count


def _read_session_id(file: LogFile) -> str | None:
    ids = (record.session_id for record in islice(read_if_exists(file.path), RECORDS_WITH_ID))
    return next(filter(None, ids), None)


def is_uuid(text: str) -> bool:
    """Return whether a file's name is a session id."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def find_session_at(path: Path, known: Iterable[Session]) -> Session:
    """Return the session that a file belongs to, a known one or one elsewhere."""
    check_file(path)
    sessions = list(known)
    for session in sessions:
        if session.source_path == path or any(file.path == path for file in session.files):
            return session
    real = path.resolve()
    for session in sessions:
        if session.origin is not None and session.source_path.resolve() == real:
            return session
        if any(file.path.resolve() == real for file in session.files):
            return session
    check_log(path)
    for session in find_sessions_near(real):
        if any(file.path.resolve() == real for file in session.files):
            return session
    raise NoSuchSession(f"no session found at '{path}'")


def find_sessions_near(path: Path) -> tuple[Session, ...]:
    """Return the sessions of a file outside the roots, with the files of their agents."""
    home, _ = find_session_folder(path)
    own = home.with_suffix(LOG_SUFFIX) if home else path
    places = [own, own.with_suffix(""), *own.parent.glob(f"{AGENT_PREFIX}*{LOG_SUFFIX}"), path]
    roots = [Root(place, None, place) for place in places if place.exists()]
    return build_sessions(discover(roots).files, ())


def check_log(path: Path) -> None:
    """Refuse a file without a single record; one named like a log of the client is accepted.

    However broken such a file is, `doctor` and `repair` must be able to name it.
    """
    try:
        is_file = path.is_file()
    except OSError:  # a name longer than any file name
        return
    is_named_as_log = path.suffix == LOG_SUFFIX and (
        is_uuid(path.stem) or path.stem.startswith(AGENT_PREFIX)
    )
    if not is_file or is_named_as_log:
        return
    if not is_log(path):
        raise NoSuchSession(
            f"'{path}' is not a Claude Code log: no line is a record", LIST_SESSIONS
        )


def check_file(path: Path) -> None:
    """Refuse what is not a readable file, and say what it is."""
    if path.is_dir():
        hint = f"`plait ls --root {quote(str(path))}` lists the sessions in it"
        raise UserError(f"'{path}' is a folder", hint)
    try:
        path.stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except OSError as error:
        raise make_read_error(path, error) from error


@dataclass(frozen=True, slots=True)
class DeletedSessions:
    """Sessions that no longer exist at their source: only the backup store has them."""

    sessions: tuple[Session, ...]
    kept: Mapping[Path, "KeptSession"]
    """The store's sessions, by the path under which their files are read."""
    stamps: "Mapping[str, FileStamp]"
    """The state of each file for the index: no file is opened for it."""
    leftovers: frozenset[Path]
    """Their files that Claude Code's cleanup left at the source."""


NOTHING_DELETED = DeletedSessions((), {}, {}, frozenset())
UNREADABLE_STORE = DeletedSessions((), {}, {}, frozenset())
"""A store that exists but cannot be read by this user."""


class Inventory:
    """The files and sessions under some roots and in a store, each looked up on first use."""

    def __init__(
        self, roots: tuple[Root, ...], store: StorePlace | None, translations: Path | None = None
    ) -> None:
        self._roots = roots
        self._store = store
        self._translations = translations

    @property
    def configs(self) -> tuple[Path, ...]:
        """The configuration folders of the clients that wrote these sessions."""
        return tuple(dict.fromkeys(root.config for root in self._roots if root.config))

    @cached_property
    def _at_source(self) -> Discovery:
        """The logs of Claude Code under the roots."""
        discovery = discover(root for root in self._roots if not self.foreign.holds(root))
        claimed = self.foreign.claimed
        if not claimed:
            return discovery
        files = tuple(file for file in discovery.files if file.path not in claimed)
        return Discovery(files, discovery.unread)

    @cached_property
    def foreign(self) -> FoundSources:
        """Sessions of other agents under the roots."""
        unread: list[Path] = []
        candidates = find_candidates(self._roots, unread)
        if not candidates:
            return FoundSources()
        from plait.sources.cache import find_sources, get_cache, make_temporary_folder

        folder = self._translations or make_temporary_folder()
        return find_sources(candidates, get_cache(folder))

    @cached_property
    def discovery(self) -> Discovery:
        """Everything under the roots; a store that cannot be read is listed as unread."""
        discovery = self._at_source
        unread = [*discovery.unread, *self.foreign.unread]
        if self.deleted is UNREADABLE_STORE and self._store is not None:
            unread.append(self._store.folder)
        return Discovery(discovery.files, tuple(unread))

    @cached_property
    def deleted(self) -> DeletedSessions:
        """The sessions that only the store has."""
        if self._store is None or not self._store.exists:
            return NOTHING_DELETED
        from plait.sessions.kept import list_kept_only, translate_kept

        try:
            there = (*self._at_source.files, *map(_make_claimed_file, self.foreign.claimed))
            found = list_kept_only(self._store, self._roots, there)
            return translate_kept(found, self._store, self._translations)
        except SourceError:
            return UNREADABLE_STORE

    def is_kept(self, path: str) -> bool:
        """Return whether a file is read from the store."""
        return self._store is not None and self._store.cache.absolute() in Path(path).parents

    def stamps(self) -> "dict[str, FileStamp]":
        """Return the stamps by which the index recognises files, by absolute path."""
        from plait.index.freshness import scan_stamps

        stamps = scan_stamps(
            root.logs.absolute() for root in self._roots if not self.foreign.holds(root)
        )
        for path in self.foreign.claimed:
            stamps.pop(str(path.absolute()), None)
        return stamps | dict(self.deleted.stamps) | self._read_foreign_stamps()

    def export_session(self, session: Session) -> "Iterator[tuple[SourceLog, Path]]":
        """Yield the logs of a session that a backup must not copy, each with what it keeps."""
        from plait.sources.cache import get_cache, make_temporary_folder

        translations = get_cache(self._translations or make_temporary_folder())
        for file in session.files:
            log = self.find_origin(file.path)
            exported = translations.export(log) if log else None
            if log is not None and exported is not None:
                yield log, exported

    def find_origin(self, path: Path) -> "SourceLog | None":
        """Return the log of another agent that a file is translated from."""
        if not self.foreign.sessions and not any(item.origin for item in self.deleted.sessions):
            return None
        from plait.sources.cache import get_cache, make_temporary_folder

        return get_cache(self._translations or make_temporary_folder()).find_log(path)

    def _read_foreign_stamps(self) -> "dict[str, FileStamp]":
        """Return the stamps of translated files, without translating anything."""
        from plait.index.freshness import FileStamp

        return {
            str(file.path): FileStamp(log.size, log.modified, log.modified)
            for session in self.foreign.sessions
            for file, log in session.files
        }

    @cached_property
    def source_files(self) -> tuple[LogFile, ...]:
        """The log files at their source, by path."""
        files, leftovers = self._at_source.files, self.deleted.leftovers
        return tuple(file for file in files if file.path not in leftovers) if leftovers else files

    @cached_property
    def files(self) -> tuple[LogFile, ...]:
        """All log files: those at their source, those only in the store, those of other agents."""
        kept = (file for session in self.deleted.sessions for file in session.files)
        foreign = (file for session in self.foreign.sessions for file, _ in session.files)
        return (*self.source_files, *kept, *foreign)

    def sessions(self) -> list[Session]:
        """Return all sessions, newest last."""
        foreign = (
            Session(
                id=found.log.id,
                project=found.files[0][0].project,
                file=found.files[0][0],
                agents=tuple(file for file, _ in found.files[1:]),
                origin=found.log,
            )
            for found in self.foreign.sessions
        )
        own = build_sessions(self.source_files, self._roots)
        sessions = [*own, *self.deleted.sessions, *foreign]
        return sorted(sessions, key=lambda session: (session.modified, str(session.path)))


def _make_claimed_file(path: Path) -> LogFile:
    try:
        status = path.stat()
    except OSError:  # gone meanwhile
        return make_log_file(path, 0, 0.0)
    return make_log_file(path, status.st_size, status.st_mtime)


def resolve_store(store: StorePlace | Path | str) -> StorePlace:
    """Return the store in a folder; files read from it are cached next to it."""
    if isinstance(store, StorePlace):
        return store
    folder = Path(store)
    return StorePlace(folder, folder.with_name(f"{folder.name}-read"))


def group_by_project(sessions: Iterable[Session], folding: "ProjectFolders") -> tuple[Project, ...]:
    """Return the projects of some sessions, by name."""
    members: dict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        members[folding.project(session.project)].append(session)
    return tuple(
        Project(name, tuple(sessions), folding.directory(name), folding.folders(name))
        for name, sessions in sorted(members.items())
    )


def find_running_sessions(roots: Iterable[Root]) -> frozenset[str]:
    """Return the ids of sessions that Claude Code is running now."""
    configs = [root.config for root in roots if root.config]
    return frozenset(id_ for config in configs for id_ in list_running_sessions(config))
