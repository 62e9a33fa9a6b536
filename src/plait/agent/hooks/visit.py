"""A session that is opened and left to what hooks are told of that."""

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any

from plait.agent.events import TurnEnded
from plait.agent.memory import SessionMemory
from plait.agent.meter import Meter
from plait.agent.parts import Emit, Parts
from plait.conversation.prices import Prices

if TYPE_CHECKING:
    from plait.agent.hooks import SessionHooks

KEPT_FOR = 300
"""Seconds that the API keeps what it has read."""


class Visit:
    """From when a session is opened to when it is left."""

    def __init__(self, parts: Parts, prices: Prices, emit: Emit) -> None:
        self._parts = parts
        self._prices = prices
        self._emit = emit
        if parts.hooks:
            parts.hooks.join(emit)
        self._beginning: asyncio.Task[None] | None = None
        self.reason = "other" if parts.writer.is_unseen else "prompt_input_exit"
        """Why it will be left."""

    def begin(self) -> None:
        """Has hooks told that the session begins, once; nobody waits for them yet."""
        if self._parts.hooks and self._beginning is None:
            self._beginning = asyncio.ensure_future(self._tell(self._parts.hooks))

    async def _tell(self, hooks: "SessionHooks") -> None:
        if hooks.has("SessionStart"):
            told = standing_of(self._parts, self._prices)
            await hooks.session_began(source_of(self._parts), **told)

    async def has_begun(self) -> bool:
        """Waits until hooks know that it begins; tells whether nobody stopped that."""
        self.begin()
        try:
            if self._beginning:
                await self._beginning
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()
            self._emit(TurnEnded("interrupted", "", 0, 0, {}, None))
            return False
        return True

    async def end(self) -> None:
        """Has hooks told that the session is left, where they know that it began."""
        if self._beginning is None or self._parts.hooks is None:
            return
        self._beginning.cancel()
        await asyncio.wait([self._beginning])
        await self._parts.hooks.session_ended(self.reason)


def source_of(parts: Parts) -> str:
    """Returns how a session begins: anew, in another's place, or where it was left."""
    if parts.writer.setting.first:
        return "clear"
    return "startup" if parts.writer.tip is None else "resume"


def standing_of(parts: Parts, prices: Prices) -> dict[str, Any]:
    """Returns what hooks are told of a session that begins, besides how."""
    told: dict[str, Any] = {}
    if source_of(parts) == "resume" and isinstance(parts.memory, SessionMemory):
        told |= _left(parts, parts.memory, prices)
    if not parts.writer.is_unseen:
        told["model"] = parts.writer.setting.model
    return told


def _left(parts: Parts, memory: SessionMemory, prices: Prices) -> dict[str, Any]:
    """Returns how a session was left that goes on: how long ago, and what going on takes."""
    now = parts.writer.ids.moment()
    answers = (one for one in reversed(memory.context.records) if one.type == "assistant")
    last = next((one.timestamp for one in answers if one.timestamp), None)
    tokens = memory.context.tokens()
    meter = Meter(prices)
    meter.add(memory.model, {"cache_creation_input_tokens": tokens}, now)
    found: dict[str, Any] = {"context_tokens": tokens}
    if last is not None:
        seconds = max(0, round((now - _moment(last)).total_seconds()))
        is_expired = seconds > KEPT_FOR
        found = {"seconds_since_last_response": seconds, **found}
        found["prompt_cache_likely_expired"] = is_expired
    if meter.cost is not None:
        found["estimated_cache_write_usd"] = round(meter.cost, 4)
    return found


def _moment(stamp: str | datetime) -> datetime:
    return stamp if isinstance(stamp, datetime) else datetime.fromisoformat(stamp)
