"""A broken line to what can still be read of it.

    {"type":"user",…}{"type":"assistant",…}      glued: both are read
    {"type":"user","mess{"type":"assistant",…}   torn, then written on: the second is read
    ␀␀␀␀{"type":"user",…}                        padded by a crash: the record is read
    …he text"}]},"uuid":"…","timestamp":"…"}     the tail of a line: its last fields are read
    {"uuid":"…","timestamp":"…","mess            the head of a line: its first fields are read

What is recovered keeps its place, is counted apart and is never part of a conversation's
chain, since the client skips such a line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any

from plait.line import Line
from plait.record.decode import NotAnObject, object_of

BEGINNING = re.compile(r'\{"[A-Za-z_]+":')
FIELD = re.compile(r',"[A-Za-z_]+":')
TELLING = frozenset({"uuid", "message", "content", "timestamp"})
MOST_CHARACTERS = 1 << 26

_decoder = JSONDecoder()


@dataclass(frozen=True, slots=True)
class Recovered:
    """An object read from a broken line, with its place in the file."""

    line: int
    offset: int
    data: bytes
    fields: dict[str, Any]
    is_whole: bool
    """False where only some of its fields were left."""


def recover(line: Line) -> tuple[Recovered, ...]:
    """Returns the whole objects on a line, else the fields that are left of a cut one."""
    text = line.data.decode("utf-8", "surrogateescape")
    found = tuple(records_on(line, text))
    if found or not line.is_ended:  # a live file's last line is only half written
        return found
    partial = last_fields(line, text) or first_fields(line, text)
    return (partial,) if partial else ()


def records_on(line: Line, text: str) -> Iterator[Recovered]:
    """Yields the records that stand complete on a line that holds more than one thing."""
    end = len(text) - len(text.lstrip("\0 \t\ufeff"))
    for start, stop in objects_on(text):
        one = recovered(line, text, start, stop)
        # An object inside a torn record is no record itself.
        stands_alone = start == end or not text[stop:].strip() or is_record(one)
        if one and stands_alone:
            yield one
            end = stop


def is_record(one: Recovered | None) -> bool:
    """Tells a record from an object that may be a part of one."""
    return one is not None and {"type", "sessionId"} <= one.fields.keys()


def objects_on(text: str) -> Iterator[tuple[int, int]]:
    """Yields where complete objects begin and end, none inside another."""
    position, tries = 0, tries_for(text)
    while tries and (match := BEGINNING.search(text, position)):
        start = match.start()
        stop = value_end(text, start)
        if stop is None:
            tries -= 1
            position = start + 1
        else:
            yield start, stop
            position = stop


def last_fields(line: Line, text: str) -> Recovered | None:
    """Returns the fields behind the cut, where the line is the tail of an object.

    A field of a nested object ends before the line does; only the outermost reaches its end.
    """
    position, tries = 0, tries_for(text)
    whole = len(text.rstrip("\0 \t\r"))
    while tries and (match := FIELD.search(text, position)):
        start = match.start() + 1
        stop = value_end("{" + text[start:], 0)
        if stop is None:
            tries -= 1
            position = start
        elif start + stop - 1 == whole:
            return recovered(line, text, start, whole, opening="{")
        else:
            position = start + stop - 1
    return None


def first_fields(line: Line, text: str) -> Recovered | None:
    """Returns the fields before the cut, where the line is the head of an object."""
    start = BEGINNING.match(text)
    stop = 0
    position = 1
    while start and (key := value_end(text, position)) and text[key : key + 1] == ":":
        value = value_end(text, key + 1)
        if value is None or text[value : value + 1] != ",":
            break
        stop, position = value, value + 1
    found = recovered(line, text, 0, stop, closing="}") if stop else None
    return found if found and TELLING & found.fields.keys() else None


def tries_for(text: str) -> int:
    """Returns how often a reading may fail: fewer times where each costs more."""
    return 4 + MOST_CHARACTERS // max(len(text), 1 << 16)


def value_end(text: str, start: int) -> int | None:
    """Returns where the JSON value at a place ends, None where none is complete there."""
    try:
        return _decoder.raw_decode(text, start)[1]
    except (JSONDecodeError, RecursionError):
        return None


def recovered(
    line: Line, text: str, start: int, stop: int, opening: str = "", closing: str = ""
) -> Recovered | None:
    """Returns the object between two places, with the brace that the cut took away."""
    data = in_bytes(text[start:stop])
    try:
        fields = object_of(opening.encode() + data + closing.encode())
    except NotAnObject:
        return None
    offset = line.offset + len(in_bytes(text[:start]))
    return Recovered(line.number, offset, data, fields, is_whole=not opening + closing)


def in_bytes(text: str) -> bytes:
    """Returns the bytes that a part of the line was read from."""
    return text.encode("utf-8", "surrogateescape")
