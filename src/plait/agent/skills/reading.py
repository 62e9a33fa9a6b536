"""Folders of commands and skills to those that there are, by name.

    .claude/commands/review.md         /review          commands/git/fix.md      /git:fix
    .claude/skills/review/SKILL.md     /review, and for the model when it sees fit

of the configuration folder and of every directory from where the session works upwards. A skill
goes before a command, a person's own before a project's, a nearer one before one further up.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from plait.agent.front_matter import Document, document_of
from plait.agent.instructions import Grounds
from plait.agent.skills.model import Skill
from plait.agent.tools.secrets import without
from plait.line import read_regular

COMMANDS, SKILLS, MAIN, FOLDER = "commands", "skills", "SKILL.md", ".claude"
MOST_BYTES = 1_000_000
MOST = 2_000
"""Commands and skills of one folder."""


def skills_in(grounds: Grounds) -> dict[str, Skill]:
    """Returns what can be asked for, skills before commands, each kind by name."""
    places = [grounds.configuration] if grounds.configuration else []
    places += [folder / FOLDER for folder in (grounds.root, *grounds.root.parents)]
    found: dict[str, Skill] = {}
    for kind in (_skills, _commands):
        own: dict[str, Skill] = {}
        for place in places:
            for name, path in kind(place):
                if name not in found and name not in own:
                    document = _document(path, grounds)
                    if document is not None:
                        own[name] = Skill(name, document, path, path.name == MAIN)
        found |= dict(sorted(own.items()))
    return found


def _skills(place: Path) -> Iterator[tuple[str, Path]]:
    folder = place / SKILLS
    try:
        names = sorted(one.name for one in folder.iterdir())[:MOST]
    except OSError:
        return
    for name in names:
        yield name, folder / name / MAIN


def _commands(place: Path) -> Iterator[tuple[str, Path]]:
    folder, count = place / COMMANDS, 0
    for at, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            count += 1
            if name.endswith(".md") and count <= MOST:
                path = Path(at, name)
                yield ":".join(path.relative_to(folder).with_suffix("").parts), path


def _document(path: Path, grounds: Grounds) -> Document | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        text = read_regular(path).decode(errors="replace")
    except OSError:
        return None
    return document_of(str(without(text, grounds.secrets)))
