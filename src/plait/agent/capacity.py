"""A model's name to how much it reads and writes at most, and when its context is nearly full."""

import re
from typing import NamedTuple

LONG = "[1m]"
"""How the client writes that a model runs with its long context."""
RESERVED = 20_000
"""Tokens that are kept free for a summary."""
MARGIN = 13_000
"""Tokens before that at which room is made, so that a turn can still go on."""


class Capacity(NamedTuple):
    """What a model takes and gives."""

    window: int
    """Tokens of a request and its answer."""
    output: int
    """Tokens of an answer."""

    @property
    def full(self) -> int:
        """From how many tokens on a conversation is summed up."""
        return self.window - min(self.output, RESERVED) - MARGIN


SMALL, LARGE = 200_000, 1_000_000
KNOWN = (
    (re.compile(r"claude-(?:opus|sonnet|haiku)-5-5"), Capacity(LARGE, 128_000)),
    (re.compile(r"claude-(?:(?:opus|sonnet|fable)-5|opus-4-[78])(?!\d)"), Capacity(LARGE, 64_000)),
    (re.compile(r"claude-opus-4-6(?!\d)"), Capacity(SMALL, 64_000)),
    (re.compile(r"claude-3-5-haiku"), Capacity(SMALL, 8_192)),
    (re.compile(r"claude-3-(?:haiku|opus|sonnet)"), Capacity(SMALL, 4_096)),
)
OTHER = Capacity(SMALL, 32_000)


def capacity_of(model: str) -> Capacity:
    """Returns what a model takes and gives; one that is not known is taken for a small one."""
    found = next((one for name, one in KNOWN if name.search(model)), OTHER)
    return found._replace(window=LARGE) if model.endswith(LONG) else found
