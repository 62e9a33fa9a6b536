"""What is to go from a session, as a person asks for it and as single cuts, as values."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

Preset: TypeAlias = Literal["light", "standard", "heavy", "extreme"]
Way: TypeAlias = Literal["remove", "cut", "empty"]
"""A call and its result go; the result is cut to its first characters; the call stays as metadata
and its result becomes one short line."""

KEPT = 400
"""Characters that are left of a result that is cut, where nothing else is asked."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One thing that goes or shrinks."""

    line: int
    """In the log as it was, from 1."""
    block: int | None
    """Its place in the content of the message, from 0; None for the whole record."""
    to: str | None
    """None where it goes; else the text in its place: of a result its content, of a call its
    input as JSON, of an image or a document a text block."""
    reason: str
    """Why, in words that group cuts of one kind: `result of Bash`."""
    inner: int | None = None
    """The place of a part within a result, from 0; None for the block itself."""


@dataclass(frozen=True, slots=True)
class TrimChoice:
    """What a person wants to go."""

    preset: Preset | None = None
    calls: tuple[str, ...] = ()
    """Ids of calls, or unique beginnings of them."""
    tools: tuple[str, ...] = ()
    """Names of tools, patterns such as `mcp__github__*` among them."""
    larger_than: int | None = None
    """Characters of input and result together."""
    older_than: timedelta | None = None
    before: datetime | None = None
    except_last: int = 0
    """Turns at the end that are left alone."""
    way: Way = "remove"
    keep: int = KEPT
    """Characters that are left where a result is cut."""
    thinking: bool = False
    images: bool = False
    attachments: bool = False
    progress: bool = False
    snapshots: bool = False
    request_logs: bool = False
    rereads: bool = False
    reminders: bool = False
