"""Entries of a session's file to the one that the client continues.

The client asks its records, a graph its nodes: building one must not hold the texts. The rule
is the same.
"""

from functools import reduce
from operator import attrgetter, or_

from plait.graph.entries import CHAIN_TYPES, MISSING, ROOT, E, Entries, Told, link_up
from plait.graph.model import Node, Trait
from plait.graph.source import FileFacts
from plait.record.time import milliseconds
from plait.record.types.kinds import NOTHING

POINTER = "last-prompt"
SPOKEN = ("user", "assistant")
ASIDE = Trait.SIDECHAIN | Trait.MUTE


def leaf_of(facts: FileFacts) -> str | None:
    """Returns the uuid of the record that the client continues, None where there is none."""
    if facts.nodes and _ends_plainly(facts):
        return facts.nodes[-1].uuid
    entries = entries_of(facts)
    end = end_of_chain(entries)
    return None if end is None else entries.records[end].uuid


def end_of_chain(entries: Entries[E]) -> int | None:
    """Returns the last entry of the chain that the client continues, notes included."""
    found = None if entries.is_cleared else leaf(entries)
    if found is None:
        return None
    path = path_to_message(entries, found)
    notes = trailing_notes(entries, path)
    return notes[-1] if notes else path[0]


def _ends_plainly(facts: FileFacts) -> bool:
    """Tells by one look that the rule can only choose the last record: a tenth of its time."""
    last = facts.nodes[-1]
    if last.kind not in SPOKEN or last.traits & ASIDE:
        return False
    if any(one.kind == POINTER for one in facts.asides):
        return False
    uuid, boundary = last.uuid, Trait.BOUNDARY
    return not any(node.parent == uuid or node.traits & boundary for node in facts.nodes)


def leaf(entries: Entries[E]) -> int | None:
    """Returns the entry that the client continues, None where there is none."""
    if not entries.lines:
        return None
    last = entries.lines[-1]
    pointed = entries.readable(entries.pointer)
    if pointed is not None and _is_chosen(entries, pointed, last):
        return pointed
    start = _last_of_conversation(entries, last)
    # format: with any pointer, even to nowhere, the last line itself is the leaf
    return start if entries.pointer is not None else _newest_below(entries, start)


def _is_chosen(entries: Entries[E], pointed: int, last: int) -> bool:
    if _nearest_message(entries, pointed, set()) is None:
        return False
    return entries.is_explicit or not _is_on_line(entries, pointed, last)


def _last_of_conversation(entries: Entries[E], last: int) -> int:
    message = _nearest_message(entries, last, set())
    if message is None:
        newest = _newest_message(entries)
        return last if newest is None else newest
    # format: once messages were preserved, a late note does not bring back an older message
    is_late = entries.is_relinked and _is_silent(entries, last)
    return _newest_below(entries, message, spoken=True) if is_late else last


def _newest_message(entries: Entries[E]) -> int | None:
    time, children = entries.told.time, entries.children()
    looked_at: set[int] = set()
    tips = [number for number in entries.lines if entries.is_read[number] and not children[number]]
    found = [_nearest_message(entries, tip, looked_at) for tip in tips]
    ends = [number for number in found if number is not None]
    return max(ends, key=lambda end: (time(entries.records[end]), end), default=None)


def _nearest_message(entries: Entries[E], number: int, looked_at: set[int]) -> int | None:
    """Returns the first prompt or answer at or above an entry, None where one was looked at."""
    while number >= 0 and number not in looked_at and entries.is_read[number]:
        if _is_spoken(entries, number):
            return number
        looked_at.add(number)
        number = entries.parents[number]
    return None


def _newest_below(entries: Entries[E], start: int, *, spoken: bool = False) -> int:
    """Returns the newest of an entry and its descendants: a parent can follow its child."""
    if start not in entries.parents:
        return start
    records, told, children = entries.records, entries.told, entries.children()
    best, newest = start, told.time(records[start])
    queue = [start]
    seen = {start}
    for current in queue:
        below = [child for child in children[current] if child not in seen]
        seen.update(below)
        queue.extend(below)
        for child in below:
            time = told.time(records[child])
            may_be = not told.is_sidechain(records[child]) and time >= newest
            if may_be and (not spoken or _is_spoken(entries, child)):
                best, newest = child, time
    return best


def _is_spoken(entries: Entries[E], number: int) -> bool:
    return entries.told.kind(entries.records[number]) in SPOKEN


def _is_silent(entries: Entries[E], number: int) -> bool:
    """Tells a note that is not sent as a prompt."""
    subtype = entries.told.subtype(entries.records[number])
    return not _is_spoken(entries, number) and subtype != "local_command"


def _is_on_line(entries: Entries[E], pointed: int, last: int) -> bool:
    """Tells whether an entry is an ancestor of the last one, or a parallel sibling of one."""
    line = line_above(entries, last)
    if pointed in line:
        return True
    call = _owning_call(entries, pointed)
    if call is None:
        return False
    joint = next((number for number in line_above(entries, call) if number in line), None)
    return joint is not None and _is_parallel(entries, call, joint)


def _is_parallel(entries: Entries[E], call: int, joint: int) -> bool:
    """Tells whether a call left the line at another call of its own response."""
    records, told = entries.records, entries.told
    response = told.response(records[call])
    if not response or told.response(records[joint]) != response:
        return False
    return told.has_calls(records[joint]) and len(entries.members()[response]) > 1


def _owning_call(entries: Entries[E], number: int) -> int | None:
    """Returns the call that an entry is, answers, or accompanies the answer of."""
    records, told = entries.records, entries.told
    if told.has_calls(records[number]):
        return number
    for current in line_above(entries, number):
        if told.is_result(records[current]):
            parent = entries.parents[current]
            return parent if parent >= 0 and told.has_calls(records[parent]) else None
        if not told.is_note(records[current]):
            return None
    return None


def line_above(entries: Entries[E], number: int) -> dict[int, None]:
    """Returns an entry and its ancestors by the parents they name, in that order."""
    found: dict[int, None] = {}
    parents = entries.parents
    while number >= 0 and number not in found:
        found[number] = None
        number = parents[number]
    return found


def path_to_message(entries: Entries[E], leaf: int) -> list[int]:
    """Returns the last prompt or answer at or above a leaf, and what lies between.

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


def trailing_notes(entries: Entries[E], path: list[int]) -> list[int]:
    """Returns the notes below a message in file order, those of the path among them.

    Attachments and notices come along with the message that the client continues, whichever of
    them was the leaf, and on whichever branch they lie.
    """
    if not path[1:] and path[0] not in entries.parents:
        return []
    records, told, children = entries.records, entries.told, entries.children()
    found = set(path[1:])
    queue = list(path)
    for current in queue:
        for child in children[current]:
            is_trailing = not _is_spoken(entries, child) and not told.is_boundary(records[child])
            if child not in found and is_trailing:
                found.add(child)
                queue.append(child)
    return sorted(found - {path[0]})


def entries_of(facts: FileFacts) -> Entries[Node]:
    """Returns the links of a file's chain, as the client loads them, by what the graph knows."""
    links = [node for node in facts.nodes if node.kind in CHAIN_TYPES]
    records, index = links, {node.uuid: number for number, node in enumerate(links)}
    if len(index) < len(links):  # format: duplicate uuid, the last line wins for content
        records = list({node.uuid: node for node in links}.values())
        index = {node.uuid: number for number, node in enumerate(records)}
    named = [node.parent for node in records]
    if len(links) < len(facts.nodes):
        bridges = _bridges(facts.nodes)
        named = [bridges.get(parent or "", parent) for parent in named]
    traits = reduce(or_, [node.traits for node in links], 0)
    entries = Entries(NODES, records, index)
    entries.parents = [index.get(parent, MISSING) if parent else ROOT for parent in named]
    entries.is_read = [True] * len(records)
    entries.lines = [index[node.uuid] for node in links if not node.traits & ASIDE]
    _point(entries, facts, is_compacted=bool(traits & Trait.BOUNDARY))
    if traits & (Trait.BOUNDARY | Trait.MUTE):
        entries.is_read = [not node.traits & Trait.MUTE for node in records]
        link_up(entries)
    return entries


def _bridges(nodes: list[Node]) -> dict[str, str | None]:
    """Returns what the children of progress attach to."""
    bridges: dict[str, str | None] = {}
    for node in nodes:
        if node.kind == "progress":
            bridges[node.uuid] = bridges.get(node.parent or "", node.parent)
    return bridges


def _point(entries: Entries[Node], facts: FileFacts, *, is_compacted: bool) -> None:
    """Follows the pointers of a file; what is written after one can take it back."""
    pointers = [one for one in facts.asides if one.kind == POINTER]
    ends = [*(one.after for one in pointers[1:]), len(facts.nodes)]
    nodes = facts.nodes if is_compacted else []
    boundaries = [number for number, node in enumerate(nodes) if node.is_boundary]
    for pointer, end in zip(pointers, ends, strict=False):
        entries.point(pointer.leaf, explicit=pointer.explicit)
        if entries.is_explicit or entries.is_cleared:
            followers = facts.nodes[pointer.after : end]
            if any(node.kind in CHAIN_TYPES and not node.traits & ASIDE for node in followers):
                entries.is_explicit = entries.is_cleared = False
        if any(pointer.after <= at < end for at in boundaries):
            entries.pointer = None  # format: what was pointed to is over


def _is_note(node: Node) -> bool:
    if node.kind == "user":
        return bool(node.traits & Trait.META) and not node.results
    return node.kind != "assistant" and not node.is_boundary


NODES: Told[Node] = Told(
    kind=attrgetter("kind"),
    subtype=attrgetter("subtype"),
    is_sidechain=attrgetter("is_sidechain"),
    time=lambda node: milliseconds(node.timestamp),
    response=attrgetter("message_id"),
    has_calls=lambda node: bool(node.calls),
    is_result=lambda node: node.kind == "user" and bool(node.results),
    is_note=_is_note,
    is_boundary=attrgetter("is_boundary"),
    preserved=lambda node: node.preserved or NOTHING,
)
