"""A block, and what the client says of it besides, to shorter ones of the same form."""

from typing import Any

import msgspec

from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import answered_by, call_of

PICTURES = frozenset({"image", "document"})


def shortened(block: dict[str, Any], cut: Cut) -> dict[str, Any]:
    """Returns a block with the text of a cut in the place of what it held."""
    words = cut.to or ""
    if answered_by(block):
        return {**block, "content": words}
    if call_of(block):
        return {**block, "input": msgspec.json.decode(words)}
    return {"type": "text", "text": words}
