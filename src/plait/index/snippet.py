"""Places of the index to the words that lie there, and to the part of them worth showing."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.errors import SourceError
from plait.index.linetexts import kind_of, usual_texts
from plait.index.model import Kind, Snippet
from plait.line import lines, read_slice
from plait.record.message import plain_line

if TYPE_CHECKING:
    from plait.conversation.model import Item
    from plait.index.expression import Mark
    from plait.record import Record

BEFORE = 50
WIDE = 220
MOST_LOOKED = 4_000_000
MOST_BYTES = 64 << 20
MOST_TRIED = 40


class Lying(NamedTuple):
    """What lies at a place."""

    uuid: str | None
    time: str | None
    kind: Kind
    text: str
    tool: str | None = None


def lying_at(
    path: str, line: int, offset: int, length: int, part: int, folder: Path
) -> Lying | None:
    """Returns what lies at a place, None where the file has changed since."""
    try:
        if 0 < length <= MOST_BYTES:
            data = read_slice(Path(path), offset, length)
            return quickly(data, part) or carefully(items_on(data, line, offset), part, folder)
        return carefully(saved_on(Path(path), line), part, folder)
    except SourceError:
        return None


def quickly(data: bytes, part: int) -> Lying | None:
    """Returns what a line of a usual form holds, None for any other."""
    line = plain_line(data)
    texts = usual_texts(line, data) if line else None
    if line is None or texts is None or part >= len(texts):
        return None
    content = line.message.content
    tool = None if isinstance(content, str) else getattr(content[part], "name", None)
    return Lying(line.uuid, line.timestamp, kind_of(line, part), texts[part], tool)


def carefully(items: "Iterator[tuple[Record, Item]]", part: int, folder: Path) -> Lying | None:
    """Returns what one item of a line says."""
    from plait.index.anytexts import with_output
    from plait.index.passages import words_in

    for number, (record, item) in enumerate(items):
        if number == part:
            words = words_in(item)
            if words is None:
                return None
            text = with_output(item, words, folder).text
            tool = getattr(item, "name", None) if words.kind == "input" else None
            return Lying(record.uuid, record.timestamp, words.kind, text, tool)
    return None


def items_on(data: bytes, line: int, offset: int) -> "Iterator[tuple[Record, Item]]":
    """Yields the items of a line with their record."""
    from plait.index.anytexts import items_in
    from plait.record.codec import NotAnObject
    from plait.record.read import record_of

    try:
        record = record_of(data, line, offset)
    except NotAnObject:
        return
    yield from ((record, item) for item in items_in(record))


def saved_on(path: Path, number: int) -> "Iterator[tuple[Record, Item]]":
    """Yields the items that can be saved of a broken line; it is looked for by its number."""
    from plait.index.anytexts import items_in, records_in
    from plait.record.read import entry_of

    for line in lines(path):
        if line.number == number:
            records = records_in(entry_of(line))
            yield from ((record, item) for record in records for item in items_in(record))
            return


def snippet_of(text: str, marks: "Sequence[Mark]") -> tuple[Snippet, int]:
    """Returns the part of a text that shows most of what was looked for, and where it begins."""
    looked = text[:MOST_LOOKED]
    start = best_place(looked, marks)
    first = max(0, start - BEFORE)
    if first:
        space = looked.find(" ", first, start)
        first = space + 1 if space >= 0 else first
    cut = looked[first : first + WIDE]
    shown = " ".join(cut.split())
    shown = ("…" if first else "") + shown + ("…" if first + WIDE < len(text) else "")
    return Snippet(shown, marks_in(shown, marks)), start


def best_place(text: str, marks: "Sequence[Mark]") -> int:
    """Returns where the first word of the best window stands."""
    places: list[tuple[int, int]] = []
    for number, mark in enumerate(marks):
        for tried, match in enumerate(mark.finditer(text)):
            if tried == MOST_TRIED:
                break
            places.append((match.start(), number))
    places.sort()
    best, most = 0, 0
    for place, (start, _) in enumerate(places):
        within = {number for at, number in places[place : place + 60] if at < start + WIDE - 60}
        if len(within) > most:
            best, most = start, len(within)
    return best


def marks_in(text: str, marks: "Sequence[Mark]") -> tuple[tuple[int, int], ...]:
    """Returns where words stand in a text, none within another."""
    found: list[tuple[int, int]] = []
    spans = (match.span() for mark in marks for match in mark.finditer(text))
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


class Shown(NamedTuple):
    """A snippet with lines of the text around it."""

    snippet: Snippet
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def shown_of(text: str, marks: "Sequence[Mark]", context: int) -> Shown:
    """Returns the part of a text worth showing; with context its line, and some around it."""
    snippet, start = snippet_of(text, marks)
    if context <= 0:
        return Shown(snippet)
    first = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = text[first:] if end < 0 else text[first:end]
    return Shown(snippet_of(line, marks)[0], *lines_around(text, start, context))


def lines_around(text: str, place: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns some lines before and after the one at a place."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    before = text[max(0, start - 2000 * count) : max(0, start - 1)].split("\n") if start else []
    after = text[end + 1 : end + 2000 * count].split("\n") if end >= 0 else []
    return tuple(before[-count:]), tuple(after[:count])
