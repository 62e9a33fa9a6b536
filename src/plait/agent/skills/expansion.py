"""A command and what it is given to what the model is told.

    $ARGUMENTS   all that it is given       $0 $1, $ARGUMENTS[0]   one word of it, the first is 0
    $name        a word that the head names in `arguments`
    !`date`      what a command says; a block that begins with ```! likewise

What is given and finds no place stands at the end. Words that are not there stay as written.
"""

import re
import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from plait.agent.skills.model import Skill

Run: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Runs a command as it stands in a text; returns what takes its place."""
SHELL = re.compile(r"```!\s*\n(?P<block>.*?)\n?```|(?<!\S)!`(?P<line>[^`]+)`", re.DOTALL)
PLACES = r"\\\$(?=[A-Za-z0-9])|\$ARGUMENTS\[(?P<at>\d+)\]|\$ARGUMENTS|(?<!\$)\$(?P<number>\d+)"
BASE = "Base directory for this skill: {}\n\n"
REST = "\n\nARGUMENTS: {}"


async def expanded(skill: Skill, arguments: str, session: str, run: Run) -> str:
    """Returns what a command says, with all that it is given, and what it has run."""
    folder = str(skill.path.parent)
    text = filled(skill.document.body, arguments, skill.document.listed("arguments"))
    if skill.is_skill:
        text = BASE.format(folder) + text
    known = {"CLAUDE_SKILL_DIR": folder, "CLAUDE_SESSION_ID": session}
    text = re.sub(r"\$\{(\w+)\}", lambda found: known.get(found[1], found[0]), text)
    return await _with_outputs(text, run)


def filled(body: str, arguments: str, names: tuple[str, ...] = ()) -> str:
    """Returns a text with what it is given in the places that it has for it."""
    words = words_of(arguments)
    named = dict(zip(names, words, strict=False))
    places = re.compile(_places(names))
    is_placed = False

    def put(found: re.Match[str]) -> str:
        nonlocal is_placed
        if found[0].startswith("\\"):
            return found[0][1:]
        is_placed = True
        return _put(found, arguments, words, named)

    text = places.sub(put, body)
    return text if is_placed or not arguments else text + REST.format(arguments)


def _places(names: tuple[str, ...]) -> str:
    own = "".join(rf"|\$(?P<n{at}>{re.escape(name)})\b" for at, name in enumerate(names))
    return PLACES + own


def _put(found: re.Match[str], whole: str, words: list[str], named: Mapping[str, str]) -> str:
    place = found["at"] or found["number"]
    if place is not None:
        number = int(place[:6])
        return words[number] if number < len(words) else found[0]
    if found[0] == "$ARGUMENTS":
        return whole
    return named.get(found[0][1:], found[0])


def words_of(arguments: str) -> list[str]:
    """Returns the words of the first line that a command is given, as a shell parts them."""
    line = arguments.partition("\n")[0]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


async def _with_outputs(text: str, run: Run) -> str:
    pieces, end = [], 0
    for found in SHELL.finditer(text):
        command = found["block"] if found["block"] is not None else found["line"]
        pieces += [text[end : found.start()], await run(command.strip(), found[0])]
        end = found.end()
    return "".join([*pieces, text[end:]])
