"""Entries of a session's file by number, each with its parent, as the client loads them.

What is asked of an entry is the same for records and for the nodes of a graph, which hold no
texts; `Told` says who answers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from plait.record.types.kinds import Preserved

E = TypeVar("E")

CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system"})
ROOT = -1
MISSING = -2


class Told(NamedTuple, Generic[E]):
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

    told: Told[E]
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
        """Returns the number of an entry that the client reads."""
        number = self.index.get(uuid) if uuid is not None else None
        return number if number is not None and self.is_read[number] else None

    def point(self, leaf: str | None, *, explicit: bool) -> None:
        """Moves the pointer to the leaf: the last line that names one counts."""
        if not leaf:
            # format: explicit null is a rewind to the start; a plain null says nothing
            self.is_cleared = self.is_cleared or explicit
            return
        # format: the same pointer written again plainly is still the explicit one
        self.is_explicit = explicit or (self.is_explicit and leaf == self.pointer)
        self.is_cleared = False
        self.pointer = leaf

    def children(self) -> list[list[int]]:
        """Returns the children of every entry, in file order."""
        children: list[list[int]] = [[] for _ in self.records]
        for number, parent in enumerate(self.parents):
            if parent >= 0 and self.is_read[number]:
                children[parent].append(number)
        return children

    def members(self) -> dict[str, list[int]]:
        """Returns the entries of each response, in file order."""
        members: dict[str, list[int]] = {}
        for number, record in enumerate(self.records):
            response = self.told.response(record)
            if response and self.is_read[number] and self.told.kind(record) == "assistant":
                members.setdefault(response, []).append(number)
        return members


def link_up(entries: Entries[E]) -> None:
    """Makes parents lead only to what the client reads, past what a compaction left behind."""
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
    """Links the preserved messages of the last boundary and drops what is before it.

    Nothing happens in a file whose boundaries preserve nothing.
    """
    is_boundary = entries.told.is_boundary
    starts = [n for n, record in enumerate(entries.records) if is_boundary(record)]
    if not starts:
        return
    preserved = [entries.told.preserved(entries.records[start]) for start in starts]
    kept = [_kept_numbers(entries, one) for one in preserved]
    if all(numbers is None for numbers in kept):
        return
    last, numbers = starts[-1], kept[-1] or []
    anchor = entries.index.get(preserved[-1].anchor or "") if numbers else None
    if anchor is not None:
        _hang(entries, numbers, anchor)
        entries.is_relinked = True
    _forget_before(entries, last, frozenset(numbers), numbers[-1] if numbers else MISSING)


def _kept_numbers(entries: Entries[E], preserved: Preserved) -> list[int] | None:
    if entries.readable(preserved.anchor) is None:
        return None
    if preserved.listed is None:
        return _segment(entries, preserved)
    numbers = [entries.readable(uuid) for uuid in preserved.listed]
    return None if None in numbers else [number for number in numbers if number is not None]


def _segment(entries: Entries[E], preserved: Preserved) -> list[int] | None:
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


def _hang(entries: Entries[E], numbers: list[int], anchor: int) -> None:
    """Hangs the preserved entries on the anchor, and its followers on the last of them."""
    parents, chosen = entries.parents, frozenset(numbers)
    for number, parent in enumerate(parents):
        if parent == anchor and number not in chosen:
            parents[number] = numbers[-1]
    before = anchor
    for number in numbers:
        parents[number] = before
        before = number
    if entries.lines and entries.lines[-1] == anchor:
        entries.lines.append(before)


def _forget_before(entries: Entries[E], boundary: int, kept: frozenset[int], tail: int) -> None:
    for number in range(boundary):
        if number not in kept:
            entries.is_read[number] = False
            entries.forgotten.add(number)
    for number, parent in enumerate(entries.parents):
        if parent >= 0 and not entries.is_read[parent]:
            entries.parents[number] = tail if number != boundary else MISSING
