"""Single lines to what is wrong with them: their form, and what the API would refuse."""

import re
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from plait.edit.check.pictures import pictures_in, refusal_of
from plait.line import Line
from plait.record import Blank, Broken, Entry, Record
from plait.record.record import content_blocks

CLAUDE = re.compile(r"(?:^|[./])claude-")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


def not_an_object(line: Line, entry: Entry) -> str | None:
    """Says why a line is not one JSON object."""
    return entry.reason if isinstance(entry, Broken) else None


def not_compact(line: Line, entry: Entry) -> str | None:
    """Says why a line is not as the client writes it: UTF-8, nothing between its fields."""
    if isinstance(entry, Blank):
        return "the line is blank"
    try:
        line.data.decode("utf-8")
        is_compact = msgspec.json.format(line.data, indent=-1) == line.data
    except UnicodeDecodeError:
        return "the line is not valid utf-8"
    except msgspec.MsgspecError:
        return "the line is not json"
    return None if is_compact else "there are spaces between the fields of the line"


def unsigned_thought(line: Line, entry: Entry) -> str | None:
    """Says why the API refuses a thought of an answer: nobody signed it."""
    if not isinstance(entry, Record) or entry.type != "assistant":
        return None
    if not any(head.type == "thinking" for head in entry.block_heads):
        return None
    if not is_claudes(entry):
        return None
    unsigned = any(is_unsigned(block) for block in content_blocks(entry))
    return "a thought has no signature that can be one" if unsigned else None


def is_claudes(record: Record) -> bool:
    """Whether an answer is one of Claude, whose thoughts the API judges by their signature."""
    message = record.envelope.message
    return bool(message and CLAUDE.search(message.model or ""))


def is_unsigned(block: dict[str, Any]) -> bool:
    """Whether a block is a thought that the API refuses for its signature."""
    if block["type"] != "thinking":
        return False
    signature = block.get("signature")
    return not isinstance(signature, str) or not BASE64.fullmatch(signature)


def refused_picture(line: Line, entry: Entry) -> str | None:
    """Says why the API refuses a picture of a prompt or a result."""
    if not isinstance(entry, Record) or b'"image"' not in line.data:
        return None
    for picture in pictures_in(content_blocks(entry)):
        if refusal := refusal_of(picture):
            return f"a picture {refusal}"
    return None


class MessageColumns(Struct):
    """The columns of a message, as they are written."""

    role: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET
    model: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    stop_reason: Raw | UnsetType = UNSET
    usage: Raw | UnsetType = UNSET


class Columns(Struct, rename={"parent": "parentUuid", "session": "sessionId"}):
    """The columns of a prompt or an answer, as they are written."""

    type: str = ""
    uuid: Raw | UnsetType = UNSET
    parent: Raw | UnsetType = UNSET
    session: Raw | UnsetType = UNSET
    timestamp: Raw | UnsetType = UNSET
    is_sidechain: Raw | UnsetType = msgspec.field(default=UNSET, name="isSidechain")
    user_type: Raw | UnsetType = msgspec.field(default=UNSET, name="userType")
    cwd: Raw | UnsetType = UNSET
    version: Raw | UnsetType = UNSET
    request: Raw | UnsetType = msgspec.field(default=UNSET, name="requestId")
    message: MessageColumns = msgspec.field(default_factory=MessageColumns)


_columns = msgspec.json.Decoder(Columns).decode

TEXT, OBJECT, LIST, FLAG = b'"', b"{", b"[", b"tf"
EVERY: dict[str, bytes] = {
    "uuid": TEXT,
    "parent": TEXT + b"n",
    "session": TEXT,
    "timestamp": TEXT,
}
SPOKEN: dict[str, tuple[dict[str, bytes], dict[str, bytes]]] = {
    "user": (
        {**EVERY, "is_sidechain": FLAG, "user_type": TEXT, "cwd": TEXT, "version": TEXT},
        {"role": TEXT, "content": TEXT + LIST},
    ),
    "assistant": (
        {**EVERY, "request": TEXT},
        {
            "role": TEXT,
            "content": LIST,
            "model": TEXT,
            "id": TEXT,
            "stop_reason": TEXT + b"n",
            "usage": OBJECT,
        },
    ),
}
"""The required columns, each with what its value may begin with."""


def missing_column(line: Line, entry: Entry) -> str | None:
    """Says which column a prompt or an answer lacks."""
    if not isinstance(entry, Record) or entry.type not in SPOKEN:
        return None
    try:
        written = _columns(line.data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return "its columns are not as they should be"
    outer, inner = SPOKEN[entry.type]
    lacking = [name for name, form in outer.items() if not _is_of(written, name, form)]
    lacking += [name for name, form in inner.items() if not _is_of(written.message, name, form)]
    return f"columns are missing: {', '.join(lacking)}" if lacking else None


def _is_of(columns: Struct, name: str, form: bytes) -> bool:
    value = getattr(columns, name)
    return value is not UNSET and bytes(memoryview(value)[:1]) in form
