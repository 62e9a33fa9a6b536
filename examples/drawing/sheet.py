"""The lines of one file built so far, and the meaning of names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .cache import Cache
from .clock import Clock
from .meter import Meter
from .model import (
    DrawingError,
    DrawnLine,
    Drop,
    Field,
    Json,
    Merge,
    Section,
    Settings,
    Statement,
    Token,
)
from .names import agent_id, call_id, message_id, session_id, uuid_of

_INSERT = re.compile(r"\$\((esc|uuid|call|agent|session|message) ?([\w:.?-]*)\)")


@dataclass(frozen=True, slots=True)
class DrawnCall:
    """A tool call: its input, its position, its prompt."""

    name: str
    id: str
    tool: str
    input: Json
    uuid: str
    message: str
    prompt: str


@dataclass(slots=True)
class Prompt:
    """The prompt that is being answered."""

    key: str = "start"
    text: str = ""
    time: str = ""
    turn: int = 0


@dataclass(slots=True, eq=False)
class World:
    """All files of a drawing, by name, and the sections of agents by the call that started them."""

    sections: list[Section]
    sheets: dict[str, Sheet] = field(default_factory=dict)
    agents: dict[str, Section] = field(default_factory=dict)
    cache: Cache = field(default_factory=Cache)

    def agent_of(self, file: str, call: str) -> Section | None:
        """Return the section of the agent started by a call."""
        return self.agents.get(f"{file}:{call}") or self.agents.get(call)


@dataclass(slots=True, eq=False)
class Sheet:
    """A file under construction."""

    world: World
    section: Section
    settings: Settings
    clock: Clock
    names: frozenset[str]
    home: str
    first: Settings
    agent: str = ""
    agent_type: str = ""
    depth: int = 0
    lines: list[DrawnLine] = field(default_factory=list)
    uuids: dict[str, str] = field(default_factory=dict)
    records: dict[str, Json] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    calls: dict[str, DrawnCall] = field(default_factory=dict)
    calls_by_line: dict[str, DrawnCall] = field(default_factory=dict)
    latest_calls: list[DrawnCall] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    outputs: dict[str, int] = field(default_factory=dict)
    calling: set[str] = field(default_factory=set)
    message: str = ""
    prompt_id: str = ""
    files: dict[str, str] = field(default_factory=dict)
    todos: list[Any] = field(default_factory=list)
    prompt: Prompt = field(default_factory=Prompt)
    meter: Meter = field(default_factory=Meter)
    previous: str = ""

    @property
    def name(self) -> str:
        """The name of the file in the drawing."""
        return self.section.name

    @property
    def session(self) -> str:
        """The current session id."""
        return session_id(self.settings.session)

    def own_uuid(self, name: str) -> str:
        """Return the uuid of a name in this file."""
        return self.uuids.get(name) or uuid_of(name, self.name)

    def uuid(self, reference: str, line: int) -> str:
        """Return the uuid of a reference: NAME, FILE:NAME, or `?` for a missing one."""
        if reference.startswith("?"):
            return uuid_of(reference, self.name)
        file, _, name = reference.rpartition(":")
        sheet = self._sheet(file, line) if file else self
        if name not in sheet.names and name not in sheet.uuids:
            raise DrawingError(line, f"no record is named '{reference}'")
        return sheet.own_uuid(name)

    def parent_uuid(self, statement: Statement) -> str | None:
        """Return the uuid of the parent that a statement names."""
        if statement.parent is None:
            return None
        reference = statement.parent or self.previous
        if not reference:
            raise DrawingError(statement.line, "there is no record before this one")
        return self.uuid(reference, statement.line)

    def call(self, reference: str, line: int) -> DrawnCall:
        """Return the call that a reference names: CALL, FILE:CALL, or `?` for a missing one."""
        if reference.startswith("?"):
            key = f"{self.name}/{reference}"
            uuid = uuid_of(reference, self.name)
            return DrawnCall(reference, call_id(key), "Bash", {}, uuid, message_id(key), "")
        file, _, name = reference.rpartition(":")
        sheet = self._sheet(file, line) if file else self
        if name not in sheet.calls:
            raise DrawingError(line, f"no call is named '{reference}'")
        return sheet.calls[name]

    def _sheet(self, name: str, line: int) -> Sheet:
        if name not in self.world.sheets:
            raise DrawingError(line, f"no file is named '{name}'")
        return self.world.sheets[name]

    def filled(self, statement: Statement) -> Statement:
        """Insert the ids for `$(uuid A)`, `$(call t1)`, `$(agent x)`, `$(session main)`.

        `$(esc)` is the escape character of terminal colours.
        """
        return replace(statement, tokens=tuple(self.fill(t, statement) for t in statement.tokens))

    def fill(self, token: Token, statement: Statement) -> Token:
        """Insert ids into one token."""
        changes = {}
        for key in ("value", "input"):
            value = getattr(token, key, None)
            if value is not None and not isinstance(value, bytes) and "$(" in str(value):
                changes[key] = json.loads(
                    _INSERT.sub(self._inserter(statement.line), json.dumps(value))
                )
        return replace(token, **changes) if changes else token

    def _inserter(self, line: int) -> Callable[[re.Match[str]], str]:
        def insert(found: re.Match[str]) -> str:
            what, name = found[1], found[2]
            if what == "esc":
                return "\\u001b"
            if what == "uuid":
                return self.uuid(name, line)
            if what == "agent":
                return agent_id(name, self.home)
            if what == "session":
                return session_id(name)
            return (call_id if what == "call" else message_id)(f"{self.name}/{name}")

        return insert

    def role(self, reference: str) -> str:
        """Return who spoke in a record of this file; "" if unknown."""
        return self.roles.get(reference, "")

    def put(self, statement: Statement, record: Json, name: str = "") -> None:
        """Write a record, with the keys that the statement adds and removes."""
        for token in statement.tokens:
            match token:
                case Merge(value):
                    record = {**record, **value}
                case Drop(key):
                    record = {k: v for k, v in record.items() if k != key}
                case Field("json", str(value)):
                    record = {**record, **json.loads(value)}
                case _:
                    pass
        self._append(statement, record, name)
        if name:
            self.records[name] = record
            self.uuids[name] = str(record.get("uuid", ""))
            self.previous = name

    def _append(self, statement: Statement, record: Json, name: str) -> None:
        data = encode(record)
        cut = statement.fields().get("cut")
        ending = b"" if "open" in statement.words() else b"\n"
        if cut is None:
            self.lines.append(DrawnLine(data + ending, name, record))
        else:
            size = len(data) // 2 if cut == "half" else int(cut)
            self.lines.append(DrawnLine(data[:size] + ending, name))


def encode(record: Any) -> bytes:
    """Return JSON as the client writes it: without spaces and unnecessary escapes."""
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")
