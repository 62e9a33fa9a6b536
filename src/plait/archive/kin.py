"""Sessions to families: those that hold or name the same records, calls, agents or sessions.

Nothing that is said of a session depends on one outside its family: a graph of all sessions
is the graphs of the families side by side, and a record that counts once has no copy elsewhere.
Rather too many are put together than too few.
"""

from array import array
from collections.abc import Iterable, Mapping
from itertools import combinations

from plait.archive.families import head_of, join


def sharing_of(
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
            join(heads, places[one], places[other])
    found: dict[int, list[int]] = {}
    for sid, place in places.items():
        found.setdefault(head_of(heads, place), []).append(sid)
    return [tuple(members) for members in found.values()]
