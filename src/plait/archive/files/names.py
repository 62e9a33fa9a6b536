"""A file to all that sessions may call it: its path, earlier names, its place in worktrees.

<top>/src/a.py                               as it is called now
<top>/a.py                                   as Git says it was called before
<other worktree>/src/a.py                    the same file in another worktree
<top>/.claude/worktrees/<name>/src/a.py      one that has gone since
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from plait.archive.files.git import FileInGit, file_in_git
from plait.line.discover import is_foreign

GONE = r"/\.(?:claude/)?worktrees/[^/]+/"
"""Where worktrees are made that may have gone since."""


@dataclass(frozen=True)
class FileNames:
    """What a file is called."""

    path: Path | str
    """Where it lies, or as it was given where it lies nowhere here."""
    exact: frozenset[str]
    gone: re.Pattern[str] | None = None
    """Matches it in worktrees that are no longer there."""
    git: FileInGit | None = None

    def is_named(self, path: str) -> bool:
        """Tells whether a path is a name of the file."""
        return path in self.exact or bool(self.gone and self.gone.fullmatch(path))

    @property
    def endings(self) -> frozenset[str]:
        """The last parts of its names: a log that has none of them does not know it."""
        return frozenset(last_part(path) for path in self.exact)


def names_of(given: str, directory: Path, known_as: tuple[str, ...] = ()) -> FileNames:
    """Returns what a file is called that a user names, from where they stand."""
    if is_foreign(given):
        return FileNames(given, frozenset((given, *known_as)))
    path = Path(os.path.normpath((directory / given).absolute()))
    real = Path(os.path.realpath(path.parent)) / path.name
    git = file_in_git(path)
    exact = {str(path), str(real), *known_as}
    gone = None
    if git:
        exact |= {f"{top}/{name}" for top in git.worktrees for name in git.names}
        tops, rest = ("|".join(map(re.escape, several)) for several in (git.worktrees, git.names))
        gone = re.compile(f"(?:{tops}){GONE}(?:{rest})")
    return FileNames(path, frozenset(exact), gone, git)


def last_part(path: str) -> str:
    """Returns the name of a file without the folders that it lies in."""
    return re.split(r"[/\\]", path)[-1]
