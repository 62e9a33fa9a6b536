"""A call and its drawn result: values between drawing and record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .model import Json, Section
from .names import number
from .sheet import DrawnCall, Sheet


@dataclass(frozen=True, slots=True)
class Reply:
    """A call, the text of its result, and its named values."""

    sheet: Sheet
    call: DrawnCall
    text: str
    fields: Json
    flags: frozenset[str]
    agent: Section | None
    line: int

    @property
    def path(self) -> str:
        """The file named by the call."""
        return str(self.call.input.get("file_path", ""))

    @property
    def duration(self) -> int:
        """A made-up duration in milliseconds."""
        return 20 + number(self.call.id, 4_000)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`content` goes to the model, `detail` is the `toolUseResult` (None: there is none)."""

    content: Any
    detail: Any = None
