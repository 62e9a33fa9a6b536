"""Short descriptions of graph rows, records and message blocks."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from plait.graph.layout import Mark, RowShape
from plait.graph.model import PREVIEW
from plait.record import Attachment, Record, System, Thinking, ToolResult, ToolUse
from plait.record.prompts import is_human_prompt
from plait.view.formats import format_thousands

COMMAND = re.compile(r"<command-name>\s*(/?[^<]*)")
ARGUMENTS = re.compile(r"<command-args>([^<]*)")
SHELL = re.compile(r"<bash-input>([^<]*)")
NOTICE = re.compile(r"<summary>([^<]*)")
TEAMMATE = re.compile(r"<teammate-message[^>]*teammate_id=\"([^\"]*)\"[^>]*>\s*([^<]*)")
TAG = re.compile(r"</?[a-z][\w-]*(?:\s[^<>]*)?>?")
LENGTH = 300
LABEL_LENGTH = PREVIEW - 1
"""Longer labels may have been cut in the middle of a word."""
MARK_NOTES: dict[Mark, str] = {
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
    """A short description of the record."""
    text: str
    """The raw text, or its beginning."""
    finding: str | None = None


def format_row_title(row: RowShape) -> str:
    """Return the title of a graph row: its prompt if it has one."""
    if row.words:
        return format_prompt(row.words)
    if "compaction" in row.marks:
        return "compacted"
    return "(continues)"


def format_prompt(text: str) -> str:
    """Return a prompt as the user typed it: commands, shell lines and notices without their tags."""
    if not text.startswith("<"):
        return text
    if match := COMMAND.search(text):
        arguments = ARGUMENTS.search(text)
        return f"{match[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    if match := SHELL.search(text):
        return f"! {match[1].strip()}"
    if text.startswith("<task-notification"):
        match = NOTICE.search(text)
        return f"notice: {match[1].strip()}" if match else "task notification"
    if match := TEAMMATE.search(text):
        return f"{match[1]}: {match[2].strip()}"
    return " ".join(TAG.sub(" ", text).split()) or text


def list_row_notes(row: RowShape) -> list[str]:
    """Return the marks of a row that are shown as text."""
    return [note for mark, note in MARK_NOTES.items() if mark in row.marks]


def to_single_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    return " ".join(text[: LENGTH * 2].split())[:LENGTH]


def summarize_blocks(blocks: list[dict[str, Any]]) -> str:
    """Describe a message: its first text, else its first call, result or thinking."""
    by_type = {block.get("type"): block for block in reversed(blocks)}
    if "text" in by_type:
        return to_single_line(format_prompt(str(by_type["text"].get("text", "")).strip()))
    if "tool_use" in by_type:
        return _describe_call(
            str(by_type["tool_use"].get("name")), by_type["tool_use"].get("input")
        )
    if "tool_result" in by_type:
        return _describe_result(by_type["tool_result"].get("content"))
    if "thinking" in by_type:
        return to_single_line(str(by_type["thinking"].get("thinking", "")))
    return ""


def _describe_call(name: str, arguments: object) -> str:
    values = arguments.values() if isinstance(arguments, Mapping) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return to_single_line(f"{name}({to_single_line(first)[:80]})")


def _describe_result(content: object) -> str:
    if isinstance(content, str):
        return to_single_line(content)
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return to_single_line(next((text for text in texts if isinstance(text, str)), ""))


def format_block_kinds(blocks: list[dict[str, Any]]) -> str:
    """Format the kinds of blocks in a message with their counts, calls by tool."""
    names: list[str] = []
    for block in blocks:
        kind = str(block.get("type"))
        if kind == "tool_use":
            names.append(str(block.get("name")))
        else:
            names.append(kind.removeprefix("tool_"))
    counts = Counter(names)
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


class RecordSummary(NamedTuple):
    """The name of a record's kind in a list, and its first words."""

    kind: str
    text: str


def summarize_record(record: Record) -> RecordSummary:
    """Describe a record: its kind in a list, and its beginning."""
    blocks = record.message.content if record.message else ()
    match record.kind:
        case "assistant":
            calls = [block for block in blocks if isinstance(block, ToolUse)]
            thinking = [block.thinking for block in blocks if isinstance(block, Thinking)]
            kind, text = "answer", record.text
            if calls:
                kind = "call"
                text = "  ".join(_describe_call(call.name, call.input) for call in calls)
            elif record.is_api_error_message:
                kind = "error"
            elif thinking and not record.text:
                kind, text = "thinking", thinking[0] or ""
        case "user":
            result = next((block for block in blocks if isinstance(block, ToolResult)), None)
            if result:
                kind = "failure" if result.is_error else "result"
                return RecordSummary(kind, _describe_result(result.content))
            text = to_single_line(format_prompt(record.text.strip()))
            if record.is_compact_summary or record.is_meta:
                return RecordSummary("summary" if record.is_compact_summary else "meta", text)
            kind = "prompt" if is_human_prompt(record) else "input"
            text = text or (f"({len(blocks)} blocks without text)" if blocks else "(empty)")
        case "system":
            kind, text = "system", f"{record.subtype or ''} {record.text}"
            metadata = record.compact_metadata if isinstance(record, System) else None
            if record.subtype == "compact_boundary" and metadata:
                how = {"manual": " with /compact", "auto": " automatically"}
                text = f"compacted{how.get(str(metadata.trigger), '')}"
                before, after = map(format_thousands, (metadata.pre_tokens, metadata.post_tokens))
                if before:
                    text += f": {before}{f' to {after}' if after else ''} tokens"
        case "attachment":
            envelope = record.envelope.attachment
            kind, text = "attachment", (envelope.type if envelope else None) or "attachment"
            attachment = record.attachment if isinstance(record, Attachment) else None
            prompt = getattr(attachment, "prompt", None)
            if isinstance(prompt, str):
                text = to_single_line(f"{text}  {prompt}")
            return RecordSummary(kind, text)
        case kind:
            data = record.envelope.data
            return RecordSummary(kind, (data.type if data else None) or "")
    return RecordSummary(kind, to_single_line(text))
