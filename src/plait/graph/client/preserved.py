"""The messages that a compaction preserved: linked in behind its summary."""

from plait.graph.client.entry import is_boundary
from plait.graph.client.model import MISSING, Loaded
from plait.record import Record


def keep_preserved(loaded: Loaded) -> None:
    """Links the preserved messages of the last boundary and drops what is before it.

    Nothing happens in a file whose boundaries preserve nothing.
    """
    starts = [n for n, record in enumerate(loaded.records) if is_boundary(record)]
    kept = [kept_numbers(loaded, start) for start in starts]
    if all(numbers is None for numbers in kept):
        return
    last, numbers = starts[-1], kept[-1] or []
    anchor = loaded.index.get(anchor_of(loaded.records[last]) or "") if numbers else None
    if anchor is not None:
        link(loaded, numbers, anchor)
        loaded.is_relinked = True
    forget_before(loaded, last, frozenset(numbers), numbers[-1] if numbers else MISSING)


def kept_numbers(loaded: Loaded, boundary: int) -> list[int] | None:
    """Returns the preserved entries of a boundary in order, None if any is missing."""
    record = loaded.records[boundary]
    if loaded.readable(anchor_of(record)) is None:
        return None
    uuids = listed_uuids(record)
    if uuids is None:
        return segment(loaded, record)
    numbers = [loaded.readable(uuid) for uuid in uuids]
    return None if None in numbers else [number for number in numbers if number is not None]


def segment(loaded: Loaded, record: Record) -> list[int] | None:
    """Returns the entries from the head of a preserved segment to its tail."""
    head, tail = (loaded.readable(uuid) for uuid in segment_ends(record))
    found: list[int] = []
    seen: set[int] = set()
    current = MISSING if head is None or tail is None else tail
    while current >= 0 and current not in seen:
        seen.add(current)
        found.append(current)
        if current == head:
            return found[::-1]
        current = loaded.parents[current]
    return None


def link(loaded: Loaded, numbers: list[int], anchor: int) -> None:
    """Hangs the preserved entries on the anchor, and its followers on the last of them."""
    parents, chosen = loaded.parents, frozenset(numbers)
    for number, parent in enumerate(parents):
        if parent == anchor and number not in chosen:
            parents[number] = numbers[-1]
    before = anchor
    for number in numbers:
        parents[number] = before
        before = number
    if loaded.lines and loaded.lines[-1] == anchor:
        loaded.lines.append(before)


def forget_before(loaded: Loaded, boundary: int, kept: frozenset[int], tail: int) -> None:
    """Drops all entries before a boundary but the kept; their children go to the tail."""
    for number in range(boundary):
        if number not in kept:
            loaded.is_read[number] = False
            loaded.forgotten.add(number)
    for number, parent in enumerate(loaded.parents):
        if parent >= 0 and not loaded.is_read[parent]:
            loaded.parents[number] = tail if number != boundary else MISSING


def preserved_lines(before: list[Record], boundary: Record) -> list[Record]:
    """Returns the records before a boundary that it may have preserved."""
    listed = listed_uuids(boundary)
    if listed is not None:
        chosen = frozenset(listed)
        return [record for record in before if record.uuid in chosen]
    head, _ = segment_ends(boundary)
    starts = [place for place, record in enumerate(before) if record.uuid == head]
    return before[starts[0] :] if head is not None and starts else []


def listed_uuids(record: Record) -> list[str] | None:
    """Returns the list of preserved uuids, None where the boundary has no such list."""
    listed = part(record, "preservedMessages").get("uuids")
    if not isinstance(listed, list):
        return None
    return [uuid for uuid in listed if isinstance(uuid, str)]


def segment_ends(record: Record) -> tuple[str | None, str | None]:
    """Returns head and tail of the preserved segment."""
    ends = part(record, "preservedSegment")
    head, tail = ends.get("headUuid"), ends.get("tailUuid")
    return (head if isinstance(head, str) else None, tail if isinstance(tail, str) else None)


def anchor_of(record: Record) -> str | None:
    """Returns the uuid that the preserved messages hang on."""
    # format: the list wins over the segment
    key = "preservedMessages" if listed_uuids(record) is not None else "preservedSegment"
    anchor = part(record, key).get("anchorUuid")
    return anchor if isinstance(anchor, str) else None


def part(record: Record, key: str) -> dict[str, object]:
    """Returns one object of the compaction's metadata, empty where there is none."""
    metadata = record.fields.get("compactMetadata")
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, dict) else {}
