"""The chain of a session's file as the client loads it, and the leaf it would resume from.

The rules are the same for records and for the nodes of a graph, which hold no texts:
`EntryAccessors` has the functions that read an entry of either kind.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import takewhile
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
    """Functions that read an entry without its texts."""

    kind: Callable[[E], str | None]
    subtype: Callable[[E], str | None]
    side: Callable[[E], bool | None]
    """Whether it is on a sidechain; None if it does not say."""
    time: Callable[[E], float]
    timestamp: Callable[[E], str | None]
    response: Callable[[E], str | None]
    calls: Callable[[E], Sequence[str]]
    """The calls that an answer makes."""
    results: Callable[[E], Sequence[str]]
    """The calls that an entry answers."""
    is_result: Callable[[E], bool]
    is_note: Callable[[E], bool]
    """Whether it only accompanies others: an attachment, a notice, a meta prompt."""
    attends: Callable[[E], str | None]
    """The call that an attachment belongs to."""
    is_boundary: Callable[[E], bool]
    preserved: Callable[[E], Preserved]


@dataclass(slots=True)
class Entries(Generic[E]):
    """The entries of a file by number, each with the number of its parent.

    The order is that of each uuid's first line; the content that of its last. Entries that
    the client cannot read are left out, and their children are attached to their parents.
    """

    accessors: EntryAccessors[E]
    records: list[E] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    """ROOT for a null parent, MISSING for one that is not in the file."""
    is_read: list[bool] = field(default_factory=list)
    """False where a later compaction that preserved messages left the entry out."""
    lines: list[int] = field(default_factory=list)
    """The entries of the main conversation, line by line, including repeats."""
    newest: int | None = None
    """The first of those lines with the latest time."""
    pointer: str | None = None
    """The target of the last `last-prompt` line."""
    is_explicit: bool = False
    """Whether the pointer resumes exactly there, and no entry followed it."""
    was_explicit: bool = False
    """Whether the pointer was written as an explicit one, whatever followed."""
    has_pointer: bool = False
    """Some `last-prompt` line names a leaf, even if it is null."""
    is_cleared: bool = False
    """Whether an explicit pointer has no target: the session starts afresh."""
    is_relinked: bool = False
    """Whether a compaction preserved messages, which then follow its summary."""

    def readable(self, uuid: str | None) -> int | None:
        """Return the number of an entry that the client reads."""
        number = self.index.get(uuid) if uuid is not None else None
        return number if number is not None and self.is_read[number] else None

    def point(self, leaf: str | None, *, explicit: bool) -> None:
        """Move the pointer to the leaf; the last line with a target counts."""
        if leaf:
            # format: if the same pointer is repeated plainly, it is still the explicit one
            is_same = leaf == self.pointer
            self.is_explicit = explicit or (self.is_explicit and is_same)
            self.was_explicit = explicit or (self.was_explicit and is_same)
            self.pointer, self.is_cleared = leaf, False
        elif explicit:
            # format: explicit null is a rewind to the start; a plain null has no effect
            self.is_cleared = True
            self.forget_pointer()

    def forget_pointer(self) -> None:
        """Drop the pointer, as a compaction does."""
        self.pointer = None
        self.is_explicit = self.was_explicit = False

    def follow(self) -> None:
        """Note that an entry of the main conversation follows the pointer."""
        self.is_explicit = self.is_cleared = False

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


def resolve_parents(
    index: Mapping[str, int], named: Iterable[str | None], dropped: dict[str, str | None]
) -> list[int]:
    """Return the numbers of the named parents, skipping entries that the client cannot read."""
    found: list[int] = []
    for parent in named:
        passed: list[str] = []
        while parent and parent not in index and parent in dropped and parent not in passed:
            passed.append(parent)
            parent = dropped[parent]
        if parent in passed:
            parent = None  # format: a circle of unreadable entries ends at a root
        for uuid in passed:
            dropped[uuid] = parent
        found.append(index.get(parent, MISSING) if parent else ROOT)
    return found


def keep_preserved(entries: Entries[E]) -> None:
    """Attach what the last compaction preserved to its anchor, and leave out the rest before it.

    Nothing happens in a file whose boundaries preserve nothing, or where what the last one
    preserves is not there.
    """
    records, accessors = entries.records, entries.accessors
    starts = [n for n, record in enumerate(records) if accessors.is_boundary(record)]
    preserved = [accessors.preserved(records[start]) for start in starts]
    if all(item is NOTHING_PRESERVED for item in preserved):
        return
    numbers: list[int] = []
    if preserved[-1] is not NOTHING_PRESERVED:
        found = _find_preserved(entries, preserved[-1])
        if found is None:
            return
        numbers = found
    chosen, parents, anchor = frozenset(numbers), entries.parents, preserved[-1].anchor
    if numbers:
        start = before = entries.index.get(anchor or "", MISSING)
        for number in numbers:
            parents[number] = before
            before = number
        for number, parent in enumerate(parents):
            if parent == start >= 0 and number != numbers[0]:
                parents[number] = numbers[-1]
        entries.is_relinked = True
    for number in range(starts[-1]):
        entries.is_read[number] = number in chosen
    for number, parent in enumerate(parents):
        if parent >= 0 and not entries.is_read[parent]:
            is_message = accessors.kind(records[number]) in SPOKEN
            parents[number] = numbers[-1] if numbers and is_message else MISSING


def _find_preserved(entries: Entries[E], preserved: Preserved) -> list[int] | None:
    """Return what a compaction preserved, from the first to the last; None where some is gone."""
    if preserved.listed is not None:
        numbers = [entries.index.get(uuid) for uuid in preserved.listed]
        return None if None in numbers else [number for number in numbers if number is not None]
    tail = entries.index.get(preserved.tail or "")
    above = [] if tail is None else [*list_ancestors(entries, tail)]
    head = entries.index.get(preserved.head or "")
    return above[above.index(head) :: -1] if head in above else None


WINDOW = 5000.0
"""Milliseconds within which an older entry may replace a missing parent."""


def walk_up(loaded: Entries[E], leaf: int) -> list[int]:
    """Return the chain from a root to the leaf, without parallel calls off that path."""
    chain = [leaf]
    seen = {leaf}
    stand_ins: dict[bool | None, StandIns[E]] = {}
    current = leaf
    while (parent := loaded.parents[current]) != ROOT:
        if parent < 0 or parent in seen:
            side = loaded.accessors.side(loaded.records[current])
            if side not in stand_ins:
                stand_ins[side] = StandIns(loaded, side)
            parent = stand_ins[side].nearest(current, seen)
            if parent < 0:
                break
        seen.add(parent)
        chain.append(parent)
        current = parent
    return chain[::-1]


class StandIns(Generic[E]):
    """The entries of one side by time, for those whose parent is missing or closes a circle."""

    def __init__(self, loaded: Entries[E], side: bool | None) -> None:
        self.loaded = loaded
        timed = [
            (_get_time(loaded, number), -number)
            for number, record in enumerate(loaded.records)
            if loaded.is_read[number] and loaded.accessors.side(record) is side
        ]
        # of several with equal times the first in the file is tried first
        self.timed = sorted(
            pair for pair in timed if pair[0] == pair[0] and pair[0] > float("-inf")
        )
        self.below = list(range(len(self.timed)))
        """For each position the next lower one that may be free, so that used ones are skipped
        quickly.
        """

    def nearest(self, number: int, seen: set[int]) -> int:
        """Return the newest unused entry up to five seconds older, else ROOT."""
        time = _get_time(self.loaded, number)
        if time != time:
            return ROOT
        place = self.free(bisect_right(self.timed, (time, 1)) - 1, seen)
        if place < 0 or self.timed[place][0] < time - WINDOW:
            return ROOT
        return -self.timed[place][1]

    def free(self, place: int, seen: set[int]) -> int:
        """Return the highest free position at or below a position."""
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


# The leaf that the client resumes from. The same rules run on the client's records and on a graph's
# nodes: building a graph must not keep the texts.


POINTER = "last-prompt"
SPOKEN = ("user", "assistant")
OFF_CHAIN = Trait.SIDECHAIN | Trait.MUTE


def find_leaf(facts: FileFacts) -> str | None:
    """Return the uuid of the record that the client resumes from; None if there is none."""
    if facts.nodes and _ends_plainly(facts):
        return facts.nodes[-1].uuid
    entries = load_entries(facts)
    end = find_chain_end(entries)
    return None if end is None else entries.records[end].uuid


def find_chain_end(entries: Entries[E]) -> int | None:
    """Return the last entry of the chain that the client resumes, notes included."""
    found = None if entries.is_cleared else choose_leaf(entries)
    if found is None:
        return None
    message = find_message(entries, found)
    notes = list_trailing_notes(entries, message, {*list_ancestors(entries, message)})
    return notes[-1] if notes else message


def _ends_plainly(facts: FileFacts) -> bool:
    """Return whether the last record alone decides, as in most files; this takes a tenth of the
    time.
    """
    last = facts.nodes[-1]
    if last.kind not in SPOKEN or last.traits & OFF_CHAIN:
        return False
    if any(line.kind == POINTER for line in facts.asides):
        return False
    uuid, boundary = last.uuid, Trait.BOUNDARY
    return not any(node.parent == uuid or node.traits & boundary for node in facts.nodes)


def choose_leaf(entries: Entries[E]) -> int | None:
    """Return the entry that the client continues from; None if there is none.

    That is where the last `last-prompt` line points, unless the last entry of the file
    continues from there; without such a line, the last entry. If neither leads to a message, or a
    compaction preserved messages, the last message at the end of any branch decides.
    """
    if not entries.lines:
        return None
    pointed = entries.readable(entries.pointer)
    last = entries.lines[-1] if entries.is_read[entries.lines[-1]] else None
    is_stale = (
        pointed is not None
        and last is not None
        and not entries.is_explicit
        and _is_passed(entries, pointed, last, is_direct=True)
    )
    if not entries.is_relinked or (
        entries.is_explicit and pointed is not None and not _is_sidechain(entries, pointed)
    ):
        leaf = last if is_stale else pointed
        if leaf is None and last is not None and not entries.is_relinked:
            is_late = not entries.has_pointer and entries.newest not in (None, last)
            leaf = _newest_below(entries, last) if is_late else last
        if leaf is not None and _nearest_message(entries, leaf) is not None:
            return leaf
    ends = _list_message_ends(entries)
    if len(ends) > 1:
        chosen = pointed
        if pointed not in ends or (
            last is not None
            and not entries.is_explicit
            and pointed is not None
            and _is_passed(entries, pointed, last, is_direct=False)
        ):
            chosen = last
        if chosen is not None and _nearest_message(entries, chosen) is not None:
            return chosen
    if not ends:
        ends = [number for number, is_read in enumerate(entries.is_read) if is_read]
    # The newest of them, one of the main conversation if there is any
    main = [number for number in ends if not _is_sidechain(entries, number)]
    timed = [number for number in main if _get_time(entries, number) > float("-inf")]
    if timed:
        return max(timed, key=lambda number: _get_time(entries, number))
    return next(iter(main or ends), None)


def _get_time(entries: Entries[E], number: int) -> float:
    return entries.accessors.time(entries.records[number])


def _is_sidechain(entries: Entries[E], number: int) -> bool:
    return entries.accessors.side(entries.records[number]) is True


def _nearest_message(entries: Entries[E], number: int) -> int | None:
    """Return the first prompt or answer at or above an entry."""
    above = list_ancestors(entries, number)
    return next((number for number in above if _is_spoken(entries, number)), None)


def _newest_below(entries: Entries[E], start: int) -> int:
    """Return the newest of the descendants of an entry: a parent can follow its child."""
    best, newest, children = start, "", entries.children()
    below = {start}
    queue = [start]
    for current in queue:
        fresh = [child for child in children[current] if child not in below]
        below.update(fresh)
        queue.extend(fresh)
    for number in sorted(below - {start}):
        time = entries.accessors.timestamp(entries.records[number])
        if time is not None and time >= newest and not _is_sidechain(entries, number):
            best, newest = number, time
    return best


def _list_message_ends(entries: Entries[E]) -> list[int]:
    """Return the last message above each entry without children, if no message follows it."""
    named = {parent for number, parent in enumerate(entries.parents) if entries.is_read[number]}
    followed = {
        parent
        for number, parent in enumerate(entries.parents)
        if entries.is_read[number] and _is_spoken(entries, number)
    }
    found: set[int] = set()
    passed: dict[int, int] = {}  # notes, with the message above them
    for number, is_read in enumerate(entries.is_read):
        if not is_read or number in named:
            continue
        way: list[int] = []
        while number >= 0 and number not in passed and not _is_spoken(entries, number):
            passed[number] = ROOT
            way.append(number)
            number = entries.parents[number]
        message = passed.get(number, number)
        passed.update(dict.fromkeys(way, message))
        if message >= 0 and message not in followed:
            found.add(message)
    return sorted(found)


def _is_spoken(entries: Entries[E], number: int) -> bool:
    return entries.accessors.kind(entries.records[number]) in SPOKEN


def _is_passed(entries: Entries[E], pointed: int, last: int, *, is_direct: bool) -> bool:
    """Return whether the last entry continues from the pointer's target.

    It may be below the target, or next to it: a response continues with its other calls.

        c₁ ─┬─ r₁   the pointer
            └─ c₂ ── r₂ ── a    the last entry
    """
    if pointed == last:
        return False
    line = list_ancestors(entries, last)
    return (
        (is_direct and pointed in line)
        or _goes_on_with_call(entries, pointed, line)
        or _goes_on_within_answer(entries, pointed, last)
    )


def _goes_on_with_call(entries: Entries[E], pointed: int, line: Iterable[int]) -> bool:
    """Return whether a line passes another call of the response that an entry belongs to."""
    records, accessors = entries.records, entries.accessors
    call: int = pointed
    answered: Sequence[str] = ()
    attended = None
    if not entries.was_explicit:
        above = list(list_ancestors(entries, pointed))
        notes = list(takewhile(lambda number: accessors.is_note(records[number]), above))
        call = above[len(notes)] if len(notes) < len(above) else ROOT
        if call >= 0 and accessors.is_result(records[call]):
            answered = accessors.results(records[call])
            call = entries.parents[call]
        elif notes:
            attended = accessors.attends(records[notes[-1]])
            is_part = call >= 0 and bool(attended) and accessors.response(records[call])
            blocks = [call, *_list_response_above(entries, call)] if is_part else []
            call = next((n for n in blocks if attended in accessors.calls(records[n])), ROOT)
            answered = (attended,) if attended else ()
    else:
        call = ROOT
    if call < 0:
        return False
    calls = accessors.calls(records[call])
    response = accessors.response(records[call]) if calls else None
    before = frozenset(_list_response_above(entries, call)) if response else frozenset()
    below, is_met = ROOT, False
    for number in line:
        record = records[number]
        if response:
            if is_met and number == call:
                return True
            is_call = number != call and accessors.response(record) == response
            if is_call and accessors.calls(record):
                if number in before:
                    return True
                is_met = True
            elif not _continues_response(entries, number, response):
                is_met = False
        if number == call and below >= 0 and any(name in calls for name in answered):
            others = [name for name in accessors.results(records[below]) if name in calls]
            if any(len(calls) > 1 if attended else name not in answered for name in others):
                return True
        below = number
    return False


def _goes_on_within_answer(entries: Entries[E], pointed: int, last: int) -> bool:
    """Return whether the conversation continued from a note within an answer without calls."""
    records, accessors = entries.records, entries.accessors
    response = accessors.response(records[pointed])
    if not response or accessors.kind(records[pointed]) != "assistant":
        return False
    above = _list_response_above(entries, pointed)
    blocks = [place for place, n in enumerate(above) if _is_answer(entries, n)]
    notes = [n for n in above[: blocks[-1]] if not _is_answer(entries, n)] if blocks else []
    if not notes or any(
        accessors.calls(records[n]) for n in (pointed, *(above[place] for place in blocks))
    ):
        return False
    if any(
        _is_spoken(entries, n) or accessors.subtype(records[n]) == "local_command" for n in notes
    ):
        return False
    line = list_ancestors(entries, last)
    if notes[0] not in line:
        return False
    way = [*takewhile(lambda number: number != notes[0], line)]
    has_message = any(
        _is_spoken(entries, n)
        and not accessors.is_note(records[n])
        and not accessors.is_result(records[n])
        for n in way
    )
    times = [accessors.timestamp(records[n]) for n in (pointed, *way[-1:])]
    if not has_message or not (times[0] and times[-1] and times[-1] > times[0]):
        return False
    return not any(
        parent == pointed
        or (
            parent == last
            and not _is_sidechain(entries, number)
            and not accessors.is_note(records[number])
        )
        for number, parent in enumerate(entries.parents)
        if entries.is_read[number]
    )


def _is_answer(entries: Entries[E], number: int) -> bool:
    return entries.accessors.kind(entries.records[number]) == "assistant"


def _list_response_above(entries: Entries[E], number: int) -> list[int]:
    """Return the entries above an answer for as long as they can belong to its response."""
    response = entries.accessors.response(entries.records[number])
    above = [*list_ancestors(entries, number)][1:]
    return [*takewhile(lambda n: _continues_response(entries, n, response), above)]


def _continues_response(entries: Entries[E], number: int, response: str | None) -> bool:
    """Return whether an entry can be inside a response: one of its parts, results or notes."""
    record, accessors = entries.records[number], entries.accessors
    if accessors.kind(record) == "assistant":
        return response is not None and accessors.response(record) == response
    return accessors.is_result(record) or accessors.is_note(record)


def list_ancestors(entries: Entries[E], number: int) -> dict[int, None]:
    """Return an entry and its ancestors by the parents they name, in that order."""
    found: dict[int, None] = {}
    parents = entries.parents
    while number >= 0 and number not in found:
        found[number] = None
        number = parents[number]
    return found


def find_message(entries: Entries[E], leaf: int) -> int:
    """Return the last prompt or answer at or above a leaf; the leaf if there is none."""
    message = _nearest_message(entries, leaf)
    return leaf if message is None else message


def list_trailing_notes(entries: Entries[E], message: int, seen: set[int]) -> list[int]:
    """Return the attachments and notices below a message, each before its children.

    The client includes them with the message that it continues from, whichever of them was the
    leaf and whichever branch they are on.
    """
    if message not in entries.parents:
        return []
    records, children = entries.records, entries.children()

    def list_notes_below(number: int) -> list[int]:
        below = [child for child in children[number] if not _is_spoken(entries, child)]
        return sorted(below, key=lambda n: entries.accessors.timestamp(records[n]) or "")

    found: list[int] = []
    stack = list_notes_below(message)[::-1]
    while stack:
        current = stack.pop()
        # Notes may form a cycle that leads back to the message.
        if current in seen or current == message:
            continue
        seen.add(current)
        found.append(current)
        stack.extend(reversed(list_notes_below(current)))
    return found


def load_entries(facts: FileFacts) -> Entries[Node]:
    """Return the links of a file's chain, as the client loads them, from the graph's facts."""
    links = [node for node in facts.nodes if node.kind in CHAIN_TYPES]
    traits = reduce(or_, [node.traits for node in links], 0)
    dropped: dict[str, str | None] = {}
    if traits & Trait.MUTE:
        there: set[str] = set()
        for node in links:
            if not node.traits & Trait.MUTE:
                there.add(node.uuid)
            elif node.uuid not in there:
                dropped[node.uuid] = node.parent
        links = [node for node in links if not node.traits & Trait.MUTE]
    records, index = links, {node.uuid: number for number, node in enumerate(links)}
    if len(index) < len(links):  # format: duplicate uuid, the last line wins for content
        records = list({node.uuid: node for node in links}.values())
        index = {node.uuid: number for number, node in enumerate(records)}
    named = [node.parent for node in records]
    if any(node.kind == "progress" for node in facts.nodes):
        bridges: dict[str, str | None] = {}  # what children of progress records attach to
        for node in facts.nodes:
            if node.kind == "progress":
                bridges[node.uuid] = bridges.get(node.parent or "", node.parent)
        named = [bridges.get(parent or "", parent) for parent in named]
    entries = Entries(NODES, records, index)
    entries.parents = resolve_parents(index, named, dropped)
    entries.is_read = [True] * len(records)
    main = [node for node in links if not node.traits & OFF_CHAIN]
    entries.lines = [index[node.uuid] for node in main]
    newest = max(main, key=lambda node: node.timestamp or "", default=None)
    entries.newest = index[newest.uuid] if newest and newest.timestamp else None
    pointers = [pointer for pointer in facts.asides if pointer.kind == POINTER]
    ends = [*(pointer.after for pointer in pointers[1:]), len(facts.nodes)]
    nodes = facts.nodes if bool(traits & Trait.BOUNDARY) else []
    boundaries = [number for number, node in enumerate(nodes) if node.is_boundary]
    for pointer, end in zip(pointers, ends, strict=False):
        entries.has_pointer = entries.has_pointer or pointer.leaf is not None
        entries.point(pointer.leaf, explicit=pointer.explicit)
        if entries.is_explicit or entries.is_cleared:
            followers = facts.nodes[pointer.after : end]
            if any(node.kind in CHAIN_TYPES and not node.traits & OFF_CHAIN for node in followers):
                entries.follow()
        if any(pointer.after <= at < end for at in boundaries):
            entries.forget_pointer()  # format: earlier pointers no longer count
    if traits & Trait.BOUNDARY:
        keep_preserved(entries)
    return entries


def _is_note(node: Node) -> bool:
    if node.kind == "user":
        return bool(node.traits & Trait.META) and not node.results
    return node.kind != "assistant" and not node.is_boundary


NODES: EntryAccessors[Node] = EntryAccessors(
    kind=attrgetter("kind"),
    subtype=attrgetter("subtype"),
    side=attrgetter("is_sidechain"),
    time=lambda node: parse_javascript_time(node.timestamp),
    timestamp=attrgetter("timestamp"),
    response=attrgetter("message_id"),
    calls=lambda node: [call.id for call in node.calls],
    results=attrgetter("results"),
    is_result=lambda node: node.kind == "user" and bool(node.results),
    is_note=_is_note,
    attends=attrgetter("attends"),
    is_boundary=attrgetter("is_boundary"),
    preserved=lambda node: node.preserved or NOTHING_PRESERVED,
)


# Messages of a line that the client does not send when it resumes the session:
#
#     U1 ── A1    U2<? ── A2              U2 names a missing parent: U1 A1 are not sent
#     U1 ── T1 ── R1 ──┬── A1 ── A2       a notice below R1 was answered: A1 A2 are not sent
#                      └── N1 ── A3
#
# What is before a compaction or a cleared context is not included: that is shown there.


NOT_SENT = Trait.SIDECHAIN | Trait.ERROR | Trait.MUTE
CUTS = frozenset({"restart", "logical", "boundary"})
LINKS = CHAIN_TYPES | {"progress"}


def find_unsent(
    known: Index,
    parents: Parents,
    line: DagLine,
    leaf: str | None,
    replays: Iterable[tuple[str, str]] = (),
) -> tuple[str, ...]:
    """Return the messages of a line that are not on the client's chain, in reading order.

    A message also counts as sent if its copy, written again, is on the chain.
    """
    if leaf is None or leaf not in known.at:
        return ()
    numbers = list(map(known.at.__getitem__, line.nodes))
    chain = _walk_by_parents(known, parents, known.at[leaf])
    # a compaction that preserves messages drops everything else before it, on other branches too
    held = known.facts[known.nodes[known.at[leaf]].file].nodes
    if chain is None or any(node.preserved for node in held):
        entries = load_entries(known.facts[known.nodes[known.at[leaf]].file])
        start = entries.index.get(leaf)
        walked = walk_up(entries, start) if start is not None else []
        chain = [known.at[entries.records[number].uuid] for number in reversed(walked)]
    on_chain = bytearray(len(known.nodes))
    for number in chain:
        on_chain[number] = 1
    for copy, original in replays:
        if on_chain[known.at[copy]]:
            on_chain[known.at[original]] = 1
    # Only what follows the last compaction or clearing at or before the first record of the chain
    cut = 0
    for place, number in enumerate(numbers if chain else ()):
        edge = parents.edges.get(number)
        if known.nodes[number].is_boundary or (edge and edge.kind in CUTS):
            cut = place
        if number == chain[-1]:
            numbers = numbers[cut:]
            break
    left = [known.nodes[number] for number in numbers if not on_chain[number]]
    rest = [node for node in left if (node.kind in SPOKEN and not node.traits & NOT_SENT)]
    if not rest:
        return ()
    # The other parts of a response on the chain are sent with it, and so are results of its calls.
    sent = [known.nodes[number] for number in numbers if on_chain[number]]
    responses = frozenset(node.message_id for node in sent if node.message_id)
    covered = [*sent, *(node for node in left if node.message_id in responses)]
    calls = frozenset(call.id for node in covered for call in node.calls)
    return tuple(
        node.uuid
        for node in rest
        if node.message_id not in responses and not calls.intersection(node.results)
    )


def _walk_by_parents(known: Index, parents: Parents, leaf: int) -> list[int] | None:
    """Return the records from the leaf up; None if the client searches for a parent by time.

    A record with its named parent has no special edge, and that parent exists.
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
