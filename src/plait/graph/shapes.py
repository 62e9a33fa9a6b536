"""Row shapes as plain values: what stands on a row, in which column, how columns join."""

from typing import Literal, TypeAlias

from msgspec import Struct

LinkShape: TypeAlias = Literal["straight", "fork", "agent-out", "agent-in", "end"]
Mark: TypeAlias = Literal[
    "active",  # on the line that the client would go on from
    "abandoned",
    "leaf",  # the client would go on from here
    "fork",  # other conversations leave here
    "rewind",  # the conversation was taken back and goes another way here
    "parallel",  # two clients wrote at the same time
    "restart",  # the context was cleared before this
    "retry",  # the model answered again
    "compaction",
    "session",  # another session begins here
    "agent",
    "service",
    "folded",
    "replay",
    "retracted",
    "resent",
    "interrupted",
    "queued",
    "error",
]


class Link(Struct, frozen=True, gc=False, rename={"start": "from", "end": "to", "shape": "kind"}):
    """How a row joins others: `agent-in` and `end` behind it, the rest before it."""

    start: int
    end: int
    shape: LinkShape


class Row(Struct, frozen=True, gc=False):
    """What stands on one row, and where."""

    line: str
    session: str
    uuids: tuple[str, ...]
    head: str
    """The record that it is known by: a prompt, a compaction, else its first."""
    column: int
    lanes: tuple[int, ...]
    """Other columns that pass this row and go on below it."""
    links: tuple[Link, ...]
    marks: tuple[Mark, ...]
    started: str | None = None
    """When its head was written."""
    ended: str | None = None
    """When the last of it was said; notes of the client can be hours later."""
    words: str | None = None
    """The prompt, or the task of an agent."""
    calls: int = 0
    agents: int = 0
    """How many agents were sent out on this row."""
