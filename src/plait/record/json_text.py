"""A text of JSON to the same text with a value in it, or without; every other byte stays."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

Way: TypeAlias = tuple[str | int, ...]
"""The names and numbers that lead to a value."""
SPACE = re.compile(r"[ \t\r\n]*")
NEWLINE = re.compile(r"\r?\n")
INDENT = re.compile(r"^\s*\{[ \t]*\r?\n([ \t]+)\"")
DECODER = json.JSONDecoder()
MARK = "\ufeff"


class JsonMember(NamedTuple):
    """A member of an object or an element of a list, by its places in a text."""

    name: str | int
    start: int
    value: int
    """Where its value begins; for an element where it begins itself."""
    end: int


class Style(NamedTuple):
    """How a text is laid out."""

    newline: str
    """"" for a text of one line."""
    indent: str

    def lead(self, depth: int) -> str:
        """Returns what stands before something at a depth."""
        return self.newline + self.indent * depth if self.newline else ""


def _style_of(text: str) -> Style:
    newline, indent = NEWLINE.search(text.strip()), INDENT.search(text)
    is_short = bool(_parts_in(text, ())) and newline is None
    return Style("" if is_short else newline[0] if newline else "\n", indent[1] if indent else "  ")


def put_in(text: str, way: Way, value: Any, name: str | None = None) -> str:
    """Returns a text with a value at the end of the object or list that a way leads to.

    Into an empty one it goes without line breaks: so it is known later that it was there.
    """
    parts = _parts_in(text, way)
    style = _style_of(text) if parts else Style("", " ")
    told = _written(value, style, len(way) + 1)
    told = f"{json.dumps(name, ensure_ascii=False)}: {told}" if name is not None else told
    if parts:
        gap = style.lead(len(way) + 1) or " "
        return f"{text[: parts[-1].end]},{gap}{told}{text[parts[-1].end :]}"
    start = _start_of(text, way) + 1
    return text[:start] + told + text[_after_space(text, start) :]


def replaced(text: str, way: Way, value: Any) -> str:
    """Returns a text with another value at the end of a way."""
    part = _part_at(text, way)
    return text[: part.value] + _written(value, _style_of(text), len(way)) + text[part.end :]


def taken_out(text: str, way: Way) -> str:
    """Returns a text without a value, and without what it leaves empty; an object or list that
    stands without a space before the value was there before it, and stays.
    """
    while len(way) > 1 and len(_parts_in(text, way[:-1])) == 1 and _is_made(text, way):
        way = way[:-1]
    parts, part = _parts_in(text, way[:-1]), _part_at(text, way)
    place = parts.index(part)
    if len(parts) == 1:
        start = _start_of(text, way[:-1]) + 1
        end = _after_space(text, part.end)
    elif place:
        start, end = parts[place - 1].end, part.end
    else:
        start, end = part.start, parts[1].start
    return text[:start] + text[end:]


def _is_made(text: str, way: Way) -> bool:
    return text[_part_at(text, way).start - 1].isspace()


def _written(value: Any, style: Style, depth: int) -> str:
    told = json.dumps(value, ensure_ascii=False, indent=style.indent)
    if not style.newline:
        return re.sub(r"\n *", " ", told)
    return told.replace("\n", style.lead(depth))


def _start_of(text: str, way: Way) -> int:
    return _part_at(text, way).value if way else _after_space(text, 0)


def _part_at(text: str, way: Way) -> JsonMember:
    return next(part for part in reversed(_parts_in(text, way[:-1])) if part.name == way[-1])


def _parts_in(text: str, way: Way) -> list[JsonMember]:
    return list(_parts_from(text, _start_of(text, way)))


def _parts_from(text: str, start: int) -> Iterator[JsonMember]:
    is_object, number = text[start] == "{", 0
    place = _after_space(text, start + 1)
    while text[place] not in "}]":
        begin, name = place, number
        if is_object:
            name, place = DECODER.raw_decode(text, place)
            place = _after_space(text, _after_space(text, place) + 1)
        _, end = DECODER.raw_decode(text, place)
        yield JsonMember(name, begin, place, end)
        place, number = _after_space(text, end), number + 1
        if text[place] == ",":
            place = _after_space(text, place + 1)


def _after_space(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place
