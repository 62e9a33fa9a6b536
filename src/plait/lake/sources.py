"""Sources of a lake: sessions under roots, in the store of kept sessions, in object stores.

A session is identified by the state of all its files: its logs, the notes on its agents, its title,
the outputs that were too large for a log. Of an object store nothing is read at first but the list
of files; a worker fetches the files of a session to a folder that lasts as long as it reads them.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from pyarrow.fs import FileSelector, FileType

from plait.errors import SourceError, UserError
from plait.index.freshness import META, FileStamp, is_indexed
from plait.lake.location import Location, parse_location, storage_errors
from plait.lake.profiles import Unit
from plait.lake.rows import relative_name
from plait.line import LogFile, Root
from plait.line.discovery import (
    LOG_SUFFIX,
    PLAIT_FOLDER,
    PROJECTS,
    find_session_folder,
    make_log_file,
)
from plait.line.files import register_source
from plait.sessions.discovery import build_sessions
from plait.sessions.model import Session

if TYPE_CHECKING:
    from plait.archive.archive import Archive

NANOSECONDS = 1_000_000_000
COPY_BYTES = 1 << 20


class SessionInput(NamedTuple):
    """A session with all files that are read for it."""

    session: Session
    files: tuple[Path, ...]
    """Its logs and the files beside them."""
    name: str
    """Its path below its root."""
    fingerprint: str
    """A digest of the states of its files."""
    roots: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The size of all its log files in bytes."""
        return sum(file.size for file in self.session.files)


@dataclass(frozen=True, slots=True)
class RemoteFiles:
    """A folder in an object store, and where its files would be if they were on this machine."""

    location: Location
    path: Path

    @property
    def filesystem(self) -> Any:
        """The file system whose root is the folder."""
        return self.location.filesystem("")

    def fetch(self, path: Path, destination: Path) -> None:
        """Copy a file to this machine."""
        name = path.relative_to(self.path).as_posix()
        destination.parent.mkdir(parents=True, exist_ok=True)
        with (
            storage_errors(self.location, f"read '{name}' in"),
            self.filesystem.open_input_stream(name) as source,
            destination.open("wb") as copy,
        ):
            shutil.copyfileobj(source, copy, COPY_BYTES)


@dataclass(frozen=True)
class RemoteFolder:
    """The sessions in a folder of an object store, as it was when it was listed."""

    files: RemoteFiles
    stamps: Mapping[str, FileStamp] = field(repr=False)
    sessions: tuple[Session, ...] = field(repr=False)


def list_remote_folder(url: str, options: Mapping[str, str], scratch: Path) -> RemoteFolder:
    """List the sessions in a folder of an object store.

    The few files that have to be read for the list are copied to `scratch`.
    """
    remote = RemoteFiles(parse_location(url, options), scratch.absolute())
    stamps = {str(remote.path / name): stamp for name, stamp in _list_session_files(remote)}
    files = [
        make_log_file(Path(path), stamps[path].size, stamps[path].changed / NANOSECONDS)
        for path in sorted(stamps)
    ]

    def fetch_in_place(path: Path) -> bool:
        if str(path) not in stamps:
            return False
        remote.fetch(path, path)
        return True

    register_source(remote.path, fetch_in_place)
    logs = [file for file in files if file.path.suffix == LOG_SUFFIX]
    sessions = build_sessions(logs, [Root(remote.path, None, remote.path)])
    return RemoteFolder(remote, stamps, sessions)


def _list_session_files(remote: RemoteFiles) -> Iterator[tuple[str, FileStamp]]:
    """Yield the files of sessions; only those below `projects` if there is such a folder."""
    with storage_errors(remote.location, "list"):
        selector = FileSelector("", recursive=True, allow_not_found=True)
        entries = remote.filesystem.get_file_info(selector)
    files = {entry.path.lstrip("/"): entry for entry in entries if entry.type == FileType.File}
    if not files:
        raise UserError(f"nothing in '{remote.location.url}'", "check its name")
    is_config_folder = any(name.startswith(f"{PROJECTS}/") for name in files)
    for name, entry in files.items():
        *folders, _ = parts = name.split("/")
        if is_config_folder and parts[0] != PROJECTS:
            continue
        if PLAIT_FOLDER not in folders and is_indexed(f"/{name}"):
            yield name, FileStamp(entry.size, entry.mtime_ns or 0, 0)


def list_inputs(
    archive: "Archive", folders: Iterable[RemoteFolder] = ()
) -> tuple[SessionInput, ...]:
    """Return the sessions of an archive and of folders in object stores."""
    all_roots = tuple(root.path.absolute() for root in archive.roots)
    roots = []
    for session in archive.sessions:
        session_roots = all_roots
        if session.is_kept and archive.store:  # read below the folder that the store restores it to
            cache = archive.store.cache.absolute()
            session_roots = (cache / session.path.relative_to(cache).parts[0],)
        roots.append(session_roots)

    def make_absolute(file: LogFile) -> LogFile:
        return file if file.path.is_absolute() else replace(file, path=file.path.absolute())

    sessions = [  # that can be pickled, and read from another folder
        replace(
            session,
            archive=None,
            file=session.file and make_absolute(session.file),
            agents=tuple(map(make_absolute, session.agents)),
            journals=tuple(map(make_absolute, session.journals)),
        )
        for session in archive.sessions
    ]
    inputs = _build_inputs(sessions, archive.inventory.stamps(), roots)
    for folder in folders:
        folder_roots = [(folder.files.path,)] * len(folder.sessions)
        inputs += _build_inputs(folder.sessions, folder.stamps, folder_roots)
    return tuple(inputs)


def _build_inputs(
    sessions: Sequence[Session],
    stamps: Mapping[str, FileStamp],
    roots: Sequence[tuple[Path, ...]],
) -> list[SessionInput]:
    owners = _FileOwners(sessions)
    files: list[dict[str, FileStamp]] = [
        {
            str(file.path): FileStamp(file.size, int(file.modified * NANOSECONDS), 0)
            for file in session.files
        }
        for session in sessions
    ]
    for path, stamp in stamps.items():
        owner = owners.find(path)
        if owner is not None:
            files[owner][path] = stamp
    inputs = []
    for session, session_files, session_roots in zip(sessions, files, roots, strict=True):
        states = sorted(
            (relative_name(Path(path), session_roots), *stamp)
            for path, stamp in session_files.items()
        )
        text = repr((version("plait"), session.id, states)).encode("utf-8", "surrogatepass")
        inputs.append(
            SessionInput(
                session,
                tuple(map(Path, session_files)),
                relative_name(session.path, session_roots),
                blake2b(text, digest_size=16).hexdigest(),
                session_roots,
            )
        )
    return inputs


class _FileOwners:
    """Which session a file belongs to, by its path."""

    def __init__(self, sessions: Iterable[Session]) -> None:
        self.logs: dict[str, int] = {}
        self.folders: dict[str, int] = {}
        for number, session in enumerate(sessions):
            for file in session.files:
                self.logs[str(file.path)] = number
                is_main = file is session.file
                folder = file.folder if is_main else find_session_folder(file.path)[0]
                if folder:
                    self.folders[str(folder)] = number

    def find(self, path: str) -> int | None:
        """Return the number of the session that a file belongs to."""
        if path.endswith(META):
            path = path.removesuffix(META) + LOG_SUFFIX
        if path in self.logs:
            return self.logs[path]
        folder = os.path.dirname(path)  # noqa: PTH120  paths are texts here, for speed
        while folder not in self.folders:
            parent = os.path.dirname(folder)  # noqa: PTH120
            if parent == folder:
                return None
            folder = parent
        return self.folders[folder]


@contextmanager
def fetch_unit(unit: Unit, files: Sequence[Path], remotes: Sequence[RemoteFiles]) -> Iterator[Unit]:
    """Give a unit whose files are on this machine, fetched for as long as the context lasts."""
    owners = {
        path: remote for path in files for remote in remotes if path.is_relative_to(remote.path)
    }
    if not owners:
        yield unit
        return
    with TemporaryDirectory(prefix="plait-lake-") as scratch:
        folders = {remote.path: Path(scratch, str(number)) for number, remote in enumerate(remotes)}
        for path, remote in owners.items():
            remote.fetch(path, folders[remote.path] / path.relative_to(remote.path))

        def move_path(path: Path) -> Path:
            for root, folder in folders.items():
                if path.is_relative_to(root):
                    return folder / path.relative_to(root)
            return path

        def move_file(file: LogFile) -> LogFile:
            moved = replace(file, path=move_path(file.path))
            if moved.path != file.path and moved.path.stat().st_size != file.size:
                raise SourceError(f"'{file.path.name}' changed while it was being read")
            return moved

        sessions = tuple(
            replace(
                session,
                file=session.file and move_file(session.file),
                agents=tuple(map(move_file, session.agents)),
                journals=tuple(map(move_file, session.journals)),
            )
            for session in unit.sessions
        )
        yield replace(unit, sessions=sessions, roots=tuple(map(move_path, unit.roots)))
