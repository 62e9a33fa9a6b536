"""Sessions to figures, one session at a time: what is counted does not stay in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo

from plait.archive.model import Session
from plait.conversation.stats.model import Figures
from plait.conversation.stats.statistics import Statistics
from plait.record.read import read_if_there
from plait.record.time import sortable

UNKNOWN = "~"


def stats_of(
    sessions: Iterable[Session],
    zone: tzinfo | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    watch: Callable[[Sequence[Session]], Iterable[Session]] | None = None,
) -> Figures:
    """Returns what sessions come to, those of their branches and agents included.

    A record that stands in several sessions counts once, for the one that began first.
    Days and hours are those of the zone, of this machine where none is given.
    """
    ordered = in_order(sessions)
    return counted(watch(ordered) if watch else ordered, Statistics(zone, since, until))


def counted(ordered: Iterable[Session], tally: Statistics) -> Figures:
    """Returns what sessions in order come to; each is read when its turn comes."""
    from plait.archive.open_session import opened

    for session in ordered:
        tally.add(opened(session).conversations)
    return tally.figures()


def in_order(sessions: Iterable[Session]) -> list[Session]:
    """Returns sessions by when they began: of two that begin alike the one at rest first."""
    return sorted(sessions, key=lambda one: (began(one), one.modified, one.id))


def began(session: Session) -> str:
    """Returns the first time in a session's file; what has none comes last."""
    return next(_stamps_of(session), UNKNOWN)


def _stamps_of(session: Session) -> Iterator[str]:
    for file in session.files:
        for record in read_if_there(file.path):
            stamp = sortable(record.timestamp)
            if stamp:
                yield stamp
