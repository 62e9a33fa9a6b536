"""Sessions to a lake that has them: what is new or has changed is read, by whoever works.

    inputs ─→ what each shares with others ─→ families ─→ rows ─→ commit, every few chunks

It can be ended anywhere: what was committed is there, whole sessions at a time, and the next run
goes on from it. Where nothing has changed since a run that had no failures, no file is opened.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from plait.archive.lake.engine import Engine, Failure
from plait.archive.lake.inputs import inputs_of
from plait.archive.lake.kinship import kin_rows
from plait.archive.lake.manner import Manner, digest_of
from plait.archive.lake.planning import Sessions, chunks_of, planned
from plait.archive.lake.work import Chunk, Failed, Job, Means, Rows, rows_written, ties_read
from plait.errors import SourceError, UserError
from plait.lake.store import Lake
from plait.line.fetch import offers

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.lake.fetching import ObjectFolder
    from plait.archive.model import Meter

T = TypeVar("T")
COMMIT_BYTES = 128_000_000
"""Bytes of logs after which what is done is committed: so much is read again after a kill."""
ALL = ""
"""What stands for all sessions among what they share: there is no session of that name."""


class FailedSession(NamedTuple):
    """A session that could not be built, and why; what the lake had of it stays."""

    session: str
    path: str
    why: str


@dataclass
class Built:
    """What became of a building."""

    seen: int = 0
    """Sessions that are there."""
    unchanged: int = 0
    built: int = 0
    bytes: int = 0
    """Of the logs of those that were built."""
    written: int = 0
    """Bytes that were written for them."""
    gone: int = 0
    """Sessions that the lake has and that are not there any more."""
    pruned: int = 0
    """Those of them that were taken out."""
    failed: list[FailedSession] = field(default_factory=list)


def build(
    archive: "Archive",
    lake: Lake,
    manner: Manner,
    *,
    engine: Engine,
    folders: "Sequence[ObjectFolder]" = (),
    prune: bool = False,
    watch: "Meter | None" = None,
) -> Built:
    """Brings a lake up to date with the sessions of an archive and of object stores."""
    sessions = Sessions(inputs_of(archive, folders), manner)
    means = Means(lake, manner.prices.own, tuple(one.at for one in folders), offers())
    building = _Building(sessions, means, engine, watch, prune)
    if prune:
        _check_reach(building, archive.discovery.unread)
    return building.run()


def _check_reach(building: "_Building", unread: Sequence[Path]) -> None:
    """Refuses to take out sessions that may be out of reach and not gone."""
    if unread:
        raise UserError(
            f"'{unread[0]}' cannot be read, and what is in it may not be gone: nothing was pruned",
            "without `--prune` the rest is built",
        )
    if building.known.num_rows and not building.sessions.inputs:
        raise UserError(
            f"no session is there, and all of '{building.source}' would be taken out: none was",
            "is it the right folder, and is its disk there?",
        )


class _Building:
    """One run."""

    def __init__(
        self,
        sessions: Sessions,
        means: Means,
        engine: Engine,
        watch: "Meter | None",
        prune: bool,
    ) -> None:
        self.sessions, self.means, self.engine = sessions, means, engine
        self.watch, self.prune = watch, prune
        self.lake = means.lake
        self.source = sessions.manner.labels.source
        self.built = Built(seen=len(sessions.inputs))
        self.known = self.lake.known(self.source)
        self.left: set[str] = set()
        """What is known of sessions that are gone and shall be forgotten."""
        self.done = self.total = 0

    def run(self) -> Built:
        """Does what there is to do."""
        gone = self.sessions.gone_from(self.known)
        self.built.gone = len(gone)
        if self._is_up_to_date() and not (self.prune and gone):
            self.built.unchanged = self.built.seen
            return self.built
        kin = self._kin()
        plan = planned(self.sessions, kin, set(self.known["fingerprint"].to_pylist()))
        self.built.unchanged = plan.unchanged
        for one in plan.refused:
            self._fail(one)
        self._build(plan.jobs)
        if self.prune:
            self._forget([*gone, *self.left])
            self.built.pruned = len(gone)
        if not self.built.failed:
            self._remember()
        return self.built

    def _is_up_to_date(self) -> bool:
        states = self.lake.kin(self.source, ("session", "fingerprint"))
        last = states.filter(pc.equal(states["session"], ALL))
        return bool(last["fingerprint"].to_pylist() == [self._state()])

    def _state(self) -> str:
        held = zip(self.known["session"].to_pylist(), self.known["build"].to_pylist(), strict=True)
        return digest_of(self.sessions.fingerprint, sorted(held))

    def _remember(self) -> None:
        """Keeps what stands for all that is there and all that is held, now that both agree."""
        self.known = self.lake.known(self.source)
        self.lake.keep_kin(kin_rows(self.source, [(ALL, self._state(), array("q"))]))

    def _kin(self) -> pa.Table:
        """Returns what sessions share, those that are gone among them unless they are pruned."""
        held = self.lake.kin(self.source)
        new = self.sessions.unknown(held)
        names = held["session"].to_pylist()
        stale = self.sessions.stale(names, self.known)
        if self.prune:
            self.left = {name for name in names if name and self.sessions.is_gone(name)}
        left = {self.sessions.names[number] for number in new} | stale | self.left | {ALL}
        found = self._ties(new)
        self._forget(stale)
        return pa.concat_tables(
            [held.filter(pa.array([name not in left for name in names], pa.bool_())), *found]
        )

    def _ties(self, numbers: Sequence[int]) -> list[pa.Table]:
        """Reads what sessions share, and keeps it."""
        self.total = 2 * self.sessions.size(numbers)
        jobs = [self.sessions.job([number]) for number in numbers]
        kept: list[pa.Table] = []
        waiting: list[tuple[str, str, array[int]]] = []
        size = 0
        for ties in self._each(ties_read, jobs):
            self._take(ties.failed, ties.size)
            waiting += [(*self.sessions.state(number), found) for number, found in ties.found]
            size += ties.size
            if size >= COMMIT_BYTES:
                kept.append(self._keep(waiting))
                waiting, size = [], 0
        return [*kept, self._keep(waiting)]

    def _keep(self, found: "list[tuple[str, str, array[int]]]") -> pa.Table:
        rows = kin_rows(self.source, found)
        if found:
            self.lake.keep_kin(rows)
        return rows

    def _build(self, jobs: Sequence[Job]) -> None:
        self.total = self.done + sum(job.size for job in jobs)
        waiting: list[Rows] = []
        for rows in self._each(rows_written, jobs):
            self._take(rows.failed, rows.size)
            waiting.append(rows)
            if sum(one.size for one in waiting) >= COMMIT_BYTES:
                self._commit(waiting)
                waiting = []
        self._commit(waiting)

    def _commit(self, found: Sequence[Rows]) -> None:
        written = [one.written for one in found if one.written]
        self.lake.commit(written)
        self.built.written += sum(one.size for one in written)
        for one in found:
            self.built.built += len(one.numbers)
            self.built.bytes += self.sessions.size(one.numbers)

    def _each(self, task: Callable[[Chunk], T], jobs: Sequence[Job]) -> Iterator[T]:
        """Yields what is made of jobs; where some together are deadly, each by itself is tried."""
        alone: list[Chunk] = []
        for chunks in (list(chunks_of(jobs, self.means)), alone):
            for found in self.engine.each(task, chunks) if chunks else ():
                if not isinstance(found, Failure):
                    yield found
                elif not found.is_deadly:  # the lake cannot be written to
                    raise SourceError(found.why)
                elif len(found.item.jobs) > 1:
                    alone += [Chunk((job,), self.means) for job in found.item.jobs]
                else:
                    job = found.item.jobs[0]
                    self._take([Failed(job.numbers, found.why)], job.size)

    def _take(self, failed: Sequence[Failed], size: int) -> None:
        for one in failed:
            self._fail(one)
        self.done += size
        if self.watch:
            self.watch(self.done, self.total)

    def _fail(self, failed: Failed) -> None:
        for number in failed.numbers:
            session = self.sessions.inputs[number].session
            self.built.failed.append(FailedSession(session.id, str(session.path), failed.why))

    def _forget(self, names: Iterable[str]) -> None:
        """Takes sessions out of the lake; what they shared goes, too."""
        keys = [(self.source, name) for name in names]
        if keys:
            self.lake.forget(keys)
