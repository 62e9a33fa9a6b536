"""Records to the chain that the official Python SDK returns: no pointer, no repair."""

from collections.abc import Iterable

from plait.graph.client.entry import CHAIN_TYPES
from plait.graph.client.model import MISSING, ROOT, Loaded
from plait.graph.client.sdk_parallel import with_parallel
from plait.record import Record

TYPES = CHAIN_TYPES | {"progress"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def sdk_chain(records: Iterable[Record]) -> list[Record]:
    """Returns the user and assistant records of the SDK's chain."""
    loaded, last_places = load(records)
    leaf = best_leaf(loaded, last_places)
    if leaf is None:
        return []
    whole = with_parallel(loaded, plain_walk(loaded, leaf))
    return [record for number in whole if is_visible(record := loaded.records[number])]


def load(records: Iterable[Record]) -> tuple[Loaded, list[int]]:
    """Returns the entries, and the place of the last line of each."""
    loaded = Loaded([], {}, [], [])
    places: list[int] = []
    for place, record in enumerate(records):
        # format: the SDK cannot read a line that begins with a byte order mark
        if record.type not in TYPES or record.uuid is None or is_marked(record):
            continue
        number = loaded.index.setdefault(record.uuid, len(loaded.records))
        if number == len(loaded.records):
            loaded.records.append(record)
            places.append(place)
        loaded.records[number], places[number] = record, place
    loaded.is_read = [True] * len(loaded.records)
    loaded.parents = [
        loaded.index.get(record.parent_uuid, MISSING) if record.parent_uuid else ROOT
        for record in loaded.records
    ]
    return loaded, places


def is_marked(record: Record) -> bool:
    """Whether a byte order mark stands before a record."""
    return record.raw.startswith(BYTE_ORDER_MARK)


def best_leaf(loaded: Loaded, places: list[int]) -> int | None:
    """Returns the last leaf of the main conversation, else the last of all."""
    with_children = set(loaded.parents)
    leaves: list[int] = []
    looked_at: set[int] = set()
    for number in range(len(loaded.records)):
        if number not in with_children:
            leaves.extend(nearest_speaker(loaded, number, looked_at))
    main = [number for number in leaves if is_main(loaded.records[number])]
    return max(main or leaves, key=places.__getitem__, default=None)


def nearest_speaker(loaded: Loaded, number: int, looked_at: set[int]) -> list[int]:
    """Returns the first user or assistant at or above an entry, once for all that share it."""
    while number >= 0 and number not in looked_at:
        looked_at.add(number)
        if loaded.records[number].type in ("user", "assistant"):
            return [number]
        number = loaded.parents[number]
    return []


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
    return record.type in ("user", "assistant") and is_main(record)
