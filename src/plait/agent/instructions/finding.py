"""A directory to the instructions that count in it, and a file in it to those for it alone.

    <configuration>/CLAUDE.md, rules/**.md                     the person's own
    <directory>/CLAUDE.md, .claude/CLAUDE.md, .claude/rules/**.md, CLAUDE.local.md

of every directory from the root down to where the session works; those further down come into
play when a file there is read or written. Rules whose head names `paths` are for those alone.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plait.agent.instructions.model import Instruction, Kind
from plait.agent.instructions.reading import MOST_FILES, Reader
from plait.agent.tools.globs import Choice
from plait.agent.tools.model import ToolError

MAIN, LOCAL, FOLDER, RULES = "CLAUDE.md", "CLAUDE.local.md", ".claude", "rules"


@dataclass(frozen=True, slots=True)
class Grounds:
    """Where a session works, and where the person keeps what is their own."""

    root: Path
    configuration: Path | None = None
    home: Path | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What is hidden wherever it stands."""

    def reader(self) -> Reader:
        """Returns whoever reads instructions here."""
        return Reader(self.root, self.home, self.secrets)


def standing(grounds: Grounds, reader: Reader) -> list[Instruction]:
    """Returns what counts for the whole session, in the order in which it is told."""
    found: list[Instruction] = []
    if own := grounds.configuration:
        found += reader.read(own / MAIN, "User")
        found += [one for one in _rules(own / RULES, "User", reader) if not one.globs]
    for folder in (*reversed(grounds.root.parents), grounds.root):
        found += reader.read(folder / MAIN, "Project")
        found += reader.read(folder / FOLDER / MAIN, "Project")
        found += [
            one for one in _rules(folder / FOLDER / RULES, "Project", reader) if not one.globs
        ]
        found += reader.read(folder / LOCAL, "Local")
    return found


def nested(grounds: Grounds, path: Path, reader: Reader) -> list[Instruction]:
    """Returns what counts for a file that is read or written, beyond what counts anyway."""
    found: list[Instruction] = []
    if own := grounds.configuration:
        found += _for(path, grounds.root, _rules(own / RULES, "User", reader))
    for folder in _between(grounds.root, path):
        found += reader.read(folder / MAIN, "Project")
        found += reader.read(folder / FOLDER / MAIN, "Project")
        found += reader.read(folder / LOCAL, "Local")
        rules = _rules(folder / FOLDER / RULES, "Project", reader)
        found += [one for one in rules if not one.globs]
        found += _for(path, folder, rules)
    for folder in (*reversed(grounds.root.parents), grounds.root):
        found += _for(path, folder, _rules(folder / FOLDER / RULES, "Project", reader))
    return found


def _between(root: Path, path: Path) -> list[Path]:
    """Returns the directories that lead from one, which is left out, to a file."""
    if not path.is_relative_to(root):
        return []
    names = path.parent.relative_to(root).parts
    return [root.joinpath(*names[:count]) for count in range(1, len(names) + 1)]


def _for(path: Path, base: Path, rules: list[Instruction]) -> list[Instruction]:
    """Returns the rules that name a file, which they do from where they are kept."""
    try:
        name = path.relative_to(base).as_posix()
    except ValueError:
        return []
    return [rule for rule in rules if rule.globs and _means(rule.globs, name)]


def _means(globs: tuple[str, ...], name: str) -> bool:
    try:
        return bool(Choice.of(globs).wants(name))
    except ToolError:
        return False


def _rules(folder: Path, kind: Kind, reader: Reader) -> list[Instruction]:
    return [one for path in _files(folder) for one in reader.read(path, kind, is_rule=True)]


def _files(folder: Path) -> Iterator[Path]:
    """Yields the files of a folder of rules and of those below, by name."""
    if not folder.is_dir():
        return
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            count += 1
            if name.endswith(".md") and count <= MOST_FILES:
                yield Path(place, name)
