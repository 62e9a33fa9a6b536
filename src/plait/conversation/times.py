"""Turns to how long they took, how long they waited, and for whom."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from plait.conversation.model import Called, Folded, Item, Left, Noted, Turn
from plait.record.time import moment

QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode", "exit_plan_mode"})
"""Tools whose answer a person gives."""


def timed(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Returns the turns with their times."""
    given = list(turns)
    found: list[Turn] = []
    before: str | None = None
    for place, turn in enumerate(given):
        timely = with_times(turn, before, next_prompt(given[place + 1 : place + 2]))
        found.append(timely)
        before = timely.ended or before
    return tuple(found)


def next_prompt(turns: Sequence[Turn]) -> str | None:
    """Returns when the next prompt with a time was typed."""
    return turns[0].opener.time if turns and turns[0].opener else None


def with_times(turn: Turn, before: str | None, after: str | None) -> Turn:
    """Returns a turn with its times; the client's own figure is believed where it gives one.

    A compaction writes the records that it keeps anew, with its own time: what is later than
    the next prompt says nothing of this turn.
    """
    stamps = [stamp for stamp in stamps_of(turn.items) if after is None or stamp <= after]
    opened = turn.opener.time if turn.opener else None
    started = opened or min(stamps, default=None)
    ended = max(stamps, default=opened)
    told = client_duration(turn.items)
    duration = between(started, ended) if told is None else told
    return replace(
        turn,
        started=started,
        ended=ended,
        duration_ms=duration,
        duration_by=None if duration is None else "times" if told is None else "client",
        asking_ms=sum(asked(item) for item in turn.items if isinstance(item, Called)),
        waited_ms=between(before, opened) if before else None,
    )


def stamps_of(items: Iterable[Item]) -> Iterator[str]:
    """Yields the times of what was said and done; notes may come much later."""
    for item in items:
        if item.time and not isinstance(item, Noted | Left | Folded):
            yield item.time


def client_duration(items: Iterable[Item]) -> float | None:
    """Returns how long the client says that the turn took."""
    said = [
        item.value.get("durationMs")
        for item in items
        if isinstance(item, Noted) and item.subtype == "turn_duration"
    ]
    numbers = [one for one in said if isinstance(one, int | float) and one >= 0]
    return sum(numbers) if numbers else None


def asked(call: Called) -> float:
    """Returns how long a person took to answer."""
    if call.name not in QUESTIONS:
        return 0
    return between(call.time, call.answered_at) or 0


def between(earlier: str | None, later: str | None) -> float | None:
    """Returns the milliseconds between two times, 0 where the clock stepped back."""
    first, last = moment(earlier), moment(later)
    if first is None or last is None:
        return None
    return max((last - first).total_seconds() * 1000, 0)
