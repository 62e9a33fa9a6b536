"""A line of a log in one of the usual forms to the words of its items, as they are indexed.

What has any other form is for `plait.index.passages`. Nothing else is imported here: most
hits of a search need no more.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET

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
from plait.conversation.results import REJECTED, outcome_said, persisted_text
from plait.index.model import PassageKind
from plait.index.usual_lines import (
    has_output_beside,
    is_said,
    result_words,
    usual_texts,
    with_beside,
)
from plait.line import Line
from plait.record import Record
from plait.record.beside import words_beside
from plait.record.codec import encode, mapping, said, strings_in
from plait.record.read import (
    Broken,
    Entry,
    Worded,
    WordedBlock,
    entry_of,
    record_of,
    worded,
)
from plait.record.types.kinds import QueueOperation

TOLD: dict[ToldKind, PassageKind] = {
    "prompt": "prompt",
    "queued": "prompt",
    "command": "command",
    "bash": "command",
    "command-output": "output",
    "bash-output": "output",
    "summary": "summary",
}
COPIES = frozenset(
    """
    api-request api-request-blob api-request-shape last-prompt queue-operation
    custom-title ai-title agent-name attribution-snapshot content-replacement cost-state
    bridge-session
    """.split()
)
"""Notes whose words stand elsewhere, or that hold none."""
CALLBACK = "callback"
"""The command of a hook that is the client's own."""
SNAPSHOTS = frozenset({"file-history-snapshot", "file-history-delta"})
NAMED = frozenset({"command", "skill", "hook", "teammate", "peer", "notice"})
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
    name = item.name if item.kind in NAMED else None
    parts = (name, item.text, item.arguments, item.output, item.errors, item.context)
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return PassageWords(TOLD.get(item.kind, "note"), text) if text else None


def _noted_words(item: Noted) -> PassageWords | None:
    if item.kind in COPIES:
        return None
    if item.kind == "summary":
        text = said(mapping(item.value), "summary")
        return PassageWords("summary", text) if text else None
    text = "\n".join(_words_noted(item))
    return PassageWords("note", text[:MOST_NOTED]) if text else None


def _words_noted(item: Noted) -> Iterator[str]:
    """Yields the words of a note: its text, and what its other fields say beyond that."""
    value = mapping(item.value)
    inner = value.get("data" if item.kind == "progress" else "attachment")
    if item.kind in SNAPSHOTS:
        yield from _snapshot_words(value)
    elif item.kind == "progress":
        if mapping(inner).get("command") != CALLBACK:
            yield from dict.fromkeys(one for one in strings_in(inner) if not _is_number(one))
    elif item.text:
        yield item.text
        yield from words_beside(inner if isinstance(inner, Mapping) else value, item.text).values()
    else:
        yield from strings_in(item.value)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _snapshot_words(value: Mapping[str, Any]) -> Iterator[str]:
    """Yields the files that were kept; older clients wrote their contents beside them."""
    files = mapping(mapping(value.get("snapshot")).get("trackedFileBackups"))
    for path, backup in files.items():
        yield path
        if isinstance(backup, str):
            yield backup
    yield from (one for one in (said(value, "trackingPath"),) if one)


def _output_of(result: Result) -> str:
    return with_beside(result.text, result.detail, result.feedback)


def is_read_with_call(item: Item) -> bool:
    """Tells a result whose call stands in the same conversation."""
    return isinstance(item, Answered) and item.standing in ("own", "repeat")


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


class ResponseModels(Responses):
    """The responses of a conversation, of which only the model counts."""

    def __init__(self) -> None:
        super().__init__()
        self.models: list[str | None] = []
        self._known: dict[str, int] = {}

    def number_of(self, record: Record) -> int:
        """Returns the number of the response that a record belongs to."""
        name = record.message_id or record.request_id
        number = self._known.get(name) if name else None
        if number is None:
            number = len(self.models)
            self.models.append(None)
            if name:
                self._known[name] = number
        if self.models[number] is None:
            self.models[number] = _model_of(record)
        return number


def _model_of(record: Record) -> str | None:
    message = record.envelope.message if isinstance(record.envelope, Worded) else record.message
    return message.model if message else None


def light_items(record: Record, responses: Responses, file: int = 0) -> list[Item]:
    """Returns what a record is in a conversation, without what no word depends on."""
    envelope = record.envelope
    kind = envelope.type or ""
    if kind in COPIES:
        return [Noted(uuid=envelope.uuid, file=file, line=record.line, kind=kind)]
    found: list[Item] = []
    if isinstance(envelope, Worded) and envelope.message:
        content = envelope.message.content
        place = {
            "uuid": envelope.uuid,
            "file": file,
            "line": record.line,
            "time": record.timestamp,
        }
        if kind == "assistant":
            found = _of_model(record, responses, content, place)
        elif kind == "user" and isinstance(content, list):
            found = _of_user(record, envelope, content, place)
    return found or items_of(record, responses, file)


def _of_model(
    record: Record,
    responses: Responses,
    content: str | list[WordedBlock] | None,
    place: dict[str, Any],
) -> list[Item]:
    blocks = [WordedBlock(type="text", text=content)] if isinstance(content, str) else content
    if not blocks or not all(map(is_said, blocks)):
        return []
    number = responses.number_of(record)
    return [_of_block(block, number, place) for block in blocks]


def _of_block(block: WordedBlock, number: int, place: dict[str, Any]) -> Item:
    if block.type == "text":
        return Said(**place, response=number, text=block.text or "")
    if block.type == "thinking":
        return Thought(**place, response=number, text=block.thinking or "")
    call, name = block.id or "", block.name or ""
    return Called(**place, response=number, call=call, name=name, input=block.input)


def _of_user(
    record: Record, line: Worded, blocks: list[WordedBlock], place: dict[str, Any]
) -> list[Item]:
    if has_output_beside(line) or b'"toolDenialKind"' in record.raw:
        return []
    found: list[Item] = []
    for block in blocks:
        text = result_words(block)
        if text is None or (block.is_error and _is_rejected(record, text)):
            return []
        view = None if found else line.view  # the client's view is of one result
        if view is UNSET:
            return []
        outcome = outcome_said(text, view, is_error=block.is_error is True)
        result = Result(with_beside(text, view), outcome)
        found.append(Answered(**place, call=block.tool_use_id or "", name=None, result=result))
    return found


def _is_rejected(record: Record, text: str) -> bool:
    return text.startswith(REJECTED) or b'"userFeedback"' in record.raw
