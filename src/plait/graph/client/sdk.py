"""Records to the chain that the official Python SDK returns: no pointer, no repair."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from plait.graph.client.chain import is_same_writer, owners_of_calls
from plait.graph.client.load import RECORDS, is_result, result_ids
from plait.graph.client.model import Loaded
from plait.graph.entries import CHAIN_TYPES, MISSING, ROOT, Entries
from plait.graph.leaf import line_above
from plait.record import Record
from plait.record.codec import BYTE_ORDER_MARK

TYPES = CHAIN_TYPES | {"progress"}
SPEAKERS = ("user", "assistant")

Line: TypeAlias = tuple[int, Record]
"""An entry's number, and its record as it stands on one line."""


def sdk_chain(records: Iterable[Record]) -> list[Record]:
    """Returns the user and assistant records of the SDK's chain."""
    loaded, lines = _load_entries(records)
    leaf = _best_leaf(loaded, lines)
    if leaf is None:
        return []
    number, record = leaf
    # format: a leaf whose uuid comes again is read from its first line
    loaded.records[number], loaded.parents[number] = record, _parent_of(loaded, record)
    whole = _with_missed(loaded, list(line_above(loaded, number))[::-1])
    return [record for number in whole if _is_visible(record := loaded.records[number])]


def _load_entries(records: Iterable[Record]) -> tuple[Loaded, list[Line]]:
    loaded: Loaded = Entries(RECORDS)
    lines: list[Line] = []
    for record in records:
        # format: the SDK cannot read a line that begins with a byte order mark
        if record.type not in TYPES or record.uuid is None or _is_marked(record):
            continue
        number = loaded.index.setdefault(record.uuid, len(loaded.records))
        if number == len(loaded.records):
            loaded.records.append(record)
        loaded.records[number] = record
        lines.append((number, record))
    loaded.is_read = [True] * len(loaded.records)
    loaded.parents = [_parent_of(loaded, record) for record in loaded.records]
    return loaded, lines


def _parent_of(loaded: Loaded, record: Record) -> int:
    return loaded.index.get(record.parent_uuid, MISSING) if record.parent_uuid else ROOT


def _is_marked(record: Record) -> bool:
    return record.raw.startswith(BYTE_ORDER_MARK)


def _best_leaf(loaded: Loaded, lines: list[Line]) -> Line | None:
    places = {number: place for place, (number, _) in enumerate(lines)}
    named = {record.parent_uuid for _, record in lines}
    looked_at: set[int] = set()
    leaves: list[Line] = []
    for number, record in lines:
        if record.uuid not in named:
            leaves.extend(_nearest_speaker(loaded, number, record, looked_at))
    main = [leaf for leaf in leaves if _is_main(leaf[1])]
    return max(main or leaves, key=lambda leaf: places[leaf[0]], default=None)


def _nearest_speaker(
    loaded: Loaded, number: int, record: Record, looked_at: set[int]
) -> list[Line]:
    while record.type not in SPEAKERS:
        number = _parent_of(loaded, record)
        if number < 0 or number in looked_at:
            return []
        looked_at.add(number)
        record = loaded.records[number]
    return [(number, record)]


def _is_main(record: Record) -> bool:
    return not (record.is_sidechain or record.team_name or record.is_meta)


def _is_visible(record: Record) -> bool:
    return record.type in SPEAKERS and _is_main(record)


def _with_missed(loaded: Loaded, chain: list[int]) -> list[int]:
    recovery = Recovery(loaded, chain)
    anchors = recovery.anchors()
    after = {anchor: recovery.missed(message_id) for message_id, anchor in anchors.items()}
    return [one for number in chain for one in (number, *after.get(number, ()))]


@dataclass(slots=True)
class Missed:
    """What belongs to a response and is not on the chain."""

    results: list[int] = field(default_factory=list)
    strays: list[int] = field(default_factory=list)
    """Results that hang elsewhere: they count only for calls still open."""


class Recovery:
    """Finds the missed entries of one response after another."""

    def __init__(self, loaded: Loaded, chain: list[int]) -> None:
        self.records = loaded.records
        self.parents = loaded.parents
        self.chain = chain
        self.seen = set(chain)
        self.members = loaded.members()
        self.owners = owners_of_calls(loaded, self.members)
        self.results = self.results_by_answer(loaded)
        self.answered = {call for number in chain for call in result_ids(self.records[number])}

    def anchors(self) -> dict[str, int]:
        """Returns the last entry of each response on the chain, in the order of the chain."""
        anchors: dict[str, int] = {}
        for number in self.chain:
            record = self.records[number]
            if record.type == "assistant" and record.message_id:
                anchors[record.message_id] = number
        return anchors

    def results_by_answer(self, loaded: Loaded) -> dict[int, list[int]]:
        """Returns the results that may belong to each answer."""
        found: dict[int, list[int]] = {}
        for number, record in enumerate(self.records):
            if is_result(record) and record.parent_uuid:
                for answer in self.answers_to(number, record, loaded):
                    found.setdefault(answer, []).append(number)
        return found

    def answers_to(self, number: int, record: Record, loaded: Loaded) -> list[int]:
        """Returns the answers that a result may belong to: by parent, by source, by call."""
        source = loaded.index.get(record.source_tool_assistant_uuid or "")
        claimed = [source, *(self.owners.get(call) for call in result_ids(record))]
        near = [
            one for one in claimed if one is not None and is_same_writer(record, self.records[one])
        ]
        return [self.parents[number], *near]

    def missed(self, message_id: str) -> list[int]:
        """Returns what the chain lacks of a response: its entries, then its results."""
        group = self.members[message_id]
        siblings = [number for number in group if number not in self.seen]
        missed = self.missed_results(group)
        results = [*missed.results, *self.needed(missed, frozenset(group))]
        whole = [*self.by_time(siblings), *self.by_time(results)]
        self.seen.update(whole)
        return whole

    def missed_results(self, group: list[int]) -> Missed:
        """Parts the missed results into those that hang on the response and strays."""
        missed, members, taken = Missed(), frozenset(group), set[int]()
        for member in group:
            for number in self.results.get(member, ()):
                if number in self.seen or number in taken:
                    continue
                taken.add(number)
                hangs = self.parents[number] in members
                (missed.results if hangs else missed.strays).append(number)
        return missed

    def needed(self, missed: Missed, members: frozenset[int]) -> list[int]:
        """Returns the strays that answer a call which nothing else answers."""
        answered = {call for one in missed.results for call in result_ids(self.records[one])}
        found: list[int] = []
        for number in sorted(missed.strays):
            calls = result_ids(self.records[number])
            if any(self.is_open(call, answered, members) for call in calls):
                answered.update(calls)
                found.append(number)
        return found

    def is_open(self, call: str, answered: set[str], members: frozenset[int]) -> bool:
        """Whether a call of some answers has no result yet."""
        return (
            call not in answered and call not in self.answered and self.owners.get(call) in members
        )

    def by_time(self, numbers: list[int]) -> list[int]:
        """Returns entries in the order of their timestamps."""
        return sorted(numbers, key=lambda number: self.records[number].timestamp or "")
