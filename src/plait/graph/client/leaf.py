"""Loaded entries to the one that the client continues."""

from collections.abc import Callable

from plait.graph.client.entry import has_calls, is_note, is_result, milliseconds
from plait.graph.client.model import Loaded
from plait.graph.client.walk import children_of, members_by_message
from plait.record import Record


def leaf(loaded: Loaded) -> int | None:
    """Returns the entry that the client continues, None where there is none."""
    if not loaded.lines:
        return None
    last = loaded.lines[-1]
    pointed = loaded.readable(loaded.pointer)
    if pointed is not None and _is_chosen(loaded, pointed, last):
        return pointed
    start = _last_of_conversation(loaded, last)
    # format: with any pointer, even to nowhere, the last line itself is the leaf
    return start if loaded.pointer is not None else _newest_below(loaded, start)


def _is_chosen(loaded: Loaded, pointed: int, last: int) -> bool:
    if _nearest_message(loaded, pointed, set()) is None:
        return False
    return loaded.is_explicit or not _is_on_line(loaded, pointed, last)


def _last_of_conversation(loaded: Loaded, last: int) -> int:
    message = _nearest_message(loaded, last, set())
    if message is None:
        newest = _newest_message(loaded)
        return last if newest is None else newest
    # format: once messages were preserved, a late note does not bring back an older message
    is_late = loaded.is_relinked and _is_silent(loaded.records[last])
    return _newest_below(loaded, message, _is_spoken) if is_late else last


def _newest_message(loaded: Loaded) -> int | None:
    children = children_of(loaded)
    looked_at: set[int] = set()
    tips = [number for number in loaded.lines if loaded.is_read[number] and not children[number]]
    found = [_nearest_message(loaded, tip, looked_at) for tip in tips]
    ends = [number for number in found if number is not None]
    return max(ends, key=lambda end: (milliseconds(loaded.records[end]), end), default=None)


def _nearest_message(loaded: Loaded, number: int, looked_at: set[int]) -> int | None:
    """Returns the first prompt or answer at or above an entry, None where one was looked at."""
    while number >= 0 and number not in looked_at and loaded.is_read[number]:
        if _is_spoken(loaded.records[number]):
            return number
        looked_at.add(number)
        number = loaded.parents[number]
    return None


def _newest_below(
    loaded: Loaded, start: int, may_be: Callable[[Record], bool] = lambda _: True
) -> int:
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


def _is_spoken(record: Record) -> bool:
    return record.type in ("user", "assistant")


def _is_silent(record: Record) -> bool:
    return not _is_spoken(record) and record.subtype != "local_command"


def _is_on_line(loaded: Loaded, pointed: int, last: int) -> bool:
    line = set(_line_above(loaded, last))
    if pointed in line:
        return True
    call = _owning_call(loaded, pointed)
    if call is None:
        return False
    joint = next((number for number in _line_above(loaded, call) if number in line), None)
    return joint is not None and _is_parallel(loaded, call, joint)


def _is_parallel(loaded: Loaded, call: int, joint: int) -> bool:
    response = loaded.records[call].message_id
    if not response or loaded.records[joint].message_id != response:
        return False
    return has_calls(loaded.records[joint]) and len(members_by_message(loaded)[response]) > 1


def _owning_call(loaded: Loaded, number: int) -> int | None:
    records, parents = loaded.records, loaded.parents
    if has_calls(records[number]):
        return number
    for current in _line_above(loaded, number):
        if is_result(records[current]):
            parent = parents[current]
            return parent if parent >= 0 and has_calls(records[parent]) else None
        if not is_note(records[current]):
            return None
    return None


def _line_above(loaded: Loaded, number: int) -> list[int]:
    found: list[int] = []
    seen: set[int] = set()
    while number >= 0 and number not in seen:
        seen.add(number)
        found.append(number)
        number = loaded.parents[number]
    return found
