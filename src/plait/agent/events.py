"""What happens while a session goes on, as values that a face shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from plait.agent.streaming import Block
from plait.agent.tools.model import Outcome, Proposal

Ending: TypeAlias = Literal["done", "interrupted", "failed", "max_turns", "max_budget", "refused"]


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt is in the log."""

    uuid: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """More words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """More of what the model thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A response is in the log, as the API sent it."""

    message: str
    request: str | None
    model: str
    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Called:
    """A call is about to be done."""

    call: str
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Progressed:
    """A call has come further."""

    call: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Resulted:
    """A result is in the log."""

    call: str
    tool: str
    outcome: Outcome
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Retried:
    """The model did not answer; it is asked again."""

    text: str
    attempt: int
    most: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary stands for what was said."""

    trigger: Literal["auto", "manual"]
    before: int
    """Tokens of the context before."""
    summary: str
    model: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """What the summary took; no response of the log says it."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that the person should know: a limit that is near, a log that cannot be written."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over."""

    ending: Ending
    text: str
    """The last words of the answer, or why it failed."""
    duration_ms: int
    responses: int
    usage: Mapping[str, int]
    """Tokens of the turn, by kind."""
    cost: float | None
    """Dollars of the turn, None where a price is not known."""


@dataclass(frozen=True, slots=True)
class Within:
    """Something happened in the conversation of an agent."""

    agent: str
    call: str
    """The call that sent it out."""
    event: "Event"


Event: TypeAlias = (
    Prompted
    | Said
    | Thought
    | Answered
    | Called
    | Progressed
    | Resulted
    | Retried
    | Compacted
    | Noticed
    | TurnEnded
    | Within
)
