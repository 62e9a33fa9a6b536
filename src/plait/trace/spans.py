"""Spans: a trace for each answered turn, and the waterfall that shows one.

    Turn N                     a prompt and everything that answers it
    ├─ claude-opus-5-5         a response of the model, until the next one begins
    │  ├─ Bash                 a tool call, until its result
    │  └─ Agent
    │     └─ Explore           the sub-agent that it started, with spans of its own
    └─ Compaction              and hooks, queued prompts, interruptions, errors of the API

Nothing here reads a clock: a span ends when the log says so. A turn without an answer makes no
trace; its items go to the next turn that has one.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.costs import Pricing
from plait.conversation.model import (
    ClientNote,
    CompactionItem,
    Conversation,
    Item,
    Response,
    ToolCall,
    Turn,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.usage import NO_TOKENS, Tokens
from plait.conversation.walk import TurnResponse, TurnResponses, unfold_items
from plait.graph.paths import SPOKEN
from plait.record.codec import as_mapping, drop_none, get_text
from plait.record.time import Interval, parse_time
from plait.trace.model import Level, Span, SpanKind
from plait.view.formats import format_thousands, join_dotted
from plait.view.summaries import to_single_line

# Ids and times

TRACE_BYTES, SPAN_BYTES = 16, 8
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MILLISECOND_NS, SECOND_NS = 1_000_000, 1_000_000_000
LATEST = (1 << 63) - 1
"""OTLP times have 64 bits."""


def trace_id(key: str) -> str:
    """Return the id of the trace that a record begins: 32 hexadecimal digits."""
    return _compute_hex_digest(f"trace {key}", TRACE_BYTES)


def _compute_hex_digest(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def record_key(item: Item) -> str:
    """Return what identifies a record: its uuid, else its position."""
    return item.uuid or f"line {item.file}:{item.line}"


def first_key(conversation: Conversation, items: tuple[Item, ...]) -> str:
    """Return what identifies a part of a conversation: its first record with a uuid."""
    uuid = next((item.uuid for item in items if item.uuid), None)
    if uuid:
        return uuid
    return f"{conversation.id} {record_key(items[0])}" if items else conversation.id


def to_nanoseconds(stamp: str | datetime | None) -> int | None:
    """Return a time in nanoseconds; None if there is none, or none that a span can have."""
    time = stamp if isinstance(stamp, datetime) else parse_time(stamp or None)
    if time is None:
        return None
    nanoseconds = (time - EPOCH) // MICROSECOND * 1000
    return nanoseconds if 0 <= nanoseconds <= LATEST else None


def latest_time(stamps: Iterable[str | None]) -> int | None:
    """Return the latest of some times; None if none is known."""
    times = map(to_nanoseconds, stamps)
    return max((time for time in times if time is not None), default=None)


def clamp_end(end: int | None, start: int | None) -> int | None:
    """Return an end that is not before its start: clocks are sometimes set back."""
    if end is None or start is None:
        return end
    return max(end, start)


def subtract_milliseconds(end: int | None, milliseconds: float | None) -> int | None:
    """Return the start of something with a known end and duration."""
    if end is None or not milliseconds or milliseconds < 0:
        return end
    return max(end - int(milliseconds * MILLISECOND_NS), 0)


def interval_times(interval: Interval, parent_start: int | None = None) -> dict[str, int | None]:
    """Return the times of a span; without a start of its own it begins with its parent."""
    start = to_nanoseconds(interval.start)
    start = parent_start if start is None else start
    return {"start": start, "end": clamp_end(to_nanoseconds(interval.end), start)}


def resolve_times(spans: Sequence[Span], otherwise: int = 0) -> dict[str, tuple[int, int]]:
    """Return a start and an end for every span, parents before children.

    A span without a time begins with its parent; a root with the first span of its trace, else at
    the time it is near, else at `otherwise`.
    """
    first_starts: dict[str, int] = {}
    for span in spans:
        if span.start is not None:
            first_starts[span.trace] = min(span.start, first_starts.get(span.trace, span.start))
    times: dict[str, tuple[int, int]] = {}
    for span in spans:
        start = span.start
        if start is None and span.parent is None:
            start = first_starts.get(span.trace, span.end)
        start = span.end if start is None else start
        if start is None:
            near = otherwise if span.near is None else span.near
            parent = times.get(span.parent or "")
            start = parent[0] if parent else first_starts.get(span.trace, near)
        times[span.id] = (start, max(start, span.end if span.end is not None else start))
    return times


class SpanOwner(NamedTuple):
    """The conversation that a span belongs to."""

    conversation: str
    is_abandoned: bool = False


@dataclass(slots=True)
class TraceBuilder:
    """The spans of one trace so far, parents before their children."""

    trace: str
    session: str
    project: str
    turn: int
    spans: list[Span] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """The span of each call, for the hooks that ran with it."""
    compactions: list[Span] = field(default_factory=list)
    used_keys: dict[str, int] = field(default_factory=dict)

    def add(self, owner: SpanOwner, kind: SpanKind, key: str, **values: Any) -> Span:
        """Add a span; where a key is used twice, the later ones are numbered."""
        name = f"{kind} {key}"
        count = self.used_keys[name] = self.used_keys.get(name, 0) + 1
        numbered = name if count == 1 else f"{name} {count}"
        span = Span(
            trace=self.trace,
            id=_compute_hex_digest(f"{self.trace} {numbered}", SPAN_BYTES),
            kind=kind,
            session=self.session,
            conversation=owner.conversation,
            project=self.project,
            turn=self.turn,
            is_abandoned=values.pop("is_abandoned", False) or owner.is_abandoned,
            **values,
        )
        self.spans.append(span)
        return span


# The content of spans

MAX_STATUS = 300
SPAN_SOURCE = "claude-code"
UNNAMED_MODEL = "generation"
NO_API_MESSAGE = "the API returned an error"
CALL_LEVELS: dict[str, Level] = {
    "failed": "ERROR",
    "rejected": "WARNING",
    "interrupted": "WARNING",
    "missing": "WARNING",
}
CALL_STATUSES = {
    "failed": "failed",
    "rejected": "rejected by the user",
    "interrupted": "interrupted",
    "missing": "no result in the log",
}
SERVICE_NAMES = {
    "acompact": "compaction agent",
    "aprompt_suggestion": "prompt suggestion",
    "aside_question": "side question",
}
SCRIPT_NAME = re.compile(r"""\bname:\s*['"]([^'"\n]{1,80})['"]""")
"""The name in the metadata at the head of a workflow's script."""


def build_message(role: str, content: str) -> dict[str, Any]:
    """Return text as a message."""
    return {"role": role, "content": content}


def first_line(text: str) -> str:
    """Return the first line that is not blank, shortened."""
    return next(filter(None, map(str.strip, text.splitlines())), "")[:MAX_STATUS]


def opening_message(turn: Turn) -> dict[str, Any] | None:
    """Return the prompt of a turn as a message."""
    return build_message("user", turn.opener.text) if turn.opener else None


def build_call_values(call: ToolCall) -> dict[str, Any]:
    """Return the content of a tool call's span, except for its place and its times.

    Its status is the error, with the first line of what the log says about it.
    """
    result = call.result
    metadata = {
        "tool_name": call.name,
        "tool_id": call.call,
        "outcome": call.outcome if call.outcome not in ("ok", "missing") else None,
        "exit_code": result.exit_code if result else None,
        "is_server_side": call.is_server_side or None,
        "persisted": result.persisted.name if result and result.persisted else None,
    }
    status = CALL_STATUSES.get(call.outcome, "")
    output: Any = result.text if result else None
    if result and status:
        reason = first_line((result.feedback if call.outcome == "rejected" else result.text) or "")
        if call.outcome == "failed":
            status = reason or status
        elif reason and result.feedback:
            status = f"{status}: {reason}"
    if result and result.enclosures:
        output = [{"type": "text", "text": result.text}] if result.text else []
        for enclosure in result.enclosures:
            described = {
                "type": enclosure.kind,
                "media_type": enclosure.media_type,
                "title": enclosure.title,
                "bytes": enclosure.size or None,
            }
            output.append(drop_none(described))
    return {
        "name": call.name,
        "input": call.input,
        "output": output,
        "level": CALL_LEVELS.get(call.outcome, "DEFAULT"),
        "status": status,
        "metadata": drop_none(metadata),
        "record": call.uuid,
    }


def agent_name(agent: Conversation, call: ToolCall | None) -> str:
    """Return the type of an agent as its call says; of a background agent, its task."""
    if agent.kind == "service":
        for prefix, name in SERVICE_NAMES.items():
            if (agent.agent or "").startswith(prefix):
                return name
        return "warm-up"
    call_input = as_mapping(call.input) if call else {}
    return get_text(call_input, "subagent_type") or get_text(call_input, "name") or "agent"


# Where agents belong

TurnPlace: TypeAlias = tuple[str, int]
"""A conversation, and the number of a turn of it."""


class AgentPlaces:
    """The turn of each agent that no call names, and how turns are numbered."""

    def __init__(self, by_line: Mapping[str, Conversation]) -> None:
        self.by_line = by_line
        self.records: dict[str, TurnPlace] = {}
        """The places of records, by uuid."""
        self.agents: dict[TurnPlace, list[str]] = {}
        """The agents that no call names, by the turn that they ran in."""
        self.uncalled: list[str] = []
        called: set[str] = set()
        self._starts: dict[str, list[tuple[int, int]]] = {}
        """By conversation: when its answered turns began, and their numbers."""
        for name, conversation in by_line.items():
            starts = []
            for turn in conversation.turns:
                start = to_nanoseconds(turn.started) if turn.responses else None
                if start is not None:
                    starts.append((start, turn.number))
                for item in unfold_items(turn.items):
                    if item.uuid:
                        self.records[item.uuid] = (name, turn.number)
            if conversation.kind in SPOKEN:
                self._starts[name] = sorted(starts)
            for item in unfold_items(conversation.items()):
                if isinstance(item, ToolCall) and not item.is_intermediate:
                    called.update(item.agents)
        for name, agent in by_line.items():
            if agent.kind not in SPOKEN and name not in called:
                self.uncalled.append(agent.id)
                home = self.records.get(agent.attachment or "") or self._find_by_time(agent)
                if home is not None and home[0] != agent.id:
                    self.agents.setdefault(home, []).append(agent.id)

    def _find_by_time(self, agent: Conversation) -> TurnPlace | None:
        """Return the last turn of the agent's session that began before the agent did."""
        time = to_nanoseconds(agent.started)
        latest: tuple[int, TurnPlace] | None = None
        for name, starts in self._starts.items():
            if time is None or self.by_line[name].session != agent.session:
                continue
            position = bisect_right(starts, (time, len(self.by_line[name].turns)))
            if position and (latest is None or starts[position - 1][0] > latest[0]):
                start, number = starts[position - 1]
                latest = (start, (name, number))
        return latest[1] if latest else None

    def offset(self, conversation: Conversation) -> int:
        """Return how many turns come before a branch, or before a session that continues another."""
        offset, current = 0, conversation
        for _ in range(len(self.by_line)):  # attachments may form a circle
            home = self.records.get(current.attachment or "")
            if current.kind not in SPOKEN or home is None or home[0] == current.id:
                break
            offset += home[1]
            current = self.by_line[home[0]]
        return offset


# Compactions, hooks, queued prompts, interruptions, errors
#
# Three kinds of notes report a hook, and a newer kind says more than an older one: `hook_progress`
# that it began, `stop_hook_summary` how long those at the end of a turn took, attachments
# (`hook_success` and so on) what it ran, printed and returned. Each run becomes one span.

HOOK_PROGRESS, HOOK_SUMMARY, HOOK_ATTACHMENT = "hook_progress", "stop_hook_summary", "hook_"
INTERNAL_HOOK = "callback"
"""The command of what Claude Code itself runs with each call: not a hook of the user."""
HOOK_LEVELS: dict[str, Level] = {
    "hook_blocking_error": "ERROR",
    "hook_error_during_execution": "ERROR",
    "hook_non_blocking_error": "WARNING",
    "hook_cancelled": "WARNING",
}
EVENT_NAMES: dict[UserMessageKind, str] = {
    "queued": "Queued prompt",
    "interruption": "Interrupted",
    "command": "Command",
    "bash": "Shell",
    "notice": "Notice",
    "teammate": "Teammate",
    "peer": "Peer",
    "hook": "Hook message",
    "prompt": "Prompt",
}
UNANSWERED = "Unanswered prompt"
API_ERROR = "api_error"


@dataclass(frozen=True, slots=True)
class HookRun:
    """One run of a hook."""

    note: ClientNote
    name: str
    event: str
    command: str | None = None
    output: str | None = None
    milliseconds: float | None = None
    exit_code: int | None = None
    call: str | None = None
    """The tool call that it ran with."""
    level: Level = "DEFAULT"
    status: str = ""

    @property
    def detail(self) -> int:
        """How much its kind of note says."""
        return {HOOK_PROGRESS: 1, HOOK_SUMMARY: 2}.get(self.note.subtype or "", 3)


def find_hook_runs(items: Iterable[Item]) -> Iterator[HookRun]:
    """Yield the hook runs of a turn, each from the kind of note that says the most."""
    runs: list[HookRun] = []
    for item in items:
        subtype = item.subtype or "" if isinstance(item, ClientNote) else ""
        if subtype == HOOK_SUMMARY or subtype.startswith(HOOK_ATTACHMENT):
            assert isinstance(item, ClientNote)
            runs += _parse_hook_runs(item)
    best: dict[str, int] = {}
    for run in runs:
        best[run.event] = max(best.get(run.event, 0), run.detail)
    for run in runs:
        # Only hooks at the end of a turn are reported in several ways.
        if run.event not in ("Stop", "SubagentStop") or run.detail == best[run.event]:
            yield run


def _parse_hook_runs(note: ClientNote) -> Iterator[HookRun]:
    value = as_mapping(note.value)
    if note.subtype == HOOK_SUMMARY:
        infos, errors = value.get("hookInfos"), value.get("hookErrors")
        failures = [str(error) for error in errors] if isinstance(errors, list) else []
        for info in map(as_mapping, infos if isinstance(infos, list) else []):
            yield HookRun(
                note,
                name="Stop",
                event="Stop",
                command=get_text(info, "command"),
                milliseconds=as_number(info.get("durationMs")),
                level="WARNING" if failures else "DEFAULT",
                status=first_line("\n".join(failures)),
            )
        return
    facts = as_mapping(value.get("data" if note.subtype == HOOK_PROGRESS else "attachment"))
    command = get_text(facts, "command")
    if command == INTERNAL_HOOK:
        return
    exit_code = facts.get("exitCode")
    event = get_text(facts, "hookEvent") or "hook"
    content = facts.get("content")
    if isinstance(content, list):
        content = "\n".join(text for text in content if isinstance(text, str))
    output = get_text(facts, "stdout") or (content if isinstance(content, str) else None) or None
    blocking_error = facts.get("blockingError")
    status = ""
    if note.subtype in HOOK_LEVELS:
        message = get_text(as_mapping(blocking_error), "blockingError")
        if not message and isinstance(blocking_error, str):
            message = blocking_error
        status = first_line(message or get_text(facts, "stderr") or output or "the hook failed")
    yield HookRun(
        note,
        name=get_text(facts, "hookName") or event,
        event=event,
        command=command or get_text(as_mapping(blocking_error), "command"),
        output=output,
        milliseconds=as_number(facts.get("durationMs")),
        exit_code=exit_code if type(exit_code) is int else None,
        call=get_text(facts, "toolUseID") or get_text(value, "parentToolUseID"),
        level=HOOK_LEVELS.get(note.subtype or "", "DEFAULT"),
        status=status,
    )


def as_number(value: object) -> float | None:
    """Return a number of the log; None if it is something else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def add_notes(
    draft: TraceBuilder, owner: SpanOwner, parent: str, turn: Turn, *, is_answered: bool
) -> None:
    """Add what a turn contains besides responses; its prompt only if it has no answer."""
    items = list(unfold_items(turn.items))
    for position, item in enumerate(items):
        match item:
            case CompactionItem():
                _add_compaction(draft, owner, parent, item, items[position + 1 :])
            case ClientNote(subtype=subtype) if subtype == API_ERROR:
                _add_api_error(draft, owner, parent, item)
            case UserMessage() if item is not turn.opener:
                _add_event(draft, owner, parent, item)
            case UserMessage() if not is_answered:
                _add_event(draft, owner, parent, item, UNANSWERED)
            case _:
                pass
    for run in find_hook_runs(items):
        end = to_nanoseconds(run.note.time)
        metadata = {"event": run.event, "command": run.command, "exit_code": run.exit_code}
        draft.add(
            owner,
            "hook",
            record_key(run.note),
            name=run.name,
            parent=draft.calls.get(run.call or "", parent),
            start=subtract_milliseconds(end, run.milliseconds),
            end=end,
            level=run.level,
            status=run.status,
            output=run.output,
            metadata=drop_none(metadata),
            record=run.note.uuid,
        )


def _add_compaction(
    draft: TraceBuilder,
    owner: SpanOwner,
    parent: str,
    compaction: CompactionItem,
    following: Iterable[Item],
) -> None:
    messages = (item for item in following if isinstance(item, UserMessage | CompactionItem))
    summary = next(messages, None)
    is_summary = isinstance(summary, UserMessage) and summary.kind == "summary"
    end = to_nanoseconds(compaction.time)
    metadata = {
        "trigger": compaction.trigger,
        "pre_tokens": compaction.pre_tokens,
        "post_tokens": compaction.post_tokens,
        "preserved": len(compaction.preserved) or None,
    }
    span = draft.add(
        owner,
        "compaction",
        record_key(compaction),
        name="Compaction",
        parent=parent,
        start=subtract_milliseconds(end, compaction.duration_ms),
        end=end,
        output=summary.text if isinstance(summary, UserMessage) and is_summary else None,
        metadata=drop_none(metadata),
        record=compaction.uuid,
    )
    draft.compactions.append(span)


def _add_api_error(draft: TraceBuilder, owner: SpanOwner, parent: str, note: ClientNote) -> None:
    value = as_mapping(note.value)
    error = as_mapping(value.get("error"))
    message = (
        get_text(error, "message")
        or get_text(as_mapping(error.get("error")), "message")
        or note.text
    )
    status = error.get("status")
    metadata = {
        "status": status if isinstance(status, int) else None,
        "retry_attempt": value.get("retryAttempt"),
        "max_retries": value.get("maxRetries"),
        "retry_in_ms": value.get("retryInMs"),
    }
    _add_instant(
        draft,
        owner,
        parent,
        note,
        name="API error",
        level="ERROR",
        status=first_line(message or NO_API_MESSAGE),
        metadata=drop_none(metadata),
    )


def _add_event(
    draft: TraceBuilder,
    owner: SpanOwner,
    parent: str,
    message: UserMessage,
    name: str | None = None,
) -> None:
    event = EVENT_NAMES.get(message.kind)
    if event is None or (message.kind == "prompt" and not message.text):
        return
    is_interruption = message.kind == "interruption"
    metadata = {
        "name": message.name,
        "status": message.status,
        "is_only_queued": message.is_only_queued or None,
    }
    _add_instant(
        draft,
        owner,
        parent,
        message,
        name=name or event,
        level="WARNING" if is_interruption else "DEFAULT",
        status="interrupted by the user" if is_interruption else "",
        input=None if is_interruption else build_message("user", message.text),
        output=message.output,
        metadata=drop_none(metadata),
    )


def _add_instant(
    draft: TraceBuilder, owner: SpanOwner, parent: str, item: Item, **values: Any
) -> None:
    time = to_nanoseconds(item.time)
    draft.add(
        owner,
        "event",
        record_key(item),
        parent=parent,
        start=time,
        end=time,
        record=item.uuid,
        **values,
    )


# Traces

WORKFLOW = "Workflow"


def build_traces(
    by_line: Mapping[str, Conversation],
    prices: Pricing | None = None,
    written: Mapping[str, int] | None = None,
) -> Iterator[list[Span]]:
    """Yield the spans of each answered turn, the root first and parents before children.

    A trace without any time is near the end of the turn before it, else near the beginning of the
    next one, else near the time when the session's log was last written (`written`), if given.
    """
    yield from TraceAssembler(by_line, prices, written or {}).traces()


@dataclass(frozen=True, slots=True)
class SpanTurns:
    """Turns of a conversation that stand within one span."""

    responses: TurnResponses
    turns: Sequence[Turn]
    parent: str
    owner: SpanOwner


class TraceAssembler:
    """Builds the traces of conversations that belong together; counts each response once."""

    def __init__(
        self,
        by_line: Mapping[str, Conversation],
        prices: Pricing | None,
        written: Mapping[str, int],
    ) -> None:
        self.by_line = by_line
        self.prices = prices
        self.written = written
        self.agent_places = AgentPlaces(by_line)
        self.counted: set[str] = set()
        self.placed_agents: set[str] = set()
        """The agents that are in a trace."""

    def traces(self) -> Iterator[list[Span]]:
        """Yield all traces: conversation by conversation, then agents that belong to no turn."""
        for conversation in self.by_line.values():
            if conversation.kind not in SPOKEN:
                continue
            responses = TurnResponses(conversation)
            offset = self.agent_places.offset(conversation)
            waiting: list[Turn] = []
            for turn in conversation.turns:
                waiting.append(turn)
                if responses.has(turn):
                    number = offset + turn.number
                    yield self._build_turn_trace(responses, waiting, number)
                    waiting = []
        agents = [name for name, line in self.by_line.items() if line.kind not in SPOKEN]
        for name in (*self.agent_places.uncalled, *agents):
            agent = self.by_line[name]
            if name not in self.placed_agents and agent.responses:
                key = first_key(agent, tuple(agent.items()))
                draft = TraceBuilder(trace_id(key), agent.session, agent.project, 0)
                self._add_all(draft, self._add_agent(draft, agent, None, None, SpanOwner(name)))
                yield _set_near(draft.spans, partial(self.written.get, agent.session))

    def _build_turn_trace(
        self, responses: TurnResponses, turns: list[Turn], number: int
    ) -> list[Span]:
        """Return the trace of the last of some turns, with the unanswered turns before it."""
        conversation, turn = responses.conversation, turns[-1]
        draft = TraceBuilder(
            trace_id(first_key(conversation, turn.items)),
            conversation.session,
            conversation.project,
            number,
        )
        owner = SpanOwner(conversation.id, not conversation.is_active)
        last = responses.starting_in(turn)[-1]
        level: Level = "DEFAULT"
        status = ""
        if last.is_error:
            level, status = "ERROR", first_line(last.text) or NO_API_MESSAGE
        elif turn.is_interrupted:
            level, status = "WARNING", "interrupted by the user"
        metadata = {
            "source": SPAN_SOURCE,
            "turn_number": number,
            "session_id": conversation.session,
        }
        if not conversation.is_active:
            metadata["branch"] = conversation.id
        start = to_nanoseconds(turn.opener.time if turn.opener else turn.started)
        root = draft.add(
            owner,
            "turn",
            "root",
            name=f"Turn {number}",
            input=opening_message(turn),
            output=build_message("assistant", last.text),
            start=start,
            end=clamp_end(to_nanoseconds(turn.ended), start),
            level=level,
            status=status,
            metadata=metadata,
            record=turn.opener.uuid if turn.opener else None,
        )
        self._add_all(draft, SpanTurns(responses, turns, root.id, owner))

        def find_near() -> int | None:
            position = conversation.turns.index(turn)
            before, after = conversation.turns[:position], conversation.turns[position:]
            starts = (to_nanoseconds(later.started) for later in after if later.started)
            return (
                latest_time(earlier.ended for earlier in before)
                or next(starts, None)
                or self.written.get(conversation.session)
            )

        return _set_near(draft.spans, find_near)

    def _add_all(self, draft: TraceBuilder, turns: SpanTurns) -> None:
        """Add the spans of some turns, and of all agents below them."""
        waiting = [turns]
        while waiting:
            waiting += self._add_turns(draft, waiting.pop())

    def _add_turns(self, draft: TraceBuilder, within: SpanTurns) -> list[SpanTurns]:
        """Add the spans of some turns; return the turns of the agents that they started."""
        started: list[SpanTurns] = []
        unnamed: list[str] = []
        for turn in within.turns:
            responses = within.responses.starting_in(turn)
            for position, response in enumerate(responses):
                message = None if position else opening_message(turn)
                started += self._add_response(draft, within, response, message)
            add_notes(draft, within.owner, within.parent, turn, is_answered=bool(responses))
            unnamed += self.agent_places.agents.get((within.owner.conversation, turn.number), ())
        for name in unnamed:
            if name not in self.placed_agents:
                agent = self.by_line[name]
                parent = within.parent
                if (agent.agent or "").startswith("acompact"):  # it worked for a compaction
                    start = to_nanoseconds(agent.started) or 0
                    later = (span.id for span in draft.compactions if (span.end or 0) >= start)
                    parent = next(later, parent)
                started.append(self._add_agent(draft, agent, None, parent, within.owner))
        return started

    def _add_response(
        self,
        draft: TraceBuilder,
        within: SpanTurns,
        spoken: TurnResponse,
        prompt: dict[str, Any] | None,
    ) -> list[SpanTurns]:
        """Add a response and its calls; return the turns of the agents that they started."""
        response, text = spoken.response, spoken.text
        metadata: dict[str, Any] = {"tool_count": len(spoken.calls)}
        if response.effort:
            metadata["effort"] = response.effort
        if spoken.folded:
            metadata["folded"] = spoken.folded
        usage = [self._count_usage(part) for part in spoken.parts]
        tokens = [tokens for tokens, _ in usage if tokens is not None]
        costs = [cost for _, cost in usage if cost is not None]
        span = draft.add(
            within.owner,
            "generation",
            response.key or f"response {spoken.numbers[0]}",
            name=response.model or UNNAMED_MODEL,
            parent=within.parent,
            input=prompt,
            output=build_message("assistant", text),
            thinking=spoken.thinking,
            level="ERROR" if spoken.is_error else "DEFAULT",
            status=first_line(text) or NO_API_MESSAGE if spoken.is_error else "",
            metadata=metadata,
            model=response.model,
            response=response.id,
            stop_reason=spoken.parts[-1].stop_reason,
            tokens=sum(tokens, NO_TOKENS) if tokens else None,
            cost=sum(costs) if costs else None,
            record=next(iter(response.uuids), None),
            is_abandoned=spoken.folded is not None,
            **interval_times(spoken.interval),
        )
        started: list[SpanTurns] = []
        for call in spoken.calls:
            started += self._add_call(draft, within, span, call)
        return started

    def _count_usage(self, response: Response) -> tuple[Tokens | None, float | None]:
        """Return the tokens and the cost of a response, unless it was counted before."""
        key = response.key
        if response.usage is None or response.is_synthetic or key in self.counted:
            return None, None
        if key:
            self.counted.add(key)
        tokens = response.tokens
        if self.prices is None:
            return tokens, None
        return tokens, self.prices.cost(response.model, tokens, parse_time(response.started))

    def _add_call(
        self, draft: TraceBuilder, within: SpanTurns, above: Span, call: ToolCall
    ) -> list[SpanTurns]:
        """Add a call; return the turns of the agents that it started."""
        span = draft.add(
            within.owner,
            "tool",
            f"{call.call} {call.uuid or ''}",
            parent=above.id,
            is_abandoned=above.is_abandoned,
            **interval_times(call.interval, above.start),
            **build_call_values(call),
        )
        draft.calls.setdefault(call.call, span.id)
        agents = [
            self.by_line[name]
            for name in call.agents
            if name in self.by_line and name not in self.placed_agents
        ]
        owner = SpanOwner(within.owner.conversation, span.is_abandoned)
        if agents and call.name == WORKFLOW:
            starts = map(to_nanoseconds, (agent.started for agent in agents))
            call_input = as_mapping(call.input)
            script_name = SCRIPT_NAME.search(get_text(call_input, "script") or "")
            name = get_text(call_input, "name") or (script_name and script_name[1])
            span = draft.add(
                owner,
                "workflow",
                call.call,
                name=name or WORKFLOW,
                parent=span.id,
                start=min((start for start in starts if start is not None), default=span.start),
                end=latest_time(agent.ended for agent in agents),
                metadata={"agents": len(agents)},
            )
        return [self._add_agent(draft, agent, call, span.id, owner) for agent in agents]

    def _add_agent(
        self,
        draft: TraceBuilder,
        agent: Conversation,
        call: ToolCall | None,
        parent: str | None,
        above: SpanOwner,
    ) -> SpanTurns:
        """Add the span of an agent; return its turns, whose spans are still to be added."""
        self.placed_agents.add(agent.id)
        responses, owner = TurnResponses(agent), SpanOwner(agent.id, above.is_abandoned)
        last = responses.last(agent.turns)
        first_turn = next((turn for turn in agent.turns if turn.opener), None)
        metadata = {
            "source": SPAN_SOURCE,
            "session_id": agent.session,
            "agent_id": agent.agent,
            "description": get_text(as_mapping(call.input), "description") if call else None,
        }
        span = draft.add(
            owner,
            "agent",
            agent.id,
            name=agent_name(agent, call),
            parent=parent,
            input=opening_message(first_turn) if first_turn else None,
            output=build_message("assistant", last.text) if last else None,
            **interval_times(agent.interval),
            metadata=drop_none(metadata),
            record=first_turn.opener.uuid if first_turn and first_turn.opener else None,
        )
        return SpanTurns(responses, agent.turns, span.id, owner)


def _set_near(spans: list[Span], find_near: Callable[[], int | None]) -> list[Span]:
    """Return a trace; if none of its spans has a time, its root says when it was about."""
    if any(span.start is not None or span.end is not None for span in spans):
        return spans
    return [replace(spans[0], near=find_near()), *spans[1:]]


# The waterfall: which span is inside which, and when, on one scale
#
# The scale is the turn's own: what an agent did long after it, or a hook before it, is drawn at the
# edge and marked.

MAX_RAILS = 200
"""Characters; below that depth only the nearest lines are drawn."""


class WaterfallRow(Struct, frozen=True):
    """One row of a waterfall."""

    span: Span
    rails: str
    """The lines that connect it to the rows above."""
    left: float
    right: float
    """The start and end of its bar, from 0 to 1 within the turn."""
    duration: int | None
    """In nanoseconds; None if the log does not say."""
    tokens: int
    """Including all spans inside it."""
    cost: float | None
    is_early: bool = False
    is_late: bool = False
    """Whether it begins before or ends after the scale."""


def build_waterfall(spans: list[Span]) -> list[WaterfallRow]:
    """Return the rows of a trace, the root first, earlier spans before later ones."""
    times = resolve_times(spans)
    tokens = {span.id: span.tokens.total if span.tokens else 0 for span in spans}
    costs = {span.id: span.cost for span in spans}
    for span in reversed(spans):  # children come after their parents
        if span.parent in tokens:
            tokens[span.parent] += tokens[span.id]
            cost = costs[span.id]
            if cost is not None:
                costs[span.parent] = (costs[span.parent] or 0.0) + cost
    first, last = times[spans[0].id]
    if last <= first:
        last = max([first + 1, *(times[span.id][1] for span in spans)])
    rows = []
    for span, rails in _order_spans(spans, times):
        start, end = times[span.id]
        is_known = span.start is not None and span.end is not None
        rows.append(
            WaterfallRow(
                span=span,
                rails=rails,
                left=min(max((start - first) / (last - first), 0.0), 1.0),
                right=min(max((end - first) / (last - first), 0.0), 1.0),
                duration=end - start if is_known else None,
                tokens=tokens[span.id],
                cost=costs[span.id],
                is_early=start < first,
                is_late=end > last,
            )
        )
    return rows


def drop_quiet_hooks(spans: Iterable[Span]) -> list[Span]:
    """Return the spans without hooks that took no time and reported nothing."""
    return [
        span
        for span in spans
        if not (span.kind == "hook" and span.level == "DEFAULT" and span.start == span.end)
    ]


def _order_spans(
    spans: list[Span], times: dict[str, tuple[int, int]]
) -> Iterator[tuple[Span, str]]:
    """Yield the spans as a tree, each with its rails."""
    positions = {span.id: position for position, span in enumerate(spans)}
    children: dict[str | None, list[Span]] = {}
    for span in spans:
        children.setdefault(span.parent if span.parent in positions else None, []).append(span)
    for siblings in children.values():
        siblings.sort(key=lambda span: (times[span.id][0], positions[span.id]))
    waiting = [(span, "", "") for span in reversed(children.get(None, []))]
    while waiting:
        span, rails, rails_below = waiting.pop()
        yield span, rails
        siblings = children.get(span.id, [])
        for position, child in reversed(list(enumerate(siblings))):
            is_last = position == len(siblings) - 1
            corner, rail = ("└ ", "  ") if is_last else ("├ ", "│ ")
            kept = rails_below[-MAX_RAILS:]
            waiting.append((child, kept + corner, kept + rail))


DESCRIPTIVE_INPUTS = """subject description command file_path pattern query url skill prompt path
    notebook_path name""".split()
"""Inputs of a tool that describe a call best, in order."""

PATHS = ("file_path", "path", "notebook_path")


def format_span_time(duration: int | None) -> str:
    """Format the duration of a span; empty if unknown or momentary."""
    if not duration:
        return ""
    if duration < SECOND_NS:
        return f"{max(duration // MILLISECOND_NS, 1)} ms"
    if duration < 10 * SECOND_NS:
        return f"{duration / SECOND_NS:.1f} s"
    minutes, seconds = divmod(duration // SECOND_NS, 60)
    if not minutes:
        return f"{seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {seconds:02}s"


def first_words(content: Any) -> str:
    """Return the beginning of a span's input or output text."""
    text = content.get("content", "") if isinstance(content, Mapping) else ""
    return to_single_line(text) if isinstance(text, str) else ""


def describe_span(span: Span) -> str:
    """Return the status and subject of a span."""
    status, about = to_single_line(span.status), ""
    metadata = span.metadata
    match span.kind:
        case "tool":
            given: Any = span.input if isinstance(span.input, Mapping) else {}
            for name in DESCRIPTIVE_INPUTS:
                about = given.get(name)
                if isinstance(about, str) and about:
                    about = "/".join(about.rsplit("/", 2)[-2:]) if name in PATHS else about
                    break
            else:
                about = ""
        case "agent":
            about = str(metadata.get("description") or "") or first_words(span.input)
        case "generation":
            about = "" if status else first_words(span.output)
        case "compaction":
            before, after = metadata.get("pre_tokens"), metadata.get("post_tokens")
            if isinstance(before, int):
                left = format_thousands(after if isinstance(after, int) else None)
                about = f"{format_thousands(before)}{f' to {left}' if left else ''} tokens"
        case "hook":
            about = str(metadata.get("command") or "")
        case _:
            about = first_words(span.input)
    return join_dotted(status, to_single_line(about))
