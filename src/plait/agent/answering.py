"""A request to a response in the log, asked for again where it fails."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any, Final, TypeAlias

from plait.agent.events import Answered, Retried, Said, Thought
from plait.agent.faults import CONNECTION, formatted, log_retry
from plait.agent.parts import Emit, Parts
from plait.agent.retry import wait_before
from plait.agent.streaming import (
    Began,
    Block,
    BlockBegan,
    BlockEnded,
    Ended,
    ModelFault,
    Piece,
    Request,
    Streamed,
)
from plait.agent.tools.logged import as_logged
from plait.agent.tools.model import Workplace
from plait.write import Response, SessionWriter

Sleep: TypeAlias = Callable[[float], Awaitable[None]]
KEPT_FOR: Final = "5m"
"""How long the API keeps what a mark of the cache stands behind."""
CUT_OFF: Final = "Connection dropped (ECONNRESET)"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as it is in the log."""

    message: str
    request: str
    model: str
    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Mapping[str, Any]

    @property
    def calls(self) -> tuple[Block, ...]:
        """What it wants done."""
        return tuple(block for block in self.content if block.get("type") == "tool_use")

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")


class Asking:
    """Asks the model until it answers, or until it is no use."""

    def __init__(
        self,
        parts: Parts,
        emit: Emit,
        *,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._parts = parts
        self._emit = emit
        self._sleep = sleep
        self._random = random or Random()

    async def answer(self) -> Answer:
        """Returns the answer to what was said; raises the last ModelFault where there is none."""
        definitions = [tool.definition for tool in self._parts.tools.values()]
        request = self._parts.memory.request(definitions)
        attempt = 0
        while True:
            try:
                return await self._answered_once(request)
            except ModelFault as fault:
                attempt += 1
                if not fault.may_retry or attempt > self._parts.limits.retries:
                    raise
                await self._wait(fault, attempt)

    async def _answered_once(self, request: Request) -> Answer:
        draft = Draft(self._parts.writer, self._emit, self._parts.place)
        try:
            async with aclosing(self._parts.model.stream(request)) as pieces:
                async for piece in pieces:
                    draft.take(piece)
            answer = draft.finished()
        except ModelFault:
            draft.discard()
            raise
        except asyncio.CancelledError:
            draft.break_off()
            raise
        self._emit(
            Answered(
                answer.message,
                answer.request,
                answer.model,
                answer.content,
                answer.stop_reason,
                answer.usage,
            )
        )
        return answer

    async def _wait(self, fault: ModelFault, attempt: int) -> None:
        most = self._parts.limits.retries
        seconds = wait_before(fault, attempt, self._random)
        self._emit(Retried(formatted(fault), attempt, most, seconds))
        log_retry(self._parts.writer, fault, attempt, most, seconds)
        await self._sleep(seconds)


class Draft:
    """An answer that is coming in: shown as it comes, logged block by block."""

    def __init__(self, writer: SessionWriter, emit: Emit, place: Workplace) -> None:
        self._writer = writer
        self._emit = emit
        self._place = place
        self._response: Response | None = None
        self._content: list[Block] = []
        self._begun: dict[int, float] = {}
        self._words: dict[int, str] = {}
        """What came of texts that have not ended."""
        self._ended: Ended | None = None

    def take(self, piece: Streamed) -> None:
        """Takes the next piece."""
        match piece:
            case Began():
                self._response = self._writer.response(
                    message=piece.message,
                    request=piece.request,
                    model=piece.model,
                    usage=piece.usage,
                )
            case BlockBegan():
                self._begun[piece.index] = monotonic()
                if self._response:
                    self._response.goes_on()
            case Piece():
                self._show(piece)
            case BlockEnded():
                self._add(piece)
            case Ended():
                self._ended = piece

    def _show(self, piece: Piece) -> None:
        if piece.kind == "text":
            self._words[piece.index] = self._words.get(piece.index, "") + piece.text
            self._emit(Said(piece.text))
        elif piece.kind == "thinking":
            self._emit(Thought(piece.text))

    def _add(self, piece: BlockEnded) -> None:
        if self._response is None:
            raise ModelFault("a block came before its answer", may_retry=True)
        took = round((monotonic() - self._begun.get(piece.index, monotonic())) * 1000)
        block = self._as_logged(piece.block)
        self._response.add(block, **self._asked, **self._timing(block, took))
        self._content.append(block)
        self._words.pop(piece.index, None)

    def _as_logged(self, block: Block) -> Block:
        """Returns a block as the client keeps it: it says what a call leaves unsaid."""
        given = block.get("input")
        if block.get("type") != "tool_use" or not isinstance(given, Mapping):
            return block
        told = as_logged(str(block.get("name")), given, self._place)
        return block if told is given else {**block, "input": told}

    @property
    def _asked(self) -> dict[str, str]:
        """What the newer version says of the request: how long its beginning is to be kept."""
        return {} if self._writer.setting.is_older else {"prompt_cache_requested": KEPT_FOR}

    def _timing(self, block: Block, milliseconds: int) -> dict[str, int]:
        if self._writer.setting.is_older:
            return {}
        match block.get("type"):
            case "thinking":
                return {"thinking_duration_ms": milliseconds}
            case "tool_use":
                return {"tool_input_stream_ms": milliseconds}
        return {}

    def finished(self) -> Answer:
        """Logs how it ended; raises ModelFault where it did not."""
        response, ended = self._response, self._ended
        if response is None or ended is None:
            raise ModelFault(
                CUT_OFF,
                kind=CONNECTION,
                body="Connection error.",
                connection={"code": "ECONNRESET", "message": CUT_OFF, "isSSLError": False},
                may_retry=True,
            )
        if ended.stop_reason is None:
            response.break_off(usage=ended.usage)
        else:
            response.end(ended.stop_reason, usage=ended.usage, stop_sequence=ended.stop_sequence)
        return Answer(
            response.id,
            response.request,
            response.model,
            tuple(self._content),
            ended.stop_reason,
            ended.usage,
        )

    def break_off(self) -> None:
        """Logs the blocks that came as a whole, and the words that came at all."""
        if self._response:
            for words in filter(str.strip, self._words.values()):
                self._content.append({"type": "text", "text": words})
                self._response.add(self._content[-1], **self._asked, **self._aborted)
            self._response.break_off()

    @property
    def _aborted(self) -> dict[str, bool]:
        return {} if self._writer.setting.is_older else {"is_aborted_mid_stream": True}

    def discard(self) -> None:
        """Drops what came: it is asked for again."""
        if self._response:
            self._response.discard()
