"""Loaded entries to the one that the client continues."""

from plait.graph.client.clock import milliseconds
from plait.graph.client.entry import has_calls, is_note, is_result
from plait.graph.client.model import Loaded
from plait.graph.client.walk import children_of, members_by_message


def leaf(loaded: Loaded) -> int | None:
    """Returns the entry that the client continues, None where there is none."""
    last = last_of_conversation(loaded)
    if last is None:
        return None
    pointed = loaded.readable(loaded.pointer)
    if pointed is not None and (loaded.is_explicit or not is_on_line(loaded, pointed, last)):
        return pointed
    return newest_below(loaded, last)


def last_of_conversation(loaded: Loaded) -> int | None:
    """Returns the last line's entry that has a prompt or an answer at or above it."""
    without: set[int] = set()
    for last in reversed(loaded.lines):
        current = last
        while current >= 0 and current not in without and loaded.is_read[current]:
            if loaded.records[current].type in ("user", "assistant"):
                return last
            without.add(current)
            current = loaded.parents[current]
    return loaded.lines[-1] if loaded.lines else None


def newest_below(loaded: Loaded, start: int) -> int:
    """Returns the newest of an entry and its descendants: a parent can follow its child."""
    children = children_of(loaded)
    best, newest = start, milliseconds(loaded.records[start])
    queue = [start]
    seen = {start}
    for current in queue:
        below = [child for child in children[current] if child not in seen]
        seen.update(below)
        queue.extend(below)
        for child in below:
            time = milliseconds(loaded.records[child])
            if not loaded.records[child].is_sidechain and time >= newest:
                best, newest = child, time
    return best


def is_on_line(loaded: Loaded, pointed: int, last: int) -> bool:
    """Whether an entry is an ancestor of the last one, or a parallel sibling of one."""
    line = set(line_above(loaded, last))
    if pointed in line:
        return True
    call = owning_call(loaded, pointed)
    if call is None:
        return False
    joint = next((number for number in line_above(loaded, call) if number in line), None)
    return joint is not None and is_parallel(loaded, call, joint)


def is_parallel(loaded: Loaded, call: int, joint: int) -> bool:
    """Whether a call left the line at another call of its own response."""
    response = loaded.records[call].message_id
    if not response or loaded.records[joint].message_id != response:
        return False
    return has_calls(loaded.records[joint]) and len(members_by_message(loaded)[response]) > 1


def owning_call(loaded: Loaded, number: int) -> int | None:
    """Returns the call that an entry is, answers, or accompanies the answer of."""
    records, parents = loaded.records, loaded.parents
    if has_calls(records[number]):
        return number
    for current in line_above(loaded, number):
        if is_result(records[current]):
            parent = parents[current]
            return parent if parent >= 0 and has_calls(records[parent]) else None
        if not is_note(records[current]):
            return None
    return None


def line_above(loaded: Loaded, number: int) -> list[int]:
    """Returns an entry and its ancestors by the parents they name."""
    found: list[int] = []
    seen: set[int] = set()
    while number >= 0 and number not in seen:
        seen.add(number)
        found.append(number)
        number = loaded.parents[number]
    return found
