"""The last turn of a log to its calls, and where each stands: what comes later may tell them."""

from collections import Counter

from msgspec import Struct

from plait.conversation.model import Called, Item
from plait.conversation.walk import opened
from plait.index.passages import path_in
from plait.record import Record


class CallEnd(Struct, gc=False, array_like=True):
    """A call of the last turn, and where it stands."""

    tool: str
    path: str | None
    """The file that it was asked about."""
    line: int
    offset: int
    length: int
    part: int
    is_answered: bool = False


def calls_in(items: list[Item], records: list[Record]) -> dict[str, CallEnd]:
    """Returns the calls of a turn by their ids; the last of those that share one."""
    by_line = {record.line: record for record in records}
    parts = Counter[int]()
    found: dict[str, CallEnd] = {}
    for item in opened(items):
        record, part = by_line.get(item.line), parts[item.line]
        parts[item.line] += 1
        if isinstance(item, Called) and record and not item.is_intermediate:
            found[item.call] = call_end(item, record, part)
    return found


def call_end(item: Called, record: Record, part: int) -> CallEnd:
    """Returns where a call stands, by its record and which of its items it is."""
    place = (record.line, record.offset, len(record.raw), part)
    return CallEnd(item.name, path_in(item.input), *place, item.result is not None)
