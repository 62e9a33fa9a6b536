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
    record: Record, blocks: Mapping[int, object], fields: Mapping[str, object] = {}
) -> bytes:
    """Returns the line of a record with other blocks, by their place, and other fields."""
    wanted = _wanted(record.fields, blocks, fields)
    data = _spliced(record.raw, blocks, fields)
    return data if data is not None and _reads_as(data, wanted) else encode(wanted)


def _wanted(
    fields: Mapping[str, Any], blocks: Mapping[int, object], others: Mapping[str, object]
) -> dict[str, Any]:
    found = {**fields, **others}
    if blocks:
        message = fields["message"]
        placed = ((blocks.get(at, one)) for at, one in enumerate(message["content"]))
        content = [one for one in placed if one is not GONE]
        found["message"] = {**message, "content": content}
    return {name: value for name, value in found.items() if value is not GONE}


def _spliced(
    data: bytes, blocks: Mapping[int, object], fields: Mapping[str, object]
) -> bytes | None:
    members = dict(_members(data, data.find(b"{")))
    values = {name.encode(): _encoded(value) for name, value in fields.items()}
    if blocks:
        message = members.get(b"message")
        inner = _with_blocks(data[slice(*message)], blocks) if message else None
        if inner is None:
            return None
        values[b"message"] = inner
    told = {name: data[slice(*span)] for name, span in members.items()} | values
    kept = (b'"%b":%b' % (name, value) for name, value in told.items() if value is not None)
    return b"{%b}" % b",".join(kept)


def _with_blocks(message: bytes, blocks: Mapping[int, object]) -> bytes | None:
    found = dict(_members(message, 0)).get(b"content")
    if found is None or message[found[0] : found[0] + 1] != b"[":
        return None
    parts = [message[slice(*span)] for span in _parts(message, found[0])]
    for place, value in blocks.items():
        parts[place] = _encoded(value) or b""
    content = b"[%b]" % b",".join(part for part in parts if part)
    return message[: found[0]] + content + message[found[1] :]


def _encoded(value: object) -> bytes | None:
    return None if value is GONE else encode({"": value})[4:-1]


def _members(data: bytes, start: int) -> Iterator[tuple[bytes, Span]]:
    """Yields the names of an object's fields, each with where its value stands."""
    for begin, end in _parts(data, start):
        if name := TOKEN.match(data, begin, end):
            colon = data.index(b":", name.end())
            yield name[0][1:-1], _trimmed(data, colon + 1, end)


def _parts(data: bytes, start: int) -> Iterator[Span]:
    """Yields where the fields of an object, or the parts of a list, begin and end."""
    depth, begin = 0, start + 1
    for match in TOKEN.finditer(data, start):
        token = match[0]
        if token in OPENING:
            depth += 1
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
