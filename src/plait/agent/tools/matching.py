"""What is searched for to the lines that tell where it is, as ripgrep prints them."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path

from plait.agent.tools import paths
from plait.agent.tools.expressions import Search, search_for
from plait.agent.tools.file_kinds import KINDS
from plait.agent.tools.globs import Choice, patterns_in, rejected
from plait.agent.tools.model import ToolError, Workplace
from plait.agent.tools.text import UTF16
from plait.agent.tools.walking import Entry, IsOver, files, is_hidden, relative

WIDEST = 500
"""Bytes of a line that is shown."""
LARGEST = 64 * 1024 * 1024
SAMPLE = 64 * 1024
MOST_LINES = 100_000


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, where, and what is told of it."""

    pattern: str
    mode: str = "files_with_matches"
    glob: str = ""
    kind: str = ""
    before: int = 0
    after: int = 0
    has_numbers: bool = True
    ignores_case: bool = False
    only_matches: bool = False
    is_multiline: bool = False

    @property
    def has_context(self) -> bool:
        """Whether lines around a match are shown."""
        return self.mode == "content" and not self.only_matches and (self.before + self.after) > 0

    @property
    def choice(self) -> Choice:
        """Which files it is searched for in, by their names."""
        return Choice.of(patterns_in(self.glob))

    @property
    def kinds(self) -> Choice:
        """Which kinds of files it is searched for in."""
        if self.kind and self.kind not in KINDS:
            raise rejected(f"rg: unrecognized file type: {self.kind}")
        return Choice.of(KINDS.get(self.kind, ()))


def matching_lines(query: Query, path: Path, place: Workplace, is_over: IsOver) -> list[str]:
    """Returns the lines that tell what was found below a path; files come newest first."""
    search = search_for(
        query.pattern, ignores_case=query.ignores_case, is_multiline=query.is_multiline
    )
    found_in = _entries(query, path, is_over)
    entries = [entry for entry in found_in if not is_hidden(entry.path, place)]
    if query.mode == "files_with_matches":
        holding = [one for one in entries if not is_over() and _holds(one.path, search, query)]
        holding.sort(key=lambda one: (-one.changed, one.name))
        return [relative(one.path, place) for one in holding]
    told: list[str] = []
    for entry in sorted(entries, key=lambda one: one.name):
        if is_over() or len(told) > MOST_LINES:
            break
        name = "" if path.is_file() and query.mode == "content" else relative(entry.path, place)
        found = [*_told(entry.path, name, search, query)]
        told += ["--"] if told and found and query.has_context else []
        told += found
    return told


def _entries(query: Query, path: Path, is_over: IsOver) -> Iterator[Entry]:
    choice, kinds = query.choice, query.kinds
    if path.is_file():
        yield Entry(path, path.name, 0)
        return
    for entry in files(path, ignores=True, is_over=is_over):
        if choice.wants(entry.name) is not False and kinds.wants(entry.name) is not False:
            yield entry


def _data(path: Path) -> bytes:
    """Returns the text of a file; none where it is binary or cannot be read."""
    try:
        data = paths.read_bytes(path, LARGEST)
    except (OSError, ToolError):
        return b""
    if data.startswith(UTF16):
        data = data.decode("utf-16", "replace").encode()
    return b"" if b"\0" in data[:SAMPLE] else data


def _holds(path: Path, search: Search, query: Query) -> bool:
    data = _data(path)
    return bool(data) and next(_matches(data, search, query), None) is not None


def _matches(data: bytes, search: Search, query: Query) -> Iterator[tuple[int, int]]:
    """Yields where matches are, one for each line or run of lines."""
    at = 0
    while at < len(data) and (span := search(data, at)):
        start = data.rfind(b"\n", 0, span[0]) + 1
        end = _line_end(data, span[0])
        if query.is_multiline:
            end = _line_end(data, max(span[1] - 1, span[0]))
            yield span
        # a match over a line's end is none, but the line alone may still hold one
        elif span[1] <= end or search(data[start:end], 0):
            yield start, end
        at = end + 1


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _told(path: Path, name: str, search: Search, query: Query) -> Iterator[str]:
    data = _data(path)
    if not data:
        return
    lines = data.removesuffix(b"\n").split(b"\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans = [*_matches(data, search, query)]
    if query.mode == "count":
        if spans:
            yield f"{name}:{len(spans)}"
    elif query.only_matches:
        yield from _parts(data, starts, name, search, query)
    else:
        hits = {at for span in spans for at in _lines_of(span, starts)}
        yield from _around(lines, hits, name, query)


def _lines_of(span: tuple[int, int], starts: list[int]) -> range:
    first = bisect_right(starts, span[0]) - 1
    return range(first, bisect_right(starts, max(span[1] - 1, span[0])))


def _parts(
    data: bytes, starts: list[int], name: str, search: Search, query: Query
) -> Iterator[str]:
    """Yields each match alone."""
    at = 0
    while at < len(data) and (span := search(data, at)):
        at = max(span[1], span[0] + 1)
        if span[1] > span[0] and (query.is_multiline or b"\n" not in data[slice(*span)]):
            number = bisect_right(starts, span[0])
            yield _line(name, number, data[slice(*span)], ":", query)


def _around(lines: list[bytes], hits: set[int], name: str, query: Query) -> Iterator[str]:
    """Yields matching lines with those around them, and marks where some are left out."""
    near = ((max(at - query.before, 0), at + query.after) for at in hits)
    shown = sorted(set(chain.from_iterable(range(a, min(b, len(lines) - 1) + 1) for a, b in near)))
    last = None
    for at in shown if query.has_context else sorted(hits):
        if at >= len(lines):
            continue
        if query.has_context and last is not None and at > last + 1:
            yield "--"
        yield _line(name, at + 1, lines[at], ":" if at in hits else "-", query)
        last = at


def _line(name: str, number: int, text: bytes, mark: str, query: Query) -> str:
    told = text.removesuffix(b"\r").decode("utf-8", "replace")
    if len(text) > WIDEST:
        told = f"[Omitted long {'matching' if mark == ':' else 'context'} line]"
    before = [name] if name else []
    if query.has_numbers:
        before.append(str(number))
    return mark.join([*before, told])
