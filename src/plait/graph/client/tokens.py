"""Estimates of the tokens of a request, without a tokenizer.

The weights fit how the usage of real sessions grew from one response to the next: a character of a
result takes more than one of prose, and each call and each result has some overhead. The remaining
error differs from model to model and is constant within a session; `conversation/next_prompt.py`
measures it there.
"""

from collections.abc import Iterable

from plait.graph.client.entries import Block, Message
from plait.record.codec import encode_value

PROSE, CALL, RESULT = 3.9, 3.5, 3.0
"""Approximate characters per token: of prose, of a call's input, of a result."""
SIGNED = 4.0
"""Characters of a signature per token: it holds the thinking, whether its text is there or not."""
AROUND = 45
"""Overhead in tokens of a call and of a result."""
PICTURE = 1600
"""Tokens of an image of the size that the client sends."""


def estimate_request_tokens(request: Iterable[Message]) -> int:
    """Return the estimated tokens of some messages."""
    return sum(estimate_block_tokens(block) for _, blocks in request for block in blocks)


def estimate_block_tokens(block: Block) -> int:
    """Return the estimated tokens of a block."""
    match block.get("type"):
        case "image" | "document":
            return PICTURE
        case "text":
            return _weight(str(block.get("text", "")), PROSE)
        case "thinking" | "redacted_thinking":
            signed = block.get("signature") or block.get("data")
            if isinstance(signed, str) and signed:
                return _weight(signed, SIGNED)
            return _weight(str(block.get("thinking") or ""), PROSE)
        case "tool_use":
            given = encode_value(block.get("input")).decode()
            return AROUND + _weight(str(block.get("name", "")) + given, CALL)
        case "tool_result":
            content = block.get("content")
            parts = (
                content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
            )
            found = 0
            for part in parts:
                if isinstance(part, dict):
                    is_text = part.get("type") == "text"
                    found += (
                        _weight(str(part.get("text")), RESULT)
                        if is_text
                        else estimate_block_tokens(part)
                    )
            return AROUND + found
        case _:
            return _weight(encode_value(block).decode(), CALL)


def _weight(text: str, per_token: float) -> int:
    """Return the tokens of a text; a character outside ASCII counts as one."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return round(plain / per_token) + len(text) - plain
