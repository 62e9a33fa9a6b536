"""Files that come and go to the folders that come and go with them."""

import os
from collections.abc import Set
from pathlib import Path

from plait.line.discover import PROJECTS
from plait.line.replace import FileState, state_of


def missing_folders(files: Set[Path]) -> tuple[Path, ...]:
    """Returns the folders that have to be made for files, the outer ones first."""
    return tuple(sorted(folder for folder in _folders_around(files) if not folder.is_dir()))


def emptied_folders(
    home: Path, gone: Set[Path], *, with_projects: bool = False
) -> tuple[tuple[Path, FileState], ...]:
    """Returns the folders that hold nothing without the files that go, the outer ones first.

    Empty folders within them go along. A home and what lies right in a client's stay, and so do
    the folders of its projects, unless those are what goes.
    """
    around = [folder for folder in _folders_around(gone) if _may_go(home, folder, with_projects)]
    going = {folder for folder in around if _files_in(folder) <= gone}
    within = {Path(place) for folder in going for place, _, _ in os.walk(folder)}
    return tuple((folder, state) for folder in sorted(within) if (state := state_of(folder)))


def _folders_around(files: Set[Path]) -> set[Path]:
    parents = {path.parent for path in files}
    return parents.union(*(parent.parents for parent in parents))


def _may_go(home: Path, folder: Path, with_projects: bool) -> bool:
    if home not in folder.parents:
        return False
    parts = folder.relative_to(home).parts
    is_project = parts[0] == PROJECTS and len(parts) == 2
    is_of_the_client = len(parts) < 2 or (is_project and not with_projects)
    return not (is_of_the_client and (home / PROJECTS).is_dir())


def _files_in(folder: Path) -> set[Path]:
    return {
        Path(place, name)
        for place, folders, files in os.walk(folder)
        for name in (*files, *(one for one in folders if Path(place, one).is_symlink()))
    }
