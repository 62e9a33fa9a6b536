"""Turns: a prompt and everything that answers it, and their durations.

    prompt ─ model, tools ─┬─ the user is asked ─┬─ model ─ last answer      a caveat, a notice …
    │                                                     │
    ├──────────────────── duration ───────────────────────┤   work time = duration − waiting

A caveat, an unanswered command, a notice or a note of the client is not an answer: what comes after
the last response or result is not part of the turn's time, even days later.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from msgspec.structs import replace

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    FoldedItems,
    Item,
    LateResult,
    OtherBlock,
    Response,
    ToolCall,
    Turn,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.tools import get_tool
from plait.record.message import NO_RESPONSE
from plait.record.time import compute_elapsed_ms, sum_covered_time

WORKED = (AssistantText, AssistantThinking, ToolCall, OtherBlock, LateResult)
"""Items made by the model and its tools. A tuple: it is tested for each item."""
CLIENT_NOTE = "turn_duration"


def add_times(turns: Iterable[Turn], responses: Sequence[Response] = ()) -> tuple[Turn, ...]:
    """Return the turns with their times."""
    found: list[Turn] = []
    before: str | None = None
    for turn, following in pairwise((*turns, None)):
        if turn:
            after = following.opener.time if following and following.opener else None
            # A compaction writes the preserved records again, with its own time:
            # times later than the next prompt say nothing about this turn.
            answers = (
                item.time
                for item in turn.items
                if item.time and isinstance(item, WORKED) and not _is_stand_in(item, responses)
            )
            stamps = list(_within(answers, after))
            opened = turn.opener.time if turn.opener else None
            started = opened or min(stamps, default=None) or _find_first_time(turn.items, after)
            ended = max(stamps, default=None) or find_noted_end(turn, after) or started
            working, duration = _measure_work(turn.items, started, ended)
            found.append(
                replace(
                    turn,
                    started=started,
                    ended=ended,
                    duration_ms=duration,
                    working_ms=working,
                    waited_ms=compute_elapsed_ms(before, opened) if before else None,
                )
            )
            before = found[-1].ended or before
    return tuple(found)


def _within(stamps: Iterable[str], after: str | None) -> Iterator[str]:
    return (stamp for stamp in stamps if after is None or stamp <= after)


def _is_stand_in(item: Item, responses: Sequence[Response]) -> bool:
    """Return whether the client added a message without a response of the model, at times days
    later.
    """
    number: int | None = getattr(item, "response", None)
    if number is None or number >= len(responses):
        return False
    response = responses[number]
    is_nothing = isinstance(item, AssistantText) and item.text == NO_RESPONSE
    return response.is_meta or (response.is_synthetic and is_nothing)


def _find_first_time(items: Iterable[Item], after: str | None) -> str | None:
    stamps = (
        i.time
        for i in items
        if i.time and not isinstance(i, ClientNote | BranchPoint | FoldedItems)
    )
    return min(_within(stamps, after), default=None)


def find_noted_end(turn: Turn, after: str | None = None) -> str | None:
    """Return when the client says that a turn ended, for responses without a time."""
    if not turn.responses:
        return None
    stamps = (note.time for note in _client_notes(turn.items) if note.time)
    return max(_within(stamps, after), default=None)


def _client_notes(items: Iterable[Item]) -> Iterator[ClientNote]:
    for item in items:
        if isinstance(item, ClientNote) and item.subtype == CLIENT_NOTE:
            yield item


def _measure_work(
    items: Sequence[Item], started: str | None, ended: str | None
) -> tuple[float | None, float | None]:
    """Return the work time and the duration.

    The client's own figure leaves out the time in which the user was asked anything, including
    permissions, and continues while hooks run after the last response: it can only reduce what the
    times of the records say.
    """
    figures = (note.value.get("durationMs") for note in _client_notes(items))
    numbers = [figure for figure in figures if isinstance(figure, int | float) and figure > 0]
    duration, noted = compute_elapsed_ms(started, ended), (sum(numbers) if numbers else None)
    if duration is None:
        return noted, noted
    asked = (
        (compute_elapsed_ms(started, item.time), compute_elapsed_ms(started, item.answered_at))
        for item in items
        if isinstance(item, ToolCall) and get_tool(item.name).is_answered_by_person
    )
    working = duration - sum_covered_time(
        (min(first, duration), min(last, duration))
        for first, last in asked
        if first is not None and last is not None
    )
    return (working if noted is None else min(noted, working)), duration


# A prompt of the user always begins a turn. A command, a shell line, a notice or a message begins
# one if the model was idle and answers it; everything else belongs to the current turn.


ASKING: tuple[UserMessageKind, ...] = (
    "queued",
    "command",
    "bash",
    "teammate",
    "peer",
    "notice",
    "prompt",
)
"""What can begin a turn without being a prompt of the user, if it is answered."""
LAST_RESORTS: tuple[UserMessageKind, ...] = ("meta", "summary")
OUTPUTS = frozenset({"command-output", "bash-output"})
SPOKEN = (AssistantText, AssistantThinking, ToolCall, OtherBlock)
"""What a response consists of. A tuple: it is tested for each item."""


def build_turns(
    items: Sequence[Item], responses: Sequence[Response] = (), *, is_agent: bool = False
) -> tuple[Turn, ...]:
    """Return the turns of a conversation; number 0 has what comes before the first prompt."""
    openers = set(find_openers(items, is_agent=is_agent))
    parts: list[list[Item]] = [[]]
    for place, item in enumerate(items):
        if place in openers:
            parts.append([])
        parts[-1].append(item)
    begun: set[int] = set()
    turns: list[Turn] = []
    for number, part in enumerate(parts):
        if not part:
            continue
        opener = part[0] if number and isinstance(part[0], UserMessage) else None
        own = [n for n in dict.fromkeys(iter_response_numbers(part)) if n not in begun]
        begun.update(own)
        is_interrupted = any(isinstance(i, UserMessage) and i.kind == "interruption" for i in part)
        turns.append(
            Turn(number, opener, tuple(part), tuple(own), None, None, is_interrupted=is_interrupted)
        )
    return add_times(turns, responses)


def iter_response_numbers(items: Iterable[Item]) -> Iterator[int]:
    """Yield the responses of items, including folded ones."""
    for item in items:
        if isinstance(item, SPOKEN):
            yield item.response
        elif isinstance(item, FoldedItems):
            yield from iter_response_numbers(item.items)


@dataclass(slots=True)
class Gap:
    """What is between two actions of the model."""

    places: list[int] = field(default_factory=list)
    was_at_rest: bool = True


def find_openers(items: Sequence[Item], *, is_agent: bool) -> Iterator[int]:
    """Yield the positions where turns begin."""
    gap, is_any_open, waiting = Gap(), False, set[str]()
    prompts: set[str | None] = {None}
    for place, item in enumerate(items):
        if isinstance(item, UserMessage):
            is_expansion = item.kind == "meta" and item.prompt in prompts - {None}
            if not (item.is_only_queued or is_expansion):
                gap.places.append(place)
            prompts.add(item.prompt)
            continue
        if not isinstance(item, WORKED):
            continue
        if not isinstance(item, LateResult):
            for opener in _iter_openers_in_gap(
                items, gap, is_agent=is_agent, is_first=not is_any_open
            ):
                is_any_open = True
                yield opener
            gap = Gap()
        if isinstance(item, ToolCall) and item.result is not None:
            waiting.add(item.call)
        elif isinstance(item, LateResult):
            waiting.discard(item.call)
        gap.was_at_rest = not waiting and not isinstance(item, LateResult)
    yield from _typed_prompts(items, gap, is_agent=is_agent)


def _iter_openers_in_gap(
    items: Sequence[Item], gap: Gap, *, is_agent: bool, is_first: bool
) -> Iterator[int]:
    """Yield the positions of the items between two answers that begin a turn.

    These are the typed prompts. Without one, a turn begins only where the last had ended (or at
    the very first): with a message that asks for an answer, preferably one that printed nothing.
    """
    typed = list(_typed_prompts(items, gap, is_agent=is_agent))
    yield from typed
    is_stopped = any(_kind_at(items, place) == "interruption" for place in gap.places)
    if not typed and (gap.was_at_rest or is_stopped or is_first):
        resorts = LAST_RESORTS if is_first else LAST_RESORTS[:1]
        asked = [place for place in gap.places if _kind_at(items, place) in ASKING]
        silent = [place for place in asked if not _has_output(items, place, gap.places)]
        if asked:
            yield silent[0] if silent else asked[-1]
        else:
            last_resorts = [place for place in gap.places if _kind_at(items, place) in resorts]
            yield from last_resorts[:1]


def _typed_prompts(items: Sequence[Item], gap: Gap, *, is_agent: bool) -> Iterator[int]:
    for place in gap.places:
        item = items[place]
        if isinstance(item, UserMessage) and item.kind == "prompt" and (item.is_typed or is_agent):
            yield place


def _has_output(items: Sequence[Item], place: int, places: Sequence[int]) -> bool:
    item = items[place]
    if isinstance(item, UserMessage) and item.kind in ("command", "bash"):
        after = next((other for other in places if other > place), None)
        return item.output is not None or (after is not None and _kind_at(items, after) in OUTPUTS)
    return False


def _kind_at(items: Sequence[Item], place: int) -> UserMessageKind | None:
    item = items[place]
    return item.kind if isinstance(item, UserMessage) and item.name != "caveat" else None
