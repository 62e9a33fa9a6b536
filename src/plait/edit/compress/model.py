"""What is compressed, and how, as values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from plait.conversation.model import Item
from plait.record import Record

Calls: TypeAlias = Literal["metadata", "none"]
"""Whether calls are told, a line each, or go with their results."""
CALLS: tuple[Calls, ...] = get_args(Calls)


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn as whoever sums it up reads it."""

    number: int
    prompts: tuple[str, ...]
    answers: tuple[str, ...]
    """What the model said, one text after the other."""
    calls: tuple[str, ...]
    """A line for each call of a tool."""

    @property
    def text(self) -> str:
        """All of it: what was asked, then the answers, then the calls."""
        parts = [("Prompt", self.prompts), ("Answer", self.answers)]
        told = [f"# {name}\n\n{text.strip()}" for name, texts in parts for text in texts]
        if self.calls:
            told.append("# Tool calls\n\n" + "\n".join(f"- {line}" for line in self.calls))
        return "\n\n".join(told) + "\n"


Summariser: TypeAlias = Callable[[ToldTurn], str]
"""Says in few words what was answered in a turn; empty where nothing was."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A turn as the client has it."""

    number: int
    """0 for what stands before the first prompt that Claude sees."""
    records: tuple[Record, ...]
    """In the order of the client's chain."""
    items: tuple[Item, ...]
    is_head: bool = False
    """It stands before the first prompt of all."""


@dataclass(frozen=True, slots=True)
class Band:
    """The older turns of what Claude sees, and where the newer ones begin."""

    boundary: Record | None
    """The compaction that they stand behind already."""
    segments: tuple[Segment, ...]
    tail: tuple[Record, ...]
    """What is left alone."""
    tail_turns: int
    linked: Mapping[str, str]
    """What records hang on for the client, where that is not what they say."""
    has_past: bool = False
    """Whether people read something before it that the client no longer sends."""

    @property
    def records(self) -> Iterator[Record]:
        """Yields all that Claude sees, in its order."""
        for segment in self.segments:
            yield from segment.records
        yield from self.tail

    @property
    def turns(self) -> int:
        """How many turns it has; the rest of one that a compaction cut counts."""
        return sum(bool(one.records) and not one.is_head for one in self.segments)
