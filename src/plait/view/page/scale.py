"""Times to places on a line: what nobody worked in is squeezed, and order is kept."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

SQUEEZED = 0.2
"""So much of the line may go to the gaps at most."""
GAP = 0.008
"""A gap is drawn no wider than this."""


class Scale(Struct, frozen=True):
    """Places for times, as shares of the line."""

    times: tuple[float, ...]
    places: tuple[float, ...]

    def at(self, time: float) -> float:
        """Returns where a time lies, from 0 to 1."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return 0.0
        if place >= len(self.times) - 1:
            return self.places[-1] if self.places else 0.0
        first, last = self.times[place], self.times[place + 1]
        share = (time - first) / (last - first) if last > first else 0.0
        return self.places[place] + share * (self.places[place + 1] - self.places[place])


def plain_scale(start: float, end: float) -> Scale:
    """Returns the scale of a stretch in which all time counts."""
    return Scale((start, max(end, start + 1)), (0.0, 1.0))


def squeezed_scale(spans: Iterable[tuple[float, float]], end: float) -> Scale:
    """Returns a scale on which what lies in no span takes little room.

    |--turn 1--|            |-2-|   in time
    |------turn 1------|-|--2---|   on the line
    """
    merged = joined(sorted(spans))
    if not merged:
        return plain_scale(0.0, end)
    edges = [merged[0][0]]
    is_gap: list[bool] = []
    for first, last in merged:
        if first > edges[-1]:
            edges.append(first)
            is_gap.append(True)
        edges.append(max(last, first + 1))
        is_gap.append(False)
    if end > edges[-1]:
        edges.append(end)
        is_gap.append(True)
    return Scale(tuple(edges), tuple(placed(edges, is_gap)))


def joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns spans in order, those that touch made one."""
    found: list[tuple[float, float]] = []
    for first, last in spans:
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def placed(edges: list[float], is_gap: list[bool]) -> Iterable[float]:
    """Yields the places of the edges, from 0 to 1."""
    lengths = [after - before for before, after in pairwise(edges)]
    working = sum(length for length, gap in zip(lengths, is_gap, strict=True) if not gap)
    gaps = sum(is_gap)
    width = min(GAP, SQUEEZED / gaps) if gaps else 0.0
    widths = [
        width if gap else length / working for length, gap in zip(lengths, is_gap, strict=True)
    ]
    total = sum(widths) or 1.0
    at = 0.0
    yield at
    for one in widths:
        at += one / total
        yield min(at, 1.0)
