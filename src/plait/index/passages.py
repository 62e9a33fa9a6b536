"""The text of conversation items as it is indexed: one passage for each prompt, answer or result."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET

from plait.conversation.items import Responses, build_items, build_queue_item
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    ClientNote,
    CompactionItem,
    Item,
    LateResult,
    OtherBlock,
    Result,
    ToolCall,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.results import REJECTED, determine_outcome, read_persisted_output
from plait.index.model import PassageKind
from plait.index.plain_lines import (
    add_view_words,
    has_saved_output,
    is_plain_block,
    read_plain_texts,
    result_words,
)
from plait.line import Line
from plait.record import Record
from plait.record.codec import as_mapping, encode, get_text, iter_strings
from plait.record.reader import (
    BlockWithText,
    Broken,
    Entry,
    EnvelopeWithText,
    decode_with_text,
    parse_entry,
    parse_record,
)
from plait.record.text import extract_extra_text
from plait.record.types import QueueOperation

PROMPT_PASSAGES: dict[UserMessageKind, PassageKind] = {
    "prompt": "prompt",
    "queued": "prompt",
    "command": "command",
    "bash": "command",
    "command-output": "output",
    "bash-output": "output",
    "summary": "summary",
}
COPIED_KINDS = frozenset(
    """
    api-request api-request-blob api-request-shape last-prompt queue-operation
    custom-title ai-title agent-name attribution-snapshot content-replacement cost-state
    bridge-session
    """.split()
)
"""Notes whose text is elsewhere, or that have none."""
CALLBACK = "callback"
"""The command of a hook that belongs to the client."""
SNAPSHOTS = frozenset({"file-history-snapshot", "file-history-delta"})
NAMED_KINDS = frozenset({"command", "skill", "hook", "teammate", "peer", "notice"})
PATHS = ("file_path", "path", "notebook_path", "filePath")
MAX_NOTE_CHARACTERS = 200_000


class PassageWords(NamedTuple):
    """The searchable texts of one item."""

    kind: PassageKind
    text: str
    path: str | None = None


def extract_words(item: Item) -> PassageWords | None:
    """Return the searchable text of an item; None if it has none of its own."""
    match item:
        case AssistantText(text=text):
            return PassageWords("answer", text) if text else None
        case AssistantThinking(text=text):
            return PassageWords("thinking", text) if text else None
        case ToolCall():
            return PassageWords(
                "input", "\n".join(iter_strings(item.input, ())), find_path(item.input)
            )
        case LateResult(result=result):
            return PassageWords(
                "output", add_view_words(result.text, result.detail, result.feedback)
            )
        case UserMessage():
            name = item.name if item.kind in NAMED_KINDS else None
            parts = (name, item.text, item.arguments, item.output, item.errors, item.context)
            text = "\n".join(dict.fromkeys(part for part in parts if part))
            return PassageWords(PROMPT_PASSAGES.get(item.kind, "note"), text) if text else None
        case CompactionItem(text=text):
            return PassageWords("note", text)
        case ClientNote():
            if item.kind in COPIED_KINDS:
                return None
            if item.kind == "summary":
                summary = get_text(as_mapping(item.value), "summary")
                return PassageWords("summary", summary) if summary else None
            text = "\n".join(_iter_note_words(item))
            return PassageWords("note", text[:MAX_NOTE_CHARACTERS]) if text else None
        case OtherBlock():
            text = "\n".join(iter_strings(item.enclosure.value))
            return PassageWords("note", text[:MAX_NOTE_CHARACTERS]) if text else None
        case _:
            return None


def _iter_note_words(item: ClientNote) -> Iterator[str]:
    """Yield the texts of a note: its text, and what its other fields say beyond that."""
    value = as_mapping(item.value)
    inner = value.get("data" if item.kind == "progress" else "attachment")
    if item.kind in SNAPSHOTS:
        # The backed-up files; older clients wrote their contents with them.
        files = as_mapping(as_mapping(value.get("snapshot")).get("trackedFileBackups"))
        for path, backup in files.items():
            yield path
            if isinstance(backup, str):
                yield backup
        if tracked := get_text(value, "trackingPath"):
            yield tracked
    elif item.kind == "progress":
        if as_mapping(inner).get("command") != CALLBACK:
            yield from dict.fromkeys(
                string
                for string in iter_strings(inner)
                if not string.replace(".", "", 1).isdecimal()
            )
    elif item.text:
        yield item.text
        yield from extract_extra_text(
            inner if isinstance(inner, Mapping) else value, item.text
        ).values()
    else:
        yield from iter_strings(item.value)


def is_read_with_call(item: Item) -> bool:
    """Return whether a result is shown with its call in the same conversation."""
    return isinstance(item, LateResult) and item.origin in ("own", "repeat")


def find_path(given: Any) -> str | None:
    """Return the file in a tool's input."""
    if not isinstance(given, Mapping):
        return None
    return next((given[name] for name in PATHS if isinstance(given.get(name), str)), None)


MAX_OUTPUT_BYTES = 8 << 20
"""Bytes of an output saved next to the log that are indexed."""


def read_line_texts(line: Line, folder: Path) -> tuple[list[str], bool]:
    """Return the texts of a line's items, "" for one without any; and whether the line is
    complete.
    """
    usual = decode_with_text(line.data)
    texts = read_plain_texts(usual) if usual else None
    if texts is not None:
        return texts, True
    entry = parse_entry(line)
    return list(iter_texts(entry, folder)), isinstance(entry, Record)


def iter_texts(entry: Entry, folder: Path) -> Iterator[str]:
    """Yield the texts of the items of a line, "" for one without any."""
    for record in list_records(entry):
        for item in list_items(record):
            words = extract_words(item)
            yield add_saved_output(item, words, folder).text if words else ""


def list_records(entry: Entry) -> Iterable[Record]:
    """Return the record on a line, or what was recovered of a broken one."""
    if isinstance(entry, Record):
        return (entry,)
    if isinstance(entry, Broken):
        return [
            parse_record(encode(recovered.fields), recovered.line, recovered.offset)
            for recovered in entry.recovered
        ]
    return ()


def list_items(record: Record) -> list[Item]:
    """Return the items of a record; a prompt of the queue is one."""
    if isinstance(record, QueueOperation):
        return [build_queue_item(record, {}, set())]
    return build_items(record, Responses())


def add_saved_output(item: Item, words: PassageWords, folder: Path) -> PassageWords:
    """Return the texts, with an output that was saved next to the log in its place."""
    if not isinstance(item, LateResult) or item.result.persisted is None:
        return words
    text = read_persisted_output(folder, item.result.persisted, MAX_OUTPUT_BYTES)
    return words._replace(text=text or words.text)


class ResponseModels(Responses):
    """The responses of a conversation, reduced to their models."""

    def __init__(self) -> None:
        super().__init__()
        self.models: list[str | None] = []
        self._known: dict[str, int] = {}

    def number_of(self, record: Record) -> int:
        """Return the number of the response that a record belongs to."""
        name = record.message_id or record.request_id
        number = self._known.get(name) if name else None
        if number is None:
            number = len(self.models)
            self.models.append(None)
            if name:
                self._known[name] = number
        if self.models[number] is None:
            message = (
                record.envelope.message
                if isinstance(record.envelope, EnvelopeWithText)
                else record.message
            )
            self.models[number] = message.model if message else None
        return number


def build_light_items(record: Record, responses: Responses, file: int = 0) -> list[Item]:
    """Return the conversation items of a record, without what no text depends on."""
    envelope = record.envelope
    kind = envelope.type or ""
    if kind in COPIED_KINDS:
        return [ClientNote(uuid=envelope.uuid, file=file, line=record.line, kind=kind)]
    found: list[Item] = []
    if isinstance(envelope, EnvelopeWithText) and envelope.message:
        content = envelope.message.content
        place = {
            "uuid": envelope.uuid,
            "file": file,
            "line": record.line,
            "time": record.timestamp,
        }
        if kind == "assistant" and content:
            if isinstance(content, str):
                content = [BlockWithText(type="text", text=content)]
            if all(map(is_plain_block, content)):
                number = responses.number_of(record)
                found = [_block_item(block, number, place) for block in content]
        elif kind == "user" and isinstance(content, list):
            found = _build_user_items(record, envelope, content, place)
    return found or build_items(record, responses, file)


def _block_item(block: BlockWithText, number: int, place: dict[str, Any]) -> Item:
    if block.type == "text":
        return AssistantText(**place, response=number, text=block.text or "")
    if block.type == "thinking":
        return AssistantThinking(**place, response=number, text=block.thinking or "")
    call, name = block.id or "", block.name or ""
    return ToolCall(**place, response=number, call=call, name=name, input=block.input)


def _build_user_items(
    record: Record, line: EnvelopeWithText, blocks: list[BlockWithText], place: dict[str, Any]
) -> list[Item]:
    if has_saved_output(line) or b'"toolDenialKind"' in record.raw:
        return []
    found: list[Item] = []
    for block in blocks:
        text = result_words(block)
        if text is None or (
            block.is_error and (text.startswith(REJECTED) or b'"userFeedback"' in record.raw)
        ):
            return []
        view = None if found else line.view  # the client's view is of one result
        if view is UNSET:
            return []
        outcome = determine_outcome(text, view, is_error=block.is_error is True)
        result = Result(add_view_words(text, view), outcome)
        found.append(LateResult(**place, call=block.tool_use_id or "", name=None, result=result))
    return found
