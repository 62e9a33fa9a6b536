"""A file to what Git tells of it: its repository, earlier names, worktrees, who committed a line.

Git is asked as it is, without what a repository could have it start; where it is not there, or
has nothing to say, there is nothing.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from plait.line.git import asked

NOBODY = re.compile(r"0+")
HEADER = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, as far as blame tells."""

    id: str
    author: str = ""
    time: datetime | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class CommittedLine:
    """Where Git knows a line from."""

    commit: Commit | None
    """None where it is not committed yet."""
    number: int
    """Of the line in the file as it was committed."""
    path: str
    """What the file was called then, from the top of the repository on."""


@dataclass
class FileInGit:
    """A file of a repository."""

    top: str
    """The top of the worktree that it lies in."""
    name: str
    """From there on."""
    _known: dict[str, Commit] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What it is and was called, from the top of the repository on."""
        question = ("log", "--follow", "--format=", "--name-status", "-z", "-M", "--no-ext-diff")
        told = asked(self.top, *question, "--no-textconv", "--", self.name) or ""
        return tuple(dict.fromkeys((self.name, *_renames(told), *self._staged())))[:MOST_NAMES]

    def _staged(self) -> Iterator[str]:
        """Yields what it was called in the last commit, where it was renamed since."""
        question = ("diff", "HEAD", "--name-status", "-z", "-M", "--no-ext-diff", "--no-textconv")
        told = (asked(self.top, *question) or "").split("\0")
        for place, word in enumerate(told):
            if re.fullmatch(r"R\d+", word) and told[place + 2 : place + 3] == [self.name]:
                yield told[place + 1]

    @cached_property
    def worktrees(self) -> tuple[str, ...]:
        """The tops of all worktrees of the repository, its own first."""
        told = asked(self.top, "worktree", "list", "--porcelain") or ""
        found = (line[9:] for line in told.split("\n") if line.startswith("worktree "))
        return tuple(dict.fromkeys((self.top, *found)))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The first commits of the repository, which its clones have, too."""
        told = asked(self.top, "rev-list", "--max-parents=0", "HEAD") or ""
        return frozenset(told.split())

    def blame(self) -> list[CommittedLine]:
        """Returns where each line of the file on the disk comes from; none where Git has it not."""
        question = ("-c", "blame.ignoreRevsFile=", "blame", "--porcelain", "--no-textconv")
        told = asked(self.top, *question, "--", self.name)
        return list(self._blamed(told)) if told else []

    def _blamed(self, told: str) -> Iterator[CommittedLine]:
        """Yields what the porcelain form of blame says: facts of a commit come once, first."""
        names: dict[str, str] = {}
        facts: dict[str, dict[str, str]] = {}
        here, number = "", 0
        for line in told.split("\n"):
            if line.startswith("\t"):
                yield CommittedLine(self._commit(here, facts[here]), number, names[here])
            elif head := HEADER.fullmatch(line):
                here, number = head[1], int(head[2])
                facts.setdefault(here, {})
                names.setdefault(here, self.name)
            elif here:
                word, _, value = line.partition(" ")
                facts[here][word] = value
                if word == "filename":
                    names[here] = value

    def _commit(self, id_: str, facts: dict[str, str]) -> Commit | None:
        if NOBODY.fullmatch(id_):
            return None
        if id_ not in self._known:
            seconds = facts.get("author-time", "")
            time = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else None
            mail = facts.get("author-mail", "")
            author = f"{facts.get('author', '')} {mail}".strip()
            self._known[id_] = Commit(id_, author, time, facts.get("summary", ""))
        return self._known[id_]


def _renames(told: str) -> Iterator[str]:
    """Yields the earlier names in a log of one file."""
    words = told.split("\0")
    for place, word in enumerate(words):
        if re.fullmatch(r"\n?[RC]\d+", word) and place + 1 < len(words):
            yield words[place + 1]


def file_in_git(path: Path) -> FileInGit | None:
    """Returns a file as its repository knows it, None where it lies in none."""
    folder = next((one for one in path.parents if one.is_dir()), None)
    top = (asked(str(folder), "rev-parse", "--show-toplevel") or "").rstrip("\n") if folder else ""
    real = os.path.realpath(path.parent)
    whole = Path(real) / path.name
    if not top or not whole.is_relative_to(top):
        return None
    return FileInGit(top, whole.relative_to(top).as_posix())
