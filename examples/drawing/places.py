"""The paths of the files of a section, and its additional files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from .model import (
    DrawingError,
    DrawnFile,
    DrawnLine,
    Field,
    Section,
    Settings,
    Statement,
    Text,
    Token,
    Word,
)
from .names import session_id, slug_of
from .sheet import Sheet, World, encode


def changed(settings: Settings, tokens: Iterable[Token], line: int) -> Settings:
    """Return settings with the changes given by tokens."""
    known = {field.name for field in fields(Settings)}
    changes: dict[str, Any] = {}
    for token in tokens:
        if not isinstance(token, Field) or token.key in ("of", "type", "run", "json"):
            continue
        if token.key not in known:
            raise DrawingError(line, f"there is no setting '{token.key}'")
        changes[token.key] = str(token.value)
    return replace(settings, **changes)


def section_fields(section: Section) -> dict[str, Any]:
    """Return the named values in the header of a section."""
    return {token.key: token.value for token in section.tokens if isinstance(token, Field)}


def section_words(section: Section) -> list[str]:
    """Return the bare words in the header of a section."""
    return [token.value for token in section.tokens if isinstance(token, Word)]


def _project(sheet: Sheet) -> str:
    """The folder of a session's project: that of the first working directory."""
    return slug_of(sheet.world.sheets.get(sheet.home, sheet).first.cwd)


def _folder(sheet: Sheet) -> str:
    return f"{_project(sheet)}/{session_id(sheet.home)}"


def path(sheet: Sheet) -> str:
    """Return the path of a session or an agent below `projects/`."""
    if sheet.section.kind == "file":
        return f"{_folder(sheet)}.jsonl"
    if "beside" in section_words(sheet.section):
        return f"{_project(sheet)}/agent-{sheet.agent}.jsonl"
    run = section_fields(sheet.section).get("run")
    within = f"subagents/workflows/{run}" if run else "subagents"
    return f"{_folder(sheet)}/{within}/agent-{sheet.agent}.jsonl"


def meta(sheet: Sheet) -> list[DrawnFile]:
    """Return the meta file of an agent, which names its caller; `nometa` omits it."""
    if {"nometa", "beside"} & set(section_words(sheet.section)):
        return []
    found: dict[str, Any] = {"agentType": sheet.agent_type}
    call = section_fields(sheet.section).get("of")
    if call:
        file, _, name = str(call).rpartition(":")
        sender = sheet.world.sheets[file or sheet.home]
        drawn = sender.call(name, sheet.section.line)
        found["description"] = drawn.input.get("description", "")
        found["toolUseId"] = drawn.id
        found |= {"parentAgentId": sender.agent} if sender.agent else {}
        found["spawnDepth"] = sheet.depth
    for token in sheet.section.tokens:
        if isinstance(token, Field) and token.key == "json":
            found |= json.loads(str(token.value))
    place = path(sheet).removesuffix(".jsonl") + ".meta.json"
    return [DrawnFile(f"{sheet.name}.meta", place, (DrawnLine(encode(found)),))]


def also(section: Section, basis: Settings, world: World) -> DrawnFile:
    """`also PATH` with `|` lines: any other file in the folder of the session.

    `count=N` writes the lines N times, with `$(n)` for the number.
    """
    home = world.sheets[basis.session]
    statement = home.filled(Statement(section.line, "also", tokens=section.tokens))
    text = "\n".join(token.value for token in statement.tokens if isinstance(token, Text)) + "\n"
    count = int(section_fields(section).get("count", 1))
    data = "".join(text.replace("$(n)", str(number)) for number in range(1, count + 1))
    place = f"{_folder(home)}/{section.name}"
    return DrawnFile(section.name, place, (DrawnLine(data.encode()),))
