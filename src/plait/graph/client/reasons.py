"""Entries that are not among the messages to the reasons why."""

from collections.abc import Iterator

from plait.graph.client.entry import is_boundary
from plait.graph.client.model import LeftOut, Loaded, Reason, Said
from plait.graph.client.prune import Dropped
from plait.record import Record


def reasons(
    loaded: Loaded, chain: list[int], dropped: Dropped, said: list[Said]
) -> Iterator[LeftOut]:
    """Yields every entry that no message shows, in file order."""
    shown = {one.number for one in said if not one.is_error and one.blocks}
    places = {number: place for place, number in enumerate(chain)}
    cuts = [places[number] for number in chain if is_boundary(loaded.records[number])]
    cut = cuts[-1] if cuts else -1
    for number, record in enumerate(loaded.records):
        if number in shown or record.uuid is None:
            continue
        if number in dropped:
            reason = dropped[number]
        elif number not in places:
            reason = why_not_on_chain(loaded, number, record)
        else:
            is_before = places[number] < cut
            reason = Reason.BEFORE_COMPACTION if is_before else why_not_said(record)
        yield LeftOut(record.uuid, record.line, reason)


def why_not_on_chain(loaded: Loaded, number: int, record: Record) -> Reason:
    """Says why an entry is not part of the chain."""
    if record.is_sidechain:
        return Reason.SIDECHAIN
    if loaded.is_read[number]:
        return Reason.ABANDONED
    return Reason.BEFORE_COMPACTION if number in loaded.forgotten else Reason.NO_MESSAGE


def why_not_said(record: Record) -> Reason:
    """Says why an entry of the chain is not sent."""
    if record.type == "system":
        return Reason.SYSTEM
    if record.type == "attachment":
        return Reason.NO_RENDERED_TEXT
    return Reason.API_ERROR if record.is_api_error_message else Reason.EMPTY
