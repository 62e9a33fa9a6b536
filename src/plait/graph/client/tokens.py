"""Estimates of the tokens of a request: no tokenizer is at hand.

The weights are those that fit how the usage of real sessions grew from one answer to the next: a
character of a result takes more than one of prose, and each call and each result comes with
words of its own around it. The remaining error differs from model to model and is the same within
a session; `conversation/next_prompt.py` measures it there.
"""

from collections.abc import Iterable

from plait.graph.client.entries import Block, Message
from plait.record.codec import encode_value

PROSE, CALL, RESULT = 3.9, 3.5, 3.0
"""Characters to a token, about: of what is said, of a call's input, of a result."""
SIGNED = 4.0
"""Characters of a signature to a token: it holds the thought, whether its words stand or not."""
AROUND = 45
"""Tokens around a call, and around a result."""
PICTURE = 1600
"""Tokens of a picture of the size that the client sends."""


def estimate_request_tokens(request: Iterable[Message]) -> int:
    """Return about how many tokens some messages take."""
    return sum(estimate_block_tokens(block) for _, blocks in request for block in blocks)


def estimate_block_tokens(block: Block) -> int:
    """Return about how many tokens a block takes."""
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
    """Return the tokens of a text; a character that is no ASCII takes one of its own."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return round(plain / per_token) + len(text) - plain
