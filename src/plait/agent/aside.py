"""A question beside the conversation to the blocks of its answer, logged nowhere."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from plait.agent.capacity import LONG
from plait.agent.streaming import Block, BlockEnded, Model, ModelFault, Request
from plait.agent.tools.model import ToolError

MOST_TOKENS = 8_000


@dataclass(frozen=True, slots=True)
class Aside:
    """Has a model read or search something for a tool."""

    model: Model
    name: str

    async def __call__(self, words: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Block]:
        """Returns what the model answers; raises ToolError where it does not."""
        request = Request(
            self.name.removesuffix(LONG),
            [{"role": "user", "content": [{"type": "text", "text": words}]}],
            tools=tools,
            max_tokens=MOST_TOKENS,
        )
        try:
            async with aclosing(self.model.stream(request)) as pieces:
                return [piece.block async for piece in pieces if isinstance(piece, BlockEnded)]
        except ModelFault as fault:
            raise ToolError(f"the model did not answer: {fault.text}") from fault
