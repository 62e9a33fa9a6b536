"""A trimmed draft to one that goes on from where the session did, or from right above that."""

from collections.abc import Mapping

from plait.edit.draft import Draft
from plait.edit.switch import pointer_to
from plait.graph.client import stands_at
from plait.graph.client.load import load
from plait.graph.leaf import leaf

POINTED = "where the session goes on: its last record goes, and another branch ends later"


def leaf_in(draft: Draft) -> str | None:
    """Returns the record that the client goes on from, None where from none."""
    loaded, _ = load(draft.records, draft.size)
    number = None if loaded.is_cleared else leaf(loaded)
    return None if number is None else loaded.records[number].uuid


def keep_standing(
    draft: Draft, session: str, was: str | None, uuids: Mapping[str, str | None]
) -> None:
    """Adds a pointer where the client would go on from another branch than it did."""
    end = uuids.get(was, was) if was else None
    records, size = draft.records, draft.size
    if end is None or stands_at(records, size, end):
        return
    if line := pointer_to(session, records, size, end):
        draft.append(line, POINTED)
