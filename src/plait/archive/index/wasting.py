"""An index to what was paid for in vain in sessions, priced: worked out once for a state of it.

What a session lost depends on others: a response that several hold is counted to one. So all of
it holds for one state of the index, one list of prices and one day, or none of it.
"""

from collections.abc import Sequence

from plait.archive.index.fresh import FreshIndex
from plait.archive.model import Session
from plait.archive.wasting import wasted_in
from plait.conversation.prices import Prices
from plait.conversation.waste.findings import SessionWaste
from plait.index.catalogue import from_bytes, to_bytes
from plait.index.rows import keeping_waste, kept_waste, noting

WASTE = "waste"
"""Under which it is noted what the rows hold for."""


def indexed_waste(
    warm: FreshIndex, sessions: Sequence[Session], prices: Prices
) -> list[SessionWaste]:
    """Returns what was paid for in vain in each of some sessions."""
    state = f"{warm.generation} {prices.fingerprint}"
    numbers = [warm.number(one) for one in sessions]
    if warm.catalogue.meta(WASTE) == state:
        known = kept_waste(warm.catalogue)
        return [from_bytes(known[number], SessionWaste) for number in numbers]
    if len(sessions) < len(warm.archive.sessions):
        return wasted_in(warm.archive, sessions, prices)
    found = wasted_in(warm.archive, sessions, prices)
    rows = {number: to_bytes(one) for number, one in zip(numbers, found, strict=True)}
    warm.keep([keeping_waste(rows), noting(WASTE, state)])
    return found
