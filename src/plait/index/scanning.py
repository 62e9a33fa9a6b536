"""Logs to the passages that hold a text or match an expression: all are read, side by side.

What can be told from the bytes of a line alone is: only lines that may match are decoded.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.conversation.results import OUTPUTS
from plait.index.catalogue import Catalogue
from plait.index.expression import Sought, finder_of, line_finders, of_bytes
from plait.index.hits import stamp_of
from plait.index.model import PassagePlace
from plait.index.passages import texts_of_line
from plait.index.search import FACETS, by_sort, most
from plait.index.texts import LENGTH, PART, places, text_schema, values
from plait.line import Line
from plait.line.discover import session_folder
from plait.line.fetch import opened, status_of

if TYPE_CHECKING:
    from tantivy import Query, Searcher


BLOCK = 256 << 10
"""Stays in the cache of the processor: larger ones take three times as long."""
MUCH = 30_000_000
"""Bytes from which on several processes read."""
COMPOSED = (
    r"<(?:command-|local-command-|bash-|task-|teammate-|ide_|system-reminder|persisted-|"
    r"cross-session-|agent-message|observed_from|channel source|[\w-]{1,40}-hook>)",
    r'-notification"',
    r'"enqueue"',
    r"Base directory for this skill",
)
"""What stands in lines of which people read other words than those that stand there: tags that
are taken out, notices, skills. One at a time: each begins with a letter that is found quickly."""
NUMBERS = (
    r"[\[:,] ?-?(?:\d+(?:\.\d+)?[eE][-+]?\d+|\d+\.\d+0|0\.0000\d+|\d{16,}\.\d+|\d+\.\d{16,})"
    r" ?[,\]}]"
)
"""Numbers that are read otherwise than they are written, such as 1e3 and 2.50."""
FRACTION = re.compile(r"\d\.\d|\de[-+]\d")
"""Stands in every such number as it is read; to look for them takes as long as all the rest."""
BESIDE = r"persistedOutputPath"


class Sighting(NamedTuple):
    """A passage that a scan has found."""

    path: str
    line: int
    """0 where its place says enough."""
    offset: int
    length: int
    """0 for a line that is not whole."""
    part: int


def scan(
    paths: Sequence[str],
    sizes: Sequence[int],
    sought: Sought,
    jobs: int = 1,
    losses: list[str] | None = None,
) -> list[Sighting]:
    """Returns every passage that matches, in the order of paths and lines."""
    found = _numbers_by_file(paths, sizes, sought, jobs, losses)
    return [
        one
        for path, numbers in zip(paths, found, strict=True)
        for one in _sightings_from(path, numbers)
    ]


def _numbers_by_file(
    paths: Sequence[str],
    sizes: Sequence[int],
    sought: Sought,
    jobs: int,
    losses: list[str] | None,
) -> Iterator["array[int]"]:
    if sum(sizes) < MUCH or jobs == 1:
        yield from (_numbers_of(path, sought) for path in paths)
        return
    from plait.line.workers import Workers

    with Workers(jobs, losses) as workers:
        items = [(path, sought) for path in paths]
        for data in workers.each("plait.index.scanning:packed_numbers", items, sizes):
            yield array("Q", data)


def packed_numbers(item: tuple[str, Sought]) -> bytes:
    """Returns where in a file a text stands, as bytes."""
    return _numbers_of(*item).tobytes()


def _numbers_of(path: str, sought: Sought) -> "array[int]":
    numbers = array("Q")
    for one in _sightings(path, sought):
        numbers.extend(one[1:])
    return numbers


def _sightings_from(path: str, numbers: "array[int]") -> Iterator[Sighting]:
    rows = iter(numbers)
    for line, offset, length, part in zip(rows, rows, rows, rows, strict=True):
        yield Sighting(path, line, offset, length, part)


def _sightings(path: str, sought: Sought) -> Iterator[Sighting]:
    folder = session_folder(Path(path))[0] or Path(path).with_suffix("")
    is_in = finder_of(sought).is_in
    try:
        status_of(Path(path))  # one that is only kept is put there, and its outputs with it
        has_outputs = (folder / OUTPUTS).is_dir()
        for offset, block in _blocks(Path(path)):
            for start, end in _candidates(block, sought, has_outputs=has_outputs):
                line = Line(0, offset + start, block[start:end], end < len(block))
                texts, is_whole = texts_of_line(line, folder)
                length = len(line.data) if is_whole else 0
                number = 0 if is_whole else number_at(Path(path), line.offset)
                for part, text in enumerate(texts):
                    if text and is_in(text):
                        yield Sighting(path, number, line.offset, length, part)
    except OSError:  # gone since it was found
        return


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields whole lines in blocks, with where they begin.

    A file is not mapped: one that becomes shorter meanwhile would end the process.
    """
    offset, rest = 0, list[bytes]()
    with opened(path) as file:
        while data := file.read(BLOCK):
            end = data.rfind(b"\n") + 1
            if end:
                block = b"".join((*rest, data[:end])) if rest else data[:end]
                yield offset, block
                offset += len(block)
                rest.clear()
            if end < len(data):
                rest.append(data[end:])
    if rest:
        yield offset, b"".join(rest)


def number_at(path: Path, place: int) -> int:
    """Returns the number of the line that begins at a place."""
    number = 1
    for offset, block in _blocks(path):
        number += block.count(b"\n", 0, max(0, place - offset))
    return number


def _candidates(data: bytes, sought: Sought, *, has_outputs: bool) -> list[tuple[int, int]]:
    finder, second = line_finders(sought)
    if finder is None:
        return list(_all_lines(data))
    found = set(_lines_with(data, finder, second))
    for mark in _other_marks(sought.text or "", has_outputs=has_outputs):
        found.update(_lines_with(data, of_bytes(mark)))
    return sorted(found)


def _other_marks(text: str, *, has_outputs: bool) -> Iterator[str]:
    yield from COMPOSED
    if has_outputs:
        yield BESIDE
    if FRACTION.search(text):
        yield NUMBERS


def _all_lines(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end
        start = end + 1


def _lines_with(data: bytes, finder: Any, second: Any = None) -> Iterator[tuple[int, int]]:
    place, whole = 0, len(data)
    while match := finder.search(data, place):
        at = match.start()
        start = data.rfind(b"\n", place, at) + 1 or place
        end = data.find(b"\n", at)
        end = whole if end < 0 else end
        if second is None or second.search(data, start, end):
            yield start, end
        place = end + 1
        if place >= whole:
            return


FEW = 64
"""Sessions that are asked for by name; of more, everything is looked at."""


def known_passages(
    searcher: "Searcher",
    logs: dict[str, tuple[int, int]],
    sightings: Iterable[Sighting],
    filters: Sequence["Query"],
) -> "Newest":
    """Returns the passages that were sighted and pass all filters."""
    wanted, sids = set[tuple[int, int, int]](), set[int]()
    for one in sightings:
        if one.path in logs:
            file, sid = logs[one.path]
            wanted.add(_sighted(file, one))
            sids.add(sid)
    if not wanted:
        return Newest(searcher, [])
    query = _all_of([*filters, *_of_sessions(sids)])
    at = [hit[1] for hit in searcher.search(query, max(1, searcher.num_docs), count=False).hits]
    columns = (values(searcher, name, at) for name in ("file", "at", "bytes"))
    rows = zip(at, *columns, strict=True)
    known = [address for address, *numbers in rows if _key_of(*numbers) in wanted]
    return Newest(searcher, known)


class Newest:
    """Passages in the order of their time, the last first."""

    def __init__(self, searcher: "Searcher", at: list[Any]) -> None:
        self.searcher = searcher
        times = values(searcher, "time", at) if at else []
        order = sorted(range(len(at)), key=lambda row: times[row] or 0, reverse=True)
        self.at = [at[row] for row in order]
        self.times = [times[row] for row in order]

    def first(self, count: int) -> list[PassagePlace]:
        """Returns the first of them."""
        return places(self.searcher, [(0.0, one) for one in self.at[:count]])

    def facets(self, catalogue: Catalogue) -> dict[str, dict[str, int]]:
        """Returns how many there are of each project, tool, kind and month."""
        columns = {name: values(self.searcher, name, self.at) for name in FACETS}
        counts = {name: Counter(column).most_common() for name, column in columns.items()}
        names = {sort: catalogue.names(sort) for sort in ("project", "tool")}
        folded = {code: catalogue.project_of(name) for code, name in names["project"].items()}
        names["project"] = folded
        months = Counter((stamp_of(time) or "")[:7] for time in self.times if time is not None)
        return {
            name: most(_summed((known[code], n) for code, n in counts[name] if code in known))
            for name, known in names.items()
        } | {**by_sort(dict(counts["kind"])), "month": dict(sorted(months.items()))}


def _summed(counts: Iterable[tuple[str, int]]) -> Counter[str]:
    found = Counter[str]()
    for name, count in counts:
        found[name] += count
    return found


def _sighted(file: int, one: Sighting) -> tuple[int, int, int]:
    if one.length and (one.offset or one.length >> LENGTH == 0):
        return file, one.offset, one.part
    return file, -1 - (one.line or 1), one.part


def _key_of(file: int, at: int, length: int) -> tuple[int, int, int]:
    return file, length >> LENGTH if length else -1 - (at >> PART), at & (1 << PART) - 1


def _of_sessions(sids: set[int]) -> "list[Query]":
    from tantivy import Query

    if len(sids) > FEW:
        return []
    return [Query.const_score_query(Query.term_set_query(text_schema(), "sid", sorted(sids)), 0.0)]


def _all_of(parts: "Sequence[Query]") -> "Query":
    from tantivy import Occur, Query

    found = Query.boolean_query([(Occur.Must, part) for part in parts]) if parts else None
    return Query.const_score_query(found or Query.all_query(), 1.0)
