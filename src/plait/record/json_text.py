"""Editing JSON as text: the strings in a line, and values added to or removed from a document.

If a line must keep its bytes except for the ids in it, it cannot be decoded and encoded again:
numbers, escapes and the order of its fields would change.
"""

import json
import re
from collections.abc import Container, Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec

from plait.record.codec import encode

TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]', re.DOTALL)
OPENING, CLOSING, COMMA, OBJECT = b"{[", b"}]", b",", b"{"

WORDS = frozenset(
    b"aiTitle command content customTitle description display error errorMessage fullOutput input "
    b"lastPrompt mcpMeta originalFile output planContent prompt rendered signature stderr stdout "
    b"summary text thinking title toolUseResult tool_input tool_response userFeedback".split()
)
"""Texts of users, the model and tools: ids in them are not references."""
POINTER = re.compile(rb"(?i)uuids?$|message_?ids?$")
"""The ending of field names with record ids."""
USUAL = tuple(
    f'{name}":'.encode()
    for name in ("uuid", "Uuid", "UUID", "essageId", "sessionId", "session_id", "SessionId")
)
"""Endings of field names that contain an id in almost every line, as written."""
SESSION_FIELD = b"sessionId"
ORIGIN_FIELD = b"forkedFrom"
PARENT_FIELD = b"parentUuid"


class JsonString(NamedTuple):
    """The position of a string."""

    start: int
    stop: int
    """The end of the string, including its quotes."""
    field: bytes
    """The name of its field, also for an item of a list."""
    depth: int
    """1 for a field of the object itself."""
    is_words: bool
    """Whether it is part of a message's text."""
    is_name: bool
    """Whether it is a field name."""


def iter_json_strings(data: bytes) -> Iterator[JsonString]:
    """Yield the strings of a JSON text in order, including field names."""
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
            is_text = is_words or (not is_name_next and field in WORDS)
            yield JsonString(match.start(), match.end(), field, len(holders), is_text, is_name_next)
            if is_name_next:
                field, is_name_next = token[1:-1], False


def is_session_field(spot: JsonString) -> bool:
    """Return whether a field holds a session id."""
    return spot.field.lower().replace(b"_", b"").endswith(b"sessionid") and not spot.is_name


def is_pointer_field(spot: JsonString) -> bool:
    """Return whether a field holds record ids."""
    return POINTER.search(spot.field) is not None and not spot.is_name


def decode_string(data: bytes, spot: JsonString) -> str:
    """Return the value of a string."""
    inner = data[spot.start + 1 : spot.stop - 1]
    if b"\\" not in inner:
        return inner.decode("utf-8", "replace")
    try:
        return str(json.loads(data[spot.start : spot.stop].decode("utf-8", "replace")))
    except ValueError:
        return ""


def mentions_any(data: bytes, ids: Container[str]) -> bool:
    """Return whether a line refers to one of some records, outside of message texts."""
    return any(
        decode_string(data, spot) in ids for spot in iter_json_strings(data) if not spot.is_words
    )


def with_origin(data: bytes, session: str, uuid: str) -> bytes:
    """Return an object with a note of where it was copied from, replacing an earlier one."""
    origin = encode({"sessionId": session, "messageUuid": uuid})
    return with_field(data, ORIGIN_FIELD, origin)


def with_parent(data: bytes, uuid: str) -> bytes:
    """Return an object with another parent."""
    return with_field(data, PARENT_FIELD, msgspec.json.encode(uuid))


def with_field(data: bytes, name: bytes, value: bytes) -> bytes:
    """Return an object with one field changed; a new field is added at the end."""
    span = _find_span(data, name) if name in data else None
    if span:
        return data[: span[0]] + value + data[span[1] :]
    end = len(data.rstrip()) - 1
    return b'%b,"%b":%b%b' % (data[:end], name, value, data[end:])


def _find_span(data: bytes, name: bytes) -> tuple[int, int] | None:
    """Return the span of a field's value; None if there is no such field."""
    found = None
    for spot in iter_json_strings(data):
        is_next = spot.depth == 1 and spot.is_name
        if found is not None and is_next:
            return found, data.rindex(b",", 0, spot.start)
        if is_next and data[spot.start + 1 : spot.stop - 1] == name:
            found = data.index(b":", spot.stop) + 1
    return None if found is None else (found, len(data.rstrip()) - 1)


JsonPath: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value."""
SPACE = re.compile(r"[ \t\r\n]*")
NEWLINE = re.compile(r"\r?\n")
INDENT = re.compile(r"^\s*\{[ \t]*\r?\n([ \t]+)\"")
DECODER = json.JSONDecoder()
MARK = "\ufeff"


class JsonMember(NamedTuple):
    """A member of an object or an element of a list, by its positions in a text."""

    name: str | int
    start: int
    value: int
    """The start of its value; for an element its own start."""
    end: int


class Style(NamedTuple):
    """The layout of a text."""

    newline: str
    """"" for a text of one line."""
    indent: str

    def lead(self, depth: int) -> str:
        """Return the indentation at a depth."""
        return self.newline + self.indent * depth if self.newline else ""


def _detect_style(text: str) -> Style:
    newline, indent = NEWLINE.search(text.strip()), INDENT.search(text)
    is_short = bool(_parts_in(text, ())) and newline is None
    return Style("" if is_short else newline[0] if newline else "\n", indent[1] if indent else "  ")


def insert_value(text: str, way: JsonPath, value: Any, name: str | None = None) -> str:
    """Return a text with a value appended to the object or list at a path.

    Into an empty one it is inserted without line breaks, which later shows that it was there.
    """
    parts = _parts_in(text, way)
    style = _detect_style(text) if parts else Style("", " ")
    text_of_value = _format_value(value, style, len(way) + 1)
    text_of_value = (
        f"{json.dumps(name, ensure_ascii=False)}: {text_of_value}"
        if name is not None
        else text_of_value
    )
    if parts:
        gap = style.lead(len(way) + 1) or " "
        return f"{text[: parts[-1].end]},{gap}{text_of_value}{text[parts[-1].end :]}"
    start = _find_start(text, way) + 1
    return text[:start] + text_of_value + text[_after_space(text, start) :]


def replace_value(text: str, way: JsonPath, value: Any) -> str:
    """Return a text with the value at a path replaced."""
    part = _part_at(text, way)
    return (
        text[: part.value] + _format_value(value, _detect_style(text), len(way)) + text[part.end :]
    )


def remove_value(text: str, way: JsonPath) -> str:
    """Return a text without a value, and without containers that become empty; one that is written
    without a space before the value existed before it, and stays.
    """
    while (
        len(way) > 1
        and len(_parts_in(text, way[:-1])) == 1
        and text[_part_at(text, way).start - 1].isspace()
    ):
        way = way[:-1]
    parts, part = _parts_in(text, way[:-1]), _part_at(text, way)
    place = parts.index(part)
    if len(parts) == 1:
        start = _find_start(text, way[:-1]) + 1
        end = _after_space(text, part.end)
    elif place:
        start, end = parts[place - 1].end, part.end
    else:
        start, end = part.start, parts[1].start
    return text[:start] + text[end:]


def _format_value(value: Any, style: Style, depth: int) -> str:
    text_of_value = json.dumps(value, ensure_ascii=False, indent=style.indent)
    if not style.newline:
        return re.sub(r"\n *", " ", text_of_value)
    return text_of_value.replace("\n", style.lead(depth))


def _find_start(text: str, way: JsonPath) -> int:
    return _part_at(text, way).value if way else _after_space(text, 0)


def _part_at(text: str, way: JsonPath) -> JsonMember:
    return next(part for part in reversed(_parts_in(text, way[:-1])) if part.name == way[-1])


def _parts_in(text: str, way: JsonPath) -> list[JsonMember]:
    parts: list[JsonMember] = []
    start = _find_start(text, way)
    is_object, number = text[start] == "{", 0
    place = _after_space(text, start + 1)
    while text[place] not in "}]":
        begin, name = place, number
        if is_object:
            name, place = DECODER.raw_decode(text, place)
            place = _after_space(text, _after_space(text, place) + 1)
        _, end = DECODER.raw_decode(text, place)
        parts.append(JsonMember(name, begin, place, end))
        place, number = _after_space(text, end), number + 1
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return parts


def _after_space(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place
