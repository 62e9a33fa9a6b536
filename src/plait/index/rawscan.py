"""Logs to the passages that hold a text or match an expression: all are read, side by side.

What can be told from the bytes of a line alone is: only lines that may match are decoded.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from os import cpu_count
from pathlib import Path
from threading import active_count
from typing import Any, NamedTuple

from plait.conversation.persisted import FOLDER as OUTPUTS
from plait.index.anytexts import texts_on
from plait.index.expression import Sought, finder_of, line_finders, of_bytes
from plait.line import Line
from plait.line.discover import session_folder

BLOCK = 256 << 10
"""Stays in the cache of the processor: larger ones take three times as long."""
MUCH = 30_000_000
"""Bytes from which on several processes read."""
MOST_WORKERS = 8
COMPOSED = (
    r"<(?:command-|local-command-|bash-|task-|teammate-|ide_|system-reminder|persisted-|"
    r"[\w-]{1,40}-hook>)",
    r'-notification"',
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


def scan(paths: Sequence[str], sought: Sought, total: int) -> list[Sighting]:
    """Returns every passage that matches, in the order of paths and lines."""
    found = dict(packed(paths, sought, total))
    return [one for path in paths for one in unpacked(path, found[path])]


def packed(paths: Sequence[str], sought: Sought, total: int) -> Iterator[tuple[str, "array[int]"]]:
    """Yields what each file holds, as plain numbers; from several at once where there is much."""
    workers = min(cpu_count() or 1, MOST_WORKERS, len(paths))
    if total < MUCH or workers < 2:
        yield from ((path, numbers_of(path, sought)) for path in paths)
    elif "fork" in get_all_start_methods() and active_count() == 1:
        with get_context("fork").Pool(workers, prepare, (sought,)) as pool:
            yield from pool.imap_unordered(prepared, paths, chunksize=max(1, len(paths) // 200))
    else:  # a process with threads is not to be forked
        with ThreadPoolExecutor(workers) as threads:
            yield from threads.map(lambda path: (path, numbers_of(path, sought)), paths)


SOUGHT: list[Sought] = []
"""What this process looks for."""


def prepare(sought: Sought) -> None:
    """Tells a new process what to look for."""
    SOUGHT[:] = [sought]


def prepared(path: str) -> "tuple[str, array[int]]":
    """Returns what one file holds."""
    return path, numbers_of(path, SOUGHT[0])


def numbers_of(path: str, sought: Sought) -> "array[int]":
    """Returns the line, the offset, the length and the part of each sighting, in a row."""
    numbers = array("Q")
    for one in sightings(path, sought):
        numbers.extend(one[1:])
    return numbers


def unpacked(path: str, numbers: "array[int]") -> Iterator[Sighting]:
    """Yields sightings out of their numbers."""
    rows = iter(numbers)
    for line, offset, length, part in zip(rows, rows, rows, rows, strict=True):
        yield Sighting(path, line, offset, length, part)


def sightings(path: str, sought: Sought) -> Iterator[Sighting]:
    """Yields the passages of one file that match."""
    folder = session_folder(Path(path))[0] or Path(path).with_suffix("")
    has_outputs = (folder / OUTPUTS).is_dir()
    is_in = finder_of(sought).is_in
    try:
        for offset, block in blocks(Path(path)):
            for start, end in candidates(block, sought, has_outputs=has_outputs):
                line = Line(0, offset + start, block[start:end], end < len(block))
                texts, is_whole = texts_on(line, folder)
                length = len(line.data) if is_whole else 0
                number = 0 if is_whole else number_at(Path(path), line.offset)
                for part, text in enumerate(texts):
                    if text and is_in(text):
                        yield Sighting(path, number, line.offset, length, part)
    except OSError:  # gone since it was found
        return


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields whole lines in blocks, with where they begin.

    A file is not mapped: one that becomes shorter meanwhile would end the process.
    """
    offset, rest = 0, list[bytes]()
    with path.open("rb", buffering=0) as file:
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
    for offset, block in blocks(path):
        number += block.count(b"\n", 0, max(0, place - offset))
    return number


def candidates(data: bytes, sought: Sought, *, has_outputs: bool) -> list[tuple[int, int]]:
    """Returns the lines that may match, by where they begin and end."""
    finder, second = line_finders(sought)
    if finder is None:
        return list(all_lines(data))
    found = set(lines_with(data, finder, second))
    for mark in other_marks(sought.text or "", has_outputs=has_outputs):
        found.update(lines_with(data, of_bytes(mark)))
    return sorted(found)


def other_marks(text: str, *, has_outputs: bool) -> Iterator[str]:
    """Yields what stands in lines that may match whatever they look like."""
    yield from COMPOSED
    if has_outputs:
        yield BESIDE
    if FRACTION.search(text):
        yield NUMBERS


def all_lines(data: bytes) -> Iterator[tuple[int, int]]:
    """Yields where every line begins and ends."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end
        start = end + 1


def lines_with(data: bytes, finder: Any, second: Any = None) -> Iterator[tuple[int, int]]:
    """Yields where the lines begin and end that an expression finds, and a second one too."""
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
