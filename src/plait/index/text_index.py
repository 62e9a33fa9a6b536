"""The Tantivy text index: its fields, its tokenizers, and documents of passages.

Words are runs of letters and digits in lower case, divided by characters such as `_ . / -`. Scripts
written without spaces are split into pairs of letters, in a field of their own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from tantivy import (
    DocAddress,
    Filter,
    Index,
    Schema,
    SchemaBuilder,
    Searcher,
    TextAnalyzer,
    TextAnalyzerBuilder,
    Tokenizer,
)

from plait.errors import SourceError
from plait.index.catalogue import is_write_error, write_error
from plait.index.model import KINDS, SORTS, STATES, LineState, Passage, PassageKind, PassagePlace
from plait.record.time import parse_time

MAX_WORD_LENGTH = 129
"""Longer runs, such as base64 images, are not words."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f]+"
)
SCRIPT_FIRST_BYTES = bytes(
    byte in (0xE0, 0xE1, 0xEF, 0xF0) or 0xE3 <= byte <= 0xED for byte in range(256)
)
"""1 for each byte with which a letter of such a script can begin in UTF-8."""


@cache
def _analyser() -> TextAnalyzer:
    simple = TextAnalyzerBuilder(Tokenizer.simple())
    return simple.filter(Filter.remove_long(MAX_WORD_LENGTH)).filter(Filter.lowercase()).build()


def split_words(text: str) -> list[str]:
    """Return the words of a text in order."""
    found: list[str] = _analyser().analyze(separate_scripts(text)[0])
    return found


def separate_scripts(text: str) -> tuple[str, str]:
    """Return a text with unspaced scripts separated, and the pairs of their letters.

    Searching for scripts is slow, so only lines with a byte that begins one of their letters are
    examined.
    """
    if text.isascii():
        return text, ""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return separate_scripts(text.encode("utf-8", "replace").decode())
    marks = data.translate(SCRIPT_FIRST_BYTES)
    at = marks.find(1)
    if at < 0:
        return text, ""
    parts, pairs, done = list[bytes](), list[str](), 0
    while at >= 0:
        end = data.find(b"\n", at)
        start, end = data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end
        line = data[start:end].decode()
        pairs += [pair for run in UNSPACED.findall(line) for pair in letter_pairs(run)]
        parts += (data[done:start], UNSPACED.sub(r" \g<0> ", line).encode())
        done, at = end, marks.find(1, end)
    return b"".join((*parts, data[done:])).decode(), " ".join(pairs)


def letter_pairs(run: str) -> list[str]:
    """Return the pairs of neighbours in a run, or a single letter by itself."""
    if len(run) == 1:
        return [run]
    return [run[place : place + 2] for place in range(len(run) - 1)]


CodeOf: TypeAlias = Callable[[str, str | None], int]
"""Returns the number of a name of its kind, 0 for none."""
TEXT_FOLDER = "text"
UNWRITABLE = ("code: 13,", "code: 30,")
"""Messages of the text index about missing permissions and read-only disks."""
TERMS = ("sid", "kind", "tool", "project", "model", "state")
"""Numbers that a search can filter by."""
VALUES = ("file", "at", "bytes", "turn")
"""Numbers that a hit carries, two in one: each number of a passage costs time."""
PART, LENGTH, TURN = 16, 26, 32
"""The bits of the lower number of each pair: of line, offset and DAG-line."""
EPOCH = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
HALF_LIFE = 365 * 86400.0
"""Seconds after which a passage counts half as much as a new one."""
SCALE = 2.0
"""Factor for weights, so that the text index can distinguish them."""


def text_schema() -> Schema:
    """Return the fields of a passage."""
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


def open_text_index(folder: Path, *, is_new: bool = False) -> Index:
    """Return the text index of a folder, an empty one if there is none."""
    place = folder / TEXT_FOLDER
    try:
        if is_new:
            place.mkdir(parents=True, exist_ok=True)
        index = Index(text_schema(), path=str(place))
        # Otherwise a thread polls for changes as long as the index is open, and locks it.
        index.config_reader(reload_policy="manual")
        index.register_tokenizer("words", _analyser())
        pairs = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        index.register_tokenizer("pairs", pairs)
    except (ValueError, OSError) as error:
        raise text_index_error(folder, error) from error
    return index


def open_searcher(folder: Path) -> tuple[Searcher, TemporaryDirectory[str] | None]:
    """Return a searcher for a text index, and what must be kept alive with it.

    Opening one locks it, by a file beside it. If none can be written, links to its files are opened
    instead.
    """
    try:
        return open_text_index(folder).searcher(), None
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
        raise text_index_error(folder, error) from error
    return open_text_index(Path(links.name)).searcher(), links


def is_damaged(error: BaseException | None) -> bool:
    """Return whether the text index reports damage."""
    return "corrupt" in str(error)


def text_index_error(folder: Path, error: Exception) -> SourceError:
    """Return the error for a broken text index."""
    if is_write_error(error):
        return write_error(folder, error)
    message = " ".join(str(error).split())[:200]
    return SourceError(
        f"cannot use the index in '{folder}': {message}", "`plait index --rebuild` rebuilds it"
    )


def parse_seconds(stamp: str | None) -> int | None:
    """Return the second since 1970 of a timestamp."""
    time = parse_time(stamp)
    return int(time.timestamp()) if time else None


def compute_recency(when: int | None) -> float:
    """Return the weight of a moment: twice that of one a year before."""
    if when is None:
        return 1.0
    years = (when - EPOCH) / HALF_LIFE
    return float(2 ** max(0.0, min(years, 8.0)))


def load_places(searcher: Searcher, hits: Sequence[tuple[Any, DocAddress]]) -> list[PassagePlace]:
    """Return the places of some hits, in order."""
    at = [address for _, address in hits]
    names = ("sid", *VALUES, "kind", "state", "time")
    columns = (load_values(searcher, name, at) for name in names)
    places: list[PassagePlace] = []
    for (score, _), (*numbers, time) in zip(hits, zip(*columns, strict=True), strict=True):
        sid, file, line, length, turn, sort, state = (number or 0 for number in numbers)
        kind, outcome, _ = SORTS[sort]
        places.append(
            PassagePlace(
                sid=sid,
                file=file,
                line=line >> PART,
                part=line & (1 << PART) - 1,
                offset=length >> LENGTH,
                length=length & (1 << LENGTH) - 1,
                dag=turn >> TURN,
                turn=turn & (1 << TURN) - 1,
                kind=kind,
                state=STATES[state],
                time=time,
                score=float(score),
                outcome=outcome,
            )
        )
    return places


def load_values(searcher: Searcher, name: str, at: Iterable[DocAddress]) -> list[Any]:
    """Return one number of some passages."""
    return searcher.fast_field_values(name, list(at))


# ---------------------------------------------------------------------- documents
#
# Reading a session produces its documents as lines of JSON, maybe in another process; the writer of
# the index only adds the numbers of names, which the catalogue assigns.


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
STATE_WEIGHTS: dict[LineState, float] = {
    "active": 1.0,
    "abandoned": 0.9,
    "agent": 0.6,
    "service": 0.4,
    "recovered": 0.6,
}
"""What users saw ranks above what agents message each other."""
BASE_WEIGHTS = {
    (kind, state): WEIGHTS[kind] * STATE_WEIGHTS[state] for kind in KINDS for state in STATES
}
SORT_CODES = {sort: code for code, sort in enumerate(SORTS)}
STATE_CODES = {state: code for code, state in enumerate(STATES)}
MIN_WEIGHT, MAX_WEIGHT = 1.0, 126.0
"""The text index stores the logarithm of a weight in a small float: this is the range it can
distinguish.
"""


class _Document(Struct, gc=False, omit_defaults=True):
    """A passage as the text index stores it, without the numbers of names."""

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


class SessionDocuments(Struct, gc=False, array_like=True):
    """The documents of a session, ready to be indexed."""

    lines: bytes
    """One document per line."""
    names: list[tuple[str, str]]
    """Combinations of tools and models, "" for none."""
    named: list[int]
    """The combination of each document."""
    size: int
    """In characters."""


def build_documents(passages: Iterable[Passage], sid: int, first: int) -> SessionDocuments:
    """Return the passages of a session as documents; its files are numbered from one."""
    found: list[_Document] = []
    names: dict[tuple[str, str], int] = {}
    named: list[int] = []
    size = 0
    for passage in passages:
        name = _clean(passage.tool), _clean(passage.model)
        named.append(names.setdefault(name, len(names)))
        size += len(passage.text)
        text, pairs = separate_scripts(passage.text)
        when = parse_seconds(passage.time)
        weight = SCALE * BASE_WEIGHTS[passage.kind, passage.state] * compute_recency(when)
        document = _Document(
            text,
            sid,
            SORT_CODES[passage.kind, passage.outcome, passage.is_with_call],
            STATE_CODES[passage.state],
            first + passage.file,
            pack_pair(passage.line, passage.part, PART),
            pack_pair(passage.offset, passage.length, LENGTH),
            pack_pair(passage.dag, passage.turn, TURN),
            float(2 ** max(MIN_WEIGHT, min(weight, MAX_WEIGHT))) - 2,
            pairs or UNSET,
            separate_scripts(passage.path)[0] if passage.path else UNSET,
            UNSET if when is None else when,
        )
        found.append(document)
    return SessionDocuments(_lines(found), list(names), named, size)


def _clean(name: str | None) -> str:
    if not name or name.isascii():
        return name or ""
    return name.encode("utf-8", "replace").decode()


def pack_pair(upper: int, lower: int, bits: int) -> int:
    """Return two numbers as one: the lower one in this many bits, 0 if it needs more."""
    return upper << bits | (lower if lower >> bits == 0 else 0)


def iter_documents(words: SessionDocuments, code: CodeOf, project: str) -> Iterator[str]:
    """Yield the documents of a session, with the numbers of its project, tools and models."""
    of_project = code("project", project)

    def beginning(tool: str, model: str) -> bytes:
        numbers = code("tool", tool), code("model", model)
        return b'{"project":%d,"tool":%d,"model":%d,' % (of_project, *numbers)

    heads = list(starmap(beginning, words.names))
    for line, name in zip(words.lines.split(b"\n"), words.named, strict=False):
        yield (heads[name] + line[1:]).decode()
