"""An entry of the chain to small facts about it: its blocks, its calls, its time.

The client reads a timestamp as a JavaScript `Date` does: it decides which leaf can be resumed
and which entry is near enough to stand in for a missing parent.
"""

import re
from datetime import UTC, datetime
from typing import Any

from plait.record import Record
from plait.record.model import BlockHead

CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system"})


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


def has_message(record: Record) -> bool:
    """Whether a prompt or an answer holds something that can be read as a message."""
    content = record.envelope.message.content if record.envelope.message else None
    if content is not None:
        return not content or isinstance(content, str) or any(head.type for head in content)
    return any(isinstance(block, dict) for block in content_blocks(record))


def content_blocks(record: Record) -> list[dict[str, Any]]:
    """Returns the usable content blocks; a string is one text block."""
    message = record.fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if _is_block(block)] if isinstance(content, list) else []


def _is_block(block: object) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)


def is_blank(block: dict[str, Any]) -> bool:
    """Whether a block is a text of nothing but white space."""
    return block["type"] == "text" and not block["text"].strip()


def is_thinking(block: dict[str, Any]) -> bool:
    """Whether a block is a thought of the model."""
    return block["type"] in ("thinking", "redacted_thinking")


def model_of(record: Record) -> str | None:
    """Returns the model that answered."""
    return record.envelope.message.model if record.envelope.message else None


NO_TIME = float("-inf")
NONSENSE = float("nan")

ISO = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?")
LOOSE = re.compile(r"(?:[^\W\d_]+[\W_]+)*\d+(?!\d*:)[\s\d:/,.+-]*(?:[AaPp][Mm])?\s*(?:Z|UTC|GMT)?")
"""Words, then numbers: what the engine still takes for a date."""


def milliseconds(record: Record) -> float:
    """Returns the time of an entry, NO_TIME where it has none, NONSENSE where it is no time."""
    stamp = record.envelope.timestamp
    if isinstance(stamp, str):
        return _of_text(stamp)
    return NO_TIME if stamp is None else float(stamp)


def _of_text(stamp: str) -> float:
    if ISO.fullmatch(stamp):
        return _of_iso(stamp)
    if not LOOSE.fullmatch(stamp):
        return NONSENSE
    exact = _of_iso(stamp)
    return 0.0 if exact != exact else exact


def _of_iso(stamp: str) -> float:
    try:
        parsed = datetime.fromisoformat(stamp + {4: "-01-01", 7: "-01"}.get(len(stamp), ""))
    except ValueError:
        return NONSENSE
    known = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(known.timestamp() * 1000.0)
