"""Families of sessions: those that share records or responses and must be read together."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from plait.record.reader import read_if_exists
from plait.record.time import format_sortable
from plait.sessions.facts import RecordReader
from plait.sessions.model import Session

NO_TIMESTAMP = "~"
"""Sorts after every timestamp."""


class _DisjointSets:
    """Union-find over the numbers from 0: each set is represented by its lowest number."""

    def __init__(self, size: int) -> None:
        self._heads = list(range(size))

    def find(self, number: int) -> int:
        heads = self._heads
        while heads[number] != number:
            heads[number] = heads[heads[number]]
            number = heads[number]
        return number

    def join(self, left: int, right: int) -> None:
        if left != right:
            first, second = sorted((self.find(left), self.find(right)))
            self._heads[second] = first


def group_families(sessions: Iterable[Session]) -> Iterator[tuple[Session, ...]]:
    """Yield sessions by family, in the order of the first member of each."""
    chosen = list(sessions)
    if len(chosen) < 2:
        yield from ([tuple(chosen)] if chosen else [])
        return
    sets = _DisjointSets(len(chosen))
    holders: dict[str, int] = {}
    missing: list[tuple[str, int]] = []
    for number, session in enumerate(chosen):
        sets.join(holders.setdefault(f"session {session.id}", number), number)
        own: set[str] = set()
        parents: set[str] = set()
        for record in read_if_exists(session.file.path) if session.file else ():
            if record.uuid:
                own.add(record.uuid)
            parents.update(filter(None, (record.parent_uuid, record.logical_parent_uuid)))
        for uuid in own:
            sets.join(holders.setdefault(uuid, number), number)
        missing += [(uuid, number) for uuid in parents - own]
    for uuid, number in missing:
        sets.join(holders.get(uuid, number), number)
    members: dict[int, list[Session]] = {}
    for number, session in enumerate(chosen):
        members.setdefault(sets.find(number), []).append(session)
    yield from map(tuple, members.values())


def find_sharing_pairs(
    new: Mapping[int, "array[int]"], known: Mapping[int, "array[int]"]
) -> set[tuple[int, int]]:
    """Return the pairs of sessions with a reference in common, at least one of which is new.

    Both mappings give the references of sessions, as digests, by the number of the session.
    """
    holders: dict[int, list[int]] = {}
    for sid, references in new.items():
        for reference in references:
            holders.setdefault(reference, []).append(sid)
    for sid, references in known.items():
        if sid not in new:
            for reference in holders.keys() & set(references):
                holders[reference].append(sid)
    groups = {tuple(sids) for sids in holders.values() if len(sids) > 1}
    pairs: set[tuple[int, int]] = set()
    for group in groups:
        for left, right in combinations(group, 2):
            pairs.update(((left, right), (right, left)))
    return pairs


def group_by_pairs(sids: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return sessions by family, each family in the order of the sessions' numbers."""
    chosen = sorted(sids)
    places = {sid: place for place, sid in enumerate(chosen)}
    sets = _DisjointSets(len(chosen))
    for left, right in pairs:
        if left in places and right in places:
            sets.join(places[left], places[right])
    families: dict[int, list[int]] = {}
    for sid, place in places.items():
        families.setdefault(sets.find(place), []).append(sid)
    return [tuple(members) for members in families.values()]


def sort_by_start(sessions: Iterable[Session]) -> list[Session]:
    """Return sessions by start time; of two that started together the idle one first."""
    return sorted(sessions, key=lambda session: (read_start(session), session.modified, session.id))


def read_start(session: Session, records_of: RecordReader = read_if_exists) -> str:
    """Return the first timestamp in a session's files; without any it sorts last."""
    for file in session.files:
        for record in records_of(file.path):
            timestamp = format_sortable(record.timestamp)
            if timestamp:
                return timestamp
    return NO_TIMESTAMP
