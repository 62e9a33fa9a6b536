"""Blocks to about how many tokens they take: no tokenizer is at hand."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from plait.graph.client.model import Block, Message

PER_TOKEN = 3.6
"""Characters of English and code, about."""
PICTURE = 1600
"""Tokens of a picture of the size that the client sends."""


def tokens_sent(request: Iterable[Message]) -> int:
    """Returns about how many tokens some messages take."""
    return sum(tokens_in(block) for _, blocks in request for block in blocks)


def tokens_in(block: Block) -> int:
    """Returns about how many tokens a block takes."""
    if block.get("type") in ("image", "document"):
        return PICTURE
    inner = block.get("content")
    if block.get("type") == "tool_result" and isinstance(inner, list):
        return sum(tokens_in(one) for one in inner if isinstance(one, dict))
    return round(_characters(block) / PER_TOKEN)


def _characters(block: Mapping[str, Any]) -> int:
    kind = block.get("type")
    if kind in ("text", "thinking"):
        return len(str(block.get(kind, "")))
    if kind == "tool_result":
        return len(str(block.get("content", "")))
    if kind == "tool_use":
        given = msgspec.json.encode(block.get("input"))
        return len(str(block.get("name", ""))) + len(given)
    return len(msgspec.json.encode(block))
