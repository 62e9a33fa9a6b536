"""Places of the index to the words that lie there, and to the part of them worth showing."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from plait.conversation.items import items_of, queue_item
from plait.conversation.model import Answered, Item
from plait.conversation.persisted import persisted_text
from plait.conversation.responses import Responses
from plait.errors import SourceError
from plait.index.model import Snippet
from plait.index.passages import Words, words_in
from plait.line import lines, read_slice
from plait.record import Record
from plait.record.decode import NotAnObject
from plait.record.encode import encode
from plait.record.read import Broken, entry_of, record_of
from plait.record.state import QueueOperation

BEFORE = 50
WIDE = 220
MOST_LOOKED = 4_000_000
MOST_BYTES = 64 << 20
MOST_TRIED = 40
MOST_OUTPUT = 8 << 20


class Lying(NamedTuple):
    """What lies at a place."""

    uuid: str | None
    time: str | None
    item: Item
    words: Words


def lying_at(
    path: str, line: int, offset: int, length: int, part: int, folder: Path
) -> Lying | None:
    """Returns what lies at a place, None where the file has changed since."""
    try:
        items = list(items_on(Path(path), line, offset, length))
    except SourceError:
        return None
    if part >= len(items):
        return None
    record, item = items[part]
    words = words_in(item)
    if words is None:
        return None
    return Lying(record.uuid, record.timestamp, item, with_output(item, words, folder))


def with_output(item: Item, words: Words, folder: Path) -> Words:
    """Returns words with the output that is kept beside the log in their place."""
    if not isinstance(item, Answered) or item.result.persisted is None:
        return words
    text = persisted_text(folder, item.result.persisted, MOST_OUTPUT)
    return words._replace(text=text or words.text)


def items_on(path: Path, line: int, offset: int, length: int) -> Iterator[tuple[Record, Item]]:
    """Yields the items of a line with their records; a broken line is looked for by its number."""
    if 0 < length <= MOST_BYTES:
        try:
            record = record_of(read_slice(path, offset, length), line, offset)
        except NotAnObject:
            return
        yield from ((record, item) for item in items_in(record))
        return
    for one in lines(path):
        if one.number == line:
            entry = entry_of(one)
            for found in entry.recovered if isinstance(entry, Broken) else ():
                record = record_of(encode(found.fields), found.line, found.offset)
                yield from ((record, item) for item in items_in(record))
            return


def items_in(record: Record) -> list[Item]:
    """Returns the items of a record; a prompt of the queue is one."""
    if isinstance(record, QueueOperation):
        return [queue_item(record, {}, set())]
    return items_of(record, Responses())


def snippet_of(text: str, marks: Sequence[re.Pattern[str]]) -> tuple[Snippet, int]:
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


def best_place(text: str, marks: Sequence[re.Pattern[str]]) -> int:
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


def marks_in(text: str, marks: Sequence[re.Pattern[str]]) -> tuple[tuple[int, int], ...]:
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


def shown_of(text: str, marks: Sequence[re.Pattern[str]], context: int) -> Shown:
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
