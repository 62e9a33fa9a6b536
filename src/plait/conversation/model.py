"""Conversations as plain values: turns, what stands in them, who answered, what was called.

Every record of a DAG-line stands in its conversation, as one item or as several.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.item import Answered as Answered
from plait.conversation.item import Called as Called
from plait.conversation.item import Compacted as Compacted
from plait.conversation.item import Enclosure as Enclosure
from plait.conversation.item import Folded as Folded
from plait.conversation.item import Item as Item
from plait.conversation.item import Left as Left
from plait.conversation.item import Noted as Noted
from plait.conversation.item import Outcome as Outcome
from plait.conversation.item import Persisted as Persisted
from plait.conversation.item import Result as Result
from plait.conversation.item import Said as Said
from plait.conversation.item import Shown as Shown
from plait.conversation.item import Spot as Spot
from plait.conversation.item import Standing as Standing
from plait.conversation.item import Thought as Thought
from plait.conversation.item import Told as Told
from plait.conversation.item import ToldKind as ToldKind
from plait.graph.model import LineKind
from plait.record.message import Usage

DurationBy: TypeAlias = Literal["client", "times"]


class Response(Struct, frozen=True):
    """One answer of the model: all blocks of one `message.id`, with its final figures."""

    id: str | None
    request: str | None
    model: str | None
    uuids: tuple[str, ...]
    started: str | None
    ended: str | None
    stop_reason: str | None
    usage: Usage | None
    is_synthetic: bool = False
    """Made by the client, not by a model."""
    is_error: bool = False
    """The API's error in the place of an answer."""
    is_meta: bool = False
    """Put there by the client, not part of what was said."""
    logged_cost: float | None = None
    effort: str | None = None


class Turn(Struct, frozen=True):
    """A prompt and all that answers it."""

    number: int
    """From 1; 0 for what stands before the first prompt."""
    opener: Told | None
    items: tuple[Item, ...]
    """In reading order, the opener first."""
    responses: tuple[int, ...]
    """Those that begin here, by their places in the conversation's."""
    started: str | None
    ended: str | None
    duration_ms: float | None = None
    duration_by: DurationBy | None = None
    """Who says how long it took: the client, else the times of its records."""
    asking_ms: float = 0
    """The part of it in which the model waited for a person's answer."""
    waited_ms: float | None = None
    """How long the conversation waited for this prompt."""
    is_interrupted: bool = False

    @property
    def is_answered(self) -> bool:
        """Tells whether the model said something, be it an error."""
        return bool(self.responses)

    @property
    def working_ms(self) -> float | None:
        """How long the model and its tools worked."""
        return None if self.duration_ms is None else max(self.duration_ms - self.asking_ms, 0)


class Conversation(Struct, frozen=True):
    """One DAG-line as people and tools took turns."""

    id: str
    kind: LineKind
    session: str
    project: str
    title: str | None
    turns: tuple[Turn, ...]
    responses: tuple[Response, ...]
    files: tuple[str, ...]
    """The files of the graph; items name them by number."""
    is_active: bool = True
    parent: str | None = None
    """The conversation that it leaves or was sent out by."""
    attachment: str | None = None
    """The record where it leaves its parent."""
    label: str | None = None
    agent: str | None = None
    call: str | None = None
    """The call that sent the agent out."""
    started: str | None = None
    ended: str | None = None

    def items(self) -> Iterator[Item]:
        """Yields everything in reading order, folded records within what folds them."""
        for turn in self.turns:
            yield from turn.items


class Conversations(Struct, frozen=True):
    """All conversations of a session: its trunk, its branches, its agents."""

    session: str
    main: str
    """The one that Claude Code would go on with."""
    by_line: Mapping[str, Conversation]
    recovered: Conversation | None = None
    """What could still be read from broken lines; the client never sees it."""

    @property
    def active(self) -> Conversation:
        """The one that Claude Code would go on with."""
        return self.by_line[self.main]
