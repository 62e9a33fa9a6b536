"""A question beside the conversation to the blocks of its answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.agent.streaming import Block, BlockEnded, Model, ModelFault, Request
from plait.agent.tools.model import Ask, ToolError

MOST_TOKENS = 8192


def aside(model: Model, name: str) -> Ask:
    """Returns what asks a model something that the conversation does not hold."""

    async def ask(question: str, tools: Sequence[Mapping[str, Any]]) -> Sequence[Block]:
        messages = [{"role": "user", "content": question}]
        request = Request(name, messages, tools=tools, max_tokens=MOST_TOKENS)
        try:
            pieces = [piece async for piece in model.stream(request)]
        except ModelFault as fault:
            raise ToolError(f"The model did not answer: {fault.text}") from fault
        return [piece.block for piece in pieces if isinstance(piece, BlockEnded)]

    return ask
