"""Passages to the text index by the words they are found by, and places out of it.

Words are runs of letters and digits in lower case: `_ . / -` part them. Scripts that are
written without spaces are cut into pairs of letters, in a field of their own.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from plait.errors import SourceError
from plait.index.access import is_refused, refusal
from plait.index.model import SORTS, STATES, PassagePlace
from plait.record.time import moment

if TYPE_CHECKING:
    from tantivy import DocAddress, Index, Schema, Searcher, TextAnalyzer


LONGEST = 129
"""Longer runs, such as pictures in base64, are no words."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f]+"
)
BEGINNINGS = bytes(byte in (0xE0, 0xE1, 0xEF, 0xF0) or 0xE3 <= byte <= 0xED for byte in range(256))
"""1 for each byte with which a letter of such a script can begin in UTF-8."""


@cache
def _analyser() -> "TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    simple = TextAnalyzerBuilder(Tokenizer.simple())
    return simple.filter(Filter.remove_long(LONGEST)).filter(Filter.lowercase()).build()


@cache
def _pairs_analyser() -> "TextAnalyzer":
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()


def words_of(text: str) -> list[str]:
    """Returns the words of a text in their order."""
    found: list[str] = _analyser().analyze(_spaced(text))
    return found


def _spaced(text: str) -> str:
    return cut(text)[0]


def pairs_of(text: str) -> str:
    """Returns the pairs of letters of unspaced scripts, a space between two; "" for none."""
    return cut(text)[1]


def cut(text: str) -> tuple[str, str]:
    """Returns a text with unspaced scripts apart, and the pairs of their letters.

    Looking for scripts is slow, so only lines are looked at that hold a byte which begins one
    of their letters.
    """
    if text.isascii():
        return text, ""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return cut(text.encode("utf-8", "replace").decode())
    marks = data.translate(BEGINNINGS)
    at = marks.find(1)
    if at < 0:
        return text, ""
    parts, pairs, done = list[bytes](), list[str](), 0
    while at >= 0:
        start, end = _line_around(data, at)
        line = data[start:end].decode()
        pairs += [pair for run in UNSPACED.findall(line) for pair in pairs_in(run)]
        parts += (data[done:start], UNSPACED.sub(r" \g<0> ", line).encode())
        done, at = end, marks.find(1, end)
    return b"".join((*parts, data[done:])).decode(), " ".join(pairs)


def _line_around(data: bytes, place: int) -> tuple[int, int]:
    end = data.find(b"\n", place)
    return data.rfind(b"\n", 0, place) + 1, len(data) if end < 0 else end


def pairs_in(run: str) -> list[str]:
    """Returns the pairs of neighbours in a run, the letter itself where it stands alone."""
    if len(run) == 1:
        return [run]
    return [run[place : place + 2] for place in range(len(run) - 1)]


CodeOf: TypeAlias = Callable[[str, str | None], int]
"""Gives the number of a name among those of its sort, 0 for none."""
TEXT_FOLDER = "text"
UNWRITABLE = ("code: 13,", "code: 30,")
"""In what the text index says: not allowed; a disk that is only read."""
TERMS = ("sid", "kind", "tool", "project", "model", "state")
"""Numbers that a search can ask for."""
VALUES = ("file", "at", "bytes", "turn")
"""Numbers that a hit carries, two in one: each number of a passage costs time."""
PART, LENGTH, TURN = 16, 26, 32
"""The bits of the lower number of each two: of line, offset and DAG-line."""
EPOCH = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
HALF_LIFE = 365 * 86400.0
"""After so many seconds a passage counts half as much as a new one."""
SCALE = 2.0
"""By which the weights of passages are multiplied: so the text index can tell them apart."""


def text_schema() -> "Schema":
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

    place = folder / TEXT_FOLDER
    try:
        if is_new:
            place.mkdir(parents=True, exist_ok=True)
        index = Index(text_schema(), path=str(place))
        # Otherwise a thread looks for changes as long as anybody holds the index, and locks it.
        index.config_reader(reload_policy="manual")
        index.register_tokenizer("words", _analyser())
        index.register_tokenizer("pairs", _pairs_analyser())
    except (ValueError, OSError) as error:
        raise unusable(folder, error) from error
    return index


def open_searcher(folder: Path) -> "tuple[Searcher, TemporaryDirectory[str] | None]":
    """Returns what searches a text index, and what must be kept as long as it does.

    Whoever opens one locks it, by a file beside it. Where none can be written, links to its
    files are opened in its place.
    """
    try:
        return open_texts(folder).searcher(), None
    except SourceError as error:
        if not any(sign in str(error.__cause__) for sign in UNWRITABLE):
            raise
    links = TemporaryDirectory(prefix="plait-")
    place = Path(links.name) / TEXT_FOLDER
    try:
        place.mkdir()
        for path in (folder / TEXT_FOLDER).absolute().iterdir():
            if path.suffix != ".lock":
                (place / path.name).symlink_to(path)
    except OSError as error:
        raise unusable(folder, error) from error
    return open_texts(Path(links.name)).searcher(), links


def is_damaged(error: BaseException | None) -> bool:
    """Tells whether the text index says that it is not what it was."""
    return "corrupt" in str(error)


def unusable(folder: Path, error: Exception) -> SourceError:
    """Returns the error that says what is wrong with a text index."""
    if is_refused(error):
        return refusal(folder, error)
    said = " ".join(str(error).split())[:200]
    return SourceError(
        f"cannot use the index in '{folder}': {said}", "`plait index --rebuild` makes it anew"
    )


def seconds(stamp: str | None) -> int | None:
    """Returns the second since 1970 that a timestamp names."""
    time = moment(stamp)
    return int(time.timestamp()) if time else None


def recency(when: int | None) -> float:
    """Returns how much a moment counts: twice as much as one a year before it."""
    if when is None:
        return 1.0
    years = (when - EPOCH) / HALF_LIFE
    return float(2 ** max(0.0, min(years, 8.0)))


def places(searcher: "Searcher", hits: Sequence[tuple[Any, "DocAddress"]]) -> list[PassagePlace]:
    """Returns where the words of some hits lie, in their order."""
    at = [address for _, address in hits]
    names = ("sid", *VALUES, "kind", "state", "time")
    columns = dict(zip(names, (values(searcher, name, at) for name in names), strict=True))
    return [_place_of(hits[row][0], *row_values) for row, row_values in _enumerated(columns)]


def _enumerated(columns: dict[str, list[Any]]) -> Iterable[tuple[int, tuple[Any, ...]]]:
    return enumerate(zip(*columns.values(), strict=True))


def _place_of(
    score: Any,
    sid: int | None,
    file: int | None,
    at: int | None,
    length: int | None,
    turn: int | None,
    kind: int | None,
    state: int | None,
    time: int | None,
) -> PassagePlace:
    return PassagePlace(
        sid=sid or 0,
        file=file or 0,
        line=(at or 0) >> PART,
        part=(at or 0) & (1 << PART) - 1,
        offset=(length or 0) >> LENGTH,
        length=(length or 0) & (1 << LENGTH) - 1,
        dag=(turn or 0) >> TURN,
        turn=(turn or 0) & (1 << TURN) - 1,
        kind=SORTS[kind or 0][0],
        state=STATES[state or 0],
        time=time,
        score=float(score),
        outcome=SORTS[kind or 0][1],
    )


def values(searcher: "Searcher", name: str, at: "Iterable[DocAddress]") -> list[Any]:
    """Returns one number of some passages."""
    return searcher.fast_field_values(name, list(at))
