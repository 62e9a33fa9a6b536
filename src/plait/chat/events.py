"""Events of a running session, as a console shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from plait.chat.streaming import Block
from plait.chat.tools.base import Outcome, Proposal

Ending: TypeAlias = Literal["done", "interrupted", "failed", "max_turns", "max_budget", "refused"]


@dataclass(frozen=True, slots=True)
class PromptLogged:
    """A prompt was logged."""

    uuid: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ResponseLogged:
    """A response was logged, as the API sent it."""

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
    """A tool call is starting."""

    call: str
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """Progress of a tool call."""

    call: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool result was logged."""

    call: str
    tool: str
    outcome: Outcome
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The model did not answer; the request is repeated."""

    text: str
    attempt: int
    max_attempts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary replaced the conversation."""

    trigger: Literal["auto", "manual"]
    tokens_before: int
    """Tokens in the context before."""
    summary: str
    model: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Usage of the summary request, which no logged response contains."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user: a limit is near, the log cannot be written …"""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn ended."""

    ending: Ending
    text: str
    """The last text of the answer, or why it failed."""
    duration_ms: int
    responses: int
    usage: Mapping[str, int]
    """Tokens of the turn, by kind."""
    cost: float | None
    """Cost of the turn in dollars; None if a price is unknown."""


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """An event in an agent's conversation."""

    agent: str
    call: str
    """The call that started the agent."""
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
