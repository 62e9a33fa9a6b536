"""A request as it was paid for: what came from the cache, what was new, what was sent again."""

from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.usage import Tokens

Cause: TypeAlias = Literal[
    "pause", "process", "model", "changed", "compaction", "rewind", "edited", "unexplained"
]
"""Why something was written to the cache that had been in it.

    pause        longer than the cache lives
    process      resumed or forked: another process asks
    model        another model has a cache of its own
    changed      version, instructions, tools or settings of thinking, which stand before all else
    compaction   a summary stands for what was said, and what was preserved stands behind it
    rewind       it goes on from an earlier place
    edited       what was said has become less without a compaction
    unexplained  nothing in the log explains it
"""


class Parts(Struct, frozen=True, gc=False):
    """What a request took: the first four are all that the model read."""

    read: int = 0
    """From the cache."""
    new: int = 0
    """Written to it for the first time."""
    again: int = 0
    """Written to it though it had been there."""
    uncached: int = 0
    output: int = 0

    def __add__(self, other: "Parts") -> "Parts":
        """Returns both together."""
        return Parts(
            self.read + other.read,
            self.new + other.new,
            self.again + other.again,
            self.uncached + other.uncached,
            self.output + other.output,
        )


class PaidRequest(Struct, frozen=True, gc=False):
    """A response with what its request took, and why what was sent again was."""

    response: str
    """What it is known by."""
    line: int
    uuid: str | None
    model: str | None
    time: datetime | None
    """When its first line was written."""
    sent: datetime | None
    """When it was asked for, as far as the log tells."""
    tokens: Tokens
    before: str | None
    """The request that it goes on from."""
    known: int
    """Tokens that were in the cache when that one was answered."""
    again: int
    cause: Cause | None
    """None where nothing was written again."""
    gap: timedelta | None
    """Since what it goes on from was last read."""
    is_cut: bool = False
    """What it goes on from is not in the log."""

    @property
    def unknown(self) -> int:
        """Tokens that it wrote to the cache, and nobody can tell whether they had been there."""
        return self.tokens.cache_write if self.is_cut else 0

    @property
    def parts(self) -> Parts:
        """What it took, in parts that add up to its usage."""
        tokens = self.tokens
        new = tokens.cache_write - self.again
        return Parts(tokens.cache_read, new, self.again, tokens.input, tokens.output)
