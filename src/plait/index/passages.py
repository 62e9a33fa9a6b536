"""Items of a conversation, or of one line of a log, to the words that are indexed, each text once.

The same words stand in many places of a log (format: the same text in many places): in the
queue of prompts, in the last prompt, in the log of requests, in the client's own view of a
result. Only the one that a conversation shows is indexed.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from plait.conversation.items import Responses, items_of, queue_item
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Item,
    Noted,
    Result,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
)
from plait.conversation.results import persisted_text
from plait.conversation.values import strings_in
from plait.index.model import PassageKind
from plait.index.usual_lines import usual_texts
from plait.line import Line
from plait.record import Record
from plait.record.codec import encode
from plait.record.read import Broken, Entry, entry_of, record_of, worded
from plait.record.types.state import QueueOperation

TOLD: dict[ToldKind, PassageKind] = {
    "prompt": "prompt",
    "queued": "prompt",
    "command": "command",
    "bash": "command",
    "command-output": "output",
    "bash-output": "output",
    "summary": "summary",
    "teammate": "prompt",
    "peer": "prompt",
}
COPIES = frozenset(
    """
    api-request api-request-blob api-request-shape last-prompt queue-operation progress
    file-history-snapshot file-history-delta custom-title ai-title agent-name summary
    attribution-snapshot content-replacement cost-state bridge-session
    """.split()
)
"""Notes whose words stand elsewhere, or that hold none."""
PATHS = ("file_path", "path", "notebook_path", "filePath")
MOST_NOTED = 200_000


class PassageWords(NamedTuple):
    """What one item is found by."""

    kind: PassageKind
    text: str
    path: str | None = None


def words_in(item: Item) -> PassageWords | None:
    """Returns what an item is found by, None where it has no words of its own."""
    match item:
        case Said(text=text):
            return PassageWords("answer", text) if text else None
        case Thought(text=text):
            return PassageWords("thinking", text) if text else None
        case Called():
            return PassageWords("input", "\n".join(strings_in(item.input, ())), path_in(item.input))
        case Answered(result=result):
            return PassageWords("output", _output_of(result))
        case Told():
            return _told_words(item)
        case Compacted(text=text):
            return PassageWords("note", text)
        case Noted():
            return _noted_words(item)
        case Shown():
            text = "\n".join(strings_in(item.enclosure.value))
            return PassageWords("note", text[:MOST_NOTED]) if text else None
        case _:
            return None


def _told_words(item: Told) -> PassageWords | None:
    name = item.name if item.kind in ("command", "skill", "hook", "teammate") else None
    parts = (name, item.text, item.arguments, item.output, item.errors, item.context)
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return PassageWords(TOLD.get(item.kind, "note"), text) if text else None


def _noted_words(item: Noted) -> PassageWords | None:
    if item.kind in COPIES:
        return None
    value = item.value if item.text == "" else item.text
    text = "\n".join(strings_in(value))
    return PassageWords("note", text[:MOST_NOTED]) if text else None


def _output_of(result: Result) -> str:
    if result.feedback and result.feedback not in result.text:
        return f"{result.text}\n{result.feedback}"
    return result.text


def path_in(given: Any) -> str | None:
    """Returns the file that a tool is asked about."""
    if not isinstance(given, Mapping):
        return None
    return next((given[name] for name in PATHS if isinstance(given.get(name), str)), None)


MOST_OUTPUT = 8 << 20
"""Bytes of an output beside the log that are indexed."""


def texts_of_line(line: Line, folder: Path) -> tuple[list[str], bool]:
    """Returns the words of a line's items, "" for one without any; and whether it is whole."""
    usual = worded(line.data)
    texts = usual_texts(usual) if usual else None
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


def with_output(item: Item, words: PassageWords, folder: Path) -> PassageWords:
    """Returns words with the output that is kept beside the log in their place."""
    if not isinstance(item, Answered) or item.result.persisted is None:
        return words
    text = persisted_text(folder, item.result.persisted, MOST_OUTPUT)
    return words._replace(text=text or words.text)
