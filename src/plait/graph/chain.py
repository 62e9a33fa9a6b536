"""The chain of a session's file as the client loads it, and the leaf it would resume from.

The rules are the same for records and for the nodes of a graph, which hold no texts:
`EntryAccessors` says how an entry of either sort is asked.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import attrgetter, or_
from typing import Generic, NamedTuple, TypeVar

from plait.graph.facts import FileFacts
from plait.graph.index import Index
from plait.graph.model import DagLine, Node, Trait
from plait.graph.parents import Parents
from plait.record.time import parse_javascript_time
from plait.record.types import NOTHING_PRESERVED, Preserved

E = TypeVar("E")

CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system"})
ROOT = -1
MISSING = -2


class EntryAccessors(NamedTuple, Generic[E]):
    """What an entry tells of itself, without its texts."""

    kind: Callable[[E], str | None]
    subtype: Callable[[E], str | None]
    is_sidechain: Callable[[E], bool]
    time: Callable[[E], float]
    response: Callable[[E], str | None]
    has_calls: Callable[[E], bool]
    is_result: Callable[[E], bool]
    is_note: Callable[[E], bool]
    """Only accompanies others: an attachment, a notice, a meta prompt."""
    is_boundary: Callable[[E], bool]
    preserved: Callable[[E], Preserved]


@dataclass(slots=True)
class Entries(Generic[E]):
    """The entries of a file by number, each with the number of its parent.

    The order is that of each uuid's first line; the content that of its last.
    """

    accessors: EntryAccessors[E]
    records: list[E] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    """ROOT for a null parent, MISSING for one that is not in the file."""
    is_read: list[bool] = field(default_factory=list)
    """False where the client drops the entry: no message, or before a compaction."""
    lines: list[int] = field(default_factory=list)
    """The entries of the main conversation, line by line: a repeated one stands again."""
    pointer: str | None = None
    """Where the last `last-prompt` line points."""
    is_explicit: bool = False
    """The pointer cuts exactly there, and no entry followed it."""
    is_cleared: bool = False
    """An explicit pointer to nothing: the session starts anew."""
    is_relinked: bool = False
    """A compaction preserved messages, and they hang on its summary now."""
    forgotten: set[int] = field(default_factory=set)
    """Entries before a compaction that preserved others."""

    def readable(self, uuid: str | None) -> int | None:
        """Return the number of an entry that the client reads."""
        number = self.index.get(uuid) if uuid is not None else None
        return number if number is not None and self.is_read[number] else None

    def point(self, leaf: str | None, *, explicit: bool) -> None:
        """Move the pointer to the leaf: the last line that names one counts."""
        if not leaf:
            # format: explicit null is a rewind to the start; a plain null says nothing
            self.is_cleared = self.is_cleared or explicit
            return
        # format: the same pointer written again plainly is still the explicit one
        self.is_explicit = explicit or (self.is_explicit and leaf == self.pointer)
        self.is_cleared = False
        self.pointer = leaf

    def children(self) -> list[list[int]]:
        """Return the children of every entry, in file order."""
        children: list[list[int]] = [[] for _ in self.records]
        for number, parent in enumerate(self.parents):
            if parent >= 0 and self.is_read[number]:
                children[parent].append(number)
        return children

    def members(self) -> dict[str, list[int]]:
        """Return the entries of each response, in file order."""
        members: dict[str, list[int]] = {}
        for number, record in enumerate(self.records):
            response = self.accessors.response(record)
            if response and self.is_read[number] and self.accessors.kind(record) == "assistant":
                members.setdefault(response, []).append(number)
        return members


def link_parents(entries: Entries[E]) -> None:
    """Make parents lead only to what the client reads, past what a compaction left behind."""
    if not all(entries.is_read):
        _close_gaps(entries)
    _keep_preserved(entries)


def _close_gaps(entries: Entries[E]) -> None:
    parents, is_read = entries.parents, entries.is_read
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


def _keep_preserved(entries: Entries[E]) -> None:
    """Link the preserved messages of the last boundary and drops what is before it.

    Nothing happens in a file whose boundaries preserve nothing.
    """
    is_boundary = entries.accessors.is_boundary
    starts = [n for n, record in enumerate(entries.records) if is_boundary(record)]
    if not starts:
        return
    preserved = [entries.accessors.preserved(entries.records[start]) for start in starts]
    kept = [_kept_numbers(entries, segment) for segment in preserved]
    if all(numbers is None for numbers in kept):
        return
    last, numbers = starts[-1], kept[-1] or []
    tail, chosen = numbers[-1] if numbers else MISSING, frozenset(numbers)
    anchor = entries.index.get(preserved[-1].anchor or "") if numbers else None
    if anchor is not None:
        parents = entries.parents
        for number, parent in enumerate(parents):
            if parent == anchor and number not in chosen:
                parents[number] = tail
        before = anchor
        for number in numbers:
            parents[number] = before
            before = number
        if entries.lines and entries.lines[-1] == anchor:
            entries.lines.append(before)
        entries.is_relinked = True
    # what the compaction did not preserve is forgotten
    for number in range(last):
        if number not in chosen:
            entries.is_read[number] = False
            entries.forgotten.add(number)
    for number, parent in enumerate(entries.parents):
        if parent >= 0 and not entries.is_read[parent]:
            entries.parents[number] = tail if number != last else MISSING


def _kept_numbers(entries: Entries[E], preserved: Preserved) -> list[int] | None:
    if entries.readable(preserved.anchor) is None:
        return None
    if preserved.listed is not None:
        numbers = [entries.readable(uuid) for uuid in preserved.listed]
        return None if None in numbers else [number for number in numbers if number is not None]
    head, tail = entries.readable(preserved.head), entries.readable(preserved.tail)
    found: list[int] = []
    seen: set[int] = set()
    current = MISSING if head is None or tail is None else tail
    while current >= 0 and current not in seen:
        seen.add(current)
        found.append(current)
        if current == head:
            return found[::-1]
        current = entries.parents[current]
    return None


WINDOW = 5000.0
"""Milliseconds within which an older entry stands in for a missing parent."""


def walk_up(loaded: Entries[E], leaf: int) -> list[int]:
    """Return the chain from a root to the leaf, without what parallel calls left aside."""
    chain = [leaf]
    seen = {leaf}
    stand_ins: StandIns[E] | None = None
    current = leaf
    while (parent := loaded.parents[current]) != ROOT:
        if parent < 0 or parent in seen:
            stand_ins = stand_ins or StandIns(loaded)
            parent = stand_ins.nearest(current, seen)
            if parent < 0:
                break
        seen.add(parent)
        chain.append(parent)
        current = parent
    return chain[::-1]


class StandIns(Generic[E]):
    """All entries by time, for those whose parent is missing or closes a circle."""

    def __init__(self, loaded: Entries[E]) -> None:
        self.loaded = loaded
        accessors = loaded.accessors
        timed = [
            (accessors.time(record), -number)
            for number, record in enumerate(loaded.records)
            if loaded.is_read[number] and not accessors.is_sidechain(record)
        ]
        # among equals the first of the file is tried first
        self.timed = sorted(
            pair for pair in timed if pair[0] == pair[0] and pair[0] > float("-inf")
        )
        self.below = list(range(len(self.timed)))
        """For each place the next one down that may be free: skips grow as places are used."""

    def nearest(self, number: int, seen: set[int]) -> int:
        """Return the newest unused entry up to five seconds older, else ROOT."""
        record, accessors = self.loaded.records[number], self.loaded.accessors
        time = accessors.time(record)
        if accessors.is_sidechain(record) or time != time:
            return ROOT
        place = self.free(bisect_right(self.timed, (time, 1)) - 1, seen)
        if place < 0 or self.timed[place][0] < time - WINDOW:
            return ROOT
        return -self.timed[place][1]

    def free(self, place: int, seen: set[int]) -> int:
        """Return the highest place at or below one whose entry is not in use."""
        passed: list[int] = []
        while place >= 0:
            if self.below[place] != place:
                passed.append(place)
                place = self.below[place]
            elif -self.timed[place][1] in seen:
                self.below[place] = place - 1
            else:
                break
        for other in passed:
            self.below[other] = place
        return place


# The leaf that the client resumes from. The client asks its records, a graph its nodes: building
# a graph must not hold the texts.


POINTER = "last-prompt"
SPOKEN = ("user", "assistant")
OFF_CHAIN = Trait.SIDECHAIN | Trait.MUTE


def find_leaf(facts: FileFacts) -> str | None:
    """Return the uuid of the record that the client continues, None where there is none."""
    if facts.nodes and _ends_plainly(facts):
        return facts.nodes[-1].uuid
    entries = load_entries(facts)
    end = find_chain_end(entries)
    return None if end is None else entries.records[end].uuid


def find_chain_end(entries: Entries[E]) -> int | None:
    """Return the last entry of the chain that the client continues, notes included."""
    found = None if entries.is_cleared else choose_leaf(entries)
    if found is None:
        return None
    path = find_path_to_message(entries, found)
    notes = list_trailing_notes(entries, path)
    return notes[-1] if notes else path[0]


def _ends_plainly(facts: FileFacts) -> bool:
    """Return whether the last record alone decides, as in most files: a tenth of the time."""
    last = facts.nodes[-1]
    if last.kind not in SPOKEN or last.traits & OFF_CHAIN:
        return False
    if any(line.kind == POINTER for line in facts.asides):
        return False
    uuid, boundary = last.uuid, Trait.BOUNDARY
    return not any(node.parent == uuid or node.traits & boundary for node in facts.nodes)


def choose_leaf(entries: Entries[E]) -> int | None:
    """Return the entry that the client continues, None where there is none."""
    if not entries.lines:
        return None
    last = entries.lines[-1]
    pointed = entries.readable(entries.pointer)
    if pointed is not None and _nearest_message(entries, pointed, set()) is not None:
        # format: once a compaction preserved messages, a plain pointer counts only for a tip
        is_stale = entries.is_relinked and bool(entries.children()[pointed])
        if entries.is_explicit or not (is_stale or _is_on_line(entries, pointed, last)):
            return pointed
    message = _nearest_message(entries, last, set())
    if message is None:
        time, children = entries.accessors.time, entries.children()
        looked_at: set[int] = set()
        tips = [
            number for number in entries.lines if entries.is_read[number] and not children[number]
        ]
        found = [_nearest_message(entries, tip, looked_at) for tip in tips]
        ends = [number for number in found if number is not None]
        newest = max(ends, key=lambda end: (time(entries.records[end]), end), default=None)
        start = last if newest is None else newest
    else:
        # a note that is not sent as a prompt
        subtype = entries.accessors.subtype(entries.records[last])
        is_silent = not _is_spoken(entries, last) and subtype != "local_command"
        is_late = entries.is_relinked and is_silent
        start = _newest_below(entries, message, spoken=True) if is_late else last
    # format: with any pointer, even to nowhere, the last line itself is the leaf
    return start if entries.pointer is not None else _newest_below(entries, start)


def _nearest_message(entries: Entries[E], number: int, looked_at: set[int]) -> int | None:
    """Return the first prompt or answer at or above an entry, None where one was looked at."""
    while number >= 0 and number not in looked_at and entries.is_read[number]:
        if _is_spoken(entries, number):
            return number
        looked_at.add(number)
        number = entries.parents[number]
    return None


def _newest_below(entries: Entries[E], start: int, *, spoken: bool = False) -> int:
    """Return the newest of an entry and its descendants: a parent can follow its child."""
    if start not in entries.parents:
        return start
    records, accessors, children = entries.records, entries.accessors, entries.children()
    best, newest = start, accessors.time(records[start])
    queue = [start]
    seen = {start}
    for current in queue:
        below = [child for child in children[current] if child not in seen]
        seen.update(below)
        queue.extend(below)
        for child in below:
            time = accessors.time(records[child])
            may_be = not accessors.is_sidechain(records[child]) and time >= newest
            if may_be and (not spoken or _is_spoken(entries, child)):
                best, newest = child, time
    return best


def _is_spoken(entries: Entries[E], number: int) -> bool:
    return entries.accessors.kind(entries.records[number]) in SPOKEN


def _is_on_line(entries: Entries[E], pointed: int, last: int) -> bool:
    """Return whether an entry is an ancestor of the last one, or a parallel sibling of one."""
    line = list_ancestors(entries, last)
    if pointed in line:
        return True
    call = _owning_call(entries, pointed)
    if call is None:
        return False
    joint = next((number for number in list_ancestors(entries, call) if number in line), None)
    if joint is None:
        return False
    # parallel: the call left the line at another call of its own response
    records, accessors = entries.records, entries.accessors
    response = accessors.response(records[call])
    if not response or accessors.response(records[joint]) != response:
        return False
    return accessors.has_calls(records[joint]) and len(entries.members()[response]) > 1


def _owning_call(entries: Entries[E], number: int) -> int | None:
    """Return the call that an entry is, answers, or accompanies the answer of."""
    records, accessors = entries.records, entries.accessors
    if accessors.has_calls(records[number]):
        return number
    for current in list_ancestors(entries, number):
        if accessors.is_result(records[current]):
            parent = entries.parents[current]
            return parent if parent >= 0 and accessors.has_calls(records[parent]) else None
        if not accessors.is_note(records[current]):
            return None
    return None


def list_ancestors(entries: Entries[E], number: int) -> dict[int, None]:
    """Return an entry and its ancestors by the parents they name, in that order."""
    found: dict[int, None] = {}
    parents = entries.parents
    while number >= 0 and number not in found:
        found[number] = None
        number = parents[number]
    return found


def find_path_to_message(entries: Entries[E], leaf: int) -> list[int]:
    """Return the last prompt or answer at or above a leaf, and what lies between.

    The leaf alone where there is no message above it.
    """
    path: list[int] = []
    seen: set[int] = set()
    current = leaf
    while current >= 0 and current not in seen:
        seen.add(current)
        path.append(current)
        if _is_spoken(entries, current):
            return path[::-1]
        current = entries.parents[current]
    return [leaf]


def list_trailing_notes(entries: Entries[E], path: list[int]) -> list[int]:
    """Return the notes below a message in file order, those of the path among them.

    Attachments and notices come along with the message that the client continues, whichever of
    them was the leaf, and on whichever branch they lie.
    """
    if not path[1:] and path[0] not in entries.parents:
        return []
    records, accessors, children = entries.records, entries.accessors, entries.children()
    found = set(path[1:])
    queue = list(path)
    for current in queue:
        for child in children[current]:
            is_trailing = not _is_spoken(entries, child) and not accessors.is_boundary(
                records[child]
            )
            if child not in found and is_trailing:
                found.add(child)
                queue.append(child)
    return sorted(found - {path[0]})


def load_entries(facts: FileFacts) -> Entries[Node]:
    """Return the links of a file's chain, as the client loads them, by what the graph knows."""
    links = [node for node in facts.nodes if node.kind in CHAIN_TYPES]
    records, index = links, {node.uuid: number for number, node in enumerate(links)}
    if len(index) < len(links):  # format: duplicate uuid, the last line wins for content
        records = list({node.uuid: node for node in links}.values())
        index = {node.uuid: number for number, node in enumerate(records)}
    named = [node.parent for node in records]
    if len(links) < len(facts.nodes):
        bridges: dict[str, str | None] = {}  # what the children of progress attach to
        for node in facts.nodes:
            if node.kind == "progress":
                bridges[node.uuid] = bridges.get(node.parent or "", node.parent)
        named = [bridges.get(parent or "", parent) for parent in named]
    traits = reduce(or_, [node.traits for node in links], 0)
    entries = Entries(NODES, records, index)
    entries.parents = [index.get(parent, MISSING) if parent else ROOT for parent in named]
    entries.is_read = [True] * len(records)
    entries.lines = [index[node.uuid] for node in links if not node.traits & OFF_CHAIN]
    pointers = [pointer for pointer in facts.asides if pointer.kind == POINTER]
    ends = [*(pointer.after for pointer in pointers[1:]), len(facts.nodes)]
    nodes = facts.nodes if bool(traits & Trait.BOUNDARY) else []
    boundaries = [number for number, node in enumerate(nodes) if node.is_boundary]
    for pointer, end in zip(pointers, ends, strict=False):
        entries.point(pointer.leaf, explicit=pointer.explicit)
        if entries.is_explicit or entries.is_cleared:
            followers = facts.nodes[pointer.after : end]
            if any(node.kind in CHAIN_TYPES and not node.traits & OFF_CHAIN for node in followers):
                entries.is_explicit = entries.is_cleared = False
        if any(pointer.after <= at < end for at in boundaries):
            entries.pointer = None  # format: what was pointed to is over
    if traits & (Trait.BOUNDARY | Trait.MUTE):
        entries.is_read = [not node.traits & Trait.MUTE for node in records]
        link_parents(entries)
    return entries


def _is_note(node: Node) -> bool:
    if node.kind == "user":
        return bool(node.traits & Trait.META) and not node.results
    return node.kind != "assistant" and not node.is_boundary


NODES: EntryAccessors[Node] = EntryAccessors(
    kind=attrgetter("kind"),
    subtype=attrgetter("subtype"),
    is_sidechain=attrgetter("is_sidechain"),
    time=lambda node: parse_javascript_time(node.timestamp),
    response=attrgetter("message_id"),
    has_calls=lambda node: bool(node.calls),
    is_result=lambda node: node.kind == "user" and bool(node.results),
    is_note=_is_note,
    is_boundary=attrgetter("is_boundary"),
    preserved=lambda node: node.preserved or NOTHING_PRESERVED,
)


# Messages of a line that the client does not send when it resumes the session:
#
#     U1 ── A1    U2<? ── A2              U2 names a parent that is nowhere: U1 A1 are unseen
#     U1 ── T1 ── R1 ──┬── A1 ── A2       a notice below R1 was answered: A1 A2 are unseen
#                      └── N1 ── A3
#
# What stands before a compaction or a cleared context is not meant: that is shown there.


SPOKEN_KINDS = frozenset({"user", "assistant"})
NOT_SENT = Trait.SIDECHAIN | Trait.ERROR | Trait.MUTE
CUTS = frozenset({"restart", "logical", "boundary"})
LINKS = CHAIN_TYPES | {"progress"}


def find_unsent(known: Index, parents: Parents, line: DagLine, leaf: str | None) -> tuple[str, ...]:
    """Return the messages of a line that are beside the client's chain, in reading order."""
    if leaf is None or leaf not in known.at:
        return ()
    numbers = list(map(known.at.__getitem__, line.nodes))
    chain = _walk_by_parents(known, parents, known.at[leaf])
    # what a compaction preserved forgets all else before it, on other branches too
    held = known.facts[known.nodes[known.at[leaf]].file].nodes
    if chain is None or any(node.preserved for node in held):
        entries = load_entries(known.facts[known.nodes[known.at[leaf]].file])
        start = entries.index.get(leaf)
        walked = walk_up(entries, start) if start is not None else []
        chain = [known.at[entries.records[number].uuid] for number in reversed(walked)]
    on_chain = bytearray(len(known.nodes))
    for number in chain:
        on_chain[number] = 1
    after = _after_cut(known, parents, numbers, chain[-1]) if chain else numbers
    return tuple(_iter_unsent_messages(known, after, on_chain))


def _walk_by_parents(known: Index, parents: Parents, leaf: int) -> list[int] | None:
    """Return the records from the leaf up, None where the client looks for one by time.

    What hangs where it says has no edge of its own, and what it names is there.
    """
    nodes, up, edges = known.nodes, parents.up, parents.edges
    found: list[int] = []
    here, boundary = leaf, Trait.BOUNDARY
    for _ in nodes:  # even a circle ends
        found.append(here)
        node, edge = nodes[here], edges.get(here)
        if node.traits & boundary or (edge and edge.kind in CUTS):
            return found
        if edge or node.kind not in LINKS:
            return None
        here = up[here]
        if here < 0:
            return found
    return None


def _after_cut(known: Index, parents: Parents, numbers: list[int], top: int) -> list[int]:
    """Return the records since the last compaction or clearing at or before the chain's first."""
    cut = 0
    for place, number in enumerate(numbers):
        edge = parents.edges.get(number)
        if known.nodes[number].is_boundary or (edge and edge.kind in CUTS):
            cut = place
        if number == top:
            return numbers[cut:]
    return numbers


def _iter_unsent_messages(known: Index, numbers: list[int], on_chain: bytearray) -> Iterator[str]:
    """Yield the messages that neither are on the chain nor belong to a response on it."""
    left = [known.nodes[number] for number in numbers if not on_chain[number]]
    rest = [node for node in left if (node.kind in SPOKEN_KINDS and not node.traits & NOT_SENT)]
    if not rest:
        return
    walked = [known.nodes[number] for number in numbers if on_chain[number]]
    responses = frozenset(node.message_id for node in walked if node.message_id)
    covered = [*walked, *(node for node in left if node.message_id in responses)]
    calls = frozenset(call.id for node in covered for call in node.calls)
    for node in rest:
        if node.message_id not in responses and not calls.intersection(node.results):
            yield node.uuid
