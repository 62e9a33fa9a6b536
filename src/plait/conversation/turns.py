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
    Response,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
    Turn,
)
from plait.conversation.timing import WORKED, timed

ASKING: tuple[ToldKind, ...] = ("queued", "command", "bash", "teammate", "peer", "notice", "prompt")
"""What can open a turn without being a person's prompt, if it is answered."""
LAST_RESORTS: tuple[ToldKind, ...] = ("meta", "summary")
OUTPUTS = frozenset({"command-output", "bash-output"})
SPOKEN = (Said, Thought, Called, Shown)
"""What a response is made of. A tuple: it is asked for each item."""


def turns_of(
    items: Sequence[Item], responses: Sequence[Response] = (), *, is_agent: bool = False
) -> tuple[Turn, ...]:
    """Returns the turns of a conversation; number 0 holds what stands before the first."""
    openers = set(openers_of(items, is_agent=is_agent))
    parts: list[list[Item]] = [[]]
    for place, item in enumerate(items):
        if place in openers:
            parts.append([])
        parts[-1].append(item)
    begun: set[int] = set()
    turns = (_turn_of(number, part, begun) for number, part in enumerate(parts) if part)
    return timed(turns, responses)


def _turn_of(number: int, items: Sequence[Item], begun: set[int]) -> Turn:
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
            if _can_ask(item, prompts):
                gap.places.append(place)
            prompts.add(item.prompt)
            continue
        if not isinstance(item, WORKED):
            continue
        if not isinstance(item, Answered):
            for opener in _opening(items, gap, is_agent=is_agent, is_first=not is_any_open):
                is_any_open = True
                yield opener
            gap = Gap()
        _keep_waiting(item, waiting)
        gap.was_at_rest = not waiting and not isinstance(item, Answered)
    yield from _typed_prompts(items, gap, is_agent=is_agent)


def _can_ask(item: Told, prompts: Set[str | None]) -> bool:
    """Tells what may open a turn from what the model never saw, and from the client's own
    words within a turn: those name a prompt that came before.
    """
    return not item.is_only_queued and not (item.kind == "meta" and item.prompt in prompts - {None})


def _keep_waiting(item: Item, waiting: set[str]) -> None:
    """Keeps the calls that have no answer yet; one that never gets any does not wait."""
    if isinstance(item, Called) and item.result is not None:
        waiting.add(item.call)
    elif isinstance(item, Answered):
        waiting.discard(item.call)


def _opening(items: Sequence[Item], gap: Gap, *, is_agent: bool, is_first: bool) -> Iterator[int]:
    typed = list(_typed_prompts(items, gap, is_agent=is_agent))
    yield from typed
    is_stopped = any(_kind_at(items, place) == "interruption" for place in gap.places)
    if not typed and (gap.was_at_rest or is_stopped or is_first):
        chosen = _asking(items, gap.places, LAST_RESORTS if is_first else LAST_RESORTS[:1])
        if chosen is not None:
            yield chosen


def _typed_prompts(items: Sequence[Item], gap: Gap, *, is_agent: bool) -> Iterator[int]:
    for place in gap.places:
        item = items[place]
        if isinstance(item, Told) and item.kind == "prompt" and (item.is_typed or is_agent):
            yield place


def _asking(
    items: Sequence[Item], places: Sequence[int], resorts: Sequence[ToldKind]
) -> int | None:
    asked = [place for place in places if _kind_at(items, place) in ASKING]
    silent = [place for place in asked if not _printed(items, place, places)]
    if silent or asked:
        return silent[0] if silent else asked[-1]
    return next((place for place in places if _kind_at(items, place) in resorts), None)


def _printed(items: Sequence[Item], place: int, places: Sequence[int]) -> bool:
    item = items[place]
    if isinstance(item, Told) and item.kind in ("command", "bash"):
        after = next((other for other in places if other > place), None)
        return item.output is not None or (after is not None and _kind_at(items, after) in OUTPUTS)
    return False


def _kind_at(items: Sequence[Item], place: int) -> ToldKind | None:
    item = items[place]
    return item.kind if isinstance(item, Told) and item.name != "caveat" else None
