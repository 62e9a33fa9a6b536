"""An entry to the chain above it: by parents, and by time where a parent is missing."""

from bisect import bisect_right
from typing import Generic

from plait.graph.entries import ROOT, E, Entries

WINDOW = 5000.0
"""Milliseconds within which an older entry stands in for a missing parent."""


def walk(loaded: Entries[E], leaf: int) -> list[int]:
    """Returns the chain from a root to the leaf, without what parallel calls left aside."""
    chain = [leaf]
    seen = {leaf}
    stand_ins: StandIns[E] | None = None
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


class StandIns(Generic[E]):
    """All entries by time, for those whose parent is missing or closes a circle."""

    def __init__(self, loaded: Entries[E]) -> None:
        self.loaded = loaded
        told = loaded.told
        timed = [
            (told.time(record), -number)
            for number, record in enumerate(loaded.records)
            if loaded.is_read[number] and not told.is_sidechain(record)
        ]
        # among equals the first of the file is tried first
        self.timed = sorted(
            pair for pair in timed if pair[0] == pair[0] and pair[0] > float("-inf")
        )
        self.below = list(range(len(self.timed)))
        """For each place the next one down that may be free: skips grow as places are used."""

    def nearest(self, number: int, seen: set[int]) -> int:
        """Returns the newest unused entry up to five seconds older, else ROOT."""
        record, told = self.loaded.records[number], self.loaded.told
        time = told.time(record)
        if told.is_sidechain(record) or time != time:
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
