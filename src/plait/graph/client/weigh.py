"""Blocks to about how many tokens they take: no tokenizer is at hand.

The weights are those that fit how much the usage of real sessions grew from one answer to the
next: a character of a result takes more than one of prose, and each call and each result comes
with words of its own around it. What is left of the error differs from model to model and is
the same within a session; `conversation/next_prompt.py` finds it there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from plait.graph.client.model import Block, Message

PROSE, CALL, RESULT = 3.9, 3.5, 3.0
"""Characters to a token, about: of what is said, of a call's input, of a result."""
SIGNED = 4.0
"""Characters of a signature to a token: it holds the thought, whether its words stand or not."""
AROUND = 45
"""Tokens around a call, and around a result."""
PICTURE = 1600
"""Tokens of a picture of the size that the client sends."""


def tokens_sent(request: Iterable[Message]) -> int:
    """Returns about how many tokens some messages take."""
    return sum(tokens_in(block) for _, blocks in request for block in blocks)


def tokens_in(block: Block) -> int:
    """Returns about how many tokens a block takes."""
    match block.get("type"):
        case "image" | "document":
            return PICTURE
        case "text":
            return _weight(str(block.get("text", "")), PROSE)
        case "thinking" | "redacted_thinking":
            return _thought(block)
        case "tool_use":
            given = msgspec.json.encode(block.get("input")).decode()
            return AROUND + _weight(str(block.get("name", "")) + given, CALL)
        case "tool_result":
            return AROUND + _result(block.get("content"))
        case _:
            return _weight(msgspec.json.encode(block).decode(), CALL)


def _thought(block: Mapping[str, Any]) -> int:
    signed = block.get("signature") or block.get("data")
    if isinstance(signed, str) and signed:
        return _weight(signed, SIGNED)
    return _weight(str(block.get("thinking") or ""), PROSE)


def _result(content: object) -> int:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    found = 0
    for part in parts:
        if isinstance(part, dict):
            is_text = part.get("type") == "text"
            found += _weight(str(part.get("text")), RESULT) if is_text else tokens_in(part)
    return found


def _weight(text: str, per_token: float) -> int:
    """Returns the tokens of a text; a character that is no ASCII takes one of its own."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return round(plain / per_token) + len(text) - plain
