"""Parents that are nowhere, or lead in circles, to parents that are there.

The client stands in for a missing parent by what was written within five seconds before; where
there is nothing, all history before it is out of sight. The SDK stands in for none.
"""

from collections.abc import Iterator
from itertools import pairwise

from plait.edit.draft import Draft, DraftLine, with_field
from plait.graph.ascent import walk
from plait.graph.client.load import call_ids, load, result_ids
from plait.graph.entries import CHAIN_TYPES
from plait.graph.leaf import leaf, path_to_message
from plait.graph.repair import NOWHERE, cycles
from plait.record import Record

MISSING = "a parent that is nowhere is replaced by the record that came before"
ROOTED = "a parent that is nowhere is taken away: nothing came before"
CIRCULAR = "a circle of parents is cut where it closes"


def missing_parents(draft: Draft) -> None:
    """Hangs records whose parent is nowhere on the one that came before them."""
    links = Links(draft)
    lost = [pair for pair in links.lines if links.is_lost(pair[1])]
    if not lost:
        return
    chosen = chosen_by_client(draft)
    for line, record in lost:
        parent = links.parent_for(record, chosen)
        # what the client goes on from may hang on the record: that circle is cut next
        parent = parent or chosen.get(record.uuid or "")
        links.hang(line, record, parent, MISSING if parent else ROOTED)


def circles(draft: Draft) -> None:
    """Cuts circles where the client does, else at their first record."""
    links = Links(draft)
    found = links.circles()
    if not found:
        return
    chosen = chosen_by_client(draft)
    for circle in found:
        uuid = next((one for one in circle if one in chosen), circle[0])
        line, record = next(pair for pair in reversed(links.lines) if pair[1].uuid == uuid)
        links.hang(line, record, links.parent_for(record, chosen), CIRCULAR)


class Links:
    """The records of a draft and the parents they name."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.lines = [(line, record) for line, record in draft.spoken if record.uuid]
        self.parents = {str(record.uuid): record.parent_uuid for _, record in self.lines}
        self.calls = {call: str(one.uuid) for _, one in self.lines for call in call_ids(one)}
        self.before = dict(_records_before(self.lines))
        self.first = next((one.uuid for _, one in self.lines if one.type in CHAIN_TYPES), None)

    def is_lost(self, record: Record) -> bool:
        """Whether a record names a parent that is nowhere."""
        named = record.parent_uuid
        if not named or named in self.parents:
            return False
        return not (record.uuid == self.first and named in self.draft.elsewhere)

    def circles(self) -> list[list[str]]:
        """Returns the circles in which parents lead, each in the order of the file."""
        numbers = {uuid: number for number, uuid in enumerate(self.parents)}
        uuids = list(numbers)
        up = [numbers.get(parent or "", NOWHERE) for parent in self.parents.values()]
        return [[uuids[number] for number in sorted(circle)] for circle in cycles(up)]

    def parent_for(self, record: Record, chosen: dict[str, str]) -> str | None:
        """Returns what a record hangs on: its call, what the client takes, the one before it."""
        for candidate in self.candidates(record, chosen):
            if candidate and not self.is_below(candidate, record.uuid):
                return candidate
        return None

    def candidates(self, record: Record, chosen: dict[str, str]) -> Iterator[str | None]:
        """Yields what a record may hang on, the best first."""
        yield from (self.calls.get(call) for call in result_ids(record))
        yield chosen.get(record.uuid or "")
        yield self.before.get(record.uuid or "")

    def is_below(self, candidate: str, uuid: str | None) -> bool:
        """Whether a record is another one, or hangs on it."""
        seen: set[str] = set()
        current: str | None = candidate
        while current is not None and current not in seen:
            if current == uuid:
                return True
            seen.add(current)
            current = self.parents.get(current)
        return False

    def hang(self, line: DraftLine, record: Record, parent: str | None, reason: str) -> None:
        """Gives a record another parent."""
        self.parents[str(record.uuid)] = parent
        self.draft.rewrite(line, with_field(record, "parentUuid", parent), reason)


def _records_before(lines: list[tuple[DraftLine, Record]]) -> Iterator[tuple[str, str | None]]:
    """Yields each record with the link before it that is no later: its own side's."""
    last: dict[bool, Record] = {}
    for _, record in lines:
        before = last.get(record.is_sidechain)
        is_later = before and (before.timestamp or "") > (record.timestamp or "~")
        yield str(record.uuid), before.uuid if before and not is_later else None
        if record.type in CHAIN_TYPES:
            last[record.is_sidechain] = record


def chosen_by_client(draft: Draft) -> dict[str, str]:
    """Returns what the client goes on from where a parent is missing or was passed already."""
    loaded, _ = load(draft.records, draft.size)
    end = leaf(loaded)
    if end is None:
        return {}
    chain = walk(loaded, path_to_message(loaded, end)[0])
    records = loaded.records
    return {
        str(records[below].uuid): str(records[above].uuid)
        for above, below in pairwise(chain)
        if loaded.parents[below] != above
    }
