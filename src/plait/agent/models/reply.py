"""A whole answer to the pieces in which the API would stream it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plait.agent.streaming import (
    Began,
    Block,
    BlockBegan,
    BlockEnded,
    Ended,
    ModelFault,
    Piece,
    PieceKind,
    Request,
    Streamed,
)

PIECE = 24
"""Letters that come at once."""
LETTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is there as a whole before it is asked for."""

    content: tuple[Block, ...] = ()
    stop_reason: str | None = "end_turn"
    usage: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    pause: float = 0
    """Seconds between its pieces."""
    fault: ModelFault | None = None
    """What comes instead, or once `fault_after` pieces are out."""
    fault_after: int = 0


async def played(reply: Reply, request: Request, message: str) -> AsyncGenerator[Streamed, None]:
    """Yields the pieces of a reply, as far as it goes."""
    for number, piece in enumerate(_pieces(reply, request, message)):
        if reply.fault and number >= reply.fault_after:
            raise reply.fault
        await asyncio.sleep(reply.pause)
        yield piece


def _pieces(reply: Reply, request: Request, message: str) -> Iterator[Streamed]:
    usage = reply.usage or _estimate(reply, request)
    begun = {**usage, "output_tokens": 1}
    yield Began(message, reply.model or request.model, None, begun)
    for index, block in enumerate(reply.content):
        yield BlockBegan(index, _opened(block))
        for kind, text in _filling(block):
            for start in range(0, len(text), PIECE):
                yield Piece(index, kind, text[start : start + PIECE])
        yield BlockEnded(index, block)
    yield Ended(reply.stop_reason, None, usage)


def _opened(block: Block) -> Block:
    empty: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {name: empty.get(name, value) for name, value in block.items()}


def _filling(block: Block) -> Iterator[tuple[PieceKind, str]]:
    match block.get("type"):
        case "text":
            yield "text", str(block.get("text", ""))
        case "thinking":
            yield "thinking", str(block.get("thinking", ""))
            yield "signature", str(block.get("signature", ""))
        case "tool_use":
            yield "input", json.dumps(block.get("input", {}))


def _estimate(reply: Reply, request: Request) -> Mapping[str, Any]:
    """Returns tokens by the number of letters, where nobody counted them."""
    return {
        "input_tokens": _tokens(request.messages),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": _tokens(reply.content),
    }


def _tokens(said: Sequence[Mapping[str, Any]]) -> int:
    return max(1, len(json.dumps(list(map(dict, said)), default=str)) // LETTERS_A_TOKEN)
