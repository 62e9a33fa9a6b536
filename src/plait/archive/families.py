"""Sessions to families, to the order in which they began, and to figures in that order."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.facts import RecordsOf
from plait.archive.model import Session
from plait.archive.shares import ALONE, Hands, are_worth_it, made_of_each
from plait.conversation.stats.model import Figures, SessionPart, SessionShare, digest
from plait.record.read import read_if_there
from plait.record.time import sortable

if TYPE_CHECKING:
    from plait.conversation.stats.statistics import Statistics


def families(sessions: Iterable[Session]) -> Iterator[tuple[Session, ...]]:
    """Yields sessions that must be read together, in the order of the first of each family."""
    chosen = list(sessions)
    if len(chosen) < 2:
        yield from ([tuple(chosen)] if chosen else [])
        return
    heads = _heads_of(chosen)
    members: dict[int, list[Session]] = {}
    for number, session in enumerate(chosen):
        members.setdefault(_head_of(heads, number), []).append(session)
    yield from map(tuple, members.values())


def _heads_of(sessions: list[Session]) -> list[int]:
    heads = list(range(len(sessions)))
    holders: dict[str, int] = {}
    wanted: list[tuple[str, int]] = []
    for number, session in enumerate(sessions):
        _join(heads, holders.setdefault(f"session {session.id}", number), number)
        own: set[str] = set()
        named: set[str] = set()
        for record in read_if_there(session.file.path) if session.file else ():
            if record.uuid:
                own.add(record.uuid)
            named.update(filter(None, (record.parent_uuid, record.logical_parent_uuid)))
        for uuid in own:
            _join(heads, holders.setdefault(uuid, number), number)
        wanted += [(uuid, number) for uuid in named - own]
    for uuid, number in wanted:
        _join(heads, holders.get(uuid, number), number)
    return heads


def _join(heads: list[int], one: int, other: int) -> None:
    if one != other:
        first, second = sorted((_head_of(heads, one), _head_of(heads, other)))
        heads[second] = first


def _head_of(heads: list[int], number: int) -> int:
    while heads[number] != number:
        heads[number] = heads[heads[number]]
        number = heads[number]
    return number


def sharing_pairs(
    new: Mapping[int, "array[int]"], known: Mapping[int, "array[int]"]
) -> set[tuple[int, int]]:
    """Returns the pairs of sessions that share something, where one of them is new."""
    holders: dict[int, list[int]] = {}
    for sid, ties in new.items():
        for tie in ties:
            holders.setdefault(tie, []).append(sid)
    for sid, ties in known.items():
        if sid not in new:
            for tie in holders.keys() & set(ties):
                holders[tie].append(sid)
    several = {tuple(found) for tie, found in holders.items() if found[1:]}
    return {
        pair
        for found in several
        for one, other in combinations(found, 2)
        for pair in ((one, other), (other, one))
    }


def families_of(sids: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Returns sessions by family, each in the order of their numbers."""
    chosen = sorted(sids)
    places = {sid: place for place, sid in enumerate(chosen)}
    heads = list(range(len(chosen)))
    for one, other in pairs:
        if one in places and other in places:
            _join(heads, places[one], places[other])
    found: dict[int, list[int]] = {}
    for sid, place in places.items():
        found.setdefault(_head_of(heads, place), []).append(sid)
    return [tuple(members) for members in found.values()]


class CountedSessions(NamedTuple):
    """What sessions come to, and the part of each in it, in the order in which they began."""

    figures: Figures
    parts: Sequence[tuple[Session, SessionPart]]


UNKNOWN = "~"
WORTH = 4_000_000
"""Bytes of logs from which on several processes are sooner done with conversations."""


def stats_of(
    sessions: Iterable[Session],
    zone: tzinfo | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    watch: Callable[[Sequence[Session]], Iterable[Session]] | None = None,
    hands: Hands = ALONE,
) -> CountedSessions:
    """Returns what sessions come to, those of their branches and agents included.

    A record that stands in several sessions counts once, for the one that began first.
    Days and hours are those of the zone, of this machine where none is given.
    """
    from plait.conversation.stats.statistics import Statistics

    ordered, tally = in_order(sessions), Statistics(zone, since, until)
    watched = watch(ordered) if watch else ordered
    if are_worth_it(hands, ordered, WORTH):
        _count_together(ordered, watched, tally, hands)
        return CountedSessions(tally.figures(), tuple(zip(ordered, tally.parts(), strict=True)))
    return counted(ordered, tally, watched)


def counted(
    ordered: Sequence[Session], tally: "Statistics", watched: Iterable[Session] | None = None
) -> CountedSessions:
    """Returns what sessions in order come to; each is read when its turn comes."""
    from plait.archive.open_session import opened

    for session in ordered if watched is None else watched:
        read = opened(session)
        tally.add(read.conversations, read.copied)
    return CountedSessions(tally.figures(), tuple(zip(ordered, tally.parts(), strict=True)))


def _count_together(
    ordered: Sequence[Session], watched: Iterable[Session], tally: "Statistics", hands: Hands
) -> None:
    """Counts the same, each session alone by one of several processes.

    One that shares records with an earlier one is counted once more, behind that one.
    """
    from plait.archive.open_session import opened
    from plait.conversation.stats.session import SessionCounter

    counter = SessionCounter(tally.since, tally.until, digest)
    span = tally.since, tally.until
    shares = made_of_each(hands, session_share, SessionShare, ordered, WORTH, *span)
    for session, share in zip(watched, shares, strict=True):
        if counter.takes(share):
            tally.take(share.counts)
        else:
            read = opened(session)
            tally.take(counter.counts_of(read.conversations, read.copied))


def session_share(session: Session, since: datetime | None, until: datetime | None) -> SessionShare:
    """Returns what a session adds where no other has anything of it."""
    from plait.archive.open_session import opened
    from plait.conversation.stats.session import share_of

    read = opened(session)
    return share_of(read.conversations, read.copied, since, until)


def in_order(sessions: Iterable[Session]) -> list[Session]:
    """Returns sessions by when they began: of two that begin alike the one at rest first."""
    return sorted(sessions, key=lambda one: (began(one), one.modified, one.id))


def began(session: Session, records_of: RecordsOf = read_if_there) -> str:
    """Returns the first time in a session's file; what has none comes last."""
    return next(_stamps_of(session, records_of), UNKNOWN)


def _stamps_of(session: Session, records_of: RecordsOf) -> Iterator[str]:
    for file in session.files:
        for record in records_of(file.path):
            stamp = sortable(record.timestamp)
            if stamp:
                yield stamp
