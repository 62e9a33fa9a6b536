"""Turns to how long they took: from the prompt to the last answer or result.

    prompt ─ model, tools ─┬─ a person is asked ─┬─ model ─ last answer      a caveat, a notice …
    │                                                     │
    ├──────────────────── duration ───────────────────────┤   work time = duration − waiting

A caveat, a command that nobody answered, a notice or a note of the client is no answer: what
comes after the last answer or result is none of the turn's time, be it days later.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Folded,
    Item,
    Left,
    Noted,
    Response,
    Said,
    Shown,
    Thought,
    Turn,
)
from plait.conversation.tools import tool_named
from plait.record.message import NO_RESPONSE
from plait.record.time import between, covered

WORKED = (Said, Thought, Called, Shown, Answered)
"""What the model and its tools did. A tuple: it is asked for each item."""
CLIENT_NOTE = "turn_duration"


def timed(turns: Iterable[Turn], responses: Sequence[Response] = ()) -> tuple[Turn, ...]:
    """Returns the turns with their times."""
    given = list(turns)
    found: list[Turn] = []
    before: str | None = None
    for place, turn in enumerate(given):
        timely = _with_times(turn, responses, before, _next_prompt(given[place + 1 : place + 2]))
        found.append(timely)
        before = timely.ended or before
    return tuple(found)


def _next_prompt(turns: Sequence[Turn]) -> str | None:
    return turns[0].opener.time if turns and turns[0].opener else None


def _with_times(
    turn: Turn, responses: Sequence[Response], before: str | None, after: str | None
) -> Turn:
    """Returns a turn with its times.

    A compaction writes the records that it keeps anew, with its own time: what is later than
    the next prompt says nothing of this turn.
    """
    stamps = list(_within(_answers_in(turn.items, responses), after))
    opened = turn.opener.time if turn.opener else None
    started = opened or min(stamps, default=None) or _first_of(turn.items, after)
    ended = max(stamps, default=None) or noted_end(turn, after) or started
    working, duration = _worked(turn.items, started, ended)
    return replace(
        turn,
        started=started,
        ended=ended,
        duration_ms=duration,
        working_ms=working,
        waited_ms=between(before, opened) if before else None,
    )


def _within(stamps: Iterable[str], after: str | None) -> Iterator[str]:
    return (stamp for stamp in stamps if after is None or stamp <= after)


def _answers_in(items: Iterable[Item], responses: Sequence[Response]) -> Iterator[str]:
    for item in items:
        if item.time and isinstance(item, WORKED) and not _is_stand_in(item, responses):
            yield item.time


def _is_stand_in(item: Item, responses: Sequence[Response]) -> bool:
    """Tells whether the client wrote something where no model spoke, at times days later."""
    number: int | None = getattr(item, "response", None)
    if number is None or number >= len(responses):
        return False
    response = responses[number]
    is_nothing = isinstance(item, Said) and item.text == NO_RESPONSE
    return response.is_meta or (response.is_synthetic and is_nothing)


def _first_of(items: Iterable[Item], after: str | None) -> str | None:
    stamps = (i.time for i in items if i.time and not isinstance(i, Noted | Left | Folded))
    return min(_within(stamps, after), default=None)


def noted_end(turn: Turn, after: str | None = None) -> str | None:
    """Returns when the client says that a turn ended, for answers without a time."""
    if not turn.responses:
        return None
    stamps = (note.time for note in _client_notes(turn.items) if note.time)
    return max(_within(stamps, after), default=None)


def _client_notes(items: Iterable[Item]) -> Iterator[Noted]:
    for item in items:
        if isinstance(item, Noted) and item.subtype == CLIENT_NOTE:
            yield item


def _worked(
    items: Sequence[Item], started: str | None, ended: str | None
) -> tuple[float | None, float | None]:
    """Returns the work time and the duration.

    The client's own figure leaves out the time in which a person was asked anything, be it a
    leave to run a tool, and goes on while hooks run after the last answer: it can only take
    from what the times of the records say.
    """
    duration, told = between(started, ended), _client_figure(items)
    if duration is None:
        return told, told
    working = duration - _asked_ms(items, started, duration)
    return (working if told is None else min(told, working)), duration


def _client_figure(items: Iterable[Item]) -> float | None:
    said = (note.value.get("durationMs") for note in _client_notes(items))
    numbers = [one for one in said if isinstance(one, int | float) and one > 0]
    return sum(numbers) if numbers else None


def _asked_ms(items: Iterable[Item], started: str | None, duration: float) -> float:
    """Returns how long a person's answers were waited for; side by side counts once."""
    asked = (
        (between(started, item.time), between(started, item.answered_at))
        for item in items
        if isinstance(item, Called) and tool_named(item.name).is_answered_by_person
    )
    return covered(
        (min(first, duration), min(last, duration))
        for first, last in asked
        if first is not None and last is not None
    )
