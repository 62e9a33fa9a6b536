"""Statistics of many sessions: from their logs, by several processes, or from the index.

A record in several sessions counts once, for the one that started first. So the index stores what
each session adds by family: a family with a new or grown member is counted again, and so is one of
which only some members are requested.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from plait.conversation.session_counts import (
    ArchiveFigures,
    SessionCounts,
    SessionPart,
    SessionShare,
    hash_text,
)
from plait.conversation.statistics import SessionCounter, Statistics, settle_counts
from plait.conversation.statistics import compute_share as compute_conversation_share
from plait.record.time import format_timestamp
from plait.sessions.families import sort_by_start
from plait.sessions.model import Session
from plait.sessions.open_session import open_session
from plait.sessions.worker_pool import SINGLE_PROCESS, WorkerPool, is_worth_workers, map_parallel

if TYPE_CHECKING:  # the index is only opened if there is one
    from plait.index.catalogue import RowChange
    from plait.sessions.fresh_index import FreshIndex

RESULT_NAME = "stats, failures by day"
BATCH = 50
"""Sessions after which their rows are written."""
COUNT_PARALLEL_BYTES = 4_000_000
"""Bytes of logs from which several processes count faster than one."""
READ_PARALLEL_BYTES = 12_000_000
"""The same for rows of the index."""
SessionTracker: TypeAlias = Callable[[Sequence[Session]], Iterable[Session]]


class SessionStatistics(NamedTuple):
    """The figures of some sessions, and the share of each, by start time."""

    figures: ArchiveFigures
    parts: Sequence[tuple[Session, SessionPart]]


def compute_statistics(
    sessions: Iterable[Session],
    zone: tzinfo | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    watch: SessionTracker | None = None,
    pool: WorkerPool = SINGLE_PROCESS,
) -> SessionStatistics:
    """Count some sessions from their logs, branches and agents included.

    Days and hours are those of the time zone, by default this machine's.
    """
    ordered, tally = sort_by_start(sessions), Statistics(zone, since, until)
    tracked = watch(ordered) if watch else ordered
    if not is_worth_workers(pool, ordered, COUNT_PARALLEL_BYTES):
        return count_in_order(ordered, tally, tracked)
    # Each process counts sessions as if they were alone. One that shares records with an earlier
    # session is counted again afterwards.
    counter = SessionCounter(since, until, hash_text)
    shares = map_parallel(
        pool, compute_share, SessionShare, ordered, COUNT_PARALLEL_BYTES, since, until
    )
    for session, share in zip(tracked, shares, strict=True):
        if counter.can_add(share):
            tally.add_counts(share.counts)
        else:
            opened = open_session(session)
            tally.add_counts(counter.count_session(opened.conversations, opened.copied))
    return SessionStatistics(tally.figures(), tuple(zip(ordered, tally.parts(), strict=True)))


def count_in_order(
    ordered: Sequence[Session], tally: "Statistics", tracked: Iterable[Session] | None = None
) -> SessionStatistics:
    """Count sessions in order, reading one at a time."""
    for session in ordered if tracked is None else tracked:
        opened = open_session(session)
        tally.add(opened.conversations, opened.copied)
    return SessionStatistics(tally.figures(), tuple(zip(ordered, tally.parts(), strict=True)))


def compute_share(session: Session, since: datetime | None, until: datetime | None) -> SessionShare:
    """Return what a session adds if no other shares records with it."""
    opened = open_session(session)
    return compute_conversation_share(opened.conversations, opened.copied, since, until)


def read_indexed_statistics(
    index: "FreshIndex", sessions: Sequence[Session], tally: "Statistics", watch: SessionTracker
) -> SessionStatistics:
    """Return the figures of some sessions from the index, by start time.

    If only a period counts, families that extend beyond it are read.
    """

    def is_within(counts: SessionCounts) -> bool:
        if tally.since and counts.earliest and counts.earliest < format_timestamp(tally.since):
            return False
        end = tally.until and format_timestamp(tally.until)
        return not (end and counts.latest and counts.latest >= end)

    indexed = IndexedCounts(index, sessions, watch)
    counts = indexed.counts()
    unusable: set[int] = set()
    for family in indexed.families:
        if not all(is_within(counts[sid]) for sid in family):
            unusable.update(family)
    ordered = indexed.sort_sessions(indexed.by_sid.values())
    for session in ordered:
        sid = index.session_number(session)
        if sid in unusable:
            opened = open_session(session)
            tally.add(opened.conversations, opened.copied)
        else:
            tally.add_counts(counts[sid])
    indexed.save()
    return SessionStatistics(tally.figures(), tuple(zip(ordered, tally.parts(), strict=True)))


def fill_session_rows(index: "FreshIndex", watch: SessionTracker) -> None:
    """Ensure that the index has rows of every session's responses, calls and files."""
    indexed = IndexedCounts(index, index.library.sessions, watch)
    indexed.counts()
    indexed.save()


class IndexedCounts:
    """What each session adds; what the index lacks is read and saved in it."""

    def __init__(
        self, index: "FreshIndex", sessions: Sequence[Session], watch: SessionTracker
    ) -> None:
        from plait.sessions.tree import KnownFamilies

        self.index, self.watch = index, watch
        self.by_sid = {index.session_number(session): session for session in sessions}
        self.known_families = KnownFamilies(index)
        self._read_alone: dict[int, SessionCounts] = {}
        self._changes: list[RowChange] = []
        self._read_unknown(sessions)
        self.families = self.known_families.families(sessions)

    def sort_sessions(self, sessions: Iterable[Session]) -> list[Session]:
        """Return sessions by start time, like `sort_by_start`."""
        starts = self.known_families.starts
        return sorted(
            sessions,
            key=lambda session: (
                starts[self.index.session_number(session)],
                session.modified,
                session.id,
            ),
        )

    def counts(self) -> dict[int, SessionCounts]:
        """Return what each session adds, by its number."""
        from plait.index.catalogue import (
            from_bytes,
            load_family_results,
            save_family_result,
            to_bytes,
        )

        known = load_family_results(self.index.catalogue, RESULT_NAME)
        counts: dict[int, SessionCounts] = {}
        for family in self.families:
            if family in known:
                members = from_bytes(known[family], list[SessionCounts])
                counts.update(zip(family, members, strict=True))
        places = {sid: place for place, sid in enumerate(self.by_sid)}
        for family in self.families:
            if family in known:
                continue
            alone = self._read_alone.get(family[0])
            if len(family) > 1 or alone is None:
                as_given = sorted(family, key=places.__getitem__)
                own = self._count_family([self.by_sid[sid] for sid in as_given])
            else:
                own = {family[0]: alone}
            if len(family) == 1:
                own = {sid: settle_counts(found) for sid, found in own.items()}
            counts.update(own)
            data = to_bytes([own[sid] for sid in family])
            self._changes.append(save_family_result(RESULT_NAME, family, data))
        return counts

    def save(self) -> None:
        """Save what was computed."""
        self.index.save([*self.known_families.changes(), *self._changes])

    def _count_family(self, sessions: Sequence[Session]) -> dict[int, SessionCounts]:
        """Count the members of a family; what an earlier one contains counts only there."""
        counter = SessionCounter()
        counts: dict[int, SessionCounts] = {}
        for session in self.watch(self.sort_sessions(sessions)):
            opened = open_session(session)
            sid = self.index.session_number(session)
            counts[sid] = counter.count_session(opened.conversations, opened.copied)
        return counts

    def _read_unknown(self, sessions: Sequence[Session]) -> None:
        """Read sessions whose family or rows are unknown, each as if it were alone."""
        from plait.index.catalogue import load_detailed_sessions, save_session_rows

        catalogue = self.index.catalogue
        known = load_detailed_sessions(catalogue) & self.known_families.starts.keys()
        unknown = [
            session for session in sessions if self.index.session_number(session) not in known
        ]
        if not unknown:
            return
        from plait.sessions.details import SessionDetails, number_rows, read_details

        changes: list[RowChange] = []
        pool = self.index.library.workers
        read = map_parallel(pool, read_details, SessionDetails, unknown, READ_PARALLEL_BYTES)
        for session, details in zip(self.watch(unknown), read, strict=True):
            sid = self.index.session_number(session)
            self.known_families.add(session, array("q", details.references))
            self._read_alone[sid] = details.counts
            changes.append(save_session_rows(sid, number_rows(details, catalogue.lines(sid))))
            if len(changes) >= BATCH:
                self.index.save(changes)
                changes.clear()
        self.index.save(changes)
