"""A file of instructions, with those that it brings in, to what they say.

    Follow @docs/style.md and the rest.      a file beside this one
    @~/notes.md @/srv/rules.md               one of the home folder, one by its whole path

Names in code are not taken for files, remarks (`<!-- … -->`) are not told. What is brought in may
bring in more, four steps deep; a file comes once.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import normpath
from pathlib import Path
from typing import Any

from plait.agent.front_matter import document_of
from plait.agent.instructions.model import Instruction, Kind
from plait.agent.tools.images import IMAGES
from plait.agent.tools.read import BINARY
from plait.agent.tools.secrets import without
from plait.line import read_regular

DEEPEST = 4
MOST_BYTES = 1_000_000
"""Of one file: what is longer is no instruction."""
MOST_FILES = 500
NAMED = re.compile(r"(?:^|\s)@((?:[^\s\\]|\\ )+)")
PATH = re.compile(r"\./|~/|/.|[A-Za-z0-9._-]")
REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
NOT_TEXT = BINARY | frozenset(IMAGES) | {".pdf"}


@dataclass(slots=True)
class Reader:
    """Reads files of instructions, each once."""

    root: Path
    """Where the session works: what a project brings in lies in it."""
    home: Path | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    notices: list[str] = field(default_factory=list)
    """What a person should know: files that were left out, and why."""
    _known: set[Path] = field(default_factory=set)

    def read(self, path: Path, kind: Kind, *, is_rule: bool = False) -> list[Instruction]:
        """Returns what a file says, if there is one, and behind it what it brings in."""
        found: list[Instruction] = []
        waiting: list[tuple[Path, Path | None, int]] = [(path, None, 0)]
        while waiting and len(self._known) < MOST_FILES:
            place, parent, depth = waiting.pop()
            one = self._one(place, kind, parent, is_rule=is_rule)
            if one is None:
                continue
            if one.content.strip():
                found.append(one)
            if depth < DEEPEST:
                inner = self._brought_in(one)
                waiting += [(name, place, depth + 1) for name in reversed(inner)]
        return found

    def _one(
        self, path: Path, kind: Kind, parent: Path | None, *, is_rule: bool
    ) -> Instruction | None:
        real = path.resolve()
        if real in self._known:
            return None
        raw = self._text(path)
        if raw is None:
            return None
        self._known.add(real)
        document = document_of(raw)
        globs = patterns_of(document.listed("paths")) if is_rule else ()
        content = without_remarks(document.body)
        return Instruction(path, kind, content, raw, globs, parent, is_rule)

    def _text(self, path: Path) -> str | None:
        try:
            if path.stat().st_size > MOST_BYTES:
                self.notices.append(f"'{path}' is left out of the instructions: it is too long")
                return None
            return str(without(read_regular(path).decode(errors="replace"), self.secrets))
        except OSError:
            return None

    def _brought_in(self, one: Instruction) -> list[Path]:
        """Returns the files that one names, but for what a project has no business with."""
        found = []
        for name in named_in(one.content):
            path = self._placed(name, one.path.parent)
            if path is None or path.suffix.lower() in NOT_TEXT:
                continue
            if one.kind != "User" and not path.resolve().is_relative_to(self.root):
                if _is_file(path):
                    told = f"'{path}' is left out of the instructions: '{one.path}' names it"
                    self.notices.append(f"{told}, and it lies outside of the directory")
                continue
            found.append(path)
        return found

    def _placed(self, name: str, folder: Path) -> Path | None:
        if name.startswith("~/"):
            return self.home / name[2:] if self.home else None
        return Path(normpath(folder / name))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def named_in(text: str) -> list[str]:
    """Returns the files that a text names, in its order."""
    if "@" not in text:
        return []
    names = (found[1] for piece in _pieces(text) for found in NAMED.finditer(piece))
    paths = (name.partition("#")[0].replace("\\ ", " ") for name in names)
    return [path for path in paths if PATH.match(path)]


def without_remarks(text: str) -> str:
    """Returns a text without the remarks that stand for themselves, outside of code."""
    if "<!--" not in text:
        return text
    lines = text.splitlines(keepends=True)
    for token in _parser().parse(text):
        if token.type != "html_block" or not token.content.lstrip().startswith("<!--"):
            continue
        begin, end = token.map
        rest = REMARK.sub("", "".join(lines[begin:end]))
        lines[begin:end] = [rest if rest.strip() else "", *[""] * (end - begin - 1)]
    return "".join(lines)


def _pieces(text: str) -> Iterator[str]:
    """Yields the pieces of a text that are words, and neither code nor marks."""
    for token in _parser().parse(text):
        for child in token.children or () if token.type == "inline" else ():
            if child.type == "text":
                yield child.content


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def patterns_of(listed: Collection[str]) -> tuple[str, ...]:
    """Returns patterns of paths, those with alternatives as one each."""
    found: list[str] = []
    waiting = [*reversed([*listed])]
    while waiting and len(found) < MOST_FILES:
        pattern = waiting.pop()
        choice = re.search(r"\{([^{}]*)\}", pattern)
        if choice is None:
            found.append(pattern)
            continue
        before, after = pattern[: choice.start()], pattern[choice.end() :]
        waiting += [f"{before}{one.strip()}{after}" for one in reversed(choice[1].split(","))]
    return tuple(found)
