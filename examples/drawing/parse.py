"""Parse a drawing into sections and statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from .model import DrawingError, Field, Section, Statement, Text, Token, Word
from .tokens import tokens

NAME = r"[A-Z]+[0-9]*"
REFERENCE = rf"(?:[a-z][\w-]*:)?{NAME}(?:\.[0-9]+)?|\?\w*"
_HEAD = re.compile(
    rf"(?P<again>=?)(?P<name>{NAME})(?:<(?P<parent>{REFERENCE}|))?(?:~(?P<same>{NAME}))?"
    r"(?:@(?P<time>[^\s!]+))?(?P<flags>(?:![a-z-]+)*)"
)
_EDGE = re.compile(rf"<({REFERENCE}|)")
_SAME = re.compile(rf"~({NAME})")
_FIELD = re.compile(r"([A-Za-z_][\w-]*):\s*")
_SECTIONS = frozenset(("file", "agent", "also"))
_PAIRS = {"think": Text, "as": Word, "of": Word, "after": Word, "leaf": Word}


@dataclass(slots=True)
class _Entry:
    """An unindented line with the indented lines below it."""

    line: int
    head: str
    below: list[tuple[int, str]] = field(default_factory=list)


def parse(text: str) -> list[Section]:
    """Return the sections of a drawing; lines before the first header form a `file`."""
    headers = [Section(1, "file", "")]
    bodies: list[list[Statement]] = [[]]
    for entry in _entries(text):
        verb = entry.head.split(None, 1)[0]
        if verb in _SECTIONS:
            headers.append(_section(entry, verb))
            bodies.append([])
        else:
            bodies[-1] += _statements(entry)
    pairs = zip(headers, bodies, strict=True)
    sections = [replace(header, statements=tuple(body)) for header, body in pairs]
    return sections if sections[0].statements or len(sections) == 1 else sections[1:]


def _entries(text: str) -> Iterator[_Entry]:
    """Yield each unindented line with the indented lines below it, without comments."""
    entry: _Entry | None = None
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if not line[0].isspace():
            if entry:
                yield entry
            entry = _Entry(number, bare)
        elif entry is None:
            raise DrawingError(number, "an indented line has nothing to belong to")
        else:
            entry.below.append((number, line.lstrip()))
    if entry:
        yield entry


def _section(entry: _Entry, verb: str) -> Section:
    found = _tokens(entry, entry.head.removeprefix(verb))
    if not found or not isinstance(found[0], Word):
        raise DrawingError(entry.line, f"'{verb}' needs a name")
    return Section(entry.line, verb, found[0].value, tuple(found[1:]))


def _statements(entry: _Entry) -> list[Statement]:
    pieces = entry.head.split()
    if not entry.below and all(_HEAD.fullmatch(piece) for piece in pieces):
        return [_headed(entry.line, piece, []) for piece in pieces]
    verb, _, rest = entry.head.partition(" ")
    if _HEAD.fullmatch(verb):
        return [_headed(entry.line, verb, _tokens(entry, rest))]
    if verb == "raw":
        data = _bytes(entry, rest.removesuffix(" open"))
        ending = b"" if rest.endswith(" open") else b"\n"
        return [Statement(entry.line, "raw", tokens=(Field("data", data + ending),))]
    if verb == "<" or not re.fullmatch(r"[a-z][\w-]*", verb):
        raise DrawingError(entry.line, f"'{verb}' is neither a name nor a line type")
    return [_with_edges(Statement(entry.line, verb), _tokens(entry, rest))]


def _headed(line: int, piece: str, found: list[Token]) -> Statement:
    """Read `NAME<PARENT~SAME@TIME!flag`, or `=NAME` for a repeated line."""
    head = _HEAD.fullmatch(piece)
    if head is None:
        raise DrawingError(line, f"'{piece}' is not a name")
    words: list[Token] = [Word(word) for word in head["flags"].split("!") if word]
    if head["again"]:
        words.insert(0, Word(head["name"]))
    return _with_edges(
        Statement(
            line,
            "again" if head["again"] else "record",
            name="" if head["again"] else head["name"],
            parent=head["parent"],
            same=head["same"] or "",
            time=head["time"] or "",
        ),
        words + found,
    )


def _with_edges(statement: Statement, found: list[Token]) -> Statement:
    """Extract `<PARENT`, `~SAME` and `@TIME` from the tokens."""
    kept: list[Token] = []
    for token in found:
        word = token.value if isinstance(token, Word) else ""
        if edge := _EDGE.fullmatch(word):
            statement = replace(statement, parent=edge[1])
        elif same := _SAME.fullmatch(word):
            statement = replace(statement, same=same[1])
        elif word.startswith("@"):
            statement = replace(statement, time=word[1:])
        else:
            kept.append(token)
    return replace(statement, tokens=tuple(kept))


def _tokens(entry: _Entry, rest: str) -> list[Token]:
    found = tokens(rest, entry.line)
    key = ""
    below = entry.below
    at = 0
    while at < len(below):
        number, line = below[at]
        if line.startswith("|"):
            value, at = _text(below, at)
            found.append(Field(key, value) if key else Text(value))
            key = ""
        elif opened := _FIELD.fullmatch(line):
            key, at = opened[1], at + 1
        else:
            found += tokens(line, number)
            at += 1
    return _paired(found, entry.line)


def _text(below: list[tuple[int, str]], at: int) -> tuple[str, int]:
    lines = []
    while at < len(below) and below[at][1].startswith("|"):
        line = below[at][1][1:]
        lines.append(line.removeprefix(" "))
        at += 1
    return "\n".join(lines), at


def _paired(found: list[Token], line: int) -> list[Token]:
    """Join a word with its argument: `think "…"`, `as t1`, `of t1`, `leaf A`."""
    joined: list[Token] = []
    at = 0
    while at < len(found):
        token, following = found[at], found[at + 1] if at + 1 < len(found) else None
        at += 1
        if not isinstance(token, Word) or token.value not in _PAIRS:
            joined.append(token)
        elif isinstance(following, Text | Word) and isinstance(following, _PAIRS[token.value]):
            joined.append(Field(token.value, following.value))
            at += 1
        elif token.value == "think":
            joined.append(Field("think", ""))
        else:
            raise DrawingError(line, f"'{token.value}' needs a name behind it")
    return joined


def _bytes(entry: _Entry, rest: str) -> bytes:
    """Read the bytes of a raw line: `"text"`, `b"\\xff"`, or `|` lines."""
    if entry.below:
        return _text(entry.below, 0)[0].encode()
    try:
        value = ast.literal_eval(rest.strip())
    except (ValueError, SyntaxError):
        raise DrawingError(entry.line, f"raw needs a text or b'…', not {rest!r}") from None
    return value if isinstance(value, bytes) else str(value).encode()
