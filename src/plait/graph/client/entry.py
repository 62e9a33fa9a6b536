"""An entry of the chain to small facts about it: its blocks, its calls, what it preserved."""

from operator import attrgetter
from typing import Any

from plait.graph.entries import Told
from plait.record import Record, System
from plait.record.model import BlockHead
from plait.record.record import content_blocks
from plait.record.time import milliseconds
from plait.record.types.chain import NOTHING, Preserved


def block_heads(record: Record) -> list[BlockHead]:
    """Returns the heads of the content blocks; none for a string."""
    message = record.envelope.message
    if message is None:
        return []
    if message.content is None:  # a list with something else among its blocks
        return [BlockHead(type=block["type"]) for block in content_blocks(record)]
    return message.content if isinstance(message.content, list) else []


def call_ids(record: Record) -> list[str]:
    """Returns the ids of the tool calls that an answer makes."""
    return [head.id for head in block_heads(record) if head.type == "tool_use" and head.id]


def has_calls(record: Record) -> bool:
    """Whether an answer calls a tool."""
    return record.type == "assistant" and any(
        head.type == "tool_use" for head in block_heads(record)
    )


def result_ids(record: Record) -> list[str]:
    """Returns the ids of the calls that an entry answers."""
    heads = block_heads(record)
    return [head.tool_use_id for head in heads if head.type == "tool_result" and head.tool_use_id]


def is_result(record: Record) -> bool:
    """Whether an entry carries a tool result."""
    return record.type == "user" and any(head.type == "tool_result" for head in block_heads(record))


def is_boundary(record: Record) -> bool:
    """Whether a compaction begins here."""
    return record.type == "system" and record.subtype == "compact_boundary"


def is_note(record: Record) -> bool:
    """Whether an entry only accompanies others: an attachment, a notice, a meta prompt."""
    if record.type == "user":
        return record.is_meta and not is_result(record)
    return record.type == "attachment" or (record.type == "system" and not is_boundary(record))


def is_blank(block: dict[str, Any]) -> bool:
    """Whether a block is a text of nothing but white space."""
    return block["type"] == "text" and not block["text"].strip()


def is_thinking(block: dict[str, Any]) -> bool:
    """Whether a block is a thought of the model."""
    return block["type"] in ("thinking", "redacted_thinking")


def model_of(record: Record) -> str | None:
    """Returns the model that answered."""
    return record.envelope.message.model if record.envelope.message else None


def preserved_by(record: Record) -> Preserved:
    """Returns what a compaction keeps in the context."""
    return (record.preserved if isinstance(record, System) else None) or NOTHING


RECORDS: Told[Record] = Told(
    kind=attrgetter("type"),
    subtype=attrgetter("subtype"),
    is_sidechain=attrgetter("is_sidechain"),
    time=lambda record: milliseconds(record.envelope.timestamp),
    response=attrgetter("message_id"),
    has_calls=has_calls,
    is_result=is_result,
    is_note=is_note,
    is_boundary=is_boundary,
    preserved=preserved_by,
)
