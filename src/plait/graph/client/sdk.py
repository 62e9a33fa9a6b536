"""Records to the chain that the official Python SDK returns: no pointer, no repair."""

from collections.abc import Iterable
from typing import TypeAlias

from plait.graph.client.entry import CHAIN_TYPES
from plait.graph.client.model import MISSING, ROOT, Loaded
from plait.graph.client.sdk_parallel import with_parallel
from plait.record import Record

TYPES = CHAIN_TYPES | {"progress"}
SPEAKERS = ("user", "assistant")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Line: TypeAlias = tuple[int, Record]
"""An entry's number, and its record as it stands on one line."""


def sdk_chain(records: Iterable[Record]) -> list[Record]:
    """Returns the user and assistant records of the SDK's chain."""
    loaded, lines = load(records)
    leaf = best_leaf(loaded, lines)
    if leaf is None:
        return []
    number, record = leaf
    # format: a leaf whose uuid comes again is read from its first line
    loaded.records[number], loaded.parents[number] = record, parent_of(loaded, record)
    whole = with_parallel(loaded, plain_walk(loaded, number))
    return [record for number in whole if is_visible(record := loaded.records[number])]


def load(records: Iterable[Record]) -> tuple[Loaded, list[Line]]:
    """Returns the entries, the last line of each uuid, and all lines in order."""
    loaded = Loaded([], {}, [], [])
    lines: list[Line] = []
    for record in records:
        # format: the SDK cannot read a line that begins with a byte order mark
        if record.type not in TYPES or record.uuid is None or is_marked(record):
            continue
        number = loaded.index.setdefault(record.uuid, len(loaded.records))
        if number == len(loaded.records):
            loaded.records.append(record)
        loaded.records[number] = record
        lines.append((number, record))
    loaded.is_read = [True] * len(loaded.records)
    loaded.parents = [parent_of(loaded, record) for record in loaded.records]
    return loaded, lines


def parent_of(loaded: Loaded, record: Record) -> int:
    """Returns the number of the parent that a line names."""
    return loaded.index.get(record.parent_uuid, MISSING) if record.parent_uuid else ROOT


def is_marked(record: Record) -> bool:
    """Whether a byte order mark stands before a record."""
    return record.raw.startswith(BYTE_ORDER_MARK)


def best_leaf(loaded: Loaded, lines: list[Line]) -> Line | None:
    """Returns the last leaf of the main conversation, else the last of all."""
    places = {number: place for place, (number, _) in enumerate(lines)}
    named = {record.parent_uuid for _, record in lines}
    looked_at: set[int] = set()
    leaves: list[Line] = []
    for number, record in lines:
        if record.uuid not in named:
            leaves.extend(nearest_speaker(loaded, number, record, looked_at))
    main = [leaf for leaf in leaves if is_main(leaf[1])]
    return max(main or leaves, key=lambda leaf: places[leaf[0]], default=None)


def nearest_speaker(loaded: Loaded, number: int, record: Record, looked_at: set[int]) -> list[Line]:
    """Returns the first user or assistant at or above a line, once for all that share it."""
    while record.type not in SPEAKERS:
        number = parent_of(loaded, record)
        if number < 0 or number in looked_at:
            return []
        looked_at.add(number)
        record = loaded.records[number]
    return [(number, record)]


def is_main(record: Record) -> bool:
    """Whether a record is of the main conversation and no meta prompt."""
    return not (record.is_sidechain or record.team_name or record.is_meta)


def plain_walk(loaded: Loaded, leaf: int) -> list[int]:
    """Returns the chain by parents alone; a circle ends it."""
    chain: list[int] = []
    seen: set[int] = set()
    current = leaf
    while current >= 0 and current not in seen:
        seen.add(current)
        chain.append(current)
        current = loaded.parents[current]
    return chain[::-1]


def is_visible(record: Record) -> bool:
    """Whether the SDK returns a record."""
    return record.type in SPEAKERS and is_main(record)
