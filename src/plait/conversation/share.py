"""What one session adds to the figures of an archive, as plain values that can be kept."""

from array import array
from hashlib import blake2b
from typing import Literal, TypeAlias

from msgspec import Struct, field

from plait.conversation.figures import LongSession, LongTurn
from plait.conversation.tokens import NOTHING, Tokens

Happening: TypeAlias = Literal["prompt", "response", "call"]
QUARTER = 15 * 60
"""Clocks go by quarters of an hour everywhere: so do hours and days."""
UNNAMED = "unnamed"


class ToolShare(Struct, array_like=True):
    """The calls of one tool."""

    outcomes: dict[str, int] = field(default_factory=dict)
    times: bytes = b""
    """How long each took in milliseconds, as an array of floats."""

    def took(self) -> "array[float]":
        """Returns how long each call took."""
        return array("f", self.times)


class AgentShare(Struct, gc=False, array_like=True):
    """The agents of one kind."""

    agents: int = 0
    calls: int = 0


class FileShare(Struct, gc=False, array_like=True):
    """What happened to one file."""

    changes: int = 0
    reads: int = 0
    added: int = 0
    removed: int = 0


class Answer(Struct, frozen=True, gc=False, array_like=True):
    """A response, or several that need not be told apart."""

    key: int | None
    """What it is known by; None for one that nothing names, and for several."""
    model: str = UNNAMED
    agents: str | None = None
    """The kind of agent that it belongs to."""
    tokens: Tokens = NOTHING
    quarter: int | None = None
    """When it began; None where that is not known, or counted already."""
    responses: int = 1


class Share(Struct, array_like=True):
    """What a session adds; nothing of it counts where it owns no record."""

    counts: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int | float] = field(default_factory=dict)
    tools: dict[str, ToolShare] = field(default_factory=dict)
    agents: dict[str, AgentShare] = field(default_factory=dict)
    files: dict[str, FileShare] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    moments: dict[int, dict[Happening, int]] = field(default_factory=dict)
    """What happened in each quarter of an hour since 1970."""
    turns: list[LongTurn] = field(default_factory=list)
    """Those that took longest."""
    session: LongSession | None = None
    """None where it owns nothing."""
    first: str | None = None
    last: str | None = None
    earliest: str | None = None
    """Of all that stands in it, its own or not."""
    latest: str | None = None

    def note(self, what: Happening, quarter: int | None) -> None:
        """Takes in something that happened; one without a time belongs to no day."""
        if quarter is not None:
            counts = self.moments.setdefault(quarter, {})
            counts[what] = counts.get(what, 0) + 1


def digest(text: str) -> int:
    """Returns a number that stands for a text, the same in every run."""
    data = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(data, "little", signed=True)
