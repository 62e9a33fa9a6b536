"""Roots, stores and object stores to the sessions that a lake takes in, with what their files are.

What a session is known by changes with any of its files: its logs, the notes on its agents, its
title, the outputs that were too large for a log.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.lake.reading import name_below
from plait.archive.model import Session
from plait.index.freshness import META, FileStamp
from plait.line import LogFile
from plait.line.discover import SUFFIX, session_folder

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.lake.fetching import ObjectFolder


class Input(NamedTuple):
    """A session with all files that are read of it."""

    session: Session
    files: tuple[Path, ...]
    """Its logs and what lies beside them."""
    name: str
    """Where it lies below its root."""
    fingerprint: str
    """What stands for its files as they are now."""
    roots: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The bytes of all its log files."""
        return sum(file.size for file in self.session.files)


def inputs_of(archive: "Archive", folders: "Iterable[ObjectFolder]" = ()) -> tuple[Input, ...]:
    """Returns the sessions of an archive, and those that lie in folders of object stores."""
    roots = tuple(root.path.absolute() for root in archive.roots)
    sessions = [_by_itself(one) for one in archive.sessions]
    found = _inputs(
        sessions,
        archive.inventory.stamps(),
        [_roots_of(archive, one) or roots for one in sessions],
    )
    for one in folders:
        found += _inputs(one.sessions, one.stamps, [(one.path,)] * len(one.sessions))
    return tuple(found)


def _by_itself(session: Session) -> Session:
    """Returns a session that can be sent elsewhere."""
    file = session.file
    return replace(
        session,
        archive=None,
        file=file and _whole(file),
        agents=tuple(map(_whole, session.agents)),
        journals=tuple(map(_whole, session.journals)),
    )


def _whole(file: LogFile) -> LogFile:
    return file if file.path.is_absolute() else replace(file, path=file.path.absolute())


def _roots_of(archive: "Archive", session: Session) -> tuple[Path, ...]:
    """Returns the folder that a session which is only kept is read below."""
    if not (session.is_kept and archive.store):
        return ()
    shelf = archive.store.shelf.absolute()
    return (shelf / session.path.relative_to(shelf).parts[0],)


def _inputs(
    sessions: Sequence[Session],
    stamps: Mapping[str, FileStamp],
    roots: Sequence[tuple[Path, ...]],
) -> list[Input]:
    owners = _Owners(sessions)
    files: list[dict[str, FileStamp]] = [
        {str(file.path): _stamp_of(file) for file in one.files} for one in sessions
    ]
    for path, stamp in stamps.items():
        owner = owners.of(path)
        if owner is not None:
            files[owner][path] = stamp
    return [_input(*one) for one in zip(sessions, files, roots, strict=True)]


def _stamp_of(file: LogFile) -> FileStamp:
    return FileStamp(file.size, int(file.modified * 1e9), 0)


def _input(session: Session, files: Mapping[str, FileStamp], roots: tuple[Path, ...]) -> Input:
    states = sorted((name_below(Path(path), roots), *stamp) for path, stamp in files.items())
    text = repr((version("plait"), session.id, states)).encode("utf-8", "surrogatepass")
    return Input(
        session,
        tuple(map(Path, files)),
        name_below(session.path, roots),
        blake2b(text, digest_size=16).hexdigest(),
        roots,
    )


class _Owners:
    """Whose a file is, by where it lies."""

    def __init__(self, sessions: Iterable[Session]) -> None:
        self.logs: dict[str, int] = {}
        self.folders: dict[str, int] = {}
        for number, one in enumerate(sessions):
            for file in one.files:
                self.logs[str(file.path)] = number
                folder = file.folder if file is one.file else session_folder(file.path)[0]
                if folder:
                    self.folders[str(folder)] = number

    def of(self, path: str) -> int | None:
        """Returns the number of the session that a file belongs to."""
        if path.endswith(META):
            path = path.removesuffix(META) + SUFFIX
        if path in self.logs:
            return self.logs[path]
        folder = os.path.dirname(path)  # noqa: PTH120  text, as all paths here
        while folder not in self.folders:
            above = os.path.dirname(folder)  # noqa: PTH120
            if above == folder:
                return None
            folder = above
        return self.folders[folder]
