"""An agent's log to whether the client sent it out only to warm up its cache."""

from itertools import islice
from pathlib import Path

from plait.record.read import read_if_there

PROMPT = "Warmup"
LOOK_AHEAD = 16


def is_warmup(path: Path) -> bool:
    """Tells such an agent by its first prompt."""
    for record in islice(read_if_there(path), LOOK_AHEAD):
        if record.kind == "user" and all(head.type == "text" for head in record.block_heads):
            return record.text.strip() == PROMPT
    return False
