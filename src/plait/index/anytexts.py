"""A line of a log to the words of its items, each as it would be indexed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from plait.conversation.items import items_of, queue_item
from plait.conversation.model import Answered, Item
from plait.conversation.persisted import persisted_text
from plait.conversation.responses import Responses
from plait.index.linetexts import usual_texts
from plait.index.passages import Words, words_in
from plait.line import Line
from plait.record import Record
from plait.record.codec import encode
from plait.record.message import plain_line
from plait.record.read import Broken, Entry, entry_of, record_of
from plait.record.types.state import QueueOperation

MOST_OUTPUT = 8 << 20
"""Bytes of an output beside the log that are indexed."""


def texts_on(line: Line, folder: Path) -> tuple[list[str], bool]:
    """Returns the words of a line's items, "" for one without any; and whether it is whole."""
    usual = plain_line(line.data)
    texts = usual_texts(usual, line.data) if usual else None
    if texts is not None:
        return texts, True
    entry = entry_of(line)
    return list(texts_in(entry, folder)), isinstance(entry, Record)


def texts_in(entry: Entry, folder: Path) -> Iterator[str]:
    """Yields the words of the items of a line, "" for one without any."""
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


def items_in(record: Record) -> list[Item]:
    """Returns the items of a record; a prompt of the queue is one."""
    if isinstance(record, QueueOperation):
        return [queue_item(record, {}, set())]
    return items_of(record, Responses())


def with_output(item: Item, words: Words, folder: Path) -> Words:
    """Returns words with the output that is kept beside the log in their place."""
    if not isinstance(item, Answered) or item.result.persisted is None:
        return words
    text = persisted_text(folder, item.result.persisted, MOST_OUTPUT)
    return words._replace(text=text or words.text)
