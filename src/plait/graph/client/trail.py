"""A leaf to the message it stands behind, and the notes that trail that message.

The client continues a prompt or an answer. Attachments and notices below it come along,
whichever of them was the leaf, and on whichever branch they lie.
"""

from plait.graph.client.entry import is_boundary
from plait.graph.client.model import Loaded
from plait.graph.client.walk import children_of
from plait.record import Record


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
        if not is_trailing(loaded.records[current]):
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
            if child not in found and is_trailing(record) and not is_boundary(record):
                found.add(child)
                queue.append(child)
    return sorted(found - {path[0]})


def is_trailing(record: Record) -> bool:
    """Whether an entry is an attachment or a notice."""
    return record.type in ("attachment", "system")
