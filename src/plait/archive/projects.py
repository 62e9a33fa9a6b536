"""What a user calls a project to the folder, the directory and the sessions meant."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.model import Session
from plait.archive.sessions import is_of_project
from plait.edit.paths import lies_in, without_end
from plait.errors import UserError
from plait.line import slug_of
from plait.line.discover import config_above
from plait.record.read import read_if_there

if TYPE_CHECKING:
    from plait.archive.archive import Archive

LOOK_AHEAD = 200
"""Records after which a log that names no directory is taken to name none."""
MOST_LISTED = 4
LIST_THEM = "`plait ls` lists the projects there are"


@dataclass(frozen=True, slots=True)
class ProjectSessions:
    """The sessions of one directory, in one folder of a client's projects."""

    folder: Path
    directory: str
    sessions: tuple[Session, ...]
    is_whole: bool
    """Whether these are all sessions in the folder: directories may share one."""

    @property
    def config(self) -> Path:
        """The client's configuration folder."""
        return self.folder.parent.parent


def all_projects(archive: "Archive") -> Iterator[ProjectSessions]:
    """Yields the sessions of each directory, where they lie in a client's projects.

    A directory is known by the folder that is named for it. A session that names none such is of
    the only one there is; where there is none, the last session says which it is.
    """
    folders: dict[Path, list[Session]] = {}
    for session in archive.sessions:
        if session.file and not session.is_kept and config_above(session.path):
            folders.setdefault(session.path.parent, []).append(session)
    for folder, sessions in folders.items():
        yield from _directories_in(folder, sessions)


def _directories_in(folder: Path, sessions: Sequence[Session]) -> Iterator[ProjectSessions]:
    named = {session: _directories_of(session) for session in sessions}
    own = {
        session: next((one for one in found if slug_of(one) == folder.name), None)
        for session, found in named.items()
    }
    found = list(dict.fromkeys(one for one in own.values() if one))
    if not found:
        found = [one for names in reversed(named.values()) for one in names[:1]][:1]
    for directory in found:
        is_whole = len(found) == 1
        members = tuple(one for one in sessions if is_whole or own[one] == directory)
        yield ProjectSessions(folder, directory, members, is_whole)


def _directories_of(session: Session) -> list[str]:
    """Returns the directories in which a session was held at its beginning."""
    records = islice(read_if_there(session.path), LOOK_AHEAD)
    return list(dict.fromkeys(record.cwd for record in records if record.cwd))


def directory_of(session: Session) -> str | None:
    """Returns the directory that a session's folder is named for, else that of its beginning."""
    found = _directories_of(session)
    own = (one for one in found if slug_of(one) == session.path.parent.name)
    return next(own, found[0] if found else None)


def directory_named(known: Sequence[ProjectSessions], name: str) -> str:
    """Returns the directory that a name means: its path, the name of its folder, or a part of one.

    A path in which projects lie is one, too. Of several that a part means it is the one whose
    name it is, or the one that all others lie in.
    """
    path = without_end(name)
    exact = {one.directory for one in known if name == one.folder.name or path == one.directory}
    if not exact and any(lies_in(one.directory, path) for one in known):
        return path
    meant = exact or {one.directory for one in known if is_of_project(one.folder.name, name)}
    if not meant:
        raise UserError(f"no project is called '{name}'", LIST_THEM)
    called = [one for one in meant if re.split(r"[/\\]", one)[-1] == name]
    around = [one for one in meant if all(lies_in(other, one) for other in meant)]
    for found in (meant if exact else called, meant, around):
        if len(found) == 1:
            return next(iter(found))
    shown = ", ".join(f"'{one}'" for one in sorted(meant)[:MOST_LISTED])
    raise UserError(f"'{name}' means {len(meant)} directories", f"there are {shown}")
