"""A record to a few words: what kind of thing it is, and how it begins."""

from typing import NamedTuple

from plait.record import Attachment, Record, System, Thinking, ToolResult, ToolUse
from plait.record.prompt import is_human_prompt
from plait.view.blocks import answered, called
from plait.view.wording import one_line, plain_words


class Brief(NamedTuple):
    """What a record is called in a list, and its first words."""

    kind: str
    words: str


def brief(record: Record) -> Brief:
    """Returns a record in a few words."""
    match record.kind:
        case "assistant":
            return brief_answer(record)
        case "user":
            return brief_user(record)
        case "system":
            return Brief("system", system_words(record))
        case "attachment":
            return Brief("attachment", attachment_words(record))
        case other:
            data = record.envelope.data
            return Brief(other, (data.type if data else None) or "")


def system_words(record: Record) -> str:
    """Returns a note of the client in a few words; a compaction with what it saved."""
    facts = record.compact_metadata if isinstance(record, System) else None
    if record.subtype != "compact_boundary" or facts is None:
        return one_line(f"{record.subtype or ''} {record.text}")
    how = "compacted by hand" if facts.trigger == "manual" else "compacted automatically"
    if facts.pre_tokens is None:
        return how
    after = f" to {facts.post_tokens:,}" if facts.post_tokens is not None else ""
    return f"{how}: {facts.pre_tokens:,}{after} tokens".replace(",", " ")


def brief_answer(record: Record) -> Brief:
    """Returns a block of a response in a few words."""
    blocks = record.message.content if record.message else ()
    calls = [block for block in blocks if isinstance(block, ToolUse)]
    if calls:
        return Brief("call", one_line("  ".join(called(call.name, call.input) for call in calls)))
    if record.is_api_error_message:
        return Brief("error", one_line(record.text))
    if not record.text and any(isinstance(block, Thinking) for block in blocks):
        thought = next(block.thinking for block in blocks if isinstance(block, Thinking))
        return Brief("thinking", one_line(thought or ""))
    return Brief("answer", one_line(record.text))


def brief_user(record: Record) -> Brief:
    """Returns a prompt, a result, or what else stands in the user's place in a few words."""
    blocks = record.message.content if record.message else ()
    for block in blocks:
        if isinstance(block, ToolResult):
            kind = "failure" if block.is_error else "result"
            return Brief(kind, answered(block.content))
    words = one_line(plain_words(record.text.strip()))
    if record.is_compact_summary:
        return Brief("summary", words)
    if record.is_meta:
        return Brief("meta", words)
    return Brief("prompt" if is_human_prompt(record) else "input", words or image_words(blocks))


def image_words(blocks: tuple[object, ...]) -> str:
    """Returns what to say of a prompt without words."""
    return f"({len(blocks)} blocks without words)" if blocks else "(empty)"


def attachment_words(record: Record) -> str:
    """Returns the type of an attachment, and its words where it is a prompt."""
    head = record.envelope.attachment
    kind = (head.type if head else None) or "attachment"
    attachment = record.attachment if isinstance(record, Attachment) else None
    prompt = getattr(attachment, "prompt", None)
    return one_line(f"{kind}  {prompt}") if isinstance(prompt, str) else kind
