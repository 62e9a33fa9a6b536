"""Rows, records and blocks to a few words: prompts without their machine tags, marks by name."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from plait.graph.rows import Mark, RowShape
from plait.record import Attachment, Record, System, Thinking, ToolResult, ToolUse
from plait.record.prompt import is_human_prompt
from plait.view.amounts import thousands_in_words

COMMAND = re.compile(r"<command-name>\s*(/?[^<]*)")
ARGUMENTS = re.compile(r"<command-args>([^<]*)")
SHELL = re.compile(r"<bash-input>([^<]*)")
NOTICE = re.compile(r"<summary>([^<]*)")
TEAMMATE = re.compile(r"<teammate-message[^>]*teammate_id=\"([^\"]*)\"[^>]*>\s*([^<]*)")
TAG = re.compile(r"</?[a-z][\w-]*(?:\s[^<>]*)?>?")
LENGTH = 300
NOTES: dict[Mark, str] = {
    "leaf": "resumes here",
    "rewind": "after a rewind",
    "parallel": "two clients at once",
    "restart": "context cleared",
    "retry": "answered again",
    "unseen": "not sent on resume",
    "replay": "written twice",
    "retracted": "retracted",
    "resent": "sent again",
    "interrupted": "interrupted",
    "queued": "queued",
    "error": "api error",
    "service": "service",
}


class RawLine(Struct, frozen=True, kw_only=True):
    """One line of a file."""

    number: int
    offset: int
    length: int
    type: str
    uuid: str | None = None
    time: str | None = None
    words: str = ""
    """A record in a few words."""
    text: str
    """As it lies, or its beginning."""
    finding: str | None = None


def words_of(row: RowShape) -> str:
    """Returns what a row is about, in the words of its prompt where it has one."""
    if row.words:
        return plain_words(row.words)
    if "compaction" in row.marks:
        return "compacted"
    return "(goes on)"


def plain_words(text: str) -> str:
    """Returns a prompt as a person would write it down: commands, shell lines, notices named."""
    if not text.startswith("<"):
        return text
    if found := COMMAND.search(text):
        arguments = ARGUMENTS.search(text)
        return f"{found[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    if found := SHELL.search(text):
        return f"! {found[1].strip()}"
    if text.startswith("<task-notification"):
        found = NOTICE.search(text)
        return f"notice: {found[1].strip()}" if found else "notice of a task"
    if found := TEAMMATE.search(text):
        return f"{found[1]}: {found[2].strip()}"
    return " ".join(TAG.sub(" ", text).split()) or text


def notes_of(row: RowShape) -> list[str]:
    """Returns the marks of a row that words say better than a sign."""
    return [note for mark, note in NOTES.items() if mark in row.marks]


def one_line(text: str) -> str:
    """Returns the beginning of a text on one line."""
    return " ".join(text[: LENGTH * 2].split())[:LENGTH]


def first_words(blocks: list[dict[str, Any]]) -> str:
    """Returns how a message begins: its first text, else its first call, result or thought."""
    found = {block.get("type"): block for block in reversed(blocks)}
    if "text" in found:
        return one_line(plain_words(str(found["text"].get("text", "")).strip()))
    if "tool_use" in found:
        return _call_words(str(found["tool_use"].get("name")), found["tool_use"].get("input"))
    if "tool_result" in found:
        return _result_words(found["tool_result"].get("content"))
    if "thinking" in found:
        return one_line(str(found["thinking"].get("thinking", "")))
    return ""


def _call_words(name: str, given: object) -> str:
    values = given.values() if isinstance(given, Mapping) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return one_line(f"{name}({one_line(first)[:80]})")


def _result_words(content: object) -> str:
    if isinstance(content, str):
        return one_line(content)
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return one_line(next((text for text in texts if isinstance(text, str)), ""))


def block_names(blocks: list[dict[str, Any]]) -> str:
    """Returns the kinds of blocks in a message, calls by their tools, with their numbers."""
    counts = Counter(_names(blocks))
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


def _names(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        kind = str(block.get("type"))
        if kind == "tool_use":
            yield str(block.get("name"))
        else:
            yield kind.removeprefix("tool_")


class RecordWords(NamedTuple):
    """What a record is called in a list, and its first words."""

    kind: str
    words: str


def record_words(record: Record) -> RecordWords:
    """Returns a record in a few words."""
    match record.kind:
        case "assistant":
            return _brief_answer(record)
        case "user":
            return _brief_user(record)
        case "system":
            return RecordWords("system", _system_words(record))
        case "attachment":
            return RecordWords("attachment", _attachment_words(record))
        case other:
            data = record.envelope.data
            return RecordWords(other, (data.type if data else None) or "")


def _system_words(record: Record) -> str:
    facts = record.compact_metadata if isinstance(record, System) else None
    if record.subtype != "compact_boundary" or facts is None:
        return one_line(f"{record.subtype or ''} {record.text}")
    how = "compacted by hand" if facts.trigger == "manual" else "compacted automatically"
    before, after = map(thousands_in_words, (facts.pre_tokens, facts.post_tokens))
    left = f" to {after}" if after else ""
    return f"{how}: {before}{left} tokens" if before else how


def _brief_answer(record: Record) -> RecordWords:
    blocks = record.message.content if record.message else ()
    calls = [block for block in blocks if isinstance(block, ToolUse)]
    if calls:
        return RecordWords(
            "call", one_line("  ".join(_call_words(call.name, call.input) for call in calls))
        )
    if record.is_api_error_message:
        return RecordWords("error", one_line(record.text))
    if not record.text and any(isinstance(block, Thinking) for block in blocks):
        thought = next(block.thinking for block in blocks if isinstance(block, Thinking))
        return RecordWords("thinking", one_line(thought or ""))
    return RecordWords("answer", one_line(record.text))


def _brief_user(record: Record) -> RecordWords:
    blocks = record.message.content if record.message else ()
    for block in blocks:
        if isinstance(block, ToolResult):
            kind = "failure" if block.is_error else "result"
            return RecordWords(kind, _result_words(block.content))
    words = one_line(plain_words(record.text.strip()))
    if record.is_compact_summary:
        return RecordWords("summary", words)
    if record.is_meta:
        return RecordWords("meta", words)
    return RecordWords(
        "prompt" if is_human_prompt(record) else "input", words or _image_words(blocks)
    )


def _image_words(blocks: tuple[object, ...]) -> str:
    return f"({len(blocks)} blocks without words)" if blocks else "(empty)"


def _attachment_words(record: Record) -> str:
    head = record.envelope.attachment
    kind = (head.type if head else None) or "attachment"
    attachment = record.attachment if isinstance(record, Attachment) else None
    prompt = getattr(attachment, "prompt", None)
    return one_line(f"{kind}  {prompt}") if isinstance(prompt, str) else kind
