"""The kept chain to what each entry says: role and blocks, before turns are made."""

import re
from collections.abc import Iterable
from typing import Any

from plait.graph.client.entry import (
    content_blocks,
    is_blank,
    is_boundary,
    is_thinking,
    model_of,
)
from plait.graph.client.model import NO_CONTENT, Block, Loaded, Said
from plait.record import Record

SYNTHETIC = "<synthetic>"
ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
NOTIFICATION = "<system-reminder>\n{}\n</system-reminder>"
TOOL_LOADED = "Tool loaded."
RENAMED = {"Task": "Agent"}
"""Tools that go by another name now."""
OFFERED = re.compile(r"claude-(?:opus|sonnet|haiku|fable)-(?:4[-.][5-9]|[5-9])(?!\d)")
DEFAULT_MODEL = "claude-opus-5-5"


def speech(loaded: Loaded, chain: list[int]) -> list[Said]:
    """Returns what the entries after the last compaction say, in the order of the chain."""
    recent = since_boundary(loaded.records, chain)
    model = current_model(loaded.records[number] for number in recent)
    said = (said_by(number, loaded.records[number], model) for number in recent)
    return [one for one in said if one is not None]


def since_boundary(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the chain from its last compaction boundary on."""
    places = [place for place, number in enumerate(chain) if is_boundary(records[number])]
    return chain[places[-1] :] if places else chain


def current_model(records: Iterable[Record]) -> str | None:
    """Returns the model that the session goes on with: that of its last answer.

    One that is no longer offered, or somebody else's, is replaced by the client's own choice.
    """
    models = [model_of(record) for record in records if record.type == "assistant"]
    last = next((one for one in reversed(models) if one and one != SYNTHETIC), None)
    return last if last is None or OFFERED.search(last) else DEFAULT_MODEL


def said_by(number: int, record: Record, model: str | None) -> Said | None:
    """Returns what one entry says, None where it says nothing."""
    if record.type == "user":
        return prompt(number, record)
    if record.type == "assistant":
        return answer(number, record, model)
    if record.type == "attachment":
        return note(number, record)
    return notice(number, record)


def prompt(number: int, record: Record) -> Said | None:
    """Returns what a prompt or a tool result says."""
    blocks = blocks_of(record)
    origin = record.envelope.origin
    if origin and origin.kind == "task-notification":
        blocks = [as_reminder(block) for block in blocks]
    if any(loads_tools(block) for block in blocks):
        blocks.append({"type": "text", "text": TOOL_LOADED})
    message = record.envelope.message
    is_plain = message is not None and isinstance(message.content, str)
    return Said(number, "user", blocks, is_plain=is_plain) if blocks else None


def loads_tools(block: Block) -> bool:
    """Whether a result gives the model tools that it can call from now on."""
    content = block.get("content") if block["type"] == "tool_result" else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") == "tool_reference" for one in parts)


def answer(number: int, record: Record, model: str | None) -> Said:
    """Returns what an answer says; thoughts of another model cannot be sent."""
    if record.is_api_error_message:
        return Said(number, "assistant", [], is_error=True)
    blocks = [under_its_name(block) for block in blocks_of(record) if not is_blank(block)]
    if model_of(record) != model or model is None:
        blocks = [block for block in blocks if not is_thinking(block)]
    return Said(number, "assistant", blocks, message_id=record.message_id)


def under_its_name(block: Block) -> Block:
    """Returns a call under the name that its tool has now."""
    name = str(block.get("name"))
    is_renamed = block["type"] == "tool_use" and name in RENAMED
    return {**block, "name": RENAMED[name]} if is_renamed else block


def note(number: int, record: Record) -> Said | None:
    """Returns the rendered text of an attachment."""
    texts = rendered_texts(record.fields.get("rendered"))
    if not texts:
        return None
    role = "user" if record.fields.get("renderedRole") == "user" else "system"
    blocks: list[Block] = [{"type": "text", "text": text} for text in texts]
    return Said(number, role, blocks, is_note=True)


def notice(number: int, record: Record) -> Said | None:
    """Returns the output of a local command; other notices say nothing."""
    if record.subtype != "local_command":
        return None
    content = record.fields.get("content")
    text = content if isinstance(content, str) and content.strip() else NO_CONTENT
    return Said(number, "user", [{"type": "text", "text": text}])


def rendered_texts(rendered: object) -> list[str]:
    """Returns the texts that were made of an attachment."""
    pieces = rendered if isinstance(rendered, list) else []
    contents = [piece.get("content") for piece in pieces if isinstance(piece, dict)]
    texts: list[object] = []
    for content in contents:
        if isinstance(content, list):
            texts.extend(block.get("text") for block in content if isinstance(block, dict))
        else:
            texts.append(content)
    return [text for text in texts if isinstance(text, str) and text.strip()]


def as_reminder(block: Block) -> Block:
    """Wraps a text that no person typed."""
    if block["type"] != "text":
        return block
    return {**block, "text": NOTIFICATION.format(block["text"])}


def blocks_of(record: Record) -> list[Block]:
    """Returns the blocks of a message, each a copy, lone surrogates replaced."""
    blocks = [dict(block) for block in content_blocks(record)]
    if ESCAPED_SURROGATE.search(record.raw):
        for block in blocks:
            mend(block)
    return blocks


def mend(value: dict[str, Any]) -> None:
    """Replaces half characters in all texts of a value, in place."""
    todo: list[Any] = [value]
    while todo:
        current = todo.pop()
        pairs = current.items() if isinstance(current, dict) else enumerate(current)
        for key, inner in list(pairs):
            if isinstance(inner, str):
                current[key] = whole_characters(inner)
            elif isinstance(inner, dict | list):
                current[key] = inner.copy()
                todo.append(current[key])


def whole_characters(text: str) -> str:
    """Returns a text with U+FFFD for every half of a character that stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
