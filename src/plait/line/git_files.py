"""A directory to the repository that it lies in, by the files that Git has written there.

shop/.git/                    a repository: `shop`
shop-fix/.git                 "gitdir: …/shop/.git/worktrees/fix": a worktree of `shop`
shop/vendor/lib/.git          "gitdir: ../../.git/modules/lib": a submodule, which is its own
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from plait.line.split import read_small

GIT, WORKTREES = ".git", "worktrees"
LARGEST = 8192
"""Bytes of a file of Git's that only says where something lies."""
ELSEWHERE = re.compile(rb"gitdir: (.+)")
WORK_TREE = re.compile(rb"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


class GitFiles:
    """Says in which repository directories lie; each folder is looked at once.

    A search that goes up to a folder which is nobody's repository ends there.
    """

    def __init__(self, is_end: Callable[[str], bool]) -> None:
        self._is_end = is_end
        self._known: dict[str, str | None] = {}

    def root_of(self, directory: str) -> str | None:
        """Returns the repository that a directory lies in; of a worktree, the one it is of."""
        passed: list[str] = []
        folder, above = "", os.path.normpath(directory)
        while above != folder and above not in self._known and not self._is_end(above):
            folder = above
            passed.append(folder)
            if root := _root_at(folder):
                return self._learnt(passed, root)
            above = os.path.dirname(folder)  # noqa: PTH120  thousands of them, most known
        return self._learnt(passed, self._known.get(above))

    def _learnt(self, folders: list[str], root: str | None) -> str | None:
        self._known.update(dict.fromkeys(folders, root))
        return root

    def worktrees_of(self, root: str) -> Iterator[str]:
        """Yields the worktrees that a repository remembers, also those that are gone."""
        folder = Path(root, GIT, WORKTREES)
        try:
            places = list(folder.iterdir())
        except (OSError, ValueError):
            return
        for place in places:
            if told := _told(place / "gitdir"):
                yield os.path.dirname(_resolved(place, told))  # noqa: PTH120


def _root_at(folder: str) -> str | None:
    try:
        mode = os.stat(f"{folder}{os.sep}{GIT}").st_mode  # noqa: PTH116  as above
    except (OSError, ValueError):
        return None
    git = Path(folder, GIT)
    if S_ISDIR(mode):
        return folder if _is_there(git / "HEAD") else None
    told = ELSEWHERE.match(_told(git)) if S_ISREG(mode) else None
    return _root_told(folder, Path(_resolved(Path(folder), told[1]))) if told else None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _root_told(folder: str, place: Path) -> str:
    """Returns the repository of a folder whose file says where Git keeps its things."""
    if place.parent.name != WORKTREES:
        return folder
    shared = _told(place / "commondir")
    return _main_of(Path(_resolved(place, shared)) if shared else place.parent.parent)


def _main_of(shared: Path) -> str:
    """Returns the folder whose things Git keeps in another: `shop` of `shop/.git`."""
    told = WORK_TREE.search(_told(shared / "config")) if shared.name != GIT else None
    if told:
        return _resolved(shared, told[1])
    return str(shared.parent if shared.name.startswith(".") else shared)


def _told(path: Path) -> bytes:
    try:
        is_small = path.stat().st_size <= LARGEST
    except (OSError, ValueError):
        return b""
    return (read_small(path) or b"").strip() if is_small else b""


def _resolved(folder: Path, told: bytes) -> str:
    return os.path.normpath(folder / os.fsdecode(told))
