"""A session's log to what was read of it: all of it, or from the last turn that was sent on.

An agent that outlives its turn is read when it is done: it said so, or fell silent.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from plait.archive.checkpoint import Checkpoint, goes_on_straight, with_judged
from plait.archive.hook.finality import Occasion
from plait.archive.open_session import OpenSession
from plait.archive.redaction import Redaction
from plait.archive.sessions import beside
from plait.conversation.branching import Branching
from plait.conversation.model import (
    Called,
    Conversation,
    Folded,
    Item,
    Turn,
)
from plait.conversation.walk import calls_of
from plait.errors import SourceError
from plait.graph.paths import SPOKEN
from plait.graph.source import Source, source_file
from plait.line import LogFile, lines, read_slice
from plait.line.discover import SUFFIX, log_file
from plait.record import Record
from plait.record.codec import NotAnObject
from plait.record.read import Broken, entry_of, read, read_if_there, record_of
from plait.record.sidecar import agent_meta, title_file
from plait.trace.sent import Progress, SentSession, goes_on_from

if TYPE_CHECKING:
    from plait.redact import Redactor


@dataclass
class Agents:
    """Tells which agents are done."""

    by_line: Mapping[str, Conversation]
    occasion: Occasion
    callers: dict[str, Called] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    """The files of those that are not."""

    def __post_init__(self) -> None:
        for conversation in self.by_line.values():
            for _, call in calls_of(conversation):
                self.callers.update(dict.fromkeys(call.agents, call))

    def is_done(self, line: str) -> bool:
        """Tells whether nothing more comes to a conversation, where it is an agent's."""
        agent = self.by_line[line]
        if agent.kind in SPOKEN:
            return True
        caller = self.callers.get(line)
        if caller and caller.outcome != "launched":  # it ends with the turn that sent it out
            return True
        return self._has_ended(agent)

    def _has_ended(self, agent: Conversation) -> bool:
        path = file_of(agent)
        if self.occasion.is_over or agent.agent in self.occasion.agents or path is None:
            return True
        occasion = self.occasion
        limit = occasion.idle if agent.kind == "service" else occasion.forgotten
        try:
            is_idle = time.time() - path.stat().st_mtime >= limit
        except OSError:
            return True
        if not is_idle:
            self.held.add(str(path))
        return is_idle


def file_of(agent: Conversation) -> Path | None:
    """Returns the file that an agent stands in."""
    first = next(agent.items(), None)
    return Path(agent.files[first.file]) if first and first.file < len(agent.files) else None


def last_line(conversation: Conversation) -> int:
    """Returns the last line of a conversation in the session's own file."""
    return max((item.line for item in conversation.items() if is_own(item)), default=0)


def first_line(turn: Turn) -> int:
    """Returns the number of the line in the session's own file that a turn begins with. A prompt
    that it took the place of stands before it, with the notes on that one.
    """
    own = [item for item in turn.items if is_own(item) and not isinstance(item, Folded)]
    named = [item.line for item in own if item.uuid]
    return min(named or [item.line for item in own], default=0)


def is_own(item: Item) -> bool:
    """Tells whether an item stands in the session's own file, at a known line."""
    return item.file == 0 and item.line > 0


Telling: TypeAlias = tuple[str, int, int]
"""A line: its file, its offset, its length."""


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
    """From where it was read; None for all of it."""
    broken: Sequence[int] = ()
    """The new lines that cannot be read."""
    telling: list[Telling] | None = None
    """The lines that taught the redactor something, also those of what was not read now."""

    @property
    def active(self) -> Conversation | None:
        """The conversation that goes on: the one that the log ends with."""
        spoken = (one for one in self.by_line.values() if one.kind in SPOKEN)
        return max(spoken, key=last_line, default=None)

    def judge(self) -> Branching:
        """Returns the judge of what stands before the first record that was read."""
        return _judge_of(self.start, self.path) if self.start else Branching()


def _judge_of(start: Progress, path: Path) -> Branching:
    return msgspec.msgpack.decode(start.bends, type=Checkpoint).judge(path)


def read_whole(path: Path, session: str, redactor: "Redactor | None" = None) -> HookReading:
    """Reads a session with all its agents."""
    records, broken = _records_in(path)
    reading = _reading_of(path, session, records, _agents_of(path), redactor)
    return with_fields(reading, broken=broken)


def read_new_part(
    path: Path,
    session: str,
    start: Progress,
    occasion: Occasion,
    redactor: "Redactor | None" = None,
) -> HookReading | None:
    """Reads a session from its last turn that was sent; None where that cannot be trusted."""
    if not goes_on_from(start, path) or (redactor and start.telling is None):
        return None
    records, broken = _records_in(path, start.offset, start.line)
    try:
        judge = _judge_of(start, path)
    except (SourceError, ValueError):
        return None
    with_judged(judge, (one for one in records if one.line <= start.read))
    if not goes_on_straight(judge, (one for one in records if one.line > start.read)):
        return None
    agents = tuple(one for one in _agents_of(path) if _is_new(one, start, occasion))
    reading = _reading_of(path, session, records, agents, redactor, start)
    new = [line for line in broken if line > start.read]
    return with_fields(reading, broken=new) if _is_sound(reading) else None


def _records_in(path: Path, offset: int = 0, number: int = 1) -> tuple[list[Record], list[int]]:
    """Returns the records of a log, and the numbers of the lines that are broken; one that is
    still being written is neither.
    """
    records: list[Record] = []
    broken: list[int] = []
    for line in lines(path, offset=offset, number=number):
        entry = entry_of(line)
        if isinstance(entry, Record):
            records.append(entry)
        elif isinstance(entry, Broken) and line.is_ended:
            broken.append(line.number)
    return records, broken


def _agents_of(path: Path) -> tuple[LogFile, ...]:
    own = next((one for one in beside(path) if one.file and one.file.path == path), None)
    return own.agents + own.journals if own else ()


def _is_new(file: LogFile, start: Progress, occasion: Occasion) -> bool:
    name = str(file.path)
    if name in start.held:
        return occasion.is_over or file.agent in occasion.agents
    return start.agents.get(name) != file.size


def _reading_of(
    path: Path,
    session: str,
    records: list[Record],
    agents: tuple[LogFile, ...],
    redactor: "Redactor | None" = None,
    start: Progress | None = None,
) -> HookReading:
    file = log_file(path, path.stat().st_size)
    own = Source(source_file(file), records, title=title_file(file.folder))
    telling = _teaching_lines(redactor, own, agents, start) if redactor else None
    redaction = Redaction(redactor) if redactor else None
    opened = OpenSession([own, *agents], through=redaction)
    known = opened.graph.sessions
    called = redaction.name(session) if redaction else session
    name = called if called in known or not known else next(iter(known))
    return HookReading(path, name, records, agents, opened.by_line, start, telling=telling)


def _teaching_lines(
    redactor: "Redactor", own: Source, agents: Iterable[LogFile], start: Progress | None
) -> list[Telling]:
    """Lets a redactor see everything first: what one place tells is hidden in all.

    Of what stands before the records that were read, only the lines that taught something are
    read again.
    """
    telling = list(start.telling or ()) if start else []
    Redaction(redactor).learn_beside(own.title, *(agent_meta(one.path) for one in agents))
    for path, offset, length in telling:
        with suppress(SourceError, NotAnObject):
            redactor.learn(record_of(read_slice(Path(path), offset, length)))
    sources = [(own.file.path, own.records)]
    sources += [(str(agent.path), read_if_there(agent.path)) for agent in agents]
    for path, records in sources:
        for record in records:
            before = redactor.learnt
            redactor.learn(record)
            if redactor.learnt > before:
                telling.append((path, record.offset, len(record.raw)))
    return telling


def _is_sound(reading: HookReading) -> bool:
    """Tells whether a part of a session reads as all of it would: one line that begins with the
    turn it was read from, and every agent was sent out from here.
    """
    spoken = [one for one in reading.by_line.values() if one.kind in SPOKEN and one.turns]
    agents = [one for one in reading.by_line.values() if one.kind == "agent"]
    begin = reading.start.line if reading.start else 1
    return (
        len(spoken) == 1
        and any(first_line(turn) == begin for turn in spoken[0].turns)
        and all(one.call for one in agents)
    )


def sent_by_relatives(path: Path, records: Iterable[Record], journal: SentSession) -> set[str]:
    """Returns what was sent as part of sessions that begin with the same record: a fork is
    a copy of all that was said, under another name.
    """
    first = next((record.uuid for record in records if record.uuid), None)
    found: set[str] = set()
    for log in sorted(path.parent.glob(f"*{SUFFIX}")) if first else ():
        if log != path and (other := journal.of(log.stem)).exists():
            found |= other.sent() if _begins_with(log, first) else set()
    return found


def _begins_with(log: Path, uuid: str | None) -> bool:
    return next((one.uuid for one in read_if_there(log) if one.uuid), None) == uuid


def previous_session(path: Path, session: str) -> tuple[str, Path] | None:
    """Returns the session that a log goes on from, if its own log lies beside: its first line
    names another session than the rest.
    """
    try:
        first = next(read(path), None)
    except SourceError:
        return None
    named = first.session_id if first else None
    log = log_beside(path, named) if named and named != session else None
    return (named, log) if named and log else None


def log_beside(path: Path, session: str) -> Path | None:
    """Returns the log of a session that lies beside another; None where there is none."""
    try:
        log = path.with_name(f"{session}{SUFFIX}")
        return log if log != path and log.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
