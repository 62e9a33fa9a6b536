"""A folder to the files below it, without those that git ignores; no link is followed."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TypeAlias, TypeVar

from plait.agent.tools.globs import expression
from plait.agent.tools.model import ToolError, Workplace

T = TypeVar("T")
IsOver: TypeAlias = Callable[[], bool]
LONGEST = 20.0
"""Seconds that a search may take."""

REPOSITORIES = frozenset((".git", ".svn", ".hg", ".bzr", ".jj", ".sl"))
IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
MOST_RULES = 256 * 1024
"""Bytes of a file of rules that are read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A plain file below a folder."""

    path: Path
    name: str
    """Its path from the folder, with `/` between its parts."""
    changed: int
    """When it was last changed, in ns."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file of rules."""

    pattern: str
    is_kept: bool
    is_for_folders: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a folder, and those of the folders above it."""

    folder: str
    rules: tuple[Rule, ...] = ()
    above: "Rules | None" = field(default=None, repr=False)

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Tells whether a path is ignored: the nearest rules that mean it decide."""
        level: Rules | None = self
        while level is not None:
            inner = os.path.relpath(path, level.folder).replace(os.sep, "/")
            for rule in reversed(level.rules):
                if (is_folder or not rule.is_for_folders) and _means(rule.pattern, inner):
                    return not rule.is_kept
            level = level.above
        return False


def _means(pattern: str, path: str) -> bool:
    try:
        return expression(pattern).fullmatch(path) is not None
    except ToolError:
        return False  # a rule that nobody can read ignores nothing


async def beside(work: Callable[[IsOver], T]) -> T:
    """Searches beside the event loop; cancelled or late, the search is told that it is over."""
    over, end = Event(), monotonic() + LONGEST
    try:
        return await asyncio.to_thread(work, lambda: over.is_set() or monotonic() > end)
    finally:
        over.set()


def relative(path: Path, place: Workplace) -> str:
    """Returns a path as it is told: from the working directory, if it is below it."""
    return str(path.relative_to(place.cwd)) if path.is_relative_to(place.cwd) else str(path)


def is_hidden(path: Path, place: Workplace) -> bool:
    """Tells whether a file may not be found, because it may not be read."""
    return place.hides is not None and place.hides(path)


def files(
    root: Path, *, ignores: bool, is_over: IsOver, visits_all: bool = False
) -> Iterator[Entry]:
    """Yields the files below a folder; where it is over, it stops.

    Folders of repositories are passed over unless all are visited.
    """
    rules = _rules_above(root) if ignores else None
    waiting = [(str(root), rules)]
    while waiting and not is_over():
        folder, above = waiting.pop()
        own = _rules_of(folder, above) if above else None
        for entry in _entries(folder):
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name in REPOSITORIES and not visits_all:
                continue
            if own and own.ignores(entry.path, is_folder=is_folder):
                continue
            if is_folder:
                waiting.append((entry.path, own))
            elif entry.is_file(follow_symlinks=False) and (found := _entry(entry, root)):
                yield found


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []


def _entry(entry: "os.DirEntry[str]", root: Path) -> Entry | None:
    try:
        changed = entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return None
    path = Path(entry.path)
    return Entry(path, path.relative_to(root).as_posix(), changed)


def _rules_above(root: Path) -> Rules:
    """Returns the rules of the folders that lead to one, within its repository."""
    found = Rules(str(root))
    line = [root, *root.parents]
    top = next((at for at, folder in enumerate(line) if (folder / ".git").exists()), None)
    if top is None:
        return found
    for folder in reversed(line[1 : top + 1]):
        found = _rules_of(str(folder), found, is_git=True)
    return found


def _rules_of(folder: str, above: Rules, *, is_git: bool | None = None) -> Rules:
    known = _is_in_repository(above) if is_git is None else is_git
    is_git = known or Path(folder, ".git").exists()
    rules: list[Rule] = []
    for name in IGNORE_FILES if is_git else IGNORE_FILES[1:]:
        rules += _read(Path(folder, name))
    return Rules(folder, tuple(rules), above) if rules or is_git != known else above


def _is_in_repository(rules: Rules) -> bool:
    line = [Path(rules.folder), *Path(rules.folder).parents]
    return any((folder / ".git").exists() for folder in line)


def _read(path: Path) -> Iterator[Rule]:
    with suppress(OSError):
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes()[:MOST_RULES].decode("utf-8", "replace")
            yield from (rule for line in text.splitlines() if (rule := _rule(line)))


def _rule(line: str) -> Rule | None:
    line = line.rstrip()
    if not line or line.startswith("#"):
        return None
    is_kept = line.startswith("!")
    pattern = line.removeprefix("!").removeprefix("\\")
    return Rule(pattern.rstrip("/"), is_kept, pattern.endswith("/")) if pattern.strip("/") else None
