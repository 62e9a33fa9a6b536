"""Passages of a session to documents of the text index, as lines of JSON.

Who reads a session makes them, maybe in a process of its own; who writes the index only puts in
the numbers of names, which the catalogue gives.
"""

from collections.abc import Iterable, Iterator
from itertools import starmap

import msgspec
from msgspec import UNSET, Struct, UnsetType

from plait.index.model import KINDS, SORTS, STATES, LineState, Passage, PassageKind
from plait.index.texts import LENGTH, PART, SCALE, TURN, CodeOf, cut, recency, seconds

WEIGHTS: dict[PassageKind, float] = {
    "title": 3.0,
    "prompt": 2.4,
    "answer": 1.6,
    "summary": 1.4,
    "command": 1.4,
    "thinking": 1.0,
    "input": 0.9,
    "output": 0.7,
    "note": 0.4,
}
ASIDE: dict[LineState, float] = {
    "active": 1.0,
    "abandoned": 0.9,
    "agent": 0.6,
    "service": 0.4,
    "recovered": 0.6,
}
"""What people saw comes before what agents said among themselves."""
BASE = {(kind, state): WEIGHTS[kind] * ASIDE[state] for kind in KINDS for state in STATES}
SORT_CODES = {sort: code for code, sort in enumerate(SORTS)}
STATE_CODES = {state: code for code, state in enumerate(STATES)}
LEAST, MOST = 1.0, 126.0
"""The text index takes the logarithm of a weight, in a small float: so far it can tell apart."""


class _Document(Struct, gc=False, omit_defaults=True):
    """A passage as the text index takes it, but for the numbers of names."""

    text: str
    sid: int
    kind: int
    state: int
    file: int
    at: int
    bytes: int
    turn: int
    weight: float
    pairs: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    time: int | UnsetType = UNSET


_lines = msgspec.json.Encoder().encode_lines


class SessionWords(Struct, gc=False, array_like=True):
    """The words of a session, ready to be indexed."""

    lines: bytes
    """A document on each."""
    names: list[tuple[str, str]]
    """Tools and models that occur together, "" for none."""
    named: list[int]
    """Which of them each document has."""
    size: int
    """In characters."""


def words_to_index(passages: Iterable[Passage], sid: int, first: int) -> SessionWords:
    """Returns the passages of a session as they are indexed; its files are numbered from one on."""
    found: list[_Document] = []
    names: dict[tuple[str, str], int] = {}
    named: list[int] = []
    size = 0
    for one in passages:
        name = _clean(one.tool), _clean(one.model)
        named.append(names.setdefault(name, len(names)))
        size += len(one.text)
        found.append(_document(one, sid, first))
    return SessionWords(_lines(found), list(names), named, size)


def _clean(name: str | None) -> str:
    if not name or name.isascii():
        return name or ""
    return name.encode("utf-8", "replace").decode()


def _document(one: Passage, sid: int, first: int) -> _Document:
    text, pairs = cut(one.text)
    when = seconds(one.time)
    return _Document(
        text,
        sid,
        SORT_CODES[one.kind, one.outcome, one.is_with_call],
        STATE_CODES[one.state],
        first + one.file,
        two_in_one(one.line, one.part, PART),
        two_in_one(one.offset, one.length, LENGTH),
        two_in_one(one.dag, one.turn, TURN),
        _weight_of(BASE[one.kind, one.state], when),
        pairs or UNSET,
        cut(one.path)[0] if one.path else UNSET,
        UNSET if when is None else when,
    )


def two_in_one(upper: int, lower: int, bits: int) -> int:
    """Returns two numbers as one: the lower one in so many bits, 0 where it needs more."""
    return upper << bits | (lower if lower >> bits == 0 else 0)


def _weight_of(base: float, when: int | None) -> float:
    wanted = SCALE * base * recency(when)
    return float(2 ** max(LEAST, min(wanted, MOST))) - 2


def documents(words: SessionWords, code: CodeOf, project: str) -> Iterator[str]:
    """Yields the documents of a session, with the numbers of its project, its tools and models."""
    of_project = code("project", project)

    def beginning(tool: str, model: str) -> bytes:
        numbers = code("tool", tool), code("model", model)
        return b'{"project":%d,"tool":%d,"model":%d,' % (of_project, *numbers)

    heads = list(starmap(beginning, words.names))
    for line, name in zip(words.lines.split(b"\n"), words.named, strict=False):
        yield (heads[name] + line[1:]).decode()
