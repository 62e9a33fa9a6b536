"""An index to the figures of some sessions: what `plait.archive.families` counts, without logs.

What a session adds is kept by family. A family of which a member is new or has grown is
counted anew, and so is one of which only some members are asked about.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence

from plait.archive.families import CountedSessions
from plait.archive.index.fresh import FreshIndex
from plait.archive.index.tree import KnownFamilies
from plait.archive.model import Session
from plait.archive.shares import made_of_each
from plait.conversation.stats.model import SessionCounts
from plait.conversation.stats.statistics import Statistics, settled_counts
from plait.index.catalogue import from_bytes, to_bytes
from plait.index.rows import (
    RowChange,
    detailed_sessions,
    group_results,
    keeping_group_result,
    keeping_rows,
)
from plait.record.time import stamp_of

SORT = "stats, failures by day"
BATCH = 50
"""Sessions after which their rows are written."""
WORTH = 12_000_000
"""Bytes of logs from which on several processes are sooner done with them."""
Family = tuple[int, ...]
Watch = Callable[[Sequence[Session]], Iterable[Session]]


def indexed_figures(
    warm: FreshIndex, sessions: Sequence[Session], tally: Statistics, watch: Watch
) -> CountedSessions:
    """Returns what sessions come to, in the order in which they began.

    Where only a span of time counts, the families that reach beyond it are read.
    """
    counting = IndexedShares(warm, sessions, watch)
    shares, outside = counting.shares(), set[int]()
    for family in counting.families:
        if not all(_is_within(shares[sid], tally) for sid in family):
            outside.update(family)
    ordered = counting.ordered()
    for session in ordered:
        sid = warm.number(session)
        if sid in outside:
            from plait.archive.open_session import opened

            read = opened(session)
            tally.add(read.conversations, read.copied)
        else:
            tally.take(shares[sid])
    counting.keep()
    return CountedSessions(tally.figures(), tuple(zip(ordered, tally.parts(), strict=True)))


def _is_within(share: SessionCounts, tally: Statistics) -> bool:
    if tally.since and share.earliest and share.earliest < stamp_of(tally.since):
        return False
    return not (tally.until and share.latest and share.latest >= stamp_of(tally.until))


def fill_rows(warm: FreshIndex, watch: Watch) -> None:
    """Sees to it that every session's responses, calls, files and findings are there as rows."""
    counting = IndexedShares(warm, warm.archive.sessions, watch)
    counting.shares()
    counting.keep()


class IndexedShares:
    """Gives what each session adds; what is not known yet is read and kept."""

    def __init__(self, warm: FreshIndex, sessions: Sequence[Session], watch: Watch) -> None:
        self.warm, self.watch = warm, watch
        self.by_sid = {warm.number(one): one for one in sessions}
        self._places = {sid: place for place, sid in enumerate(self.by_sid)}
        self.kinship = KnownFamilies(warm)
        self._alone: dict[int, SessionCounts] = {}
        self._changes: list[RowChange] = []
        self._read_unknown(sessions)
        self.families = self.kinship.families(sessions)

    def ordered(self) -> list[Session]:
        """Returns the sessions by when they began, as `stats.in_order` has them."""
        return self._in_order(self.by_sid.values())

    def _in_order(self, sessions: Iterable[Session]) -> list[Session]:
        began = self.kinship.began
        return sorted(
            sessions, key=lambda one: (began[self.warm.number(one)], one.modified, one.id)
        )

    def shares(self) -> dict[int, SessionCounts]:
        """Returns what each session adds, by its number."""
        known = group_results(self.warm.catalogue, SORT)
        found: dict[int, SessionCounts] = {}
        missing: list[Family] = []
        for family in self.families:
            if family in known:
                found.update(
                    zip(family, from_bytes(known[family], list[SessionCounts]), strict=True)
                )
            else:
                missing.append(family)
        for family in missing:
            shares = self._counted(family)
            found.update(shares)
            ordered = [shares[sid] for sid in family]
            self._changes.append(keeping_group_result(SORT, family, to_bytes(ordered)))
        return found

    def keep(self) -> None:
        """Keeps what was worked out."""
        self.warm.keep([*self.kinship.changes(), *self._changes])

    def _read_unknown(self, sessions: Sequence[Session]) -> None:
        """Reads the sessions whose families or rows are not there; each as if it were alone."""
        known = detailed_sessions(self.warm.catalogue) & self.kinship.began.keys()
        unknown = [one for one in sessions if self.warm.number(one) not in known]
        if not unknown:
            return
        from plait.archive.index.details import Details, details_of, numbered

        rows: list[RowChange] = []
        made = made_of_each(self.warm.archive.hands, details_of, Details, unknown, WORTH)
        for session, found in zip(self.watch(unknown), made, strict=True):
            sid = self.warm.number(session)
            self.kinship.learn(session, array("q", found.ties))
            self._alone[sid] = found.share
            rows.append(keeping_rows(sid, numbered(found, self.warm.catalogue.lines(sid))))
            if len(rows) >= BATCH:
                self.warm.keep(rows)
                rows.clear()
        self.warm.keep(rows)

    def _counted(self, family: Family) -> dict[int, SessionCounts]:
        """Returns what the members of a family add, in the order in which they began."""
        if family[1:] or family[0] not in self._alone:
            from plait.archive.index.details import shares_of

            as_given = sorted(family, key=self._places.__getitem__)
            members = self._in_order(self.by_sid[sid] for sid in as_given)
            found = zip(members, shares_of(self.watch(members)), strict=True)
            shares = {self.warm.number(one): share for one, share in found}
        else:
            shares = {family[0]: self._alone[family[0]]}
        return shares if family[1:] else {family[0]: settled_counts(shares[family[0]])}
