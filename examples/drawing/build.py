"""Build files from sections: draw each statement, and place each file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from .asides import aside, is_aside
from .attachments import attachment, progress
from .clock import Clock
from .meter import output_weight
from .model import (
    Call,
    Drawing,
    DrawingError,
    DrawnFile,
    DrawnLine,
    Section,
    Settings,
    Statement,
)
from .names import agent_id, uuid_of
from .notices import system, unknown
from .parse import parse
from .places import also, changed, meta, path, section_fields
from .prompts import DRAWERS as PROMPTS
from .responses import api_error, message_key, response
from .results import result
from .sheet import Sheet, World
from .stroke import Stroke, stroke

_DRAWERS: Final[dict[str, Callable[[Stroke], None]]] = {
    **PROMPTS,
    "response": response,
    "api-error": api_error,
    "result": result,
    "system": system,
    "attachment": attachment,
    "progress": progress,
    "unknown": unknown,
}


def draw(text: str, *, session: str = "main", **settings: str) -> Drawing:
    """Build session logs from a drawing; settings are defaults for it."""
    sections = [
        replace(section, name=section.name or session) if section.kind == "file" else section
        for section in parse(text)
    ]
    world = World(sections, agents=_agents(sections))
    basis = Settings(**settings)
    files: list[DrawnFile] = []
    for section in sections:
        files += _drawn(world, section, replace(basis, session=_session(sections, section)))
    return Drawing(tuple(files))


def unknown_uuid(name: str = "?", file: str = "main") -> str:
    """Return the uuid for `<?` (or `<?name`), which no record has."""
    return uuid_of(name, file)


def _agents(sections: list[Section]) -> dict[str, Section]:
    found = {}
    for section in sections:
        of = section_fields(section).get("of")
        if section.kind == "agent" and of:
            found[str(of)] = section
    return found


def _session(sections: list[Section], section: Section) -> str:
    """Return the name of the session that a section belongs to: the last `file` up to it."""
    name = ""
    for other in sections:
        if other.kind == "file":
            name = other.name
        if other is section:
            break
    if not name:
        raise DrawingError(section.line, f"'{section.kind}' needs a 'file' before it")
    return name


def _drawn(world: World, section: Section, basis: Settings) -> list[DrawnFile]:
    if section.kind == "also":
        return [also(section, basis, world)]
    sheet = _sheet(world, section, basis)
    world.sheets[section.name] = sheet
    for statement in section.statements:
        _draw(sheet, statement)
    file = DrawnFile(section.name, path(sheet), tuple(sheet.lines), sheet.uuids)
    return [file, *meta(sheet)] if section.kind == "agent" else [file]


def _sheet(world: World, section: Section, basis: Settings) -> Sheet:
    home = world.sheets.get(basis.session)
    inherited = replace(home.settings, session=basis.session) if home else basis
    settings = changed(inherited, section.tokens, section.line)
    clock = Clock(settings.start, settings.pace, section.line)
    sheet = Sheet(world, section, settings, clock, _names(section), basis.session, settings)
    if section.kind == "agent":
        _make_agent(sheet, home)
    for statement in section.statements:
        _weigh(sheet, statement)
    return sheet


def _make_agent(sheet: Sheet, home: Sheet | None) -> None:
    """Set the attributes of a sub-agent: its id, its caller's prompt, its start time."""
    given = section_fields(sheet.section)
    sheet.agent = agent_id(sheet.name, sheet.home)
    sheet.agent_type = str(given.get("type", "general-purpose"))
    call = given.get("of")
    sender = home
    if call and ":" in str(call):
        sender = sheet.world.sheets.get(str(call).partition(":")[0], home)
    sheet.depth = sender.depth + 1 if sender else 1
    if call and sender:
        found = sender.call(str(call).rpartition(":")[2], sheet.section.line)
        sheet.prompt_id = found.prompt
        if "start" not in given:
            sent = next(r for r in sender.records.values() if r.get("uuid") == found.uuid)
            sheet.clock = Clock(sent["timestamp"], sheet.settings.pace, sheet.section.line)


def _weigh(sheet: Sheet, statement: Statement) -> None:
    """Sum up responses that span several records, before building any of them."""
    if statement.verb != "record":
        return
    key = message_key(statement, sheet.name)
    sheet.outputs[key] = sheet.outputs.get(key, 0) + output_weight(statement)
    is_call = any(isinstance(token, Call) for token in statement.tokens)
    if is_call or (re.fullmatch(r"T\d+", statement.name) and not statement.texts()):
        sheet.calling.add(key)


def _names(section: Section) -> frozenset[str]:
    return frozenset(s.name for s in section.statements if s.verb == "record")


def _draw(sheet: Sheet, statement: Statement) -> None:
    statement = sheet.filled(statement)
    if statement.verb == "record":
        if statement.name in sheet.uuids:
            raise DrawingError(statement.line, f"a second record is named '{statement.name}'")
        found = stroke(sheet, statement)
        _DRAWERS[found.kind.family](found)
    elif is_aside(statement.verb):
        aside(sheet, statement)
    elif statement.verb in _VERBS:
        _VERBS[statement.verb](sheet, statement)
    else:
        raise DrawingError(statement.line, f"'{statement.verb}' is not a line type")


def _raw(sheet: Sheet, statement: Statement) -> None:
    sheet.lines.append(DrawnLine(statement.fields()["data"]))


def _blank(sheet: Sheet, _: Statement) -> None:
    sheet.lines.append(DrawnLine(b"\n"))


def _set(sheet: Sheet, statement: Statement) -> None:
    sheet.settings = changed(sheet.settings, statement.tokens, statement.line)


def _forget(sheet: Sheet, _: Statement) -> None:
    """`forget`: the provider's cache loses its content."""
    sheet.world.cache.forget()


def _again(sheet: Sheet, statement: Statement) -> None:
    """`again NAME` (`=NAME`): the same line again, with the changes of the statement."""
    names = [word for word in statement.words() if word in sheet.records]
    if not names:
        raise DrawingError(statement.line, "'again' needs the name of a record above it")
    record = sheet.records[names[0]]
    if statement.parent is not None:
        record = {**record, "parentUuid": sheet.parent_uuid(statement)}
    sheet.put(statement, record, names[0])


def _copy(sheet: Sheet, statement: Statement) -> None:
    """`copy FILE`, `copy FILE:A FILE:B`: records of another file; `forked`: under this id."""
    for word in statement.words():
        if word in ("forked", "open"):
            continue
        file, _, name = word.partition(":")
        source = sheet.world.sheets.get(file)
        if source is None or source is sheet or (name and name not in source.records):
            raise DrawingError(statement.line, f"there is no '{word}' to copy")
        for own in [name] if name else list(source.records):
            sheet.put(statement, _copied(sheet, source, own, statement.words()), own)
            sheet.roles[own] = source.role(own)


def _copied(sheet: Sheet, source: Sheet, name: str, words: list[str]) -> dict[str, Any]:
    record = source.records[name]
    if "forked" not in words:
        return record
    origin = {"sessionId": record["sessionId"], "messageUuid": record["uuid"]}
    return {**record, "sessionId": sheet.session, "forkedFrom": origin}


_VERBS: Final[dict[str, Callable[[Sheet, Statement], None]]] = {
    "raw": _raw,
    "blank": _blank,
    "set": _set,
    "forget": _forget,
    "again": _again,
    "copy": _copy,
}
