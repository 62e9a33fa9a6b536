"""Events of a running session, as a console shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from plait.chat.streaming import Block
from plait.chat.tools.base import Outcome, Proposal

Ending: TypeAlias = Literal["done", "interrupted", "failed", "max_turns", "max_budget", "refused"]


@dataclass(frozen=True, slots=True)
class PromptLogged:
    """A prompt is in the log."""

    uuid: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of what the model thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class ResponseLogged:
    """A response is in the log, as the API sent it."""

    message: str
    request: str | None
    model: str
    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Mapping[str, Any]

    @property
    def tool_calls(self) -> tuple[Block, ...]:
        """The tool calls in it."""
        return tuple(block for block in self.content if block.get("type") == "tool_use")

    @property
    def text(self) -> str:
        """The text in it."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is about to be done."""

    call: str
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A call has come further."""

    call: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A result is in the log."""

    call: str
    tool: str
    outcome: Outcome
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The model did not answer; it is asked again."""

    text: str
    attempt: int
    max_attempts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary stands for what was said."""

    trigger: Literal["auto", "manual"]
    tokens_before: int
    """Tokens of the context before."""
    summary: str
    model: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """What the summary took; no response of the log says it."""


@dataclass(frozen=True, slots=True)
class Notice:
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
class AgentEvent:
    """Something happened in the conversation of an agent."""

    agent: str
    call: str
    """The call that sent it out."""
    event: "Event"


Event: TypeAlias = (
    PromptLogged
    | TextDelta
    | ThinkingDelta
    | ResponseLogged
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | RetryScheduled
    | Compacted
    | Notice
    | TurnEnded
    | AgentEvent
)
