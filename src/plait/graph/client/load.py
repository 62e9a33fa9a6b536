"""Records in file order to numbered entries with parents, as the client loads them."""

from collections.abc import Iterable

from plait.graph.client.entry import CHAIN_TYPES, has_message, is_boundary
from plait.graph.client.model import MISSING, ROOT, LeftOut, Loaded, Reason
from plait.record import Record

WHOLE_FILE = 5_242_880
"""Above this size the client skips what stands before the last compaction."""


def load(records: Iterable[Record], size: int) -> tuple[Loaded, list[LeftOut]]:
    """Returns the entries of a file, and the records that are no entries with the reason."""
    lines, skipped = _since_compaction(list(records), size)
    reader = Reader()
    for record in lines:
        reader.take(record)
    loaded = reader.loaded()
    _close_gaps(loaded)
    _keep_preserved(loaded)
    return loaded, [*skipped, *reader.left_out]


def _since_compaction(records: list[Record], size: int) -> tuple[list[Record], list[LeftOut]]:
    starts = [place for place, record in enumerate(records) if is_boundary(record)]
    if size <= WHOLE_FILE or not starts:
        return records, []
    head, tail = records[: starts[-1]], records[starts[-1] :]
    kept = {id(record) for record in _preserved_lines(head, tail[0])}
    skipped = [
        LeftOut(record.uuid, record.line, Reason.BEFORE_COMPACTION)
        for record in head
        if record.uuid is not None and id(record) not in kept
    ]
    still = [record for record in head if record.uuid is None or id(record) in kept]
    return [*still, *tail], skipped


class Reader:
    """Takes one record after another."""

    def __init__(self) -> None:
        self.entries = Loaded([], {}, [], [])
        self.parent_uuids: list[str | None] = []
        self.bridges: dict[str, str | None] = {}
        self.left_out: list[LeftOut] = []

    def take(self, record: Record) -> None:
        """Adds a record: an entry, a bridge, a pointer, or nothing to the client."""
        if record.type == "last-prompt":
            self.point(record)
        elif not record.uuid or record.type is None:
            return
        elif record.type in CHAIN_TYPES:
            self.enter(record, record.uuid)
        elif record.type == "progress":
            self.bridge(record, record.uuid)
        else:
            # format: unknown types are not bridged, their children look for a parent by time
            self.left_out.append(LeftOut(record.uuid, record.line, Reason.UNKNOWN_TYPE))

    def point(self, record: Record) -> None:
        """Moves the pointer to the leaf: the last line that names one counts."""
        leaf, explicit = record.envelope.leaf_uuid, record.envelope.explicit is True
        entries = self.entries
        if not leaf:
            # format: explicit null is a rewind to the start; a plain null says nothing
            entries.is_cleared = entries.is_cleared or explicit
            return
        # format: the same pointer written again plainly is still the explicit one
        entries.is_explicit = explicit or (entries.is_explicit and leaf == entries.pointer)
        entries.is_cleared = False
        entries.pointer = leaf

    def enter(self, record: Record, uuid: str) -> None:
        """Adds an entry; a uuid that came before keeps its place and takes the new content."""
        parent = record.parent_uuid or None
        # format: bridges hold only for lines that follow them
        parent = self.bridges.get(parent, parent) if parent is not None else None
        number = self.entries.index.setdefault(uuid, len(self.entries.records))
        if number == len(self.entries.records):
            self.entries.records.append(record)
            self.parent_uuids.append(parent)
        else:
            replaced = self.entries.records[number]
            self.left_out.append(LeftOut(uuid, replaced.line, Reason.REPLACED))
            self.entries.records[number] = record
            self.parent_uuids[number] = parent
        if not record.is_sidechain and _is_readable(record):
            self.entries.lines.append(number)
            self.entries.is_explicit = self.entries.is_cleared = False
        if is_boundary(record):
            self.entries.pointer = None  # format: what was pointed to is over

    def bridge(self, record: Record, uuid: str) -> None:
        """Lets the children of a record that is no entry attach to its parent."""
        parent = record.parent_uuid or None
        self.bridges[uuid] = self.bridges.get(parent, parent) if parent is not None else None
        self.left_out.append(LeftOut(uuid, record.line, Reason.BRIDGED))

    def loaded(self) -> Loaded:
        """Returns the entries with their parents by number."""
        entries = self.entries
        entries.is_read = [_is_readable(record) for record in entries.records]
        entries.parents = [
            ROOT if parent is None else entries.index.get(parent, MISSING)
            for parent in self.parent_uuids
        ]
        return entries


def _is_readable(record: Record) -> bool:
    return record.type in ("attachment", "system") or has_message(record)


def _close_gaps(loaded: Loaded) -> None:
    parents, is_read = loaded.parents, loaded.is_read
    for number in range(len(parents)):
        passed: list[int] = []
        parent = parents[number]
        while parent >= 0 and not is_read[parent]:
            passed.append(parent)
            above = parents[parent]
            parents[parent] = MISSING  # so a circle of dropped entries ends
            parent = above
        for other in (*passed, number):
            parents[other] = parent


def _keep_preserved(loaded: Loaded) -> None:
    """Links the preserved messages of the last boundary and drops what is before it.

    Nothing happens in a file whose boundaries preserve nothing.
    """
    starts = [n for n, record in enumerate(loaded.records) if is_boundary(record)]
    kept = [_kept_numbers(loaded, start) for start in starts]
    if all(numbers is None for numbers in kept):
        return
    last, numbers = starts[-1], kept[-1] or []
    anchor = loaded.index.get(_anchor_of(loaded.records[last]) or "") if numbers else None
    if anchor is not None:
        link(loaded, numbers, anchor)
        loaded.is_relinked = True
    _forget_before(loaded, last, frozenset(numbers), numbers[-1] if numbers else MISSING)


def _kept_numbers(loaded: Loaded, boundary: int) -> list[int] | None:
    record = loaded.records[boundary]
    if loaded.readable(_anchor_of(record)) is None:
        return None
    uuids = _listed_uuids(record)
    if uuids is None:
        return _segment(loaded, record)
    numbers = [loaded.readable(uuid) for uuid in uuids]
    return None if None in numbers else [number for number in numbers if number is not None]


def _segment(loaded: Loaded, record: Record) -> list[int] | None:
    head, tail = (loaded.readable(uuid) for uuid in _segment_ends(record))
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


def _forget_before(loaded: Loaded, boundary: int, kept: frozenset[int], tail: int) -> None:
    for number in range(boundary):
        if number not in kept:
            loaded.is_read[number] = False
            loaded.forgotten.add(number)
    for number, parent in enumerate(loaded.parents):
        if parent >= 0 and not loaded.is_read[parent]:
            loaded.parents[number] = tail if number != boundary else MISSING


def _preserved_lines(before: list[Record], boundary: Record) -> list[Record]:
    listed = _listed_uuids(boundary)
    if listed is not None:
        chosen = frozenset(listed)
        return [record for record in before if record.uuid in chosen]
    head, _ = _segment_ends(boundary)
    starts = [place for place, record in enumerate(before) if record.uuid == head]
    return before[starts[0] :] if head is not None and starts else []


def _listed_uuids(record: Record) -> list[str] | None:
    """Returns the list of preserved uuids, None where the boundary has no such list."""
    listed = part(record, "preservedMessages").get("uuids")
    if not isinstance(listed, list):
        return None
    return [uuid for uuid in listed if isinstance(uuid, str)]


def _segment_ends(record: Record) -> tuple[str | None, str | None]:
    ends = part(record, "preservedSegment")
    head, tail = ends.get("headUuid"), ends.get("tailUuid")
    return (head if isinstance(head, str) else None, tail if isinstance(tail, str) else None)


def _anchor_of(record: Record) -> str | None:
    # format: the list wins over the segment
    key = "preservedMessages" if _listed_uuids(record) is not None else "preservedSegment"
    anchor = part(record, key).get("anchorUuid")
    return anchor if isinstance(anchor, str) else None


def part(record: Record, key: str) -> dict[str, object]:
    """Returns one object of the compaction's metadata, empty where there is none."""
    metadata = record.fields.get("compactMetadata")
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, dict) else {}
