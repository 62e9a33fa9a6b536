"""Avoidable spending as the index keeps it; what it does not hold yet is read and saved."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from plait.conversation.prices import Prices
from plait.index.catalogue import (
    from_bytes,
    load_losses,
    load_waste,
    save_losses,
    save_meta,
    save_waste,
    to_bytes,
)
from plait.insights.waste import (
    FileLosses,
    ReadLosses,
    SessionWaste,
    decode_file_losses,
    find_session_waste,
)
from plait.sessions.fresh_index import FreshIndex
from plait.sessions.model import Session

if TYPE_CHECKING:
    from plait.archive.archive import Archive


def read_indexed_losses(
    index: FreshIndex, sessions: Sequence[Session], read: ReadLosses
) -> Iterator[FileLosses]:
    """Yield the losses of each file of some sessions, in their order."""
    known = load_losses(index.catalogue)
    missing = [session for session in sessions if index.session_number(session) not in known]
    new = {
        index.session_number(session): data
        for session, data in zip(missing, read(missing), strict=True)
    }
    if new:
        index.save([save_losses(new)])
    for session in sessions:
        number = index.session_number(session)
        yield from decode_file_losses(session, new.get(number) or known[number])


WASTE_STATE = "waste"
"""The name of the note on what the rows hold for.

The waste of a session depends on others, as a response that several hold is counted to one of
them. So all rows hold for one state of the index, one list of prices and one day, or none does.
"""


def read_indexed_waste(
    index: FreshIndex, archive: "Archive", sessions: Sequence[Session], prices: Prices
) -> list[SessionWaste]:
    """Return the avoidable spending of each session, computed once for a state of the index."""
    state = f"{index.generation} {prices.fingerprint}"
    numbers = [index.session_number(session) for session in sessions]
    if index.catalogue.meta(WASTE_STATE) == state:
        known = load_waste(index.catalogue)
        return [from_bytes(known[number], SessionWaste) for number in numbers]
    found = find_session_waste(archive, sessions, prices)
    if len(sessions) == len(archive.sessions):
        rows = {number: to_bytes(waste) for number, waste in zip(numbers, found, strict=True)}
        index.save([save_waste(rows), save_meta(WASTE_STATE, state)])
    return found
