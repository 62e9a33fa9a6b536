"""Files in `.claude/agents` to kinds of agents; what is no definition is said.

    <configuration>/agents/**/*.md       the person's own
    <directory>/.claude/agents/**/*.md   of the project: this directory, and those above it up to
                                         the repository's; the nearest goes before

A definition only narrows: an agent has no tool and no permission that its session has not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from plait.agent.agents.kinds import BUILT_IN, Kind
from plait.agent.front_matter import Document, document_of
from plait.agent.permission import Mode
from plait.line import read_regular, stamp_of

FOLDER = Path(".claude", "agents")
MOST_FILES, MOST_BYTES = 500, 1_000_000
MODES: tuple[Mode, ...] = get_args(Mode)
ALL = "*"


@dataclass(slots=True)
class Definitions:
    """The kinds of agents that there are, and what is wrong with files that define none."""

    kinds: dict[str, Kind] = field(default_factory=lambda: {one.name: one for one in BUILT_IN})
    notices: list[str] = field(default_factory=list)


def defined_agents(configuration: Path | None, directory: Path) -> Definitions:
    """Returns the kinds of agents of a person and of a directory, with those that are built in."""
    found = Definitions()
    folders = [configuration / "agents"] if configuration else []
    for folder in (*folders, *_of_project(directory)):
        for path in _files(folder):
            try:
                kind = _kind(path)
            except ValueError as error:
                found.notices.append(f"'{path}' defines no agent: {error}")
            else:
                found.kinds[kind.name] = kind
    found.kinds = dict(sorted(found.kinds.items(), key=lambda one: one[0].casefold()))
    return found


def _of_project(directory: Path) -> Sequence[Path]:
    """Returns the folders of a project, the nearest last."""
    above = []
    for folder in (directory, *directory.parents):
        above.append(folder / FOLDER)
        if (folder / ".git").exists():
            return above[::-1]
    return above[:1]


def _files(folder: Path) -> Iterable[Path]:
    try:
        found = sorted(folder.rglob("*.md"))
    except OSError:
        return ()
    return found[:MOST_FILES]


def _kind(path: Path) -> Kind:
    document = document_of(_text(path))
    name, description = document.said("name"), document.said("description")
    if not name or not description:
        raise ValueError(f"it has no {'description' if name else 'name'}")
    tools = tuple(_names(document.listed("tools"))) if "tools" in document.head else None
    return Kind(
        name,
        description,
        document.body.strip(),
        tools=None if tools and ALL in tools else tools,
        without=tuple(_names(document.listed("disallowedTools"))),
        model=document.said("model") or None,
        mode=_mode(document),
        max_turns=_count(document.said("maxTurns")),
        is_background=document.is_set("background"),
    )


def _text(path: Path) -> str:
    stamp = stamp_of(path)
    if stamp and stamp.size > MOST_BYTES:
        raise ValueError("it is too large")
    try:
        return read_regular(path).decode(errors="replace")
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from None


def _names(rules: Iterable[str]) -> Iterator[str]:
    """Yields the tools that rules such as `Bash(git log:*)` are for."""
    for rule in rules:
        if name := rule.partition("(")[0].strip():
            yield name


def _mode(document: Document) -> Mode | None:
    told = document.said("permissionMode")
    return next((mode for mode in MODES if mode == told), None)


def _count(text: str) -> int | None:
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 10 else None
