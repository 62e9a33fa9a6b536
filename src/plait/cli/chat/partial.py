"""Pieces of an answer to the objects of `--include-partial-messages`, as the API streams them."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

from plait.agent.streaming import (
    Began,
    BlockBegan,
    BlockEnded,
    Ended,
    Model,
    Piece,
    PieceKind,
    Streamed,
)
from plait.agent.streaming import Request as Asked

Json: TypeAlias = dict[str, Any]
DELTAS: dict[PieceKind, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "signature": ("signature_delta", "signature"),
    "input": ("input_json_delta", "partial_json"),
}
EMPTY = {"text": "", "thinking": "", "signature": "", "input": {}}


@dataclass
class Overheard:
    """A model whose answers are told on, piece by piece."""

    model: Model
    tell: Callable[[Json], None]

    @property
    def name(self) -> str:
        """Its name."""
        return self.model.name

    @name.setter
    def name(self, value: str) -> None:
        self.model.name = value

    async def stream(self, request: Asked) -> AsyncGenerator[Streamed, None]:
        """Answers a request; a block is told to be over once its line is written."""
        async with aclosing(self.model.stream(request)) as pieces:
            async for piece in pieces:
                is_end = isinstance(piece, BlockEnded)
                if is_end:
                    yield piece
                for event in events_of(piece):
                    self.tell(event)
                if not is_end:
                    yield piece

    async def close(self) -> None:
        """Lets go of what the model holds."""
        close = getattr(self.model, "close", None)
        if close:
            await close()


def events_of(piece: Streamed) -> list[Json]:
    """Returns a piece as the API sends it."""
    match piece:
        case Began():
            return [{"type": "message_start", "message": _message(piece)}]
        case BlockBegan():
            block = {name: EMPTY.get(name, value) for name, value in piece.block.items()}
            return [{"type": "content_block_start", "index": piece.index, "content_block": block}]
        case Piece():
            kind, name = DELTAS[piece.kind]
            delta = {"type": kind, name: piece.text}
            return [{"type": "content_block_delta", "index": piece.index, "delta": delta}]
        case BlockEnded():
            return [{"type": "content_block_stop", "index": piece.index}]
        case Ended():
            how = {"stop_reason": piece.stop_reason, "stop_sequence": piece.stop_sequence}
            end: Mapping[str, Any] = {"type": "message_delta", "delta": how}
            return [{**end, "usage": dict(piece.usage)}, {"type": "message_stop"}]


def _message(piece: Began) -> Json:
    return {
        "id": piece.message,
        "type": "message",
        "role": "assistant",
        "model": piece.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": dict(piece.usage),
    }
