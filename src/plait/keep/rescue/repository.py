"""A directory to what its Git repository tells of it: files, and commits in a time.

Git is asked as it is; a directory that is gone, no repository, or not ours to ask says nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plait.keep.rescue.model import Commit
from plait.line.git import asked

BETWEEN, WITHIN = "\x1e", "\x1f"
FORMAT = f"--format={BETWEEN}%H{WITHIN}%ct{WITHIN}%s{WITHIN}%B{WITHIN}"
MOST_COMMITS, MOST_FILES = 20_000, 50_000


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of Git that a directory lies in."""

    top: str

    def files(self) -> Iterator[str]:
        """Yields the paths of the files that it tracks."""
        told = asked(self.top, "ls-files", "-z", "--full-name", ":/") or ""
        for name in told.split("\0")[:MOST_FILES]:
            if name:
                yield f"{self.top}/{name}"

    def commits(self, since: datetime, until: datetime) -> list[Commit]:
        """Returns the commits of all branches that were made in a time, oldest first."""
        span = (f"--since={since.isoformat()}", f"--until={until.isoformat()}")
        options = ("--all", "--no-color", f"--max-count={MOST_COMMITS}", "--name-only", *span)
        told = asked(self.top, "log", FORMAT, *options) or ""
        found = list(self._commits_in(told.split(BETWEEN)))
        return sorted(found, key=lambda one: (one.time, one.id))

    def _commits_in(self, told: Iterable[str]) -> Iterator[Commit]:
        for one in told:
            parts = one.split(WITHIN)
            if len(parts) == 5 and parts[1].isdigit():
                time = datetime.fromtimestamp(int(parts[1]), UTC)
                files = tuple(f"{self.top}/{name}" for name in parts[4].split("\n") if name)
                yield Commit(parts[0], time, parts[2], parts[3], files)


def repository_at(directory: str) -> Repository | None:
    """Returns the repository that a directory lies in."""
    if not Path(directory).is_dir():
        return None
    top = asked(directory, "rev-parse", "--show-toplevel")
    return Repository(top.rstrip("\n")) if top and top.strip() else None
