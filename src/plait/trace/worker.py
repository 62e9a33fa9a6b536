"""The worker behind the hooks: finds the spans of sessions that are new and final, and sends them.

A turn is final when the next prompt follows it, when Claude Code has noted its duration, or when an
event says that it is over: the session has ended, or nothing has been written for a while. An
answer alone means little, as a hook may make the model continue. An event is about the log as it
was then: what was written since belongs to a client that resumed the session. An agent that
outlives its turn is read when it has stopped: it reported so, or it fell silent.
"""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

from plait.conversation.build import BranchDetector, get_line_role
from plait.conversation.costs import Pricing
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    ClientNote,
    Conversation,
    FoldedItems,
    Item,
    LateResult,
    OtherBlock,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.walk import iter_calls
from plait.errors import PlaitError, SourceError
from plait.graph.facts import Source, make_source_file
from plait.graph.paths import SPOKEN
from plait.line import LogFile, iter_lines, read_slice
from plait.line.discovery import LOG_SUFFIX, make_log_file
from plait.line.output import lock_file
from plait.record import Record
from plait.record.codec import NotAnObject
from plait.record.reader import Broken, parse_entry, parse_record, read, read_if_exists
from plait.record.side_files import read_agent_meta, read_title_file
from plait.record.time import format_timestamp
from plait.record.types import QueueOperation
from plait.sessions.checkpoint import Checkpoint, replay, stays_linear
from plait.sessions.discovery import find_sessions_near
from plait.sessions.open_session import OpenSession
from plait.sessions.redaction import Redaction
from plait.trace.delivery import MAX_BATCH_SPANS, Spool, Target, flush
from plait.trace.hook_event import WORKER_LOCK
from plait.trace.jobs import (
    FAILED_FOLDER,
    MAX_ATTEMPTS,
    Job,
    WorkerLog,
    count_attempt,
    iter_jobs,
    list_jobs,
    record_failed_job,
)
from plait.trace.model import Content, Span
from plait.trace.otlp import prepare_spans
from plait.trace.spans import build_traces, first_key, to_nanoseconds, trace_id
from plait.trace.state import (
    Progress,
    SessionJournal,
    SessionState,
    is_older,
    is_same_log,
    prune_states,
    read_mark,
    read_states,
    save_state,
)

if TYPE_CHECKING:
    from plait.redact import Redactor

SPOOL_FULL = "the queue is full"
LOCK_SECONDS = 0.5
"""How long to wait for the lock: hooks hold it for a moment to see whether a worker runs."""
MODEL_ITEMS = (AssistantText, AssistantThinking, ToolCall, OtherBlock, LateResult)
NON_PROMPT_KINDS = frozenset(
    {"command", "command-output", "bash", "bash-output", "ide", "reminder", "empty"}
)
"""User messages between two prompts that the model need not have seen."""
ABSORBED_PROMPT = "queued_command"
"""What a prompt becomes that was typed while a tool ran."""
LineRef: TypeAlias = tuple[str, int, int]
"""A line: its file, its offset, its length."""


# When a turn is final


@dataclass(frozen=True)
class Inspection:
    """What is known about a session when it is inspected."""

    is_over: bool = False
    """Whether nothing more follows in the last turn."""
    agents: Set[str] = frozenset()
    """The agents that reported that they have stopped."""
    idle_after: float = 30.0
    """Seconds without a new line after which a background agent has stopped."""
    abandoned_after: float = 3600.0
    """Seconds after which any agent has."""
    until: int | None = None
    """How many bytes of the log `is_over` is about; None for all of it."""
    is_silent: bool = False
    """Whether nothing was written since, so that what the model left undone stays undone."""

    def is_final(self, turn: Turn) -> bool:
        """Return whether nothing more comes to the last of the turns that `is_over` is about."""
        return self.is_over and (self.until is None or self.is_silent or has_finished(turn))


def find_closing_line(turn: Turn) -> int | None:
    """Return the line where Claude Code noted the end of a turn; None if it has not, or if the
    model did something afterwards.
    """
    for item in reversed(turn.items):
        if isinstance(item, ClientNote) and item.subtype == "turn_duration":
            return item.line
        if isinstance(item, MODEL_ITEMS):
            return None
    return None


def has_finished(turn: Turn) -> bool:
    """Return whether the model seems to have finished."""
    for item in reversed(turn.items):
        if isinstance(item, UserMessage):
            is_prompt = item.kind not in NON_PROMPT_KINDS and item.name != "caveat"
            if is_prompt and not item.is_only_queued:
                return item.kind == "interruption"
        elif isinstance(item, MODEL_ITEMS):
            return isinstance(item, AssistantText | OtherBlock)
    return False


def find_pending_prompts(records: Iterable[Record]) -> set[int | None]:
    """Return the times of queued prompts whose fate the log does not say yet: a turn, text with a
    tool result, or nothing.
    """
    queue: list[Record] = []
    dequeued: list[Record] = []
    is_asked, since = False, ""
    for record in records:
        role = get_line_role(record)
        attachment = record.envelope.attachment
        if isinstance(record, QueueOperation):
            if record.operation == "enqueue":
                queue.append(record)
            else:
                same = [
                    waiting for waiting in queue if waiting.fields.get("content") == record.content
                ]
                leaving = queue[:] if record.operation == "popAll" else (same or queue)[:1]
                dequeued += leaving
                queue = [waiting for waiting in queue if waiting not in leaving]
            is_asked, since = False, record.timestamp or ""
        elif role == "prompt" or (attachment and attachment.type == ABSORBED_PROMPT):
            is_asked = True
        # Several prompts may be dequeued at once; all are written before the model answers. An
        # older answer was copied from another session.
        elif role == "answer" and is_asked and (record.timestamp or "") >= since:
            dequeued.clear()
    return {to_nanoseconds(record.timestamp) for record in (*queue, *dequeued)}


@dataclass
class AgentStatus:
    """Tells which agents have stopped."""

    by_line: Mapping[str, Conversation]
    inspection: Inspection
    callers: dict[str, ToolCall] = field(default_factory=dict)
    unfinished: set[str] = field(default_factory=set)
    """The files of agents that have not."""

    def __post_init__(self) -> None:
        for conversation in self.by_line.values():
            for _, call in iter_calls(conversation):
                self.callers.update(dict.fromkeys(call.agents, call))

    def has_stopped(self, line: str) -> bool:
        """Return whether nothing more follows in a conversation, if it is an agent's."""
        agent, inspection = self.by_line[line], self.inspection
        if agent.kind in SPOKEN:
            return True
        caller = self.callers.get(line)
        if caller and caller.outcome != "launched":  # it ends with the turn that called it
            return True
        path = agent_file(agent)
        if inspection.is_over or agent.agent in inspection.agents or path is None:
            return True
        is_background = agent.kind == "service"
        limit = inspection.idle_after if is_background else inspection.abandoned_after
        try:
            is_idle = time.time() - path.stat().st_mtime >= limit
        except OSError:
            return True
        if not is_idle:
            self.unfinished.add(str(path))
        return is_idle


def agent_file(agent: Conversation) -> Path | None:
    """Return the file that an agent is in."""
    first = next(agent.items(), None)
    return Path(agent.files[first.file]) if first and first.file < len(agent.files) else None


def first_line_number(turn: Turn) -> int:
    """Return the line in the session's own file where a turn begins.

    A prompt that it replaced comes before it, with the notes about that prompt.
    """
    items = [
        item for item in turn.items if is_in_main_file(item) and not isinstance(item, FoldedItems)
    ]
    with_uuid = [item.line for item in items if item.uuid]
    return min(with_uuid or [item.line for item in items], default=0)


def is_in_main_file(item: Item) -> bool:
    """Return whether an item is in the session's own file, at a known line."""
    return item.file == 0 and item.line > 0


# Reading a session: all of it, or from the last turn that was sent


@dataclass(frozen=True)
class HookReading:
    """What was read of a session."""

    path: Path
    session: str
    records: Sequence[Record]
    """Of its own file, from the beginning or from the last turn that was sent."""
    agents: tuple[LogFile, ...]
    by_line: Mapping[str, Conversation]
    start: Progress | None = None
    """Where reading started; None for the beginning."""
    broken: Sequence[int] = ()
    """New lines that cannot be read."""
    lesson_lines: list[LineRef] | None = None
    """The lines that taught the redactor something, also those that were not read now."""

    @property
    def active(self) -> Conversation | None:
        """The active conversation: the one at the end of the log."""

        def find_last_line(conversation: Conversation) -> int:
            items = conversation.items()
            return max((item.line for item in items if is_in_main_file(item)), default=0)

        spoken = (line for line in self.by_line.values() if line.kind in SPOKEN)
        return max(spoken, key=find_last_line, default=None)

    def restore_branching(self) -> BranchDetector:
        """Return the state of branch detection before the first record that was read."""
        return _restore_branching(self.start, self.path) if self.start else BranchDetector()


def _restore_branching(start: Progress, path: Path) -> BranchDetector:
    return msgspec.msgpack.decode(start.checkpoint, type=Checkpoint).to_branching(path)


def read_new_part(
    path: Path,
    session: str,
    start: Progress,
    inspection: Inspection,
    redactor: "Redactor | None" = None,
) -> HookReading | None:
    """Read a session from its last turn that was sent; None if only a full reading is safe."""
    if not is_same_log(start, path) or (redactor and start.lesson_lines is None):
        return None
    records, broken = _read_records(path, start.offset, start.line)
    try:
        branching = _restore_branching(start, path)
    except (SourceError, ValueError):
        return None
    replay(branching, (record for record in records if record.line <= start.read))
    if not stays_linear(branching, (record for record in records if record.line > start.read)):
        return None

    def is_new(file: LogFile) -> bool:
        name = str(file.path)
        if name in start.unfinished:
            return inspection.is_over or file.agent in inspection.agents
        return start.agents.get(name) != file.size

    agents = tuple(file for file in _list_agents(path) if is_new(file))
    new_broken = [line for line in broken if line > start.read]
    reading = _build_reading(path, session, records, agents, new_broken, redactor, start)
    # A part reads as the whole session would if it is one conversation that begins with the turn
    # it was read from, and every agent in it was called from there.
    lines = reading.by_line.values()
    spoken = [line for line in lines if line.kind in SPOKEN and line.turns]
    is_self_contained = (
        len(spoken) == 1
        and any(first_line_number(turn) == start.line for turn in spoken[0].turns)
        and all(line.call for line in lines if line.kind == "agent")
    )
    return reading if is_self_contained else None


def _read_records(path: Path, offset: int = 0, number: int = 1) -> tuple[list[Record], list[int]]:
    """Return the records of a log, and the numbers of its broken lines; a line that is still being
    written is neither.
    """
    records: list[Record] = []
    broken: list[int] = []
    for line in iter_lines(path, offset=offset, number=number):
        entry = parse_entry(line)
        if isinstance(entry, Record):
            records.append(entry)
        elif isinstance(entry, Broken) and line.is_ended:
            broken.append(line.number)
    return records, broken


def _list_agents(path: Path) -> tuple[LogFile, ...]:
    for session in find_sessions_near(path):
        if session.file and session.file.path == path:
            return session.agents + session.journals
    return ()


def _build_reading(
    path: Path,
    session: str,
    records: list[Record],
    agents: tuple[LogFile, ...],
    broken: Sequence[int],
    redactor: "Redactor | None",
    start: Progress | None = None,
) -> HookReading:
    file = make_log_file(path, path.stat().st_size)
    source = Source(make_source_file(file), records, title=read_title_file(file.folder))
    lesson_lines = _teach_redactor(redactor, source, agents, start) if redactor else None
    redaction = Redaction(redactor) if redactor else None
    opened = OpenSession([source, *agents], redaction=redaction)
    ids = opened.graph.sessions
    name = redaction.redact_name(session) if redaction else session
    if ids and name not in ids:
        name = next(iter(ids))
    return HookReading(path, name, records, agents, opened.by_line, start, broken, lesson_lines)


def _teach_redactor(
    redactor: "Redactor", source: Source, agents: Iterable[LogFile], start: Progress | None
) -> list[LineRef]:
    """Let a redactor see everything first: what one place reveals is hidden everywhere.

    Of what precedes the records that were read, only the lines that taught something are read
    again. Return all such lines.
    """
    lesson_lines = list(start.lesson_lines or ()) if start else []
    metadata = [read_agent_meta(agent.path) for agent in agents]
    Redaction(redactor).learn_metadata(source.title, *metadata)
    for path, offset, length in lesson_lines:
        with suppress(SourceError, NotAnObject):
            redactor.learn(parse_record(read_slice(Path(path), offset, length)))
    sources = [(source.file.path, source.records)]
    sources += [(str(agent.path), read_if_exists(agent.path)) for agent in agents]
    for path, records in sources:
        for record in records:
            before = redactor.learnt
            redactor.learn(record)
            if redactor.learnt > before:
                lesson_lines.append((path, record.offset, len(record.raw)))
    return lesson_lines


def read_sent_by_relatives(
    path: Path, records: Iterable[Record], journal: SessionJournal
) -> set[str]:
    """Return what was sent as part of sessions that begin with the same record: a fork is a copy
    of everything before it, under another id.
    """
    first = next((record.uuid for record in records if record.uuid), None)
    sent: set[str] = set()
    for log in sorted(path.parent.glob(f"*{LOG_SUFFIX}")) if first else ():
        other = journal.for_session(log.stem)
        if log == path or not other.exists():
            continue
        if next((record.uuid for record in read_if_exists(log) if record.uuid), None) == first:
            sent |= other.read_sent()
    return sent


def find_previous_session(path: Path, session: str) -> tuple[str, Path] | None:
    """Return the session that a log continues, if its own log is in the same folder.

    The first line of such a log names another session than the rest.
    """
    try:
        first = next(read(path), None)
    except SourceError:
        return None
    named = first.session_id if first else None
    log = find_sibling_log(path, named) if named and named != session else None
    return (named, log) if named and log else None


def find_sibling_log(path: Path, session: str) -> Path | None:
    """Return the log of a session in the same folder as another; None if there is none."""
    try:
        log = path.with_name(f"{session}{LOG_SUFFIX}")
        return log if log != path and log.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


# Finding the spans that are new and final


@dataclass(frozen=True)
class NewSpans:
    """What an inspection of a session found."""

    traces: list[list[Span]]
    """The new spans that are final, turn by turn."""
    known: list[str]
    """The ids of spans that another tool has sent, or the hook of another session."""
    progress: Progress | None
    last_line: int | None
    """The last line of the last turn that was sent; None if it is as before."""
    turns: int
    """How many turns are new."""
    is_open: bool
    """Whether something that was answered is not final yet."""
    is_awaited: bool
    """Whether the turn that is not final yet had begun at the time of the event."""
    is_at_rest: bool
    """Whether the model seems to have said its last word in that turn."""
    is_full: bool
    """Whether all of the log was read."""
    broken: Sequence[int] = ()
    """New lines that cannot be read."""


def find_new_spans(
    path: Path,
    session: str,
    journal: SessionJournal,
    *,
    state: SessionState,
    inspection: Inspection,
    prices: Pricing | None = None,
    redactor: "Redactor | None" = None,
) -> NewSpans:
    """Return what is new and final in a session, at the cost of what is new.

    The last turn that was sent is read again each time, with what follows it. Only if the log does
    not continue linearly (a rewind, a branch, a rewritten file, an agent that was started long ago)
    is all of it read; what was sent before is recognised by its ids.
    """
    start = journal.read_progress()
    reading = read_new_part(path, session, start, inspection, redactor) if start else None
    if reading is None:
        records, broken = _read_records(path)
        reading = _build_reading(path, session, records, _list_agents(path), broken, redactor)
    if reading.start:
        sent, copied = set(reading.start.sent), set[str]()
    else:
        sent = journal.read_sent()
        copied = read_sent_by_relatives(path, reading.records, journal) - sent
    sent_by_other_tool = state.last_line if not state.path else 0
    sorter = SpanSorter(reading, inspection, sent | copied, sent_by_other_tool, copied)
    return sorter.sort(prices)


@dataclass
class SpanSorter:
    """Sorts what was read into what is sent now, what was sent before, and what must wait."""

    reading: HookReading
    inspection: Inspection
    sent: set[str]
    other_tool_line: int = 0
    """The last line that another tool has sent."""
    copied: Set[str] = frozenset()
    """What was sent as part of another session, which this one was copied from."""
    new: list[list[Span]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.agents = AgentStatus(self.reading.by_line, self.inspection)
        self.active = self.reading.active
        turns = self.active.turns if self.active else ()
        self.turns = {turn.number: turn for turn in turns}
        # Branches count their turns from where they begin, so numbers are not unique.
        self.turns_by_trace = {
            _make_trace_id(self.active, turn): turn for turn in turns if self.active
        }
        self.last = max(self.turns, default=0)
        self.final: list[tuple[Turn, int, list[str]]] = []
        """The turns of the active conversation that are final: each with its number in the whole
        log, and the spans of it that have been sent.
        """
        self.open: Turn | None = None
        self.has_open_branch = False
        """Whether another client is in the middle of a turn on another branch."""
        self.unsent: set[str] = set()
        """The conversations that belong to turns that are not final."""
        self.pending_events: set[int] = set()
        """The turns with events whose meaning is not clear yet."""
        self.lines = {record.uuid: record.line for record in self.reading.records if record.uuid}
        is_over, until = self.inspection.is_over, self.inspection.until
        self.bound: int | None = None
        """The last line before the event; None for all lines."""
        if until is not None:
            before = self.reading.start.line - 1 if self.reading.start else 0
            lines = (record.line for record in self.reading.records if record.offset < until)
            self.bound = max(lines, default=before)
        self.pending: set[int | None] = set()
        """The times of queued prompts that may still turn out to be something else."""
        if not (is_over and self.bound is None):
            self.pending = find_pending_prompts(
                record
                for record in self.reading.records
                if not (is_over and self.bound is not None and record.line <= self.bound)
            )

    def sort(self, prices: Pricing | None) -> NewSpans:
        """Return the result."""
        start = self.reading.start
        if start is None:
            base = 0
        else:
            first = next(
                turn for turn in self.turns.values() if first_line_number(turn) == start.line
            )
            base = start.number - first.number
        for trace in build_traces(self.reading.by_line, prices):
            self.add([_renumber(span, base) for span in trace])
        awaited = self.open if self.open and self.had_begun(self.open) else None
        waits = self.has_open_branch or bool(self.list_unfinished() or self.pending_events)
        return NewSpans(
            traces=self.new,
            known=self.known,
            progress=self.progress(),
            last_line=self.last_line(),
            turns=self.count_turns(),
            is_open=self.open is not None or waits,
            is_awaited=awaited is not None,
            is_at_rest=awaited is not None and has_finished(awaited),
            is_full=self.reading.start is None,
            broken=self.reading.broken,
        )

    def count_turns(self) -> int:
        """Return how many turns are new."""
        return sum(1 for trace in self.new if trace[0].kind == "turn")

    def add(self, trace: list[Span]) -> None:
        """Add a trace: what is final of it is sent, unless it was sent before."""
        root = trace[0]
        is_elsewhere = root.session != self.reading.session
        if is_elsewhere and find_sibling_log(self.reading.path, root.session):
            return  # a session within this file that has a file of its own
        turn = self.turns_by_trace.get(root.trace)
        end = self.end_of(turn) if turn else self.end_of_branch(root)
        if end == 0:
            self.open = turn or self.open
            self.has_open_branch = self.has_open_branch or turn is None
            self.unsent |= {span.conversation for span in trace}
            return
        done = [span for span in trace if span.id in self.sent or self.is_done(span, end)]
        if turn:
            self.final.append((turn, root.turn, [span.id for span in done]))
            if any(map(self.is_pending, trace)):
                self.pending_events.add(turn.number)
        self.known += [span.id for span in done if span.id in self.copied]
        new = [span for span in done if span.id not in self.sent]
        if new and turn and 0 < first_line_number(turn) <= self.other_tool_line:
            self.known += [span.id for span in new]
        elif new:
            self.new.append(new)

    def end_of(self, turn: Turn) -> int | None:
        """Return up to which line a turn is final: 0 for none of it, None for all of it.

        What follows its end may still turn out to begin the next turn.
        """
        if turn.number != self.last:
            return None
        closed = find_closing_line(turn) or 0
        if not (self.had_begun(turn) and self.inspection.is_final(turn)):
            return closed
        if self.bound is None or self.inspection.is_silent:
            return None
        return max(self.bound, closed)

    def end_of_branch(self, root: Span) -> int | None:
        """Return the same for a turn that is not on the active branch.

        What another client is still working on is left to it.
        """
        branch = self.reading.by_line.get(root.conversation)
        turn = branch.turns[-1] if branch and branch.kind in SPOKEN and branch.turns else None
        if turn is None or branch is None or _make_trace_id(branch, turn) != root.trace:
            return None
        is_over = self.inspection.is_over and self.bound is None
        return None if is_over or has_finished(turn) else 0

    def had_begun(self, turn: Turn) -> bool:
        """Return whether a turn had begun at the time of the event."""
        return self.bound is None or first_line_number(turn) <= self.bound

    def is_pending(self, span: Span) -> bool:
        """Return whether a queued prompt may still turn out to be something else."""
        return bool(span.metadata.get("is_only_queued")) and span.start in self.pending

    def is_done(self, span: Span, end: int | None) -> bool:
        """Return whether nothing more follows in a span of a turn that is final up to a line."""
        if span.metadata.get("is_only_queued"):
            return not self.is_pending(span)
        if end is not None and span.kind in ("event", "hook"):
            line = self.lines.get(span.record or "")
            if line is None or line > end:
                return False
        return self.agents.has_stopped(span.conversation)

    def list_unfinished(self) -> list[str]:
        """Return the files of agents that have not stopped, also of those not read now."""
        start, read_now = self.reading.start, {str(file.path) for file in self.reading.agents}
        return sorted(
            self.agents.unfinished | (set(start.unfinished) - read_now if start else set())
        )

    def last_line(self) -> int | None:
        """Return the last line before the first turn that was not sent."""
        records = self.reading.records
        if not self.final or (self.reading.start and not self.count_turns()):
            return None
        last_final = max(turn.number for turn, *_ in self.final)
        waiting = (turn for number, turn in self.turns.items() if number > last_final)
        begun = min(map(first_line_number, waiting), default=None)
        lines = (record.line for record in records if begun is None or record.line < begun)
        return max(lines, default=0)

    def progress(self) -> Progress | None:
        """Return where to continue next time; None if all must be read again."""
        reading = self.reading
        if not self.final:
            return reading.start
        newest = max(turn.number for turn, *_ in self.final)
        first = min(self.pending_events | {newest})
        turn, number, _ = next(entry for entry in self.final if entry[0].number == first)
        sent = [
            span_id
            for final_turn, _, span_ids in self.final
            if final_turn.number >= first
            for span_id in span_ids
        ]
        begin = first_line_number(turn)
        offset = next((record.offset for record in reading.records if record.line == begin), None)
        if offset is None or any(line >= begin for line in self.lines_before(turn)):
            return None
        before = (record for record in reading.records if record.line < begin)
        unfinished = self.list_unfinished()
        unsent_files = {str(agent_file(reading.by_line[name])) for name in self.unsent}
        sizes = {
            str(file.path): file.size
            for file in reading.agents
            if str(file.path) not in {*unfinished, *unsent_files}
        }
        return Progress(
            path=str(reading.path),
            read=reading.records[-1].line,
            line=begin,
            offset=offset,
            mark=read_mark(reading.path, offset),
            number=number,
            sent=sent,
            agents={**(reading.start.agents if reading.start else {}), **sizes},
            unfinished=unfinished,
            checkpoint=msgspec.msgpack.encode(
                Checkpoint.from_detector(replay(reading.restore_branching(), before))
            ),
            lesson_lines=reading.lesson_lines,
        )

    def lines_before(self, last: Turn) -> Iterator[int]:
        """Yield the lines of everything that is not in the last turns."""
        for conversation in self.reading.by_line.values():
            is_active = conversation is self.active
            for turn in conversation.turns if conversation.kind in SPOKEN else ():
                if not (is_active and turn.number >= last.number):
                    yield from (item.line for item in turn.items if is_in_main_file(item))


def _renumber(span: Span, base: int) -> Span:
    if not base:
        return span
    number = span.turn + base
    if span.kind != "turn":
        return replace(span, turn=number)
    metadata = {**span.metadata, "turn_number": number}
    return replace(span, turn=number, name=f"Turn {number}", metadata=metadata)


def _make_trace_id(conversation: Conversation, turn: Turn) -> str:
    return trace_id(first_key(conversation, turn.items))


# The worker


@dataclass(frozen=True)
class HookLimits:
    """How long the worker waits, in seconds."""

    idle: float = 30.0
    """Without a new line after the model finished: then the turn is final."""
    abandoned: float = 3600.0
    """Without a new line at all: then everything is final."""
    life: float = 1800.0
    """For a failing target, after the last job."""
    retention: float = 30 * 86400.0
    """Until the state of a session whose log is gone is deleted."""
    step: float = 0.2
    """Between two checks."""


@dataclass(frozen=True)
class HookOptions:
    """What of a session is sent."""

    content: Content = field(default_factory=Content)
    redactor: "Callable[[], Redactor] | None" = None
    prices: Pricing | None = None


@dataclass
class WatchedLog:
    """A log whose last turn seems to be complete, and may not be."""

    path: Path
    size: int
    since: float
    job: Job
    """The job that said so."""


@dataclass
class HookWorker:
    """Processes the jobs that hooks have left; one worker runs at a time.

    Each session that a job names is inspected; what is new and final goes to the spool, then the
    state says so, then the spool is sent. Whatever is interrupted is done again: spans keep their
    ids, so nothing arrives twice.
    """

    folder: Path
    target: Target
    options: HookOptions = field(default_factory=HookOptions)
    limits: HookLimits = field(default_factory=HookLimits)

    def __post_init__(self) -> None:
        self.log = WorkerLog(self.folder)
        self.spool = Spool(self.folder)
        self.watched: dict[str, WatchedLog] = {}
        self.can_send = True

    def run(self) -> None:
        """Work until there is nothing left to do; return at once if another worker runs."""
        while True:
            with lock_file(self.folder / WORKER_LOCK, LOCK_SECONDS) as is_ours:
                if not is_ours:
                    return
                self.serve()
            if not list_jobs(self.folder):  # else a job came after the lock was released
                return

    def serve(self) -> None:
        """Process jobs, wait for turns to become final and for the target to answer."""
        self.sweep()
        until = time.monotonic() + self.limits.life
        while True:
            if self.process_jobs():
                until = time.monotonic() + self.limits.life
            self.inspect_watched()
            self.send()
            if time.monotonic() >= until or not (self.watched or self.is_sending()):
                return
            time.sleep(self.limits.step if self.watched else max(self.limits.step, 0.5))

    def process_jobs(self) -> bool:
        """Process the jobs that were left; return whether there were any."""
        has_any = False
        for path, job in iter_jobs(self.folder):
            has_any = True
            if job is None:
                self.record_failure(path, "is not a session log")
                continue
            if (attempts := count_attempt(self.folder, path)) >= MAX_ATTEMPTS:
                self.record_failure(path, f"crashed the worker {attempts} times")
                continue
            try:
                self.process_job(job)
            except Exception as error:  # whatever goes wrong with one job, the others continue
                self.record_failure(path, _describe_error(error))
        return has_any

    def record_failure(self, path: Path, reason: str) -> None:
        """Record a job that cannot be done."""
        self.log.write(f"{path.name}: {reason}")
        record_failed_job(self.folder, path, reason)

    def process_job(self, job: Job) -> None:
        """Inspect the session of a job, and before that the session that it continues."""
        if job.agent and job.event == "subagent-stop":
            journal = SessionJournal(self.folder, job.session)
            journal.add_stopped(job.agent)
            progress = journal.read_progress()
            waiting = progress.unfinished if progress else ()
            if not any(Path(file).stem.endswith(job.agent) for file in waiting):
                return
        previous = find_previous_session(job.path, job.session)
        if previous and not self.is_done(*previous):
            self.inspect(*previous, is_over=True)
        size = _get_file_size(job.path)
        found = self.inspect(job.session, job.path, is_over=job.is_final, until=job.size)
        self.watched.pop(job.session, None)
        if found and _should_wait(job, found):
            self.watched[job.session] = WatchedLog(job.path, size, time.monotonic(), job)

    def is_done(self, session: str, path: Path) -> bool:
        """Return whether all of a session has been sent."""
        state = read_states(self.folder).get(session)
        return state is not None and not state.is_open and state.size == _get_file_size(path)

    def inspect_watched(self) -> None:
        """Inspect the sessions whose last turn was not final yet."""
        for session, watched in list(self.watched.items()):
            size, now = _get_file_size(watched.path), time.monotonic()
            is_silent = size == watched.size
            if is_silent and now - watched.since < self.limits.idle:
                continue
            found = self.inspect(
                session,
                watched.path,
                is_over=is_silent or watched.job.is_final,
                until=watched.job.size,
                is_silent=is_silent,
            )
            if found is None or is_silent or not _should_wait(watched.job, found):
                del self.watched[session]
            else:
                self.watched[session] = WatchedLog(watched.path, size, now, watched.job)

    def sweep(self) -> None:
        """Inspect the sessions that ended without an event: nothing was written for long."""
        self.tidy()
        for session, state in read_states(self.folder).items():
            path = Path(state.path)
            if state.is_open and state.path and is_older(path, self.limits.abandoned):
                self.inspect(session, path, is_over=True)

    def tidy(self) -> None:
        """Delete what killed processes left half written, and the states of deleted sessions."""
        for path in chain(self.folder.glob("*/.*"), self.folder.glob("*/*.broken")):
            if is_older(path, self.limits.abandoned):
                path.unlink(missing_ok=True)
        for path in self.folder.glob(f"{FAILED_FOLDER}/*"):
            if is_older(path, self.limits.retention):
                path.unlink(missing_ok=True)
        prune_states(self.folder, self.limits.retention)

    def inspect(
        self,
        session: str,
        path: Path,
        *,
        is_over: bool,
        until: int | None = None,
        is_silent: bool = False,
    ) -> NewSpans | None:
        """Spool what is new and final in a session; a failure is logged and stops nothing else."""
        new_state = SessionState(path=str(path), updated=format_timestamp(datetime.now(UTC)))
        state = read_states(self.folder).get(session, new_state)
        inspection = Inspection(
            is_over=is_over,
            agents=frozenset(SessionJournal(self.folder, session).read_stopped()),
            idle_after=self.limits.idle,
            abandoned_after=self.limits.abandoned,
            until=until,
            is_silent=is_silent,
        )
        try:
            return self.spool_new_spans(session, path, state, inspection)
        except Exception as error:  # whatever goes wrong with one session, the others continue
            reason = _describe_error(error)
            self.log.write(f"{session}: {reason}")
            self.save_state(session, replace(state, error=reason))
            return None

    def spool_new_spans(
        self, session: str, path: Path, state: SessionState, inspection: Inspection
    ) -> NewSpans:
        """Spool what is new and final in a session, and save how far that is."""
        journal, size = SessionJournal(self.folder, session), _get_file_size(path)
        found = find_new_spans(
            path,
            session,
            journal,
            state=state,
            inspection=inspection,
            prices=self.options.prices,
            redactor=self.options.redactor() if self.options.redactor else None,
        )
        journal.add_sent(found.known)
        batches: list[list[Span]] = []
        for trace in found.traces:
            if not batches or len(batches[-1]) >= MAX_BATCH_SPANS:
                batches.append([])
            batches[-1] += trace
        has_room = all(self.add_to_spool(journal, batch) for batch in batches)
        journal.save_progress(found.progress if has_room else None)
        self.save_state(
            session,
            SessionState(
                last_line=found.last_line if has_room and found.last_line else state.last_line,
                turn_count=state.turn_count + found.turns * has_room,
                updated=format_timestamp(datetime.now(UTC)),
                path=str(path),
                size=size,
                is_open=found.is_open or not has_room,
                error="" if has_room else SPOOL_FULL,
            ),
        )
        if found.broken:
            count = len(found.broken)
            more = f" and {count - 10} more" if count > 10 else ""
            lines = ", ".join(map(str, found.broken[:10]))
            self.log.write(f"{session}: skipped broken lines: {lines}{more}")
        if found.traces:
            self.log.write(f"{session}: {sum(map(len, found.traces))} spans, {found.turns} turns")
        return found

    def add_to_spool(self, journal: SessionJournal, spans: list[Span]) -> bool:
        """Add spans to the spool and record them as sent; False if the queue is full."""
        has_room = self.spool.add(prepare_spans(spans, self.options.content))
        if has_room:
            journal.add_sent([span.id for span in spans])
        else:
            self.log.write(SPOOL_FULL)
        return has_room

    def save_state(self, session: str, state: SessionState) -> None:
        """Save how far a session has been sent, if possible."""
        try:
            save_state(self.folder, session, state)
        except (PlaitError, OSError) as error:
            self.log.write(f"{session}: {error}")

    def is_sending(self) -> bool:
        """Return whether something is waiting that can be sent."""
        return self.can_send and self.spool.count() > 0

    def send(self) -> None:
        """Send what is waiting, unless the target must be left alone for now."""
        if not self.is_sending() or time.time() < self.spool.read_tries().next:
            return
        try:
            done = flush(self.spool, self.target)
        except (PlaitError, OSError) as error:
            self.can_send = False
            self.log.write(f"cannot send: {error}")
            return
        figures = f"{done.sent} sent, {done.waiting} waiting, {done.refused} refused"
        self.log.write(f"{self.target.url}: {figures} {done.reason}".rstrip())


def _should_wait(job: Job, found: NewSpans) -> bool:
    """Return whether silence would make a turn final that is not final yet."""
    return found.is_awaited and (job.is_final or (job.is_stop and found.is_at_rest))


def _describe_error(error: Exception) -> str:
    """Return what went wrong; the text of an unexpected error may quote a session."""
    if isinstance(error, PlaitError):
        return error.message
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"


def _get_file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
