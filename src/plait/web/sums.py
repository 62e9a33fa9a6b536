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

from plait.archive.forest import forest_of
from plait.archive.model import Session
from plait.archive.stats import stats_of
from plait.archive.usage import abandoned, count
from plait.archive.warm import either, warmed
from plait.archive.warm_stats import kept_figures
from plait.archive.warm_tree import kept_forest
from plait.archive.warm_usage import kept_abandoned, kept_count
from plait.conversation.figures import Figures
from plait.conversation.tally import Tally
from plait.conversation.usage import Response
from plait.index.shapes import Shape, beginnings, shapes
from plait.record.time import moment
from plait.web.catalogued import catalogue_of
from plait.web.library import Library, State

T = TypeVar("T")
log = logging.getLogger("plait.web")
PATIENCE = 0.2
"""Seconds that who asks waits."""
REST = 4
"""So many times as long as it took, a sum is left alone after it was counted."""
MOST_KEPT = 8


class Money(NamedTuple):
    """All responses, and which of them were answered on branches that were left."""

    responses: Sequence[Response]
    left: frozenset[str]


class Sum(NamedTuple, Generic[T]):
    """What was counted; nothing where it is not counted yet, or could not be."""

    value: T | None
    is_counting: bool
    """Tells whether a newer one is on its way."""


class Kept(Generic[T]):
    """A sum of the archive as it is now, or as it was a moment ago."""

    def __init__(self, library: Library, work: Callable[[State], T]) -> None:
        self._library = library
        self._work = work
        self._lock = Lock()
        self._thread: Thread | None = None
        self._state: State | None = None
        self._value: T | None = None
        self._rested = 0.0

    def ask(self, patience: float = PATIENCE) -> Sum[T]:
        """Returns the newest sum that there is within a moment."""
        with self._lock:
            thread = self._begun(self._library.now)
        if thread is not None:
            thread.join(patience if self._value is None else 0.02)
        with self._lock:
            return Sum(self._value, self._state is not self._library.now)

    def _begun(self, now: State) -> Thread | None:
        """Returns the thread that counts; begins one where something has changed."""
        is_rested = time.monotonic() >= self._rested
        if self._thread is None and self._state is not now and is_rested:
            self._thread = Thread(target=self._count, args=(now,), name="plait-sums", daemon=True)
            self._thread.start()
        return self._thread

    def _count(self, state: State) -> None:
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

    def __init__(self, library: Library) -> None:
        self._library = library
        self.money: Kept[Money] = Kept(library, money_of)
        self.parents: Kept[Mapping[str, str]] = Kept(library, parents_of)
        self._figures: OrderedDict[tuple[object, ...], Kept[Figures]] = OrderedDict()
        self._lock = Lock()

    def figures(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Kept[Figures]:
        """Returns what was done: in all sessions, in those of a project, in a span of time."""
        key = (project, since, until)
        with self._lock:
            known = self._figures.get(key)
            if known is None:
                known = self._figures[key] = Kept(self._library, partial(figures_of, *key))
            self._figures.move_to_end(key)
            while len(self._figures) > MOST_KEPT:
                self._figures.popitem(last=False)
            return known


def money_of(state: State) -> Money:
    """Counts all responses, by the index where that is up to date."""
    archive = state.archive
    with warmed(archive, state.index) as warm:
        responses = either(
            warm,
            lambda index: kept_count(index, archive.sessions),
            lambda: count(archive.sessions),
        ).responses
        left = either(
            warm,
            lambda index: kept_abandoned(index, archive.sessions, responses, every),
            lambda: abandoned(archive.sessions, responses),
        )
    return Money(responses, left)


def parents_of(state: State) -> Mapping[str, str]:
    """Returns the session that each one goes on from, by id."""
    sessions = state.archive.sessions
    if not sessions:
        return {}
    with warmed(state.archive, state.index) as warm:
        forest = either(
            warm,
            lambda index: kept_forest(index, sessions, "few", every),
            lambda: forest_of(sessions, "few"),
        )
    owners = {twig.id: twig.session for twig in forest.twigs}
    found = {
        twig.session: owners.get(twig.parent, "")
        for twig in forest.twigs
        if twig.kind == "trunk" and twig.parent
    }
    return {one: parent for one, parent in found.items() if parent not in ("", one)}


def figures_of(
    project: str | None, since: datetime | None, until: datetime | None, state: State
) -> Figures:
    """Counts what was done in some sessions."""
    chosen = [
        one
        for one in state.archive.sessions
        if project in (None, one.project) and is_between(state, one, since, until)
    ]
    with warmed(state.archive, state.index) as warm:
        return either(
            warm,
            lambda index: kept_figures(index, chosen, Tally(None, since, until), every),
            lambda: stats_of(chosen, None, since, until),
        )


def is_between(
    state: State, session: Session, since: datetime | None, until: datetime | None
) -> bool:
    """Tells whether a session has something between two moments."""
    if since is None and until is None:
        return True
    facts = state.facts.get(session.path)
    began, ended = (moment(facts.started), moment(facts.ended)) if facts else (None, None)
    is_early = since is not None and not (ended and ended >= since)
    is_late = until is not None and not (began and began < until)
    return not (is_early or is_late)


def every(given: Sequence[T]) -> Sequence[T]:
    """Returns all that there is to read: nobody watches how far it has come."""
    return given


def shapes_in(state: State) -> dict[str, Shape]:
    """Returns what the index knows of the shape of sessions, by path; nothing without one."""
    with catalogue_of(state) as catalogue:
        return shapes(catalogue) if catalogue else {}


def begun_in(state: State) -> list[str]:
    """Returns when people began turns, by the index; nothing without one."""
    with catalogue_of(state) as catalogue:
        return list(beginnings(catalogue)) if catalogue else []
