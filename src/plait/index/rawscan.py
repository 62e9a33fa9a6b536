"""Logs to the passages that hold a text or match an expression: all are read, side by side.

What can be told from the bytes of a line alone is: only lines that may match are decoded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import get_all_start_methods, get_context
from os import cpu_count
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from threading import active_count
from typing import Any, NamedTuple

from plait.errors import UserError
from plait.index.passages import words_in
from plait.index.snippet import items_in, with_output
from plait.line import Line
from plait.line.discover import session_folder
from plait.record import Record
from plait.record.encode import encode
from plait.record.read import Broken, Entry, entry_of, record_of

BLOCK = 8 << 20
MUCH = 30_000_000
"""Bytes from which on several processes read."""
SAFE = re.compile(r"[ !#-%'-.0-;=?-\[\]-~]+")
"""Letters that JSON is always written with: others may be escaped."""
FOLDING = re.compile("[iks]+", re.IGNORECASE)
"""Letters that are the same as some beyond ASCII where case does not matter."""


BESIDE = b"persisted"


class Sighting(NamedTuple):
    """A passage that a scan has found."""

    path: str
    line: int
    offset: int
    length: int
    part: int


class Sought(NamedTuple):
    """What is looked for, and what a line must hold to be worth decoding."""

    pattern: str
    flags: int
    needed: bytes
    """Empty where every line may match."""
    is_cased: bool = True

    @property
    def expression(self) -> re.Pattern[str]:
        """The expression for texts."""
        return re.compile(self.pattern, self.flags)


def sought_text(text: str) -> Sought:
    """Returns what looks for a text as it stands."""
    if not text:
        raise UserError("there is nothing to look for", "say `plait search --exact 'some text'`")
    return Sought(re.escape(text), 0, longest_safe(text).encode())


def longest_safe(text: str) -> str:
    """Returns the longest part of a text that is written in one way only."""
    return max(SAFE.findall(text), key=len, default="")


def sought_pattern(pattern: str) -> Sought:
    """Returns what looks for a regular expression, or says what is wrong with it."""
    try:
        compiled = re.compile(pattern, re.MULTILINE)
        parsed = _parser.parse(pattern, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        raise UserError(
            f"'{pattern}' is not a regular expression: {error}",
            "`--exact` looks for the text as it stands",
        ) from None
    is_cased = not compiled.flags & re.IGNORECASE
    runs = list(literals(parsed))
    if not is_cased:
        runs = [part for run in runs for part in FOLDING.split(run)]
    needed = max(runs, key=len, default="")
    return Sought(pattern, re.MULTILINE, needed.encode() if len(needed) > 1 else b"", is_cased)


def literals(parsed: Any) -> Iterator[str]:
    """Yields the texts that everything an expression matches must hold."""
    run = ""
    for kind, value in parsed:
        letter = chr(value) if kind is _constants.LITERAL else ""
        if letter and SAFE.fullmatch(letter):
            run += letter
            continue
        yield run
        run = ""
        if kind is _constants.SUBPATTERN and not (value[1] & re.IGNORECASE):
            yield from literals(value[3])
        elif kind is _constants.MAX_REPEAT and value[0] > 0:
            yield from literals(value[2])
    yield run


def scan(paths: Sequence[str], sought: Sought, total: int) -> list[Sighting]:
    """Returns every passage that matches, in the order of paths and lines."""
    workers = min(cpu_count() or 1, 8, len(paths))
    can_fork = "fork" in get_all_start_methods() and active_count() == 1
    if total < MUCH or workers < 2 or not can_fork:
        return [one for path in paths for one in sightings(path, sought)]
    with get_context("fork").Pool(workers) as pool:
        tasks = [(path, sought) for path in paths]
        parts = pool.starmap(listed, tasks, chunksize=max(1, len(tasks) // (workers * 16)))
    return [one for part in parts for one in part]


def listed(path: str, sought: Sought) -> list[Sighting]:
    """Returns what one file holds."""
    return list(sightings(path, sought))


def sightings(path: str, sought: Sought) -> Iterator[Sighting]:
    """Yields the passages of one file that match."""
    folder = session_folder(Path(path))[0] or Path(path).with_suffix("")
    expression = sought.expression
    try:
        for line in candidates(Path(path), sought):
            entry = entry_of(line)
            length = len(line.data) if isinstance(entry, Record) else 0
            for part, text in enumerate(texts_in(entry, folder)):
                if text and expression.search(text):
                    yield Sighting(path, line.number, line.offset, length, part)
    except OSError:  # gone since it was found
        return


def candidates(path: Path, sought: Sought) -> Iterator[Line]:
    """Yields the lines that may match."""
    for number, offset, block in blocks(path):
        start, seen = 0, number
        for at in places_in(block, sought):
            if at < start:  # in the line before
                continue
            first = block.rfind(b"\n", start, at) + 1 or start
            end = block.find(b"\n", at)
            end = len(block) if end < 0 else end
            seen += block.count(b"\n", start, first)
            yield Line(seen, offset + first, block[first:end], end < len(block))
            seen += 1
            start = end + 1


def places_in(block: bytes, sought: Sought) -> Iterator[int]:
    """Yields places of lines that may match, in their order.

    An output that is kept beside the log is not in the line that names it: such lines are
    looked at whatever they hold.
    """
    if not sought.needed:
        pattern = rb"^."
    elif sought.is_cased:
        yield from cased_places(block, sought.needed)
        return
    else:
        pattern = rb"(?i:%b)|persisted" % re.escape(sought.needed)
    yield from (match.start() for match in re.finditer(pattern, block, re.MULTILINE | re.DOTALL))


def cased_places(block: bytes, needed: bytes) -> Iterator[int]:
    """Yields where some bytes stand, and where outputs beside the log are named."""
    find, at, kept = block.find, block.find(needed), block.find(BESIDE)
    while at >= 0 or kept >= 0:
        if at >= 0 and (kept < 0 or at < kept):
            yield at
            at = find(needed, find(b"\n", at)) if find(b"\n", at) >= 0 else -1
        else:
            yield kept
            kept = find(BESIDE, find(b"\n", kept)) if find(b"\n", kept) >= 0 else -1


def blocks(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yields whole lines in blocks, with the number of the first and where it lies."""
    number, offset, rest = 1, 0, b""
    with path.open("rb", buffering=0) as file:
        while data := file.read(BLOCK):
            end = data.rfind(b"\n") + 1
            if not end:
                rest += data
                continue
            block = rest + data[:end] if rest else data[:end]
            yield number, offset, block
            number += block.count(b"\n")
            offset += len(block)
            rest = data[end:]
    if rest:
        yield number, offset, rest


def texts_in(entry: Entry, folder: Path) -> Iterator[str]:
    """Yields the words of the items on a line, "" for one without any."""
    for record in records_in(entry):
        for item in items_in(record):
            words = words_in(item)
            yield with_output(item, words, folder).text if words else ""


def records_in(entry: Entry) -> Iterable[Record]:
    """Returns the record on a line, or what could be saved of a broken one."""
    if isinstance(entry, Record):
        return (entry,)
    if isinstance(entry, Broken):
        return [record_of(encode(one.fields), one.line, one.offset) for one in entry.recovered]
    return ()
