"""Projects and sessions to plans by which they lie elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive.plans import subject_of
from plait.archive.projects import (
    ProjectSessions,
    all_projects,
    is_foreign,
    project_named,
    within,
)
from plait.edit.model import Plan
from plait.edit.move import MovedFolder, move
from plait.edit.paths import Directories, without_end
from plait.edit.side_files import side_files
from plait.errors import UserError
from plait.line import files_under

if TYPE_CHECKING:
    from plait.archive.archive import Archive


def moves(
    archive: "Archive", project: str, new: Path | str, *, with_texts: bool = False
) -> list[Plan]:
    """Returns what moves the sessions of a directory, and of those in it, for each client."""
    meant = project_named(archive, project)
    old = meant[0].directory
    target = without_end(str(new)) if is_foreign(str(new)) else str(Path(new).resolve())
    if target == old:
        raise UserError(f"'{old}' is where it lies already")
    known, names = list(all_projects(archive)), Directories(((old, target),))
    plans = []
    for main in meant:
        others = within([one for one in known if one.config == main.config], old)
        folders = [_moved_folder(one, names.path(one.directory)) for one in (main, *others)]
        plans.append(move(main.config, folders, with_texts=with_texts))
    return plans


def _moved_folder(project: ProjectSessions, new: str) -> MovedFolder:
    subjects = tuple(map(subject_of, project.sessions))
    files = files_under(project.folder)
    if not project.is_whole:
        own = {subject.log.path for subject in subjects}
        own |= {one.source for subject in subjects for one in side_files(subject, subject.id)}
        files = tuple(path for path in files if path in own)
    return MovedFolder(project.folder, project.directory, new, files, subjects)
