"""Split a line of a drawing into tokens."""

from __future__ import annotations

import json
import re
from typing import Any

from .model import Call, DrawingError, Drop, Field, Json, Merge, Text, Token, Word

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t]*")
_CALL = re.compile(r"([A-Za-z_][\w.-]*)\(")
_KEY = re.compile(r"([A-Za-z_][\w-]*)=")
_BARE = re.compile(r"[^\s,()]+")
_PLAIN = re.compile(r"[^\s]+")


def tokens(text: str, line: int) -> list[Token]:
    """Return the tokens of a line, up to a comment."""
    found: list[Token] = []
    at = _skip(text, 0)
    while at < len(text) and text[at] != "#":
        token, at = _token(text, at, line)
        if token is not None:
            found.append(token)
        at = _skip(text, at)
    return found


def _token(text: str, at: int, line: int) -> tuple[Token | None, int]:
    first = text[at]
    if first in '"{':
        value, at = json_value(text, at, line)
        return (Merge(value) if isinstance(value, dict) else Text(value)), at
    if found := _CALL.match(text, at):
        given, at = _arguments(text, found.end(), line)
        return Call(found[1], given), at
    if found := _KEY.match(text, at):
        value, at = _value(text, found.end(), line, _PLAIN)
        return Field(found[1], value), at
    return _bare(text, at)


def _bare(text: str, at: int) -> tuple[Token | None, int]:
    found = _PLAIN.match(text, at)
    word = found[0] if found else ""
    if word == "+":  # a visual separator between blocks
        return None, at + 1
    if word.startswith("-") and len(word) > 1:
        return Drop(word[1:]), at + len(word)
    return Word(word), at + len(word)


def _arguments(text: str, at: int, line: int) -> tuple[Json, int]:
    given: Json = {}
    at = _skip(text, at)
    while not text.startswith(")", at):
        found = _KEY.match(text, at)
        if not found:
            raise DrawingError(
                line, f"a call needs 'key=value' and a closing ')' near {text[at:]!r}"
            )
        given[found[1]], at = _value(text, found.end(), line, _BARE)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
    return given, at + 1


def _value(text: str, at: int, line: int, bare: re.Pattern[str]) -> tuple[Any, int]:
    """Parse JSON, or a bare word."""
    if text[at : at + 1] in ('"', "{", "["):
        return json_value(text, at, line)
    found = bare.match(text, at)
    if not found:
        raise DrawingError(line, "a value is missing after '='")
    return _plain_value(found[0]), found.end()


def _plain_value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


def json_value(text: str, at: int, line: int) -> tuple[Any, int]:
    """Parse a JSON value and return it with its end position."""
    try:
        return _DECODER.raw_decode(text, at)
    except ValueError as error:
        raise DrawingError(line, f"cannot read {text[at : at + 30]!r}: {error}") from None


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
