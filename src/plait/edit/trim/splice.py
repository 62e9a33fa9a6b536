"""The bytes of a line to such with other blocks or fields, all else byte for byte.

Where the line is not as it reads (a field that stands twice, bytes that are no UTF-8), it is
encoded anew.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plait.line import Line
from plait.record import Record, entry_of
from plait.record.codec import encode
from plait.record.strings import CLOSING, COMMA, OPENING, TOKEN

Span = tuple[int, int]
GONE: Final = object()
"""In the place of a value that goes."""


def spliced(
    record: Record,
    blocks: Mapping[int, object],
    fields: Mapping[str, object] = {},
    message: Mapping[str, object] = {},
) -> bytes:
    """Returns the line of a record with other blocks, by their place, and other fields.

    Fields of the line itself, and those of its message.
    """
    wanted = _wanted(record.fields, blocks, fields, message)
    data = _spliced(record.raw, blocks, fields, message)
    return data if data is not None and _reads_as(data, wanted) else encode(wanted)


def _wanted(
    fields: Mapping[str, Any],
    blocks: Mapping[int, object],
    others: Mapping[str, object],
    of_message: Mapping[str, object],
) -> dict[str, Any]:
    found = {**fields, **others}
    if blocks or of_message:
        message = {**fields["message"], **of_message}
        if blocks:
            placed = (blocks.get(at, one) for at, one in enumerate(message["content"]))
            message["content"] = [one for one in placed if one is not GONE]
        found["message"] = message
    return {name: value for name, value in found.items() if value is not GONE}


def _spliced(
    data: bytes,
    blocks: Mapping[int, object],
    fields: Mapping[str, object],
    of_message: Mapping[str, object],
) -> bytes | None:
    members = _members(data)
    values = {name.encode(): _encoded(value) for name, value in fields.items()}
    if blocks or of_message:
        message = members.get(b"message", b"")
        inner = _with_blocks(message, blocks) if blocks else message
        if not inner:
            return None
        told = {name.encode(): _encoded(value) for name, value in of_message.items()}
        values[b"message"] = _joined(_members(inner) | told)
    return _joined(members | values)


def _joined(members: Mapping[bytes, bytes | None]) -> bytes:
    kept = (b'"%b":%b' % (name, value) for name, value in members.items() if value is not None)
    return b"{%b}" % b",".join(kept)


def _with_blocks(message: bytes, blocks: Mapping[int, object]) -> bytes | None:
    """Returns a message with other blocks, None where its content is no list."""
    members: dict[bytes, bytes | None] = {**_members(message)}
    content = members.get(b"content") or b""
    if not content.startswith(b"["):
        return None
    parts: list[bytes | None] = [content[slice(*span)] for span in _parts(content)]
    for place, value in blocks.items():
        parts[place] = _encoded(value)
    members[b"content"] = b"[%b]" % b",".join(part for part in parts if part is not None)
    return _joined(members)


def _encoded(value: object) -> bytes | None:
    return None if value is GONE else encode({"": value})[4:-1]


def _members(data: bytes) -> dict[bytes, bytes]:
    """Returns the fields of an object, each with its value as it is written."""
    found: dict[bytes, bytes] = {}
    for begin, end in _parts(data):
        if name := TOKEN.match(data, begin, end):
            colon = data.index(b":", name.end())
            found[name[0][1:-1]] = data[slice(*_trimmed(data, colon + 1, end))]
    return found


def _parts(data: bytes) -> Iterator[Span]:
    """Yields where the fields of an object, or the parts of a list, begin and end."""
    depth, begin = 0, 0
    for match in TOKEN.finditer(data):
        token = match[0]
        if token in OPENING:
            depth += 1
            begin = match.end() if depth == 1 else begin
        elif token in CLOSING:
            depth -= 1
        is_end = depth == 0
        if is_end or (token == COMMA and depth == 1):
            span = _trimmed(data, begin, match.start())
            if span[0] < span[1]:
                yield span
            begin = match.end()
        if is_end:
            return


def _trimmed(data: bytes, begin: int, end: int) -> Span:
    while begin < end and data[begin] in b" \t\r\n":
        begin += 1
    while begin < end and data[end - 1] in b" \t\r\n":
        end -= 1
    return begin, end


def _reads_as(data: bytes, wanted: dict[str, Any]) -> bool:
    entry = entry_of(Line(0, 0, data, True))
    return isinstance(entry, Record) and entry.fields == wanted
