"""The properties that every record takes from its statement: kind, position, time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .envelope import is_side, wrap
from .kinds import Kind, kind_of, role_of
from .model import Json, Statement
from .sheet import Sheet

_OWN_FIELDS: Final = frozenset(("json", "cut", "after", "of"))


@dataclass(frozen=True, slots=True)
class Stroke:
    """A record to be built."""

    sheet: Sheet
    statement: Statement
    kind: Kind
    flags: frozenset[str]
    parent: str | None
    time: str

    @property
    def name(self) -> str:
        """The name of the record."""
        return self.statement.name

    @property
    def uuid(self) -> str:
        """The uuid of the record."""
        return self.sheet.own_uuid(self.name)

    @property
    def line(self) -> int:
        """The line of the drawing."""
        return self.statement.line

    def text(self, default: str) -> str:
        """Return the text of the record, or a default."""
        texts = self.statement.texts()
        return "\n\n".join(texts) if texts else default

    def given(self) -> Json:
        """Return the named values that are copied into the record unchanged."""
        fields = self.statement.fields()
        return {key: value for key, value in fields.items() if key not in _OWN_FIELDS}

    def is_before(self, *version: int) -> bool:
        """Return whether the writing client is older than a version."""
        return self.sheet.settings.is_before(*version)

    def put(self, body: Json, name: str = "", parent: str | None = None) -> None:
        """Write the record with a body, under its own name and parent or others."""
        side = is_side(self.sheet, self.flags)
        record = wrap(self.sheet, parent if name else self.parent, body, side=side)
        self.sheet.put(self.statement, record, name or self.name)


def stroke(sheet: Sheet, statement: Statement) -> Stroke:
    """Return the properties of a record, and advance the clock of its file."""
    reference = sheet.previous if statement.parent == "" else statement.parent or ""
    kind, flags = kind_of(statement, sheet.role(reference))
    sheet.roles[statement.name] = role_of(kind, sheet.role(reference))
    length = sum(map(len, statement.texts()))
    key = f"{sheet.name}/{statement.name}"
    time = sheet.clock.tick(statement.time, statement.line, kind.family, length, key)
    return Stroke(sheet, statement, kind, flags, sheet.parent_uuid(statement), time)
