"""Spans as plain values: what was done, as part of what, from when to when, at what cost.

A span knows no wire format. Its ids are derived from the ids of records, so the same log gives the
same spans however often it is read.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from plait.conversation.usage import Tokens

SpanKind: TypeAlias = Literal[
    "turn",  # a prompt and everything that answers it: the root of a trace
    "agent",  # a sub-agent, inside the call that started it
    "generation",  # one response of a model
    "tool",
    "compaction",
    "workflow",  # the agents that one call of a workflow started
    "hook",
    "event",  # a moment: a queued prompt, an interruption, an error of the API
]
Level: TypeAlias = Literal["DEFAULT", "WARNING", "ERROR"]
Convention: TypeAlias = Literal["langfuse", "genai", "both"]


class Span(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work, and its place in a trace."""

    trace: str
    """32 hexadecimal digits; one trace for each turn."""
    id: str
    """16 hexadecimal digits."""
    parent: str | None = None
    kind: SpanKind
    name: str
    start: int | None = None
    """Nanoseconds since 1970; None if the log does not say."""
    end: int | None = None
    near: int | None = None
    """For the root of a trace without any time: when it was, as near as is known."""
    session: str
    conversation: str
    """The DAG-line that it is on."""
    project: str = ""
    turn: int
    """The number of the turn; for an agent's spans, of the turn that started the agent."""
    level: Level = "DEFAULT"
    status: str = ""
    """What went wrong, in a few words."""
    input: Any = None
    output: Any = None
    thinking: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    response: str | None = None
    """The id that the API gave the response."""
    stop_reason: str | None = None
    tokens: Tokens | None = None
    """Of this response alone; None if the log does not say."""
    cost: float | None = None
    """In dollars; None if it cannot be priced."""
    record: str | None = None
    """The record that it begins with."""
    is_abandoned: bool = False
    """Whether it is on an abandoned branch, or was retracted."""


class Content(Struct, frozen=True):
    """How much of the text of a session is sent."""

    has_content: bool = True
    has_thinking: bool = False
    limit: int = 100_000
    """Characters of one input, output or thinking block; longer ones are cut, and marked."""
