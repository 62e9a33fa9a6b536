"""Items in reading order to turns: a prompt, and all that answers it.

A person's prompt always opens a turn. A command, a shell line, a notice or a message opens one
where the model was at rest and answers it; everything else belongs to the turn it stands in.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from plait.conversation.model import (
    Answered,
    Called,
    Folded,
    Item,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
    Turn,
)
from plait.conversation.times import timed

ASKING: tuple[ToldKind, ...] = ("queued", "command", "bash", "teammate", "peer", "notice", "prompt")
"""What can open a turn without being a person's prompt, if it is answered."""
LAST_RESORTS: tuple[ToldKind, ...] = ("meta", "summary")
OUTPUTS = frozenset({"command-output", "bash-output"})
SPOKEN = (Said, Thought, Called, Shown)
WORKED = (*SPOKEN, Answered)
"""What the model and its tools did. Tuples: they are asked for each item."""


def turns_of(items: Sequence[Item], *, is_agent: bool = False) -> tuple[Turn, ...]:
    """Returns the turns of a conversation; number 0 holds what stands before the first."""
    openers = set(openers_of(items, is_agent=is_agent))
    parts: list[list[Item]] = [[]]
    for place, item in enumerate(items):
        if place in openers:
            parts.append([])
        parts[-1].append(item)
    begun: set[int] = set()
    return timed(turn_of(number, part, begun) for number, part in enumerate(parts) if part)


def turn_of(number: int, items: Sequence[Item], begun: set[int]) -> Turn:
    """Returns one turn, without its times; the responses that begin in it have begun."""
    opener = items[0] if number and isinstance(items[0], Told) else None
    responses = [one for one in dict.fromkeys(responses_in(items)) if one not in begun]
    begun.update(responses)
    return Turn(
        number,
        opener,
        tuple(items),
        tuple(responses),
        None,
        None,
        is_interrupted=any(isinstance(i, Told) and i.kind == "interruption" for i in items),
    )


def responses_in(items: Iterable[Item]) -> Iterator[int]:
    """Yields the responses that items belong to, folded ones too."""
    for item in items:
        if isinstance(item, SPOKEN):
            yield item.response
        elif isinstance(item, Folded):
            yield from responses_in(item.items)


@dataclass(slots=True)
class Gap:
    """What stands between two things the model did."""

    places: list[int] = field(default_factory=list)
    was_at_rest: bool = True


def openers_of(items: Sequence[Item], *, is_agent: bool) -> Iterator[int]:
    """Yields the places where turns begin."""
    gap, is_any_open, waiting = Gap(), False, set[str]()
    prompts: set[str | None] = {None}
    for place, item in enumerate(items):
        if isinstance(item, Told):
            if can_ask(item, prompts):
                gap.places.append(place)
            prompts.add(item.prompt)
            continue
        if not isinstance(item, WORKED):
            continue
        if not isinstance(item, Answered):
            for opener in opening(items, gap, is_agent=is_agent, is_first=not is_any_open):
                is_any_open = True
                yield opener
            gap = Gap()
        keep_waiting(item, waiting)
        gap.was_at_rest = not waiting and not isinstance(item, Answered)
    yield from typed_prompts(items, gap, is_agent=is_agent)


def can_ask(item: Told, prompts: Set[str | None]) -> bool:
    """Tells what may open a turn from what the model never saw, and from the client's own
    words within a turn: those name a prompt that came before.
    """
    return not item.is_only_queued and not (item.kind == "meta" and item.prompt in prompts - {None})


def keep_waiting(item: Item, waiting: set[str]) -> None:
    """Keeps the calls that have no answer yet; one that never gets any does not wait."""
    if isinstance(item, Called) and item.result is not None:
        waiting.add(item.call)
    elif isinstance(item, Answered):
        waiting.discard(item.call)


def opening(items: Sequence[Item], gap: Gap, *, is_agent: bool, is_first: bool) -> Iterator[int]:
    """Yields what opens turns in a gap after which the model speaks."""
    typed = list(typed_prompts(items, gap, is_agent=is_agent))
    yield from typed
    is_stopped = any(kind_at(items, place) == "interruption" for place in gap.places)
    if not typed and (gap.was_at_rest or is_stopped or is_first):
        chosen = asking(items, gap.places, LAST_RESORTS if is_first else LAST_RESORTS[:1])
        if chosen is not None:
            yield chosen


def typed_prompts(items: Sequence[Item], gap: Gap, *, is_agent: bool) -> Iterator[int]:
    """Yields the prompts of a person, or of who sent the agent out."""
    for place in gap.places:
        item = items[place]
        if isinstance(item, Told) and item.kind == "prompt" and (item.is_typed or is_agent):
            yield place


def asking(items: Sequence[Item], places: Sequence[int], resorts: Sequence[ToldKind]) -> int | None:
    """Returns what the model answers: the first that asks, a command that printed at last."""
    asked = [place for place in places if kind_at(items, place) in ASKING]
    silent = [place for place in asked if not printed(items, place, places)]
    if silent or asked:
        return silent[0] if silent else asked[-1]
    return next((place for place in places if kind_at(items, place) in resorts), None)


def printed(items: Sequence[Item], place: int, places: Sequence[int]) -> bool:
    """Tells a command that the client ran itself: its output is there."""
    item = items[place]
    if isinstance(item, Told) and item.kind in ("command", "bash"):
        after = next((other for other in places if other > place), None)
        return item.output is not None or (after is not None and kind_at(items, after) in OUTPUTS)
    return False


def kind_at(items: Sequence[Item], place: int) -> ToldKind | None:
    """Returns what was told at a place; caveats of the client ask for nothing."""
    item = items[place]
    return item.kind if isinstance(item, Told) and item.name != "caveat" else None
