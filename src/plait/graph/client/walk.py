"""A leaf to the chain above it, and to the notes that trail the message it stands behind.

The client continues a prompt or an answer. Attachments and notices below it come along,
whichever of them was the leaf, and on whichever branch they lie.
"""

from bisect import bisect_right

from plait.graph.client.entry import is_boundary, milliseconds
from plait.graph.client.model import ROOT, Loaded
from plait.record import Record

WINDOW = 5000.0
"""Milliseconds within which an older entry stands in for a missing parent."""


def walk(loaded: Loaded, leaf: int) -> list[int]:
    """Returns the chain from a root to the leaf, without what parallel calls left aside."""
    chain = [leaf]
    seen = {leaf}
    stand_ins: StandIns | None = None
    current = leaf
    while (parent := loaded.parents[current]) != ROOT:
        if parent < 0 or parent in seen:
            stand_ins = stand_ins or StandIns(loaded)
            parent = stand_ins.nearest(current, seen)
            if parent < 0:
                break
        seen.add(parent)
        chain.append(parent)
        current = parent
    return chain[::-1]


class StandIns:
    """All entries by time, for those whose parent is missing or closes a circle."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        timed = [
            (milliseconds(record), -number)
            for number, record in enumerate(loaded.records)
            if loaded.is_read[number] and not record.is_sidechain
        ]
        # among equals the first of the file is tried first
        self.timed = sorted(
            pair for pair in timed if pair[0] == pair[0] and pair[0] > float("-inf")
        )
        self.below = list(range(len(self.timed)))
        """For each place the next one down that may be free: skips grow as places are used."""

    def nearest(self, number: int, seen: set[int]) -> int:
        """Returns the newest unused entry up to five seconds older, else ROOT."""
        record = self.loaded.records[number]
        time = milliseconds(record)
        if record.is_sidechain or time != time:
            return ROOT
        place = self.free(bisect_right(self.timed, (time, 1)) - 1, seen)
        if place < 0 or self.timed[place][0] < time - WINDOW:
            return ROOT
        return -self.timed[place][1]

    def free(self, place: int, seen: set[int]) -> int:
        """Returns the highest place at or below one whose entry is not in use."""
        passed: list[int] = []
        while place >= 0:
            if self.below[place] != place:
                passed.append(place)
                place = self.below[place]
            elif -self.timed[place][1] in seen:
                self.below[place] = place - 1
            else:
                break
        for one in passed:
            self.below[one] = place
        return place


def children_of(loaded: Loaded) -> list[list[int]]:
    """Returns the children of every entry, in file order."""
    children: list[list[int]] = [[] for _ in loaded.records]
    for number, parent in enumerate(loaded.parents):
        if parent >= 0 and loaded.is_read[number]:
            children[parent].append(number)
    return children


def members_by_message(loaded: Loaded) -> dict[str, list[int]]:
    """Returns the entries of each response, in file order."""
    members: dict[str, list[int]] = {}
    for number, record in enumerate(loaded.records):
        if record.type == "assistant" and record.message_id and loaded.is_read[number]:
            members.setdefault(record.message_id, []).append(number)
    return members


def path_to_message(loaded: Loaded, leaf: int) -> list[int]:
    """Returns the last prompt or answer at or above a leaf, and what lies between.

    The leaf alone where there is no message above it.
    """
    path: list[int] = []
    seen: set[int] = set()
    current = leaf
    while current >= 0 and current not in seen:
        seen.add(current)
        path.append(current)
        if not _is_trailing(loaded.records[current]):
            return path[::-1]
        current = loaded.parents[current]
    return [leaf]


def trailing_notes(loaded: Loaded, path: list[int]) -> list[int]:
    """Returns the notes below a message in file order, those of the path among them."""
    records, children = loaded.records, children_of(loaded)
    found = set(path[1:])
    queue = list(path)
    for current in queue:
        for child in children[current]:
            record = records[child]
            if child not in found and _is_trailing(record) and not is_boundary(record):
                found.add(child)
                queue.append(child)
    return sorted(found - {path[0]})


def _is_trailing(record: Record) -> bool:
    return record.type in ("attachment", "system")
