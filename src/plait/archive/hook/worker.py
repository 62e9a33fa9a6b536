"""Jobs that hooks left to spans that are sent: one worker at a time, in the background.

Each session that a job names is looked at; what is new and final goes into the spool, then
the state says so, then the spool is sent. Whatever is cut short is done again: spans keep
their ids, so nothing arrives as two.
"""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_watch
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.archive.hook.finality import Occasion
from plait.archive.hook.new_spans import NewSpans, new_spans
from plait.archive.hook.reading import previous_session
from plait.conversation.totals import Pricing
from plait.errors import PlaitError
from plait.line.atomic import held
from plait.trace.hook.event import LOCK
from plait.trace.hook.jobs import (
    ASIDE,
    MOST_BEGUN,
    Job,
    WorkerLog,
    jobs_in,
    set_aside,
    take_jobs,
    times_begun,
)
from plait.trace.model import Content, Span
from plait.trace.send.attributes import outgoing
from plait.trace.send.delivery import flush
from plait.trace.send.spool import MOST_SPANS, Spool
from plait.trace.send.target import Target
from plait.trace.sent import (
    SentSession,
    SessionState,
    is_older,
    note_state,
    prune,
    states,
    timestamp,
)

if TYPE_CHECKING:
    from plait.redact import Redactor


FULL = "the spool is full"
LITTLE = 0.5
"""Seconds to wait for the lock: others hold it for a moment to see whether a worker runs."""


@dataclass(frozen=True)
class HookLimits:
    """How long the worker waits for what, in seconds."""

    idle: float = 30.0
    """Without a new line after the model came to rest: then the turn is final."""
    forgotten: float = 3600.0
    """Without a new line at all: then everything is."""
    life: float = 1800.0
    """For a target that fails, after the last job."""
    kept: float = 30 * 86400.0
    """After which nothing is known of a session whose log is gone."""
    step: float = 0.2
    """Between two looks."""


@dataclass(frozen=True)
class HookManner:
    """What of a session goes out."""

    content: Content = field(default_factory=Content)
    redactor: "Callable[[], Redactor] | None" = None
    prices: Pricing | None = None


@dataclass
class Watch:
    """A log whose last turn seems to be complete, and may not be."""

    path: Path
    size: int
    since: float
    job: Job
    """Who said so, and of how much of the log."""


@dataclass
class HookWorker:
    """Does what hooks have left to do."""

    folder: Path
    target: Target
    manner: HookManner = field(default_factory=HookManner)
    limits: HookLimits = field(default_factory=HookLimits)

    def __post_init__(self) -> None:
        self.log = WorkerLog(self.folder)
        self.spool = Spool(self.folder)
        self.watched: dict[str, Watch] = {}
        self.can_send = True

    def run(self) -> None:
        """Works until nothing is left to do; returns at once where another worker runs."""
        while True:
            with held(self.folder / LOCK, LITTLE) as is_ours:
                if not is_ours:
                    return
                self.serve()
            if not jobs_in(self.folder):  # else one came when the lock was already gone
                return

    def serve(self) -> None:
        """Does the jobs, waits for turns to become final and for the target to answer."""
        self.sweep()
        until = time.monotonic() + self.limits.life
        while True:
            if self.take_jobs():
                until = time.monotonic() + self.limits.life
            self.look_again()
            self.send()
            if time.monotonic() >= until or not (self.watched or self.is_sending()):
                return
            time.sleep(self.limits.step if self.watched else max(self.limits.step, 0.5))

    def take_jobs(self) -> bool:
        """Does the jobs that were left; tells whether there were any."""
        has_any = False
        for path, job in take_jobs(self.folder):
            has_any = True
            if job is None:
                self.set_aside(path, "names no log of a session")
                continue
            if (times := times_begun(self.folder, path)) >= MOST_BEGUN:
                self.set_aside(path, f"has ended the worker {times} times")
                continue
            try:
                self.take(job)
            except Exception as error:  # whatever one job asks for, the others go on
                self.set_aside(path, _reason_of(error))
        return has_any

    def set_aside(self, path: Path, reason: str) -> None:
        """Notes a job that cannot be done."""
        self.log.note(f"{path.name}: {reason}")
        set_aside(self.folder, path, reason)

    def take(self, job: Job) -> None:
        """Looks at the session of a job, and before that at the one that it goes on from."""
        if job.agent and job.event == "subagent-stop":
            journal = SentSession(self.folder, job.session)
            journal.note_stopped(job.agent)
            if not _is_awaited(journal, job.agent):
                return
        previous = previous_session(job.path, job.session)
        if previous and not self.is_done(*previous):
            self.visit(*previous, is_over=True)
        size = _size_of(job.path)
        found = self.visit(job.session, job.path, is_over=job.is_over, until=job.size)
        self.watched.pop(job.session, None)
        if found and _is_waited_for(job, found):
            self.watched[job.session] = Watch(job.path, size, time.monotonic(), job)

    def is_done(self, session: str, path: Path) -> bool:
        """Tells whether all of a session has been sent."""
        state = states(self.folder).get(session)
        return state is not None and not state.is_open and state.size == _size_of(path)

    def look_again(self) -> None:
        """Looks at the sessions whose last turn was not final yet."""
        for session, watch in list(self.watched.items()):
            size, moment = _size_of(watch.path), time.monotonic()
            is_idle = moment - watch.since >= self.limits.idle
            if size == watch.size and not is_idle:
                continue
            is_silent = size == watch.size
            is_over = is_silent or watch.job.is_over
            until = watch.job.size
            found = self.visit(
                session, watch.path, is_over=is_over, until=until, is_silent=is_silent
            )
            if found is None or is_silent or not _is_waited_for(watch.job, found):
                del self.watched[session]
            else:
                self.watched[session] = replace_watch(watch, size=size, since=moment)

    def sweep(self) -> None:
        """Looks at the sessions that ended without a word: nothing was written for long."""
        self.tidy()
        for session, state in states(self.folder).items():
            path = Path(state.path)
            if state.is_open and state.path and is_older(path, self.limits.forgotten):
                self.visit(session, path, is_over=True)

    def tidy(self) -> None:
        """Removes what processes that were killed have left half written, and what is known of
        sessions that are gone.
        """
        for path in chain(self.folder.glob("*/.*"), self.folder.glob("*/*.broken")):
            if is_older(path, self.limits.forgotten):
                path.unlink(missing_ok=True)
        for path in self.folder.glob(f"{ASIDE}/*"):
            if is_older(path, self.limits.kept):
                path.unlink(missing_ok=True)
        prune(self.folder, self.limits.kept)

    def visit(
        self,
        session: str,
        path: Path,
        *,
        is_over: bool,
        until: int | None = None,
        is_silent: bool = False,
    ) -> NewSpans | None:
        """Spools what is new and final in a session; a failure is noted and stops nothing."""
        new = SessionState(path=str(path), updated=timestamp())
        state = states(self.folder).get(session, new)
        limits = self.limits
        stopped = frozenset(SentSession(self.folder, session).stopped())
        occasion = Occasion(is_over, stopped, limits.idle, limits.forgotten, until, is_silent)
        try:
            return self.spooled(session, path, state, occasion)
        except Exception as error:  # whatever one session holds, the others go on
            reason = _reason_of(error)
            self.log.note(f"{session}: {reason}")
            self.note(session, replace(state, error=reason))
            return None

    def spooled(
        self, session: str, path: Path, state: SessionState, occasion: Occasion
    ) -> NewSpans:
        """Spools what is new and final in a session, and notes how far that is."""
        journal, size, manner = SentSession(self.folder, session), _size_of(path), self.manner
        found = new_spans(
            path,
            session,
            journal,
            state=state,
            occasion=occasion,
            prices=manner.prices,
            redactor=manner.redactor() if manner.redactor else None,
        )
        journal.add(found.known)
        is_room = all(self.put(journal, batch) for batch in _batches(found.traces))
        journal.keep(found.progress if is_room else None)
        self.note(
            session,
            SessionState(
                last_line=found.last_line if is_room and found.last_line else state.last_line,
                turn_count=state.turn_count + found.turns * is_room,
                updated=timestamp(),
                path=str(path),
                size=size,
                is_open=found.is_open or not is_room,
                error="" if is_room else FULL,
            ),
        )
        if found.broken:
            self.log.note(f"{session}: broken lines passed over: {_shortened(found.broken)}")
        if found.traces:
            self.log.note(f"{session}: {sum(map(len, found.traces))} spans, {found.turns} turns")
        return found

    def put(self, journal: SentSession, spans: list[Span]) -> bool:
        """Puts spans into the spool and notes them as sent; False where it is full."""
        is_room = self.spool.put(outgoing(spans, self.manner.content))
        if is_room:
            journal.add([span.id for span in spans])
        else:
            self.log.note(FULL)
        return is_room

    def note(self, session: str, state: SessionState) -> None:
        """Keeps how far a session has been sent, if that can be."""
        try:
            note_state(self.folder, session, state)
        except (PlaitError, OSError) as error:
            self.log.note(f"{session}: {error}")

    def is_sending(self) -> bool:
        """Tells whether something waits that can be sent."""
        return self.can_send and self.spool.count() > 0

    def send(self) -> None:
        """Sends what waits, unless the target is to be left alone for now."""
        if not self.is_sending() or time.time() < self.spool.tries().next:
            return
        try:
            done = flush(self.spool, self.target)
        except (PlaitError, OSError) as error:
            self.can_send = False
            self.log.note(f"cannot send: {error}")
            return
        figures = f"{done.sent} sent, {done.waiting} waiting, {done.refused} refused"
        self.log.note(f"{self.target.url}: {figures} {done.reason}".rstrip())


def _is_waited_for(job: Job, found: NewSpans) -> bool:
    """Tells whether silence would make a turn final that is not yet."""
    return found.is_awaited and (job.is_over or (job.is_stop and found.is_at_rest))


def _batches(traces: Iterable[list[Span]]) -> Iterator[list[Span]]:
    part: list[list[Span]] = []
    for trace in traces:
        part.append(trace)
        if sum(map(len, part)) >= MOST_SPANS:
            yield list(chain.from_iterable(part))
            part = []
    if part:
        yield list(chain.from_iterable(part))


def _shortened(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - 10} more" if len(lines) > 10 else ""
    return ", ".join(map(str, lines[:10])) + more


def _reason_of(error: Exception) -> str:
    return error.message if isinstance(error, PlaitError) else _place_of(error)


def _place_of(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def _is_awaited(journal: SentSession, agent: str) -> bool:
    progress = journal.progress()
    return progress is not None and any(Path(one).stem.endswith(agent) for one in progress.held)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
