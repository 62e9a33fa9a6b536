"""The head of a cut line to the object that it began, closed where it was cut."""

import re
from collections.abc import Iterator
from typing import Any

from plait.record.codec import NotAnObject, object_of

BEGINNING = re.compile(r'\s*\{\s*"')
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
MARKS = re.compile(r'[\\"{}\[\],]')


def closed(data: bytes) -> dict[str, Any] | None:
    """Returns the fields that a cut line began to tell, None where it is no head of an object.

    A text that was cut ends where it was cut; a field of which only the name is left goes.
    """
    text = data.decode("utf-8", "ignore")
    if not BEGINNING.match(text):
        return None
    for ending in _endings(text):
        try:
            return object_of(ending.encode("utf-8", "surrogatepass"))
        except NotAnObject:
            continue
    return None


def _endings(text: str) -> Iterator[str]:
    """Yields the ways to end a cut text: as late as can be, then before the last field."""
    open_, is_in_text, cuts = _state(text)
    whole = HALF_ESCAPE.sub("", text) + '"' if is_in_text else text
    yield whole + open_
    for place, left_open in reversed(cuts[-4:]):
        yield text[:place] + left_open


def _state(text: str) -> tuple[str, bool, list[tuple[int, str]]]:
    """Returns what is open at the end of a cut text, and where it could end earlier."""
    stack: list[str] = []
    is_in_text = False
    cuts: list[tuple[int, str]] = []
    place = 0
    while match := MARKS.search(text, place):
        mark, place = match[0], match.end()
        if is_in_text:
            place += mark == "\\"
            is_in_text = mark != '"'
        elif mark == '"':
            is_in_text = True
        elif mark in "{[":
            stack.append("}" if mark == "{" else "]")
        elif mark == ",":
            cuts.append((match.start(), "".join(reversed(stack))))
        elif stack and mark in "}]":
            stack.pop()
    return "".join(reversed(stack)), is_in_text, cuts
