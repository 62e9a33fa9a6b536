"""Questions over many sessions to their answers, from the index where it is up to date.

It is brought up to date first where that is little work. Where it is not there, or broken, the
logs are read: the answers are the same.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, tzinfo
from threading import local
from typing import TYPE_CHECKING, TypeVar

from plait.archive.model import Session, Watch
from plait.line import LogFile

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.families import CountedSessions
    from plait.archive.index.fresh import FreshIndex
    from plait.archive.losing import FileLosses
    from plait.archive.tree import SessionTree, TreeWay
    from plait.archive.usage import Counted
    from plait.conversation.prices import Prices
    from plait.conversation.usage import BilledResponse
    from plait.conversation.waste.findings import SessionWaste
    from plait.index.rows import SessionShape
    from plait.index.touches import TouchRow


SHAPES_WORTH = 4_000_000
"""Bytes of logs from which on several processes are sooner done with how large sessions are."""
T = TypeVar("T")


class _Held(local):
    """The index that is kept open, in each thread its own."""

    def __init__(self) -> None:
        self.index: FreshIndex | None = None
        self.is_held = False
        self.stack = ExitStack()


class Answers:
    """Answers for an archive; what it needs is loaded when it is asked."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive
        self._held = _Held()
        self._has_asked = False

    def hold(self) -> None:
        """Opens the index for the questions that follow in this thread."""
        self._held.index = self._held.stack.enter_context(self._index())
        self._held.is_held = True

    def release(self) -> None:
        """Closes it again."""
        self._held.index, self._held.is_held = None, False
        self._held.stack.close()

    def remember_facts(self) -> None:
        """Gives the archive what lists show of all sessions, as far as the index knows; once."""
        if self._archive.index and not self._has_asked:
            with self._index():
                pass

    def tree(
        self, sessions: Sequence[Session], way: "TreeWay", watch: Watch[Session] | None
    ) -> "SessionTree":
        """Returns the tree that sessions form."""
        from plait.archive.tree import tree_of

        def kept(index: "FreshIndex") -> "SessionTree":
            from plait.archive.index.tree import indexed_tree

            return indexed_tree(index, sessions, way, watch or _each)

        return self._answer(kept, lambda: tree_of(sessions, way))

    def responses(self, watch: Watch[LogFile] | None, since: float | None) -> "Counted":
        """Returns all responses, each counted once; of newer files alone where that will do."""
        from plait.archive.usage import bills_by, count

        sessions, read = self._archive.sessions, bills_by(self._archive.jobs, self._archive.losses)

        def kept(index: "FreshIndex") -> "Counted":
            from plait.archive.index.usage import indexed_count

            return indexed_count(index, sessions)

        if since is not None:
            return count(sessions, watch, since, read)
        return self._answer(kept, lambda: count(sessions, watch, read=read))

    def abandoned(
        self,
        responses: "Sequence[BilledResponse]",
        sessions: Sequence[Session],
        watch: Watch[LogFile] | None,
    ) -> frozenset[str]:
        """Returns the uuids of responses on branches that were left."""
        from plait.archive.usage import abandoned

        def kept(index: "FreshIndex") -> frozenset[str]:
            from plait.archive.index.usage import indexed_abandoned

            return indexed_abandoned(index, sessions, responses, watch or _each)

        hands = self._archive.hands
        return self._answer(kept, lambda: abandoned(sessions, responses, watch, hands=hands))

    def shapes(
        self, sessions: Sequence[Session], watch: Watch[Session] | None, most: int | None
    ) -> "list[SessionShape] | None":
        """Returns how large some sessions are, in their order; None for more bytes than told."""
        from plait.archive.shares import made_of_each
        from plait.index.rows import SessionShape, session_shapes

        def kept(index: "FreshIndex") -> "list[SessionShape] | None":
            from plait.archive.index.fresh import key_of

            known = session_shapes(index.catalogue)
            return [known.get(key_of(one.path)) or SessionShape(0, 0, 0) for one in sessions]

        def read() -> "list[SessionShape] | None":
            if most is not None and sum(one.bytes for one in sessions) > most:
                return None
            from plait.archive.index.lines import shape_of

            made = made_of_each(self._archive.hands, shape_of, SessionShape, sessions, SHAPES_WORTH)
            watched = watch(sessions) if watch else sessions
            return [shape for _, shape in zip(watched, made, strict=True)]

        return self._answer(kept, read)

    def losses(self, sessions: Sequence[Session]) -> "list[FileLosses]":
        """Returns what was paid for in vain in each file of some sessions."""
        from plait.archive.losing import losses_by, read_losses

        read = losses_by(self._archive.jobs, self._archive.losses)

        def kept(index: "FreshIndex") -> "list[FileLosses]":
            from plait.archive.index.losses import indexed_losses

            return list(indexed_losses(index, sessions, read))

        return self._answer(kept, lambda: list(read_losses(sessions, read)))

    def wasted(self, sessions: Sequence[Session], prices: "Prices") -> "list[SessionWaste]":
        """Returns what was paid for in vain in each of some sessions."""
        from plait.archive.wasting import wasted_in

        def kept(index: "FreshIndex") -> "list[SessionWaste]":
            from plait.archive.index.wasting import indexed_waste

            return indexed_waste(index, sessions, prices)

        return self._answer(kept, lambda: wasted_in(self._archive, sessions, prices))

    def touches(self, sessions: Sequence[Session], path: str | None) -> "list[TouchRow]":
        """Returns what sessions did to files, or to one."""
        from plait.archive.files.touched import indexed_touches, read_touches

        return self._answer(
            lambda index: indexed_touches(index, sessions, path),
            lambda: read_touches(sessions, path),
        )

    def stats(
        self,
        sessions: Sequence[Session],
        zone: tzinfo | None,
        since: datetime | None,
        until: datetime | None,
        watch: Watch[Session] | None,
    ) -> "CountedSessions":
        """Returns what was done in sessions, and the part of each in it."""
        from plait.archive.families import stats_of
        from plait.conversation.stats.statistics import Statistics

        def kept(index: "FreshIndex") -> "CountedSessions":
            from plait.archive.index.stats import indexed_figures

            return indexed_figures(index, sessions, Statistics(zone, since, until), watch or _each)

        hands = self._archive.hands
        return self._answer(kept, lambda: stats_of(sessions, zone, since, until, watch, hands))

    def _answer(self, kept: "Callable[[FreshIndex], T]", read: Callable[[], T]) -> T:
        with self._index() as index:
            if index is not None:
                from plait.archive.index.fresh import TROUBLE

                with suppress(*TROUBLE):
                    return kept(index)
            return read()

    @contextmanager
    def _index(self) -> "Iterator[FreshIndex | None]":
        """Gives the index where it tells what the logs hold, or can be brought to."""
        if self._held.is_held or self._archive.index is None:
            yield self._held.index
            return
        from plait.archive.index.fresh import fresh_index

        self._has_asked = True
        with fresh_index(self._archive, self._archive.index) as found:
            yield found


def _each(given: Sequence[T]) -> Sequence[T]:
    return given


@contextmanager
def without_collector() -> Iterator[None]:
    """Lets no time go into looking for cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
