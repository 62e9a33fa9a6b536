"""Loaded entries to the one that the client continues."""

from collections.abc import Callable

from plait.graph.client.clock import milliseconds
from plait.graph.client.entry import has_calls, is_note, is_result
from plait.graph.client.model import Loaded
from plait.graph.client.walk import children_of, members_by_message
from plait.record import Record


def leaf(loaded: Loaded) -> int | None:
    """Returns the entry that the client continues, None where there is none."""
    if not loaded.lines:
        return None
    last = loaded.lines[-1]
    pointed = loaded.readable(loaded.pointer)
    if pointed is not None and is_chosen(loaded, pointed, last):
        return pointed
    start = last_of_conversation(loaded, last)
    # format: with any pointer, even to nowhere, the last line itself is the leaf
    return start if loaded.pointer is not None else newest_below(loaded, start)


def is_chosen(loaded: Loaded, pointed: int, last: int) -> bool:
    """Whether the client goes where a pointer points: to a message that is off the last line."""
    if nearest_message(loaded, pointed, set()) is None:
        return False
    return loaded.is_explicit or not is_on_line(loaded, pointed, last)


def last_of_conversation(loaded: Loaded, last: int) -> int:
    """Returns the entry of the last line, or the newest message where that belongs to none."""
    message = nearest_message(loaded, last, set())
    if message is None:
        newest = newest_message(loaded)
        return last if newest is None else newest
    # format: once messages were preserved, a late note does not bring back an older message
    is_late = loaded.is_relinked and is_silent(loaded.records[last])
    return newest_below(loaded, message, is_spoken) if is_late else last


def newest_message(loaded: Loaded) -> int | None:
    """Returns the newest prompt or answer that a branch ends with, the last among equals."""
    children = children_of(loaded)
    looked_at: set[int] = set()
    tips = [number for number in loaded.lines if loaded.is_read[number] and not children[number]]
    found = [nearest_message(loaded, tip, looked_at) for tip in tips]
    ends = [number for number in found if number is not None]
    return max(ends, key=lambda end: (milliseconds(loaded.records[end]), end), default=None)


def nearest_message(loaded: Loaded, number: int, looked_at: set[int]) -> int | None:
    """Returns the first prompt or answer at or above an entry, None where one was looked at."""
    while number >= 0 and number not in looked_at and loaded.is_read[number]:
        if is_spoken(loaded.records[number]):
            return number
        looked_at.add(number)
        number = loaded.parents[number]
    return None


def newest_below(
    loaded: Loaded, start: int, may_be: Callable[[Record], bool] = lambda _: True
) -> int:
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
            record = loaded.records[child]
            if not record.is_sidechain and time >= newest and may_be(record):
                best, newest = child, time
    return best


def is_spoken(record: Record) -> bool:
    """Whether an entry is a prompt or an answer."""
    return record.type in ("user", "assistant")


def is_silent(record: Record) -> bool:
    """Whether an entry is a note that is not sent as a prompt."""
    return not is_spoken(record) and record.subtype != "local_command"


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
