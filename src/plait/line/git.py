"""Git repositories: which one a directory belongs to, and what Git answers to a question.

A repository is found by the files that Git has written, without starting Git:

    shop/.git/              a repository: `shop`
    shop-fix/.git           "gitdir: …/shop/.git/worktrees/fix": a worktree of `shop`
    shop/vendor/lib/.git    "gitdir: ../../.git/modules/lib": a submodule, a repository itself
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from plait.line.files import read_small

GIT, WORKTREES = ".git", "worktrees"
LARGEST = 8192
"""Bytes of a file in which Git only names a place."""
GIT_LINK = re.compile(rb"gitdir: (.+)")
WORK_TREE = re.compile(rb"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


class GitFiles:
    """Finds the repositories of directories, looking at each folder once."""

    def __init__(self, is_end: Callable[[str], bool]) -> None:
        """Directories for which `is_end` holds, and those above, are in no repository."""
        self._is_end = is_end
        self._known: dict[str, str | None] = {}

    def find_root(self, directory: str) -> str | None:
        """Return the repository that a directory belongs to; for a worktree, the main one."""
        passed: list[str] = []
        folder, above = "", os.path.normpath(directory)
        root: str | None = None
        while above != folder and above not in self._known and not self._is_end(above):
            folder = above
            passed.append(folder)
            root = _find_root_at(folder)
            if root:
                break
            above = os.path.dirname(folder)  # noqa: PTH120  thousands of them, most known
        root = root or self._known.get(above)
        self._known.update(dict.fromkeys(passed, root))
        return root

    def iter_worktrees(self, root: str) -> Iterator[str]:
        """Yield the worktrees that a repository remembers, even if they are gone."""
        folder = Path(root, GIT, WORKTREES)
        try:
            places = list(folder.iterdir())
        except (OSError, ValueError):
            return
        for place in places:
            if link := _read_link(place / "gitdir"):
                yield os.path.dirname(_resolve(place, link))  # noqa: PTH120


def _find_root_at(folder: str) -> str | None:
    """Return the repository of a folder that has a `.git`, None if it has none."""
    try:
        mode = os.stat(f"{folder}{os.sep}{GIT}").st_mode  # noqa: PTH116  as above
    except (OSError, ValueError):
        return None
    git = Path(folder, GIT)
    if S_ISDIR(mode):
        try:
            return folder if (git / "HEAD").exists() else None
        except OSError:
            return None
    link = GIT_LINK.match(_read_link(git)) if S_ISREG(mode) else None
    if link is None:
        return None
    place = Path(_resolve(Path(folder), link[1]))
    if place.parent.name != WORKTREES:
        return folder
    common = _read_link(place / "commondir")
    main = Path(_resolve(place, common)) if common else place.parent.parent
    # `shop` for `shop/.git`; a bare or renamed git folder names its work tree in its settings
    work_tree = WORK_TREE.search(_read_link(main / "config")) if main.name != GIT else None
    if work_tree:
        return _resolve(main, work_tree[1])
    return str(main.parent if main.name.startswith(".") else main)


def _read_link(path: Path) -> bytes:
    try:
        is_small = path.stat().st_size <= LARGEST
    except (OSError, ValueError):
        return b""
    return (read_small(path) or b"").strip() if is_small else b""


def _resolve(folder: Path, link: bytes) -> str:
    return os.path.normpath(folder / os.fsdecode(link))


SETTINGS = ("core.fsmonitor=false", "core.quotePath=false", "log.showSignature=false")
"""Overrides for settings with which a repository starts programs or changes what is printed."""
TIMEOUT = 30
"""Seconds that Git may take."""


def run_git(directory: str, *arguments: str) -> str | None:
    """Return what Git prints, None if it fails."""
    import shutil
    import subprocess  # lists of sessions read only Git's files, and must start quickly

    program = shutil.which("git")
    if program is None:
        return None
    settings = [part for setting in SETTINGS for part in ("-c", setting)]
    command = [program, "--no-pager", "--no-optional-locks", "-C", directory, *settings, *arguments]
    try:
        done = subprocess.run(  # noqa: S603  Git, with arguments of ours
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
