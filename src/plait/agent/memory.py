"""What a session has said, who is asked and what may be called to the next request.

Two marks say what the API keeps for later requests: one behind the tools and the system prompt,
which stay the same, and one behind the last message, which the next request begins with.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.agent.capacity import LONG, capacity_of
from plait.agent.context import LiveContext
from plait.agent.streaming import Block, Message, Request

CACHED = {"type": "ephemeral"}
UNMARKED = ("thinking", "redacted_thinking")
"""Blocks that the API lets carry no mark."""


class SessionMemory:
    """What the model is sent: what the log says, behind a system prompt."""

    def __init__(
        self,
        context: LiveContext,
        model: str,
        system: Sequence[Block] = (),
        *,
        max_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.context = context
        self.model = model
        self.system = system
        self.max_tokens = max_tokens
        self.extra = dict(extra or {})

    def request(self, tools: Sequence[Mapping[str, Any]] = ()) -> Request:
        """Returns what is sent to the model now."""
        return self.request_of(self.context.messages(), tools)

    def request_of(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Request:
        """Returns a request of other messages, with all else as it is."""
        return Request(
            model=self.model.removesuffix(LONG),
            messages=marked_messages(messages),
            system=_marked(self.system) or self.system,
            tools=tools,
            max_tokens=self.max_tokens or capacity_of(self.model).output,
            extra=self.extra,
        )


def marked_messages(messages: Sequence[Message]) -> list[Message]:
    """Returns messages with a mark behind the last one that can carry it."""
    found = list(messages)
    for place in range(len(found) - 1, -1, -1):
        if blocks := _marked(found[place]["content"]):
            found[place] = {**found[place], "content": blocks}
            break
    return found


def _marked(blocks: Sequence[Block]) -> list[Block] | None:
    """Returns blocks with a mark on the last one that can carry it, None where none can."""
    for place in range(len(blocks) - 1, -1, -1):
        if _can_carry_mark(blocks[place]):
            marked = {**blocks[place], "cache_control": CACHED}
            return [*blocks[:place], marked, *blocks[place + 1 :]]
    return None


def _can_carry_mark(block: Block) -> bool:
    is_empty = block.get("type") == "text" and not block.get("text")
    return block.get("type") not in UNMARKED and not is_empty
