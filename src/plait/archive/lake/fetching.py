"""A folder in an object store to the sessions in it, and to their files where they are read.

Nothing but the list of files is taken at first; who works on a session fetches its files to a
folder that goes when that is done.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plait.archive.lake.model import Unit
from plait.archive.model import Session
from plait.archive.sessions import sessions_of
from plait.errors import SourceError, UserError
from plait.index.freshness import FileStamp, is_indexed
from plait.lake.places import Place, place_of, told
from plait.line import LogFile, Root
from plait.line.discover import OURS, PROJECTS, SUFFIX, log_file
from plait.line.fetch import offer

NANOSECONDS = 1_000_000_000
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """Where files are fetched from, and where they would be if they were here."""

    place: Place
    path: Path

    @property
    def store(self) -> Any:
        """The files of the folder, by their paths below it."""
        return self.place.files("")

    def fetch(self, path: Path, to: Path) -> None:
        """Brings a file to a path."""
        name = path.relative_to(self.path).as_posix()
        to.parent.mkdir(parents=True, exist_ok=True)
        with (
            told(self.place, f"read '{name}' in"),
            self.store.open_input_stream(name) as given,
            to.open("wb") as taken,
        ):
            shutil.copyfileobj(given, taken, PIECE)


@dataclass(frozen=True)
class ObjectFolder:
    """A folder of logs in an object store, as it was when it was listed."""

    at: ObjectPlace
    stamps: Mapping[str, FileStamp] = field(repr=False)
    sessions: tuple[Session, ...] = field(repr=False)

    @property
    def path(self) -> Path:
        """Where its files would be if they were here."""
        return self.at.path


def is_elsewhere(root: str) -> bool:
    """Tells an address of an object store from a path."""
    return "://" in root and not root.startswith("file://")


def listed_folder(url: str, options: Mapping[str, str], folder: Path) -> ObjectFolder:
    """Lists the sessions in a folder of an object store; few of their files are read for it.

    What has to be read is brought to the folder that is given.
    """
    at = ObjectPlace(place_of(url, options), folder.absolute())
    stamps = {str(at.path / name): stamp for name, stamp in _listed(at)}
    logs = [log_file(Path(path), *_as_found(stamps[path])) for path in sorted(stamps)]
    offer(at.path, lambda path: str(path) in stamps and _is_brought(at, path))
    found = sessions_of([one for one in logs if one.path.suffix == SUFFIX], [_root_of(at.path)])
    return ObjectFolder(at, stamps, found)


def _listed(at: ObjectPlace) -> Iterator[tuple[str, FileStamp]]:
    """Yields the files that count, by their paths; below `projects`, where there is such."""
    from pyarrow.fs import FileSelector, FileType

    with told(at.place, "look into"):
        found = at.store.get_file_info(FileSelector("", recursive=True, allow_not_found=True))
    files = [one for one in found if one.type == FileType.File]
    if not files:
        raise UserError(f"nothing lies in '{at.place.url}'", "check its name")
    names = [one.path.lstrip("/") for one in files]
    is_config = any(name.startswith(f"{PROJECTS}/") for name in names)
    for name, one in zip(names, files, strict=True):
        parts = name.split("/")
        is_meant = not is_config or parts[0] == PROJECTS
        if is_meant and OURS not in parts[:-1] and is_indexed(f"/{name}"):
            yield name, FileStamp(one.size, one.mtime_ns or 0, 0)


def _as_found(stamp: FileStamp) -> tuple[int, float]:
    return stamp.size, stamp.changed / NANOSECONDS


def _root_of(path: Path) -> Root:
    return Root(path, None, path)


def _is_brought(at: ObjectPlace, path: Path) -> bool:
    at.fetch(path, path)
    return True


@contextmanager
def brought(unit: Unit, files: Sequence[Path], places: Sequence[ObjectPlace]) -> Iterator[Unit]:
    """Gives sessions whose files are here, for so long."""
    far = {path: at for path in files for at in places if path.is_relative_to(at.path)}
    if not far:
        yield unit
        return
    with TemporaryDirectory(prefix="plait-lake-") as name:
        folder = Path(name)
        homes = {at.path: folder / str(number) for number, at in enumerate(places)}
        for path, at in far.items():
            at.fetch(path, homes[at.path] / path.relative_to(at.path))
        yield _moved(unit, homes)


def _moved(unit: Unit, homes: Mapping[Path, Path]) -> Unit:
    """Returns a unit whose files lie elsewhere."""

    def place(path: Path) -> Path:
        for root, home in homes.items():
            if path.is_relative_to(root):
                return home / path.relative_to(root)
        return path

    def file(one: LogFile) -> LogFile:
        found = replace(one, path=place(one.path))
        if found.path != one.path and found.path.stat().st_size != one.size:
            raise SourceError(f"'{one.path.name}' was changed while it was fetched")
        return found

    sessions = tuple(
        replace(
            one,
            file=one.file and file(one.file),
            agents=tuple(map(file, one.agents)),
            journals=tuple(map(file, one.journals)),
        )
        for one in unit.sessions
    )
    return replace(unit, sessions=sessions, roots=tuple(map(place, unit.roots)))
