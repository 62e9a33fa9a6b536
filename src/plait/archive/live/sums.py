"""An archive to what it comes to: counted in threads of their own, kept until it changes.

Who asks waits for a moment only. What takes longer is counted on, and the last sums stand in
for it; where there are none yet, the page says that it counts, and asks again.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from threading import Lock, Thread
from typing import Generic, NamedTuple, TypeVar

from plait.archive.live.library import LiveArchive, Snapshot, catalogue_of
from plait.archive.model import Session
from plait.conversation.stats.model import Figures
from plait.conversation.usage import BilledResponse
from plait.index.lists import SessionShape, prompt_times, session_shapes
from plait.record.time import moment

T = TypeVar("T")
log = logging.getLogger("plait.web")
PATIENCE = 0.2
"""Seconds that who asks waits."""
REST = 4
"""So many times as long as it took, a sum is left alone after it was counted."""
MOST_KEPT = 8


class Money(NamedTuple):
    """All responses, and which of them were answered on branches that were left."""

    responses: Sequence[BilledResponse]
    left: frozenset[str]


class SumSoFar(NamedTuple, Generic[T]):
    """What was counted; nothing where it is not counted yet, or could not be."""

    value: T | None
    is_counting: bool
    """Tells whether a newer one is on its way."""


class RunningSum(Generic[T]):
    """A sum of the archive as it is now, or as it was a moment ago."""

    def __init__(self, library: LiveArchive, work: Callable[[Snapshot], T]) -> None:
        self._library = library
        self._work = work
        self._lock = Lock()
        self._thread: Thread | None = None
        self._state: Snapshot | None = None
        self._value: T | None = None
        self._rested = 0.0

    def ask(self, patience: float = PATIENCE) -> SumSoFar[T]:
        """Returns the newest sum that there is within a moment."""
        with self._lock:
            thread = self._begun(self._library.now)
        if thread is not None:
            thread.join(patience if self._value is None else 0.02)
        with self._lock:
            return SumSoFar(self._value, self._state is not self._library.now)

    def _begun(self, now: Snapshot) -> Thread | None:
        """Returns the thread that counts; begins one where something has changed."""
        is_rested = time.monotonic() >= self._rested
        if self._thread is None and self._state is not now and is_rested:
            self._thread = Thread(target=self._count, args=(now,), name="plait-sums", daemon=True)
            self._thread.start()
        return self._thread

    def _count(self, state: Snapshot) -> None:
        started = time.monotonic()
        value = self._value
        try:
            value = self._work(state)
        except Exception:
            log.exception("counting failed")
        with self._lock:
            now = time.monotonic()
            self._value, self._state, self._thread = value, state, None
            self._rested = now + (now - started) * REST


class Sums:
    """Everything that is counted of an archive."""

    def __init__(self, library: LiveArchive) -> None:
        self._library = library
        self.money: RunningSum[Money] = RunningSum(library, _money_of)
        self.parents: RunningSum[Mapping[str, str]] = RunningSum(library, _parents_of)
        self._figures: OrderedDict[tuple[object, ...], RunningSum[Figures]] = OrderedDict()
        self._lock = Lock()

    def figures(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> RunningSum[Figures]:
        """Returns what was done: in all sessions, in those of a project, in a span of time."""
        key = (project, since, until)
        with self._lock:
            known = self._figures.get(key)
            if known is None:
                known = self._figures[key] = RunningSum(self._library, partial(_figures_of, *key))
            self._figures.move_to_end(key)
            while len(self._figures) > MOST_KEPT:
                self._figures.popitem(last=False)
            return known


def _money_of(state: Snapshot) -> Money:
    with state.archive as archive:
        found = archive.responses().responses
        return Money(found, archive.abandoned(found))


def _parents_of(state: Snapshot) -> Mapping[str, str]:
    if not state.archive.sessions:
        return {}
    forest = state.archive.tree(way="few")
    owners = {twig.id: twig.session for twig in forest.twigs}
    found = {
        twig.session: owners.get(twig.parent, "")
        for twig in forest.twigs
        if twig.kind == "trunk" and twig.parent
    }
    return {one: parent for one, parent in found.items() if parent not in ("", one)}


def _figures_of(
    project: str | None, since: datetime | None, until: datetime | None, state: Snapshot
) -> Figures:
    chosen = [
        one
        for one in state.archive.sessions
        if project in (None, one.project) and _is_between(state, one, since, until)
    ]
    return state.archive.stats(chosen, since=since, until=until)


def _is_between(
    state: Snapshot, session: Session, since: datetime | None, until: datetime | None
) -> bool:
    if since is None and until is None:
        return True
    facts = state.facts.get(session.path)
    began, ended = (moment(facts.started), moment(facts.ended)) if facts else (None, None)
    is_early = since is not None and not (ended and ended >= since)
    is_late = until is not None and not (began and began < until)
    return not (is_early or is_late)


def shapes_in(state: Snapshot) -> dict[str, SessionShape]:
    """Returns what the index knows of the shape of sessions, by path; nothing without one."""
    with catalogue_of(state) as catalogue:
        return session_shapes(catalogue) if catalogue else {}


def begun_in(state: Snapshot) -> list[str]:
    """Returns when people began turns, by the index; nothing without one."""
    with catalogue_of(state) as catalogue:
        return list(prompt_times(catalogue)) if catalogue else []
