"""A trimmed draft to one that goes on from where the session did, by all that led there.

What hangs beside the way of parents and is sent all the same hangs there by what went: parallel
calls, notes below their results, a parent that is nowhere. Whatever the client would lose by that
is put back on the way, between what stood before and behind it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from plait.edit.draft import Draft, with_field
from plait.edit.switch import pointer_to
from plait.graph.client import chain_at, stands_at
from plait.graph.client.load import load
from plait.graph.leaf import leaf

POINTED = "where the session goes on: its last record goes, and another branch ends later"
ON_THE_WAY = "hangs on what was sent before it, so that both are sent"
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Way:
    """Where the client goes on, and what it goes through."""

    leaf: str | None = None
    chain: tuple[str, ...] = ()


def way_of(draft: Draft) -> Way:
    """Returns where the client goes on; nowhere where it does not."""
    loaded, _ = load(draft.records, draft.size)
    number = None if loaded.is_cleared else leaf(loaded)
    if number is None:
        return Way()
    uuids = (loaded.records[one].uuid for one in chain_at(loaded, number))
    return Way(loaded.records[number].uuid, tuple(uuid for uuid in uuids if uuid))


def keep_way(draft: Draft, session: str, was: Way, moved: Mapping[str, str | None]) -> None:
    """Lets the client go on from where it did, through all of what stays of the way there."""
    wanted = [uuid for uuid in was.chain if uuid not in moved]
    if not wanted:
        return
    if not frozenset(was.chain).issuperset(way_of(draft).chain):
        end = wanted[-1] if was.leaf is None or was.leaf in moved else was.leaf
        _point_to(draft, session, end)
    for is_last in (False,) * (ROUNDS - 1) + (True,):
        there = frozenset(way_of(draft).chain)
        if there.issuperset(wanted):
            return
        _put_back(draft, dict(_links(wanted, there, is_whole=is_last)))


def _point_to(draft: Draft, session: str, end: str) -> None:
    """Adds a pointer to where the client goes on."""
    records, size = draft.records, draft.size
    if not stands_at(records, size, end) and (line := pointer_to(session, records, size, end)):
        draft.append(line, POINTED)


def _links(
    wanted: list[str], there: frozenset[str], *, is_whole: bool
) -> Iterator[tuple[str, str]]:
    """Yields records with what they are to hang on: the ends of each stretch that is missing.

    All of a stretch where that was not enough.
    """
    for before, uuid in pairwise(wanted):
        is_border = (before in there) != (uuid in there)
        if is_border or (is_whole and uuid not in there):
            yield uuid, before


def _put_back(draft: Draft, parents: Mapping[str, str]) -> None:
    lines = {record.uuid: (line, record) for line, record in draft.spoken if record.uuid}
    now = {uuid: record.parent_uuid for uuid, (_, record) in lines.items()}
    for uuid, parent in parents.items():
        line, record = lines[uuid]
        if now[uuid] != parent and uuid not in _above(now, parent):
            now[uuid] = parent
            draft.rewrite(line, with_field(record, "parentUuid", parent), ON_THE_WAY)


def _above(parents: Mapping[str, str | None], uuid: str) -> set[str]:
    """Returns a record and those that it hangs on."""
    found: set[str] = set()
    current: str | None = uuid
    while current is not None and current not in found:
        found.add(current)
        current = parents.get(current)
    return found
