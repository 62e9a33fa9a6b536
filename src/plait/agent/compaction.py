"""A conversation that fills the context to a summary of it, and what stays word for word.

    prompt ── answer ── … ── prompt ── │ answer ── results │          before
    boundary ── summary ────────────── │ answer ── results │ ── …     after

The last response and what follows it is preserved; the summary is written without it. The older
form preserves nothing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from plait.agent.answering import Sleep
from plait.agent.capacity import capacity_of
from plait.agent.context import messages_of, weight_of
from plait.agent.events import Compacted
from plait.agent.faults import NO_ROOM, is_too_long, told_of
from plait.agent.hooks.model import Effect
from plait.agent.hooks.summing import focus_with, printed, why_blocked
from plait.agent.memory import SessionMemory
from plait.agent.retry import wait_before
from plait.agent.streaming import Began, BlockEnded, Ended, Message, Model, ModelFault, Request
from plait.agent.summary import shortened, summary_in, told_summary, with_task
from plait.graph.client.weigh import PROSE
from plait.record import Record
from plait.record.codec import mapping
from plait.write import SessionWriter

if TYPE_CHECKING:
    from plait.agent.hooks import SessionHooks

Trigger: TypeAlias = Literal["auto", "manual"]
BLOCKED = 3_000
"""Tokens below the window at which nothing can be sent any more."""
MOST_FAILURES = 3
"""How often in a row room is made in vain before it is left to the person."""
RETRIES = 3
MOST_SHORTENED = 3
NO_SUMMARY = "no_summary"
NOTHING_TO_SUM_UP = "No messages to compact"
BLOCKED_BY_HOOK = "Compaction blocked by"
SAID_NOTHING = "summarization produced empty response"

DONE = "Compacted (ctrl+o to see full summary)"
DIM, PLAIN = "\x1b[2m", "\x1b[22m"


class SessionCompactor:
    """Makes room in the context of a session."""

    def __init__(
        self,
        writer: SessionWriter,
        memory: SessionMemory,
        model: Model,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        full: int | None = None,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._writer = writer
        self._memory = memory
        self._model = model
        self.tools = tools
        """The definitions that requests carry: the cache then holds for the summary too."""
        self._full = full
        self._sleep = sleep
        self._random = random or Random()
        self._failures = 0
        self.hooks: SessionHooks | None = None
        """Who is told before room is made and behind it, and may have a say."""

    @property
    def full(self) -> int:
        """From how many tokens on room is made."""
        return self._full or capacity_of(self._memory.model).full

    def is_due(self) -> bool:
        """Tells whether the context is nearly full, and making room has not failed too often."""
        return self._failures < MOST_FAILURES and self._memory.context.tokens() >= self.full

    async def make_room(self) -> Compacted | None:
        """Compacts where it is due; None where it is not, or failed and there is room yet."""
        if not self.is_due():
            return None
        try:
            return await self.compact("auto")
        except ModelFault as fault:
            window = max(capacity_of(self._memory.model).window, self.full + BLOCKED)
            if self._memory.context.tokens() < window - BLOCKED:
                return None
            raise _given_up(fault) from fault

    async def compact(self, trigger: Trigger, focus: str = "") -> Compacted:
        """Sums up what was said; raises ModelFault where there is no summary."""
        told_before = await self._told_before(trigger, focus)
        began, before = monotonic(), self._memory.context.tokens()
        records = self._memory.context.records
        tail = self._preserved(records)
        head = records[: len(records) - len(tail)]
        try:
            draft = await self._draft(head, focus_with(focus, told_before))
        except ModelFault as fault:
            self._fail(trigger, focus, fault)
            raise
        self._failures = 0
        text = draft.summary
        if not self._writer.setting.is_older:
            log = self._writer.path.resolve()
            text = told_summary(draft.summary, head, log, has_tail=bool(tail))
        self._log(trigger, text, tail, before, round((monotonic() - began) * 1000))
        told_behind = await self._told_behind(trigger, draft)
        if trigger == "manual" and not self._writer.setting.is_older:
            beside = [*printed("PreCompact", told_before), *printed("PostCompact", told_behind)]
            words = "\n".join([DONE, *beside])
            shown = words if self._writer.is_unseen else f"{DIM}{words}{PLAIN}"
            self._writer.command("compact", focus, shown, is_asked=True, is_heard=True)
        return Compacted(trigger, before, draft.summary, draft.model, draft.usage)

    async def _told_before(self, trigger: Trigger, focus: str) -> Effect:
        """Has hooks told that room is made; raises ModelFault where one does not let it happen."""
        if self.hooks is None:
            return Effect()
        if trigger == "manual":
            self._writer.announce()
        effect = await self.hooks.before_compaction(trigger, focus)
        if blocked := why_blocked(effect):
            fault = ModelFault(blocked, kind=NO_SUMMARY)
            self._fail(trigger, focus, fault)
            raise fault
        return effect

    async def _told_behind(self, trigger: Trigger, draft: "_Draft") -> Effect:
        """Has hooks told that the session goes on behind a summary."""
        if self.hooks is None:
            return Effect()
        await self.hooks.session_began("compact", model=self._writer.setting.model)
        return await self.hooks.after_compaction(trigger, draft.text)

    def _preserved(self, records: Sequence[Record]) -> Sequence[Record]:
        """Returns what stays, unless it alone would fill half of the context.

        Where no response stands before it, it is summed up with the rest.
        """
        tail = last_response_on(records)
        has_head = bool(last_response_on(records[: len(records) - len(tail)]))
        is_kept = has_head and not self._writer.setting.is_older
        return tail if is_kept and weight_of(tail) <= self.full // 2 else ()

    async def _draft(self, head: Sequence[Record], focus: str) -> "_Draft":
        """Asks for a summary; where there is too much to sum up, of the newer part alone."""
        messages = messages_of(head)
        if not messages:
            raise ModelFault(NOTHING_TO_SUM_UP, kind=NO_SUMMARY)
        for _ in range(MOST_SHORTENED):
            try:
                return await self._asked(with_task(messages, focus))
            except ModelFault as fault:
                shorter = shortened(messages)
                if not is_too_long(fault) or not shorter:
                    raise
                messages = shorter
        return await self._asked(with_task(messages, focus))

    async def _asked(self, messages: Sequence[Message]) -> "_Draft":
        request = self._memory.request_of(messages, self.tools)
        attempt = 0
        while True:
            try:
                return await _draft_of(self._model, request)
            except ModelFault as fault:
                attempt += 1
                if not fault.may_retry or attempt > RETRIES:
                    raise
                await self._sleep(wait_before(fault, attempt, self._random))

    def _fail(self, trigger: Trigger, focus: str, fault: ModelFault) -> None:
        if trigger == "auto":
            self._failures += 1
            return
        words = told_fault(fault)
        if fault.text == NOTHING_TO_SUM_UP:
            words = f"Error: {NOTHING_TO_SUM_UP}"
        self._writer.command("compact", focus, words, is_failed=True, is_asked=True)

    def _log(
        self, trigger: Trigger, text: str, tail: Sequence[Record], before: int, took: int
    ) -> None:
        after = round(len(text) / PROSE) + weight_of(tail)
        dropped = max(0, before - after) + _dropped_before(self._memory.context.records)
        counted = {"post_tokens": after, "cumulative_dropped_tokens": dropped, "duration_ms": took}
        is_older = self._writer.setting.is_older
        self._writer.compact(
            text,
            trigger=trigger,
            pre_tokens=before,
            preserved=[record.uuid for record in tail if record.uuid],
            **({} if is_older else counted),
        )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A summary, and what it took."""

    summary: str
    model: str
    usage: Mapping[str, Any]
    text: str
    """All that was said."""


async def _draft_of(model: Model, request: Request) -> _Draft:
    texts: list[str] = []
    name, ended = request.model, None
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            match piece:
                case Began():
                    name = piece.model
                case BlockEnded() if piece.block.get("type") == "text":
                    texts.append(str(piece.block.get("text", "")))
                case Ended():
                    ended = piece
    text = "\n".join(texts)
    summary = summary_in(text)
    if ended is None or not summary:
        raise ModelFault(SAID_NOTHING, kind=NO_SUMMARY)
    return _Draft(summary, name, ended.usage, text)


def told_fault(fault: ModelFault) -> str:
    """Returns what a person is told where no room was made."""
    is_whole = fault.text.startswith(BLOCKED_BY_HOOK)
    return fault.text if is_whole else f"Error during compaction: {why_not(fault)}"


def why_not(fault: ModelFault) -> str:
    """Says why there is no summary."""
    return fault.text if fault.kind == NO_SUMMARY else told_of(fault, "").text


def _given_up(fault: ModelFault) -> ModelFault:
    words = f"Prompt is too long · automatic compaction failed: {why_not(fault)}"
    return ModelFault(words, kind=NO_ROOM, request=fault.request)


def last_response_on(records: Sequence[Record]) -> Sequence[Record]:
    """Returns the last response and all that follows it; nothing where there is none."""
    answers = (one for one in reversed(records) if one.type == "assistant")
    last = next((one for one in answers if not one.is_api_error_message), None)
    if last is None:
        return ()
    for place, record in enumerate(records):
        is_same = record.type == "assistant" and record.message_id == last.message_id
        if record is last or (is_same and last.message_id):
            return records[place:]
    return ()


def _dropped_before(records: Sequence[Record]) -> int:
    """Returns how many tokens the compactions before took away."""
    metadata = mapping(records[0].fields.get("compactMetadata")) if records else {}
    dropped = metadata.get("cumulativeDroppedTokens")
    return dropped if isinstance(dropped, int) else 0
