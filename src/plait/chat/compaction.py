"""Compaction of a conversation that fills the context window into a summary.

    prompt ── answer ── … ── prompt ── │ answer ── results │          before
    boundary ── summary ────────────── │ answer ── results │ ── …     after

The last response and what follows it is preserved; the summary is written without seeing it. The
older log format (2.1.29) preserves nothing.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from random import Random
from time import monotonic
from typing import Any, Literal, TypeAlias

from plait.chat.context import RequestBuilder, build_api_messages, estimate_tokens
from plait.chat.events import Compacted
from plait.chat.hooks import HookEffect
from plait.chat.model_info import get_capacity
from plait.chat.responses import (
    CONTEXT_FULL,
    Sleep,
    compute_retry_delay,
    describe_error,
    is_too_long,
)
from plait.chat.session_hooks import SessionHooks
from plait.chat.streaming import (
    BlockFinished,
    Message,
    Model,
    ModelError,
    Request,
    ResponseFinished,
    ResponseStarted,
)
from plait.graph.client.tokens import PROSE
from plait.record import Record
from plait.record.codec import as_mapping
from plait.record.types import get_content_blocks
from plait.write import SessionWriter
from plait.write.writer import CONTINUED

TASK = """\
Your task is to create a detailed summary of the conversation so far. It replaces the conversation:
the work continues from the summary alone.

Think first, between <analysis> and </analysis>: go through the conversation in order and note what
was asked, what was done, and the outcome. Then write between <summary> and </summary>:

1. What the user wants, in their own words where they matter, and every request that still applies.
2. Decisions that were made, and why.
3. Files that were read, changed or created: their paths, the relevant parts, and any code that is
   still needed.
4. Errors, how they were fixed, and what the user said about them.
5. All user messages that are not tool results, in brief.
6. What remains to be done, what you were doing last, and the next step if one was agreed on.

Be exact with names, paths, numbers and commands. Leave out what no longer matters. Do not call any
tools: answer with the analysis and the summary only."""
FOCUS = "\n\nThe user wants the summary to focus on this:\n{}"
USED = re.compile(r"<tools-used-before-summary>(.*?)</tools-used-before-summary>")
SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
ANALYSIS = re.compile(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)

TOOLS_USED = (
    "<system-reminder>\n<tools-used-before-summary>{}</tools-used-before-summary>\n"
    "</system-reminder>\n"
)
TRANSCRIPT = (
    "\n\nIf you need specific details from before compaction (like exact code snippets, error"
    " messages, or content you generated), read the full transcript at: {}\n"
)
GO_ON = (
    "Continue the conversation from where it left off without asking the user any further"
    " questions. Resume directly — do not acknowledge the summary, do not recap what was happening,"
    ' do not preface with "I\'ll continue" or similar. Pick up the last task as if the break never'
    " happened."
)
PRESERVED = (
    "\n\nThe messages after this summary are the most recent messages from before compaction, kept"
    " verbatim. The summary was written without seeing them, so something it says has not happened"
    " yet may already have happened in them."
)


def extract_summary(text: str) -> str:
    """Return the summary in an answer: the marked part, or everything except its analysis."""
    without = ANALYSIS.sub("", text)
    marked = SUMMARY.search(without) or SUMMARY.search(text)
    return (marked[1] if marked else without).strip()


def drop_oldest(messages: Sequence[Message]) -> list[Message]:
    """Return the newer part of a conversation, starting at a prompt; empty if there is only one."""
    for place in range(max(1, len(messages) // 4), len(messages)):
        message = messages[place]
        kinds = {block.get("type") for block in message["content"]}
        if message["role"] == "user" and "tool_result" not in kinds:
            return [*messages[place:]]
    return []


BLOCKED_BY_PRE_COMPACT = "Compaction blocked by PreCompact hook: {}"


def format_hook_lines(event: str, effect: HookEffect) -> list[str]:
    """Return the output of hooks, one line each."""
    lines = []
    for output in effect.outputs:
        run = output.run
        is_fine = output.kind not in ("failed", "late") and not output.blocking
        more = run.stderr.strip()
        if is_fine:
            more = run.stdout.strip() if output.kind == "words" else ""
        text = "completed successfully" if is_fine else "failed"
        lines.append(f"{event} [{run.hook.command}] {text}{f': {more}' if more else ''}")
    return lines


Trigger: TypeAlias = Literal["auto", "manual"]
BLOCKING_MARGIN = 3_000
"""Tokens before the end of the window at which nothing more can be sent."""
MAX_FAILURES = 3
"""Failed compactions in a row after which automatic compaction stops."""
MAX_RETRIES = 3
MAX_SHORTENED = 3
NO_SUMMARY = "no_summary"
NOTHING_TO_COMPACT = "No messages to compact"
BLOCKED_BY_HOOK = "Compaction blocked by"
EMPTY_SUMMARY = "summarization produced empty response"

DONE = "Compacted (ctrl+o to see full summary)"
DIM, PLAIN = "\x1b[2m", "\x1b[22m"


class SessionCompactor:
    """Compacts the context of a session."""

    def __init__(
        self,
        writer: SessionWriter,
        requests: RequestBuilder,
        model: Model,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        threshold: int | None = None,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
        hooks: SessionHooks | None = None,
    ) -> None:
        self._writer = writer
        self._memory = requests
        self._model = model
        self.tools = tools
        """The tools of normal requests: with them the summary request reads the same cache."""
        self._threshold = threshold
        self._sleep = sleep
        self._random = random or Random()
        self._failures = 0
        self._hooks = hooks

    @property
    def threshold(self) -> int:
        """The number of tokens at which the context is compacted."""
        return self._threshold or get_capacity(self._memory.model).compaction_threshold

    def is_due(self) -> bool:
        """Return whether the context is nearly full and compaction has not failed too often."""
        return self._failures < MAX_FAILURES and self._memory.context.tokens() >= self.threshold

    async def compact_if_needed(self) -> Compacted | None:
        """Compact if it is due; return None if it is not, or if it failed and there is still room."""
        if not self.is_due():
            return None
        try:
            return await self.compact("auto")
        except ModelError as fault:
            window = max(get_capacity(self._memory.model).window, self.threshold + BLOCKING_MARGIN)
            if self._memory.context.tokens() < window - BLOCKING_MARGIN:
                return None
            words = f"Prompt is too long · automatic compaction failed: {describe_reason(fault)}"
            raise ModelError(words, kind=CONTEXT_FULL, request=fault.request) from fault

    async def compact(self, trigger: Trigger, focus: str = "") -> Compacted:
        """Replace the conversation with a summary; raise ModelError if there is none."""
        writer, hooks = self._writer, self._hooks
        is_older = writer.setting.is_older
        before_hooks = after_hooks = HookEffect()
        if hooks:
            if trigger == "manual":
                writer.announce()
            fields = {"trigger": trigger, "custom_instructions": focus or None}
            before_hooks = await hooks.fire("PreCompact", trigger, fields)
            for output in before_hooks.outputs:
                if output.blocking:
                    reason = f"[{output.run.hook.command}]: {output.blocking.reason}"
                    error = ModelError(BLOCKED_BY_PRE_COMPACT.format(reason), kind=NO_SUMMARY)
                    self._record_failure(trigger, focus, error)
                    raise error
        began, before = monotonic(), self._memory.context.tokens()
        records = self._memory.context.records
        tail = from_last_response(records)
        has_head = bool(from_last_response(records[: len(records) - len(tail)]))
        # preserving half of the context would make the next compaction due at once
        is_kept = has_head and not is_older and estimate_tokens(tail) <= self.threshold // 2
        tail = tail if is_kept else ()
        head = records[: len(records) - len(tail)]
        added = [
            output.run.stdout.strip() for output in before_hooks.outputs if output.kind == "words"
        ]
        try:
            answer, compacted = await self._request_summary(
                head, "\n\n".join(filter(None, (focus, *added)))
            )
        except ModelError as fault:
            self._record_failure(trigger, focus, fault)
            raise
        self._failures = 0
        compacted = replace(compacted, trigger=trigger, tokens_before=before)
        text = compacted.summary
        if not is_older:
            called: set[str] = set()
            for record in head:
                for block in get_content_blocks(record) if record.type == "assistant" else ():
                    if block["type"] == "tool_use" and isinstance(block.get("name"), str):
                        called.add(block["name"])
                words = record.message.text if record.message else ""
                if record.is_compact_summary and (found := USED.search(words)):
                    called |= {*found[1].split(", ")}
            used = TOOLS_USED.format(", ".join(sorted(called - {""})))
            transcript = TRANSCRIPT.format(writer.path.resolve())
            kept = PRESERVED if tail else ""
            text = f"{CONTINUED}{used}Summary:\n{text}{transcript}{GO_ON}{kept}"
        took = round((monotonic() - began) * 1000)
        after = round(len(text) / PROSE) + estimate_tokens(tail)
        earlier = as_mapping(records[0].fields.get("compactMetadata")) if records else {}
        dropped = earlier.get("cumulativeDroppedTokens")
        dropped = max(0, before - after) + (dropped if isinstance(dropped, int) else 0)
        counted = {"post_tokens": after, "cumulative_dropped_tokens": dropped, "duration_ms": took}
        writer.compact(
            text,
            trigger=trigger,
            pre_tokens=before,
            preserved=[record.uuid for record in tail if record.uuid],
            **({} if is_older else counted),
        )
        if hooks:
            await hooks.fire_session_start("compact", model=writer.setting.model)
            fields = {"trigger": trigger, "compact_summary": answer}
            after_hooks = await hooks.fire("PostCompact", trigger, fields)
        if trigger == "manual" and not is_older:
            lines = [
                DONE,
                *format_hook_lines("PreCompact", before_hooks),
                *format_hook_lines("PostCompact", after_hooks),
            ]
            words = "\n".join(lines)
            shown = words if writer.is_unseen else f"{DIM}{words}{PLAIN}"
            writer.command("compact", focus, shown, is_asked=True, is_heard=True)
        return compacted

    async def _request_summary(self, head: Sequence[Record], focus: str) -> tuple[str, Compacted]:
        """Return the answer and the summary in it; if all is too long, of the newer part."""
        messages = build_api_messages(head)
        if not messages:
            raise ModelError(NOTHING_TO_COMPACT, kind=NO_SUMMARY)
        words = TASK + (FOCUS.format(focus) if focus.strip() else "")
        task = {"type": "text", "text": words}
        attempt = shortened = 0
        while True:
            asked = [*messages, {"role": "user", "content": [task]}]
            if messages[-1]["role"] == "user":
                last = {**messages[-1], "content": [*messages[-1]["content"], task]}
                asked = [*messages[:-1], last]
            request = self._memory.build_from(asked, self.tools)
            try:
                return await self._read_summary(request)
            except ModelError as fault:
                shorter = drop_oldest(messages) if is_too_long(fault) else []
                if fault.is_retryable and attempt < MAX_RETRIES:
                    attempt += 1
                    await self._sleep(compute_retry_delay(fault, attempt, self._random))
                elif shorter and shortened < MAX_SHORTENED:
                    messages, attempt, shortened = shorter, 0, shortened + 1
                else:
                    raise

    async def _read_summary(self, request: Request) -> tuple[str, Compacted]:
        texts: list[str] = []
        name, ended = request.model, None
        async with aclosing(self._model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case ResponseStarted():
                        name = piece.model
                    case BlockFinished() if piece.block.get("type") == "text":
                        texts.append(str(piece.block.get("text", "")))
                    case ResponseFinished():
                        ended = piece
        text = "\n".join(texts)
        summary = extract_summary(text)
        if ended is None or not summary:
            raise ModelError(EMPTY_SUMMARY, kind=NO_SUMMARY)
        return text, Compacted("auto", 0, summary, name, ended.usage)

    def _record_failure(self, trigger: Trigger, focus: str, error: ModelError) -> None:
        if trigger == "auto":
            self._failures += 1
            return
        words = describe_failure(error)
        if error.text == NOTHING_TO_COMPACT:
            words = f"Error: {NOTHING_TO_COMPACT}"
        self._writer.command("compact", focus, words, is_failed=True, is_asked=True)


def describe_failure(error: ModelError) -> str:
    """Return the message for a compaction that failed."""
    is_blocked = error.text.startswith(BLOCKED_BY_HOOK)
    return error.text if is_blocked else f"Error during compaction: {describe_reason(error)}"


def describe_reason(error: ModelError) -> str:
    """Return why there is no summary."""
    return error.text if error.kind == NO_SUMMARY else describe_error(error, "")[0]


def from_last_response(records: Sequence[Record]) -> Sequence[Record]:
    """Return the last response and all that follows it; empty if there is none."""
    answers = (record for record in reversed(records) if record.type == "assistant")
    last = next((record for record in answers if not record.is_api_error_message), None)
    if last is None:
        return ()
    for place, record in enumerate(records):
        is_same = record.type == "assistant" and record.message_id == last.message_id
        if record is last or (is_same and last.message_id):
            return records[place:]
    return ()
