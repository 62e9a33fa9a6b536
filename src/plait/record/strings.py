"""The bytes of an object to the strings in it, each with its place and the field that holds it.

Where a line must stay the bytes it was but for the ids in it, it cannot be decoded and encoded
again: numbers, escapes and the order of its fields would come out otherwise.
"""

import json
import re
from collections.abc import Container, Iterator
from typing import NamedTuple

import msgspec

from plait.record.codec import encode

TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]', re.DOTALL)
OPENING, CLOSING, COMMA, OBJECT = b"{[", b"}]", b",", b"{"

WORDS = frozenset(
    b"aiTitle command content customTitle description display error errorMessage fullOutput input "
    b"lastPrompt mcpMeta originalFile output planContent prompt rendered signature stderr stdout "
    b"summary text thinking title toolUseResult tool_input tool_response userFeedback".split()
)
"""What people, the model and tools said: nothing in it names another line."""
POINTER = re.compile(rb"(?i)uuids?$|message_?ids?$")
"""The end of the names of fields that hold ids of records."""
USUAL = tuple(
    f'{name}":'.encode()
    for name in ("uuid", "Uuid", "UUID", "essageId", "sessionId", "session_id", "SessionId")
)
"""How the names of fields end that hold an id in almost every line, as they are written."""
SESSION_FIELD = b"sessionId"
ORIGIN_FIELD = b"forkedFrom"
PARENT_FIELD = b"parentUuid"


class Spot(NamedTuple):
    """Where a string stands."""

    start: int
    stop: int
    """Of the string with its quotes."""
    field: bytes
    """The name of the field that holds it, also as one of a list."""
    depth: int
    """1 for a field of the object itself."""
    is_words: bool
    """It stands in what somebody said."""
    is_name: bool
    """It is the name of a field itself."""


def strings(data: bytes) -> Iterator[Spot]:
    """Yields the strings of a JSON text in their order, names of fields among them."""
    holders: list[tuple[bytes, bool, bool]] = []
    field, is_object, is_words, is_name_next = b"", False, False, False
    for match in TOKEN.finditer(data):
        token = match[0]
        if token in OPENING:
            holders.append((field, is_object, is_words))
            is_object = is_name_next = token == OBJECT
            is_words = is_words or field in WORDS
        elif token in CLOSING:
            field, is_object, is_words = holders.pop() if holders else (b"", False, False)
            is_name_next = False
        elif token == COMMA:
            is_name_next = is_object
        else:
            said = is_words or (not is_name_next and field in WORDS)
            yield Spot(match.start(), match.end(), field, len(holders), said, is_name_next)
            if is_name_next:
                field, is_name_next = token[1:-1], False


def is_session_field(spot: Spot) -> bool:
    """Tells a field that names a session, whatever its name says besides."""
    return spot.field.lower().replace(b"_", b"").endswith(b"sessionid") and not spot.is_name


def is_pointer_field(spot: Spot) -> bool:
    """Tells a field that names records."""
    return POINTER.search(spot.field) is not None and not spot.is_name


def string_at(data: bytes, spot: Spot) -> str:
    """Returns what a string says."""
    inner = data[spot.start + 1 : spot.stop - 1]
    if b"\\" not in inner:
        return inner.decode("utf-8", "replace")
    try:
        return str(json.loads(data[spot.start : spot.stop].decode("utf-8", "replace")))
    except ValueError:
        return ""


def names_any(data: bytes, ids: Container[str]) -> bool:
    """Tells whether a line names one of some records, other than in what somebody said."""
    return any(string_at(data, spot) in ids for spot in strings(data) if not spot.is_words)


def with_origin(data: bytes, session: str, uuid: str) -> bytes:
    """Returns an object that says where it was copied from, in the place of what it said before."""
    origin = encode({"sessionId": session, "messageUuid": uuid})
    return with_field(data, ORIGIN_FIELD, origin)


def with_parent(data: bytes, uuid: str) -> bytes:
    """Returns an object that hangs on another record."""
    return with_field(data, PARENT_FIELD, msgspec.json.encode(uuid))


def with_field(data: bytes, name: bytes, value: bytes) -> bytes:
    """Returns an object one field of which has another value; it is the last where it is new."""
    span = _span_of(data, name) if name in data else None
    if span:
        return data[: span[0]] + value + data[span[1] :]
    end = len(data.rstrip()) - 1
    return b'%b,"%b":%b%b' % (data[:end], name, value, data[end:])


def _span_of(data: bytes, name: bytes) -> tuple[int, int] | None:
    """Returns where the value of the field begins and ends, None where there is no such field."""
    found = None
    for spot in strings(data):
        is_next = spot.depth == 1 and spot.is_name
        if found is not None and is_next:
            return found, data.rindex(b",", 0, spot.start)
        if is_next and data[spot.start + 1 : spot.stop - 1] == name:
            found = data.index(b":", spot.stop) + 1
    return None if found is None else (found, len(data.rstrip()) - 1)
