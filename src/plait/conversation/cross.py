"""Responses to a cross table: by several things at once, with sums along each of them.

    project × model × week      a cell for each three that meet
    project × week              the same, summed over models
    week                        what a report by week says

Each response stands in one cell, so all sums are those of the same responses.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from plait.conversation.prices import Prices
from plait.conversation.spending import By, SpendingSum, key_function, sum_of
from plait.conversation.usage import BilledResponse

Dimension: TypeAlias = Literal["project", "model", "session", "day", "week", "month"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
REPORTS: dict[Dimension, By] = {
    "project": "project",
    "model": "model",
    "session": "session",
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
}
TIMES: tuple[Dimension, ...] = ("day", "week", "month")
Keys: TypeAlias = tuple[str | None, ...]
"""What a cell is named by, in the order of the dimensions; None where something is not known."""


class CrossTable(Struct, frozen=True):
    """Figures by several things at once."""

    dimensions: tuple[Dimension, ...]
    cells: Mapping[Keys, SpendingSum]
    totals: SpendingSum

    def along(self, *wanted: Dimension) -> dict[Keys, SpendingSum]:
        """Returns the sums along some of the dimensions: times in order, the rest by cost."""
        places = [self.dimensions.index(one) for one in wanted]
        found: dict[Keys, SpendingSum] = {}
        for keys, tally in self.cells.items():
            name = tuple(keys[place] for place in places)
            found.setdefault(name, SpendingSum()).take(tally)
        if len(wanted) != 1:
            return found
        return dict(sorted(found.items(), key=lambda one: _order(wanted[0], one[0][0], one[1])))

    def names(self, wanted: Dimension) -> list[str | None]:
        """Returns the names along one dimension: times in order, the rest by cost."""
        return [keys[0] for keys in self.along(wanted)]

    def ordered(self) -> list[tuple[Keys, SpendingSum]]:
        """Returns all cells in the order of the names along each dimension."""
        places = [
            {name: place for place, name in enumerate(self.names(one))} for one in self.dimensions
        ]
        return sorted(
            self.cells.items(),
            key=lambda cell: [known[key] for known, key in zip(places, cell[0], strict=True)],
        )


def _order(dimension: Dimension, key: str | None, tally: SpendingSum) -> tuple[object, ...]:
    if dimension in TIMES:
        return (key is None, key or "")
    return (-tally.cost, -tally.tokens.total, key or "")


def crossed(
    responses: Iterable[BilledResponse],
    dimensions: Sequence[Dimension],
    prices: Prices,
    zone: tzinfo | None = None,
) -> CrossTable:
    """Returns the figures of responses by all of the dimensions at once."""
    namers = [key_function(REPORTS[one], zone) for one in dimensions]
    held: dict[Keys, list[BilledResponse]] = {}
    for response in responses:
        held.setdefault(tuple(name(response) for name in namers), []).append(response)
    cells = {keys: sum_of(found, prices) for keys, found in held.items()}
    totals = SpendingSum()
    for tally in cells.values():
        totals.take(tally)
    return CrossTable(tuple(dimensions), cells, totals)
