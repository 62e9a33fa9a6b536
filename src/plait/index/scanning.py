"""Search in the logs themselves for an exact text or a regular expression.

Files are read by several processes. Lines are first ruled out by their bytes: only lines that may
match are decoded.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tantivy import Occur, Query, Searcher

from plait.conversation.results import OUTPUTS
from plait.index.catalogue import Catalogue
from plait.index.expression import ScanPattern, compile_for_bytes, compile_line_finders, make_finder
from plait.index.model import PassagePlace
from plait.index.passages import read_line_texts
from plait.index.search import FACETS, count_by_kind, format_timestamp, largest_counts
from plait.index.text_index import LENGTH, PART, load_places, load_values, text_schema
from plait.line import Line
from plait.line.discovery import find_session_folder
from plait.line.files import open_unbuffered, read_status
from plait.line.workers import Workers

BLOCK = 256 << 10
"""Fits into the processor's cache: larger blocks take three times as long."""
PARALLEL_BYTES = 30_000_000
"""Bytes from which several processes read."""
REWRITTEN_TEXT = (
    r"<(?:command-|local-command-|bash-|task-|teammate-|ide_|system-reminder|persisted-|"
    r"cross-session-|agent-message|observed_from|channel source|[\w-]{1,40}-hook>)",
    r'-notification"',
    r'"enqueue"',
    r"Base directory for this skill",
)
"""Text in lines that are shown differently from how they are written: removed tags, notices,
skills. One at a time: each begins with a character that is found quickly.
"""
NUMBERS = (
    r"[\[:,] ?-?(?:\d+(?:\.\d+)?[eE][-+]?\d+|\d+\.\d+0|0\.0000\d+|\d{16,}\.\d+|\d+\.\d{16,})"
    r" ?[,\]}]"
)
"""Numbers that are shown differently from how they are written, such as 1e3 and 2.50."""
FRACTION = re.compile(r"\d\.\d|\de[-+]\d")
"""Occurs in every such number as shown; searching for them takes as long as everything else."""
SAVED_OUTPUT = r"persistedOutputPath"


class ScanMatch(NamedTuple):
    """A passage found by a scan."""

    path: str
    line: int
    """0 if its place says enough."""
    offset: int
    length: int
    """0 for an incomplete line."""
    part: int


def scan_logs(
    paths: Sequence[str],
    sizes: Sequence[int],
    sought: ScanPattern,
    jobs: int = 1,
    losses: list[str] | None = None,
) -> list[ScanMatch]:
    """Return every passage that matches, in the order of paths and lines."""
    if sum(sizes) < PARALLEL_BYTES or jobs == 1:
        return [scan_match for path in paths for scan_match in _scan_file(path, sought)]
    found: list[ScanMatch] = []
    with Workers(jobs, losses) as workers:
        items = [(path, sought) for path in paths]
        results = workers.map("plait.index.scanning:scan_in_worker", items, sizes)
        for path, data in zip(paths, results, strict=True):
            rows = iter(array("Q", data))
            found += [ScanMatch(path, *row) for row in zip(rows, rows, rows, rows, strict=True)]
    return found


def scan_in_worker(item: tuple[str, ScanPattern]) -> bytes:
    """Return where a text is in a file, as bytes: a quarter of the size of pickled matches."""
    numbers = array("Q")
    for scan_match in _scan_file(*item):
        numbers.extend(scan_match[1:])
    return numbers.tobytes()


def _scan_file(path: str, sought: ScanPattern) -> Iterator[ScanMatch]:
    folder = find_session_folder(Path(path))[0] or Path(path).with_suffix("")
    is_in = make_finder(sought).matches
    try:
        read_status(Path(path))  # a session in the backup is extracted, with its outputs
        has_outputs = (folder / OUTPUTS).is_dir()
        known = 0, 1  # the last line that was numbered: the next is counted from there
        for offset, block in _iter_blocks(Path(path)):
            for start, end in _find_candidate_lines(block, sought, has_outputs=has_outputs):
                line = Line(0, offset + start, block[start:end], end < len(block))
                texts, is_complete = read_line_texts(line, folder)
                length, number = len(line.data), 0
                if not is_complete:
                    (number,) = number_lines(Path(path), [line.offset], known)
                    length, known = 0, (line.offset, number)
                for part, text in enumerate(texts):
                    if text and is_in(text):
                        yield ScanMatch(path, number, line.offset, length, part)
    except OSError:  # deleted since it was listed
        return


def _iter_blocks(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield complete lines in blocks, with their offsets, from the line at an offset on.

    Files are not memory-mapped: a file that becomes shorter meanwhile would crash the process.
    """
    offset, rest = start, list[bytes]()
    with open_unbuffered(path) as file:
        file.seek(start)
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


def number_lines(path: Path, offsets: Iterable[int], known: tuple[int, int] = (0, 1)) -> list[int]:
    """Return the numbers of the lines at ascending offsets, in one pass over the file.

    The pass starts at a line whose offset and number are known.
    """
    start, number = known
    numbers: list[int] = []
    waiting = list(offsets)[::-1]
    for offset, block in _iter_blocks(path, start):
        counted = 0
        while waiting and waiting[-1] < offset + len(block):
            place = waiting.pop() - offset
            number += block.count(b"\n", counted, place)
            counted = place
            numbers.append(number)
        if not waiting:
            return numbers
        number += block.count(b"\n", counted)
    return [*numbers, *(number for _ in waiting)]  # the file has become shorter


def _find_candidate_lines(
    data: bytes, sought: ScanPattern, *, has_outputs: bool
) -> list[tuple[int, int]]:
    finder, second = compile_line_finders(sought)
    if finder is None:
        lines: list[tuple[int, int]] = []
        start = 0
        while start < len(data):
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            lines.append((start, end))
            start = end + 1
        return lines
    found = set(_iter_lines_with(data, finder, second))
    marks = list(REWRITTEN_TEXT)
    if has_outputs:
        marks.append(SAVED_OUTPUT)
    if FRACTION.search(sought.text or ""):
        marks.append(NUMBERS)
    for mark in marks:
        found.update(_iter_lines_with(data, compile_for_bytes(mark)))
    return sorted(found)


def _iter_lines_with(data: bytes, finder: Any, second: Any = None) -> Iterator[tuple[int, int]]:
    place, size = 0, len(data)
    while match := finder.search(data, place):
        at = match.start()
        start = data.rfind(b"\n", place, at) + 1 or place
        end = data.find(b"\n", at)
        end = size if end < 0 else end
        if second is None or second.search(data, start, end):
            yield start, end
        place = end + 1
        if place >= size:
            return


MAX_SESSION_FILTER = 64
"""Sessions up to which they are filtered by name; for more, everything is examined."""


def match_passages(
    searcher: Searcher,
    logs: dict[str, tuple[int, int]],
    sightings: Iterable[ScanMatch],
    filters: Sequence[Query],
) -> "NewestPassages":
    """Return the sighted passages that pass all filters."""
    wanted, sids = set[tuple[int, int, int]](), set[int]()
    for scan_match in sightings:
        if scan_match.path in logs:
            file, sid = logs[scan_match.path]
            if scan_match.length and (scan_match.offset or scan_match.length >> LENGTH == 0):
                wanted.add((file, scan_match.offset, scan_match.part))
            else:
                wanted.add((file, -1 - (scan_match.line or 1), scan_match.part))
            sids.add(sid)
    if not wanted:
        return NewestPassages(searcher, [])
    parts = list(filters)
    if len(sids) <= MAX_SESSION_FILTER:
        ours = Query.term_set_query(text_schema(), "sid", sorted(sids))
        parts.append(Query.const_score_query(ours, 0.0))
    every = Query.boolean_query([(Occur.Must, part) for part in parts])
    query = Query.const_score_query(every if parts else Query.all_query(), 1.0)
    at = [hit[1] for hit in searcher.search(query, max(1, searcher.num_docs), count=False).hits]
    columns = (load_values(searcher, name, at) for name in ("file", "at", "bytes"))
    rows = zip(at, *columns, strict=True)
    known = [address for address, *numbers in rows if _make_passage_key(*numbers) in wanted]
    return NewestPassages(searcher, known)


class NewestPassages:
    """Passages by time, newest first."""

    def __init__(self, searcher: Searcher, at: list[Any]) -> None:
        self.searcher = searcher
        times = load_values(searcher, "time", at) if at else []
        order = sorted(range(len(at)), key=lambda row: times[row] or 0, reverse=True)
        self.at = [at[row] for row in order]
        self.times = [times[row] for row in order]

    def first(self, count: int) -> list[PassagePlace]:
        """Return the first of them."""
        return load_places(self.searcher, [(0.0, item) for item in self.at[:count]])

    def facets(self, catalogue: Catalogue) -> dict[str, dict[str, int]]:
        """Return the numbers by project, tool, kind and month."""
        columns = {name: load_values(self.searcher, name, self.at) for name in FACETS}
        counts = {name: Counter(column).most_common() for name, column in columns.items()}
        names = {sort: catalogue.names(sort) for sort in ("project", "tool")}
        folded = {code: catalogue.project_of(name) for code, name in names["project"].items()}
        names["project"] = folded
        months = Counter(
            (format_timestamp(time) or "")[:7] for time in self.times if time is not None
        )
        return {
            name: largest_counts(
                _sum_counts((known[code], n) for code, n in counts[name] if code in known)
            )
            for name, known in names.items()
        } | {**count_by_kind(dict(counts["kind"])), "month": dict(sorted(months.items()))}


def _sum_counts(counts: Iterable[tuple[str, int]]) -> Counter[str]:
    found = Counter[str]()
    for name, count in counts:
        found[name] += count
    return found


def _make_passage_key(file: int, at: int, length: int) -> tuple[int, int, int]:
    return file, length >> LENGTH if length else -1 - (at >> PART), at & (1 << PART) - 1
