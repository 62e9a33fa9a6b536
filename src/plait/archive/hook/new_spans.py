"""A session's log to the spans that are new and final, at the cost of what is new.

The last turn that was sent is read again each time, with what follows it. Only where the log
does not go on straight (a rewind, a branch, a file that was written anew, an agent that was
sent out long ago) all of it is read; what was sent before is known by its ids.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from plait.archive.checkpoint import Checkpoint, with_judged
from plait.archive.hook.finality import Occasion, closing_line, is_at_rest, undecided_prompts
from plait.archive.hook.reading import (
    Agents,
    HookReading,
    file_of,
    first_line,
    is_own,
    log_beside,
    read_new_part,
    read_whole,
    sent_by_relatives,
)
from plait.conversation.model import Conversation, Turn
from plait.conversation.totals import Pricing
from plait.graph.paths import SPOKEN
from plait.record import Record
from plait.trace.model import Span
from plait.trace.sent import Progress, SentSession, SessionState, mark_at
from plait.trace.spans.builder import first_key, trace_id
from plait.trace.spans.traces import traces_of

if TYPE_CHECKING:
    from plait.redact import Redactor


@dataclass(frozen=True)
class NewSpans:
    """What a look at a session has found."""

    traces: list[list[Span]]
    """The new spans that are final, turn by turn."""
    known: list[str]
    """The ids of spans that another tool has sent, or the hook of another session."""
    progress: Progress | None
    last_line: int | None
    """The last line of the last turn that was sent; None where it is as before."""
    turns: int
    """How many turns are new."""
    is_open: bool
    """Something that was answered is not final yet."""
    is_awaited: bool
    """The turn that is not final yet had begun when the word was given."""
    is_at_rest: bool
    """In that turn the model has said its last word, as far as one can see."""
    is_whole: bool
    """All of the log was read."""
    broken: Sequence[int] = ()
    """The new lines that cannot be read."""


def new_spans(
    path: Path,
    session: str,
    journal: SentSession,
    *,
    state: SessionState,
    occasion: Occasion,
    prices: Pricing | None = None,
    redactor: "Redactor | None" = None,
) -> NewSpans:
    """Returns what is new and final in a session."""
    start = journal.progress()
    reading = None
    if start:
        reading = read_new_part(path, session, start, occasion, redactor)
    if reading is None:
        reading = read_whole(path, session, redactor)
    sent = set(reading.start.sent) if reading.start else journal.sent()
    copied = set() if reading.start else sent_by_relatives(path, reading.records, journal) - sent
    legacy = state.last_line if not state.path else 0
    return SpanSorter(reading, occasion, sent | copied, legacy, copied).found(prices)


@dataclass
class SpanSorter:
    """Sorts what was read into what is sent now, what was sent and what must wait."""

    reading: HookReading
    occasion: Occasion
    sent: set[str]
    legacy: int = 0
    """The last line that another tool has sent."""
    copied: Set[str] = frozenset()
    """What was sent as part of another session, which this one was copied from."""
    new: list[list[Span]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.agents = Agents(self.reading.by_line, self.occasion)
        self.active = self.reading.active
        self.turns = {turn.number: turn for turn in self.active.turns} if self.active else {}
        self.by_trace = (
            {_trace_of(self.active, turn): turn for turn in self.active.turns}
            if self.active
            else {}
        )
        """The same turns; what branches off is numbered from there, and may have their numbers."""
        self.last = max(self.turns, default=0)
        self.final: list[tuple[Turn, int, list[str]]] = []
        """The turns of the active conversation that are final: each with its number in all of
        the log, and the spans of it that have gone out.
        """
        self.open: Turn | None = None
        self.is_undone = False
        """Another client is at a turn beside the active line."""
        self.unsent: set[str] = set()
        """The conversations that have a part in it."""
        self.lines = {one.uuid: one.line for one in self.reading.records if one.uuid}
        self.bound = self._line_at(self.occasion.until)
        """The last line that is spoken of; None for all of them."""
        spoken = self.occasion.is_over and self.bound is None
        after = [one for one in self.reading.records if not self._is_over_before(one)]
        self.undecided = set() if spoken else undecided_prompts(after)
        self.held_events: set[int] = set()
        """The turns that have events whose meaning is not clear yet."""

    def found(self, prices: Pricing | None) -> NewSpans:
        """Returns what the look has found."""
        base = self.base()
        for trace in traces_of(self.reading.by_line, prices):
            self.add([_renumbered(span, base) for span in trace])
        awaited = self.open if self.open and self.is_spoken_of(self.open) else None
        return NewSpans(
            self.new,
            self.known,
            self.progress(),
            self.last_line(),
            self.count(),
            self.open is not None or self.is_undone or bool(self.held() or self.held_events),
            awaited is not None,
            awaited is not None and is_at_rest(awaited),
            self.reading.start is None,
            self.reading.broken,
        )

    def count(self) -> int:
        """Returns how many turns are new."""
        return sum(1 for trace in self.new if trace[0].kind == "turn")

    def base(self) -> int:
        """Returns the number of turns that stand before what was read."""
        start = self.reading.start
        if start is None:
            return 0
        again = next(turn for turn in self.turns.values() if first_line(turn) == start.line)
        return start.number - again.number

    def add(self, trace: list[Span]) -> None:
        """Takes in a trace: what is final of it goes out, unless it has."""
        root = trace[0]
        if self.is_elsewhere(root.session):
            return
        turn = self.by_trace.get(root.trace)
        end = self.end_of(turn) if turn else self.end_of_branch(root)
        if end == 0:
            self.open, self.is_undone = turn or self.open, self.is_undone or turn is None
            self.unsent |= {span.conversation for span in trace}
            return
        done = [span for span in trace if span.id in self.sent or self.is_done(span, end)]
        if turn:
            self.final.append((turn, root.turn, [span.id for span in done]))
            if any(map(self.is_undecided, trace)):
                self.held_events.add(turn.number)
        self.known += [span.id for span in done if span.id in self.copied]
        new = [span for span in done if span.id not in self.sent]
        if new and turn and 0 < first_line(turn) <= self.legacy:
            self.known += [span.id for span in new]
        elif new:
            self.new.append(new)

    def end_of(self, turn: Turn) -> int | None:
        """Returns up to which line a turn is final: 0 for none of it, None for all.

        What follows its end may yet turn out to begin the next one.
        """
        if turn.number != self.last:
            return None
        closed = closing_line(turn) or 0
        if not (self.is_spoken_of(turn) and self.occasion.ends(turn)):
            return closed
        is_all = self.bound is None or self.occasion.is_silent
        return None if is_all else max(self.bound or 0, closed)

    def end_of_branch(self, root: Span) -> int | None:
        """Returns the same of a turn that does not stand on the active line: what another client
        is still at is left for it.
        """
        branch = self.reading.by_line.get(root.conversation)
        turn = branch.turns[-1] if branch and branch.kind in SPOKEN and branch.turns else None
        if turn is None or branch is None or _trace_of(branch, turn) != root.trace:
            return None
        is_over = self.occasion.is_over and self.bound is None
        return None if is_over or is_at_rest(turn) else 0

    def is_spoken_of(self, turn: Turn) -> bool:
        """Tells whether a turn had begun when the word was given."""
        return self.bound is None or first_line(turn) <= self.bound

    def _line_at(self, size: int | None) -> int | None:
        """Returns the last line within so many bytes."""
        if size is None:
            return None
        before = self.reading.start.line - 1 if self.reading.start else 0
        return max((one.line for one in self.reading.records if one.offset < size), default=before)

    def _is_over_before(self, record: Record) -> bool:
        return self.occasion.is_over and self.bound is not None and record.line <= self.bound

    def is_undecided(self, span: Span) -> bool:
        """Tells whether a prompt of the queue may yet turn out to be something else."""
        return bool(span.metadata.get("is_only_queued")) and span.start in self.undecided

    def is_done(self, span: Span, end: int | None) -> bool:
        """Tells whether nothing more comes to a span of a turn that is final up to a line."""
        if span.metadata.get("is_only_queued"):
            return not self.is_undecided(span)
        if end is not None and span.kind in ("event", "hook"):
            line = self.lines.get(span.record or "")
            if line is None or line > end:
                return False
        return self.agents.is_done(span.conversation)

    def is_elsewhere(self, session: str) -> bool:
        """Tells whether a session within this file has a file of its own."""
        return session != self.reading.session and bool(log_beside(self.reading.path, session))

    def held(self) -> list[str]:
        """Returns the agents' files that are not complete yet, those not read now among them."""
        start, read = self.reading.start, {str(one.path) for one in self.reading.agents}
        return sorted(self.agents.held | (set(start.held) - read if start else set()))

    def last_line(self) -> int | None:
        """Returns the last line before the first turn that was not sent."""
        records = self.reading.records
        if not self.final or (self.reading.start and not self.count()):
            return None
        begun = self.waiting_from()
        return max((one.line for one in records if begun is None or one.line < begun), default=0)

    def waiting_from(self) -> int | None:
        """Returns the line where the turns begin that are not final or not answered."""
        done = max(turn.number for turn, *_ in self.final)
        left = (turn for number, turn in self.turns.items() if number > done)
        return min(map(first_line, left), default=None)

    def progress(self) -> Progress | None:
        """Returns how to go on next time; None where all must be read again."""
        reading = self.reading
        if not self.final:
            return reading.start
        newest = max(turn.number for turn, *_ in self.final)
        first = min(self.held_events | {newest})
        turn, number, _ = next(one for one in self.final if one[0].number == first)
        sent = [name for other, _, names in self.final if other.number >= first for name in names]
        begin = first_line(turn)
        place = next((one.offset for one in reading.records if one.line == begin), None)
        if place is None or any(line >= begin for line in self.lines_before(turn)):
            return None
        before = (one for one in reading.records if one.line < begin)
        held = self.held()
        left = {*held, *map(str, map(file_of, map(reading.by_line.__getitem__, self.unsent)))}
        sizes = {str(one.path): one.size for one in reading.agents if str(one.path) not in left}
        return Progress(
            path=str(reading.path),
            read=reading.records[-1].line,
            line=begin,
            offset=place,
            mark=mark_at(reading.path, place),
            number=number,
            sent=sent,
            agents={**(reading.start.agents if reading.start else {}), **sizes},
            held=held,
            bends=msgspec.msgpack.encode(Checkpoint.of(with_judged(reading.judge(), before))),
            telling=reading.telling,
        )

    def lines_before(self, last: Turn) -> Iterator[int]:
        """Yields the lines of all that does not stand in the last turns."""
        for conversation in self.reading.by_line.values():
            is_active = conversation is self.active
            for turn in conversation.turns if conversation.kind in SPOKEN else ():
                if not (is_active and turn.number >= last.number):
                    yield from (item.line for item in turn.items if is_own(item))


def _renumbered(span: Span, base: int) -> Span:
    if not base:
        return span
    number = span.turn + base
    if span.kind != "turn":
        return replace(span, turn=number)
    metadata = {**span.metadata, "turn_number": number}
    return replace(span, turn=number, name=f"Turn {number}", metadata=metadata)


def _trace_of(conversation: Conversation, turn: Turn) -> str:
    return trace_id(first_key(conversation, turn.items))
