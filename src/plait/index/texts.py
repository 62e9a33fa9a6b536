"""Passages to the text index, and places out of it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.errors import SourceError
from plait.index.model import KINDS, STATES, Kind, Passage, Place, State
from plait.index.words import analyser, cut, pairs_analyser, spaced
from plait.record.time import moment

if TYPE_CHECKING:
    from tantivy import DocAddress, Document, Index, Schema, Searcher

FOLDER = "text"
TERMS = ("sid", "kind", "tool", "project", "model", "state")
"""Numbers that a search can ask for."""
VALUES = ("file", "at", "bytes", "turn")
"""Numbers that a hit carries, two in one: each number of a passage costs time."""
PART, LENGTH, TURN = 16, 26, 32
"""The bits of the lower number of each two: of line, offset and DAG-line."""
WEIGHTS: dict[Kind, float] = {
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
ASIDE: dict[State, float] = {
    "active": 1.0,
    "abandoned": 0.9,
    "agent": 0.6,
    "service": 0.4,
    "recovered": 0.6,
}
"""What people saw comes before what agents said among themselves."""
EPOCH = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
HALF_LIFE = 365 * 86400.0
"""After so many seconds a passage counts half as much as a new one."""


def schema() -> "Schema":
    """Returns the fields of a passage."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="words")
    builder.add_text_field("path", tokenizer_name="words")
    builder.add_text_field("pairs", tokenizer_name="pairs")
    for name in TERMS:
        builder.add_unsigned_field(name, indexed=True, fast=True)
    for name in VALUES:
        builder.add_unsigned_field(name, fast=True)
    builder.add_integer_field("time", indexed=True, fast=True)
    builder.add_float_field("weight", fast=True)
    return builder.build()


def open_texts(folder: Path, *, is_new: bool = False) -> "Index":
    """Returns the text index of a folder, an empty one where there is none yet."""
    from tantivy import Index

    place = folder / FOLDER
    try:
        if is_new:
            place.mkdir(parents=True, exist_ok=True)
        index = Index(schema(), path=str(place))
        # Otherwise a thread looks for changes as long as anybody holds the index, and locks it.
        index.config_reader(reload_policy="manual")
        index.register_tokenizer("words", analyser())
        index.register_tokenizer("pairs", pairs_analyser())
    except (ValueError, OSError) as error:
        raise unusable(folder, error) from error
    return index


def unusable(folder: Path, error: Exception) -> SourceError:
    """Returns the error that says what is wrong with a text index."""
    said = " ".join(str(error).split())[:200]
    return SourceError(
        f"cannot use the index in '{folder}': {said}", "`plait index --rebuild` makes it anew"
    )


def document(passage: Passage, sid: int, file: int, codes: Sequence[int]) -> "Document":
    """Returns a passage as it is indexed; the codes are of tool, project and model."""
    from tantivy import Document

    made = Document()
    text, pairs = cut(passage.text)
    made.add_text("text", text)
    if pairs:
        made.add_text("pairs", pairs)
    if passage.path:
        made.add_text("path", spaced(passage.path))
    number = made.add_unsigned
    tool, project, model = codes
    number("sid", sid)
    number("kind", KINDS.index(passage.kind))
    number("tool", tool)
    number("project", project)
    number("model", model)
    number("state", STATES.index(passage.state))
    number("file", file)
    number("at", joined(passage.line, passage.part, PART))
    number("bytes", joined(passage.offset, passage.length, LENGTH))
    number("turn", joined(passage.dag, passage.turn, TURN))
    when = seconds(passage.time)
    if when is not None:
        made.add_integer("time", when)
    made.add_float("weight", WEIGHTS[passage.kind] * ASIDE[passage.state] * recency(when))
    return made


def seconds(stamp: str | None) -> int | None:
    """Returns the second since 1970 that a timestamp names."""
    time = moment(stamp)
    return int(time.timestamp()) if time else None


def joined(upper: int, lower: int, bits: int) -> int:
    """Returns two numbers as one; a lower one that is too large becomes 0, which says unknown."""
    return upper << bits | (lower if lower >> bits == 0 else 0)


def recency(when: int | None) -> float:
    """Returns how much a moment counts: twice as much as one a year before it."""
    if when is None:
        return 1.0
    years = (when - EPOCH) / HALF_LIFE
    return float(2 ** max(-8.0, min(years, 16.0)))


def places(searcher: "Searcher", hits: Sequence[tuple[Any, "DocAddress"]]) -> list[Place]:
    """Returns where the words of some hits lie, in their order."""
    at = [address for _, address in hits]
    names = ("sid", *VALUES, "kind", "state", "time")
    columns = dict(zip(names, (values(searcher, name, at) for name in names), strict=True))
    return [place_of(hits[row][0], *row_values) for row, row_values in enumerated(columns)]


def enumerated(columns: dict[str, list[Any]]) -> Iterable[tuple[int, tuple[Any, ...]]]:
    """Returns the rows of some columns with their numbers."""
    return enumerate(zip(*columns.values(), strict=True))


def place_of(
    score: Any,
    sid: int | None,
    file: int | None,
    at: int | None,
    length: int | None,
    turn: int | None,
    kind: int | None,
    state: int | None,
    time: int | None,
) -> Place:
    """Returns where the words of a hit lie, by the numbers of its passage."""
    return Place(
        sid=sid or 0,
        file=file or 0,
        line=(at or 0) >> PART,
        part=(at or 0) & (1 << PART) - 1,
        offset=(length or 0) >> LENGTH,
        length=(length or 0) & (1 << LENGTH) - 1,
        dag=(turn or 0) >> TURN,
        turn=(turn or 0) & (1 << TURN) - 1,
        kind=KINDS[kind or 0],
        state=STATES[state or 0],
        time=time,
        score=float(score),
    )


def values(searcher: "Searcher", name: str, at: "Iterable[DocAddress]") -> list[Any]:
    """Returns one number of some passages."""
    return searcher.fast_field_values(name, list(at))
