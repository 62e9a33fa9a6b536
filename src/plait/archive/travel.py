"""Projects and sessions to plans by which they lie elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.model import Named
from plait.archive.plans import subject_of
from plait.archive.projects import (
    LIST_THEM,
    ProjectSessions,
    all_projects,
    directory_named,
    directory_of,
)
from plait.edit.model import Plan, Subject
from plait.edit.move import MovedFolder, move
from plait.edit.packing import Load, Packing, packing
from plait.edit.paths import Directories, lies_in, without_end
from plait.edit.port import unpacked
from plait.edit.side_files import side_files
from plait.errors import UserError
from plait.line import files_under
from plait.line.discover import is_foreign

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.redact import Redactor


def moves(
    archive: "Archive", project: str, new: Path | str, *, with_texts: bool = False
) -> list[Plan]:
    """Returns what moves the sessions of a directory, and of those in it, for each client."""
    known = list(all_projects(archive))
    old, target = directory_named(known, project), _directory(new)
    if target == old:
        raise UserError(f"'{old}' is where it lies already")
    names = Directories(((old, target),))
    clients: dict[Path, list[MovedFolder]] = {}
    for one in sorted(known, key=lambda one: len(one.directory)):
        if lies_in(one.directory, old):
            folder = _moved_folder(one, names.path(one.directory))
            clients.setdefault(one.config, []).append(folder)
    return [
        move(config, folders, (old, target), with_texts=with_texts)
        for config, folders in clients.items()
    ]


def _directory(named: Path | str) -> str:
    """Returns a directory as the client would name it: where it really is."""
    text = str(named)
    return without_end(text) if is_foreign(text) else str(Path(text).resolve())


def _moved_folder(project: ProjectSessions, new: str) -> MovedFolder:
    subjects = tuple(map(subject_of, project.sessions))
    files = _files_of(project.folder, subjects, is_whole=project.is_whole)
    return MovedFolder(project.folder, project.directory, new, files, subjects)


def _files_of(folder: Path, subjects: tuple[Subject, ...], *, is_whole: bool) -> tuple[Path, ...]:
    """Returns the files in a folder that belong to sessions, or all."""
    files = files_under(folder)
    if is_whole:
        return files
    own = {subject.log.path for subject in subjects}
    own |= {one.source for subject in subjects for one in side_files(subject, subject.id)}
    return tuple(path for path in files if path in own)


def packed(
    archive: "Archive", what: Named, file: Path, redactor: "Redactor | None" = None
) -> Packing:
    """Returns a session, or all sessions of a directory, as one file that is not written yet."""
    project = _project_meant(archive, what)
    if project is not None:
        return packing(file, _load_of(project), redactor)
    session = archive.session(what)
    subject = subject_of(session)
    folder = subject.log.path.parent
    files = _files_of(folder, (subject,), is_whole=False)
    return packing(file, Load(folder, directory_of(session), (subject,), files), redactor)


def _load_of(project: ProjectSessions) -> Load:
    subjects = tuple(map(subject_of, project.sessions))
    files = _files_of(project.folder, subjects, is_whole=project.is_whole)
    return Load(project.folder, project.directory, subjects, files, is_project=True)


def _project_meant(archive: "Archive", what: Named) -> ProjectSessions | None:
    """Returns the project that a name means, None where it means a session."""
    if not isinstance(what, str) or _is_session_name(archive, what):
        return None
    known = list(all_projects(archive))
    try:
        directory = directory_named(known, what)
    except UserError:
        archive.session(what)  # a title, or an error that says what there is
        return None
    found = [one for one in known if one.directory == directory]
    if len(found) > 1:
        places = ", ".join(f"'{one.config}'" for one in found)
        raise UserError(f"several clients know '{what}': {places}", "name one with `--root`")
    if not found:
        raise UserError(f"no session was held in '{directory}' itself", LIST_THEM)
    return found[0]


def _is_session_name(archive: "Archive", name: str) -> bool:
    is_word = name in (".", "latest") or name.startswith("latest:") or name.endswith(".jsonl")
    return is_word or any(one.id.startswith(name.lower()) for one in archive.sessions)


def brought(archive: "Archive", file: Path, into: Path | str) -> Plan:
    """Returns what brings the sessions of an archive to a directory of this machine."""
    if not archive.roots:
        raise UserError("there is no configuration folder to bring it to", "name it with `--root`")
    root = archive.roots[0]
    config = (root.config or root.path).resolve()
    if not config.is_dir() or (root.config is None and any(archive.files)):
        raise UserError(f"'{root.path}' is no configuration folder", "name one with `--root`")
    here: dict[str, Path] = {
        session.id: session.path.resolve()
        for session in archive.sessions
        if session.file and config in session.path.resolve().parents
    }
    return unpacked(file, config, _directory(into), here)
