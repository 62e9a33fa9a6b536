"""Conversations that leave one another to the one that a path reads, from its root to its end.

s    1 2 3 ─ 5 6        the path that ends on s@4 reads 1 2 3 4
s@4      ╰── 4
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec.structs import replace

from plait.conversation.model import (
    Called,
    Conversation,
    Folded,
    Item,
    Left,
    Response,
    Said,
    Shown,
    Thought,
    Turn,
)
from plait.conversation.turns import responses_in, timed
from plait.graph.paths import SPOKEN

ConversationOf: TypeAlias = Callable[[str], Conversation | None]
"""Gives the conversation of a DAG-line, None where it was not read."""


def path_to(end: Conversation, conversation_of: ConversationOf) -> Conversation:
    """Returns a conversation with all that it goes on from, as one."""
    way = [end]
    while above := parent_of(way[-1], conversation_of):
        way.append(above)
    if len(way) == 1:
        return end
    parts = [(above, _turns_before(above, below.id)) for above, below in pairwise(way[::-1])]
    return _joined([*parts, (end, end.turns)], end)


def parent_of(line: Conversation, conversation_of: ConversationOf) -> Conversation | None:
    """Returns the conversation that another leaves, None for one with a root of its own."""
    above = conversation_of(line.parent) if line.parent and line.kind in SPOKEN else None
    is_left = above is not None and above.kind in SPOKEN and _leaves(above, line.id)
    return above if is_left else None


def _leaves(above: Conversation, below: str) -> bool:
    before = 0
    for item in above.items():
        if isinstance(item, Left):
            if item.to == below:
                return before > 0
        elif item.uuid:
            before += 1
    return False


def _turns_before(above: Conversation, below: str) -> tuple[Turn, ...]:
    found: list[Turn] = []
    for turn in above.turns:
        for place, item in enumerate(turn.items):
            if isinstance(item, Left) and item.to == below:
                return (*found, replace(turn, items=turn.items[: place + 1]))
        found.append(turn)
    return tuple(found)


def _joined(
    parts: Sequence[tuple[Conversation, Sequence[Turn]]], end: Conversation
) -> Conversation:
    turns: list[Turn] = []
    responses: list[Response] = []
    for conversation, stretch in parts:
        places = {
            number: len(responses) + place
            for place, number in enumerate(sorted(set(_responses_in_turns(stretch))))
        }
        for turn in (_moved(turn, places) for turn in stretch):
            if turn.number == 0 and turns:
                turns[-1] = _merged(turns[-1], turn)
            else:
                turns.append(turn)
        responses.extend(conversation.responses[number] for number in places)
    first = turns[0].number if turns else 0
    numbered = (replace(turn, number=first + place) for place, turn in enumerate(turns))
    return replace(end, turns=timed(numbered), responses=tuple(responses))


def _responses_in_turns(turns: Iterable[Turn]) -> Iterator[int]:
    for turn in turns:
        yield from responses_in(turn.items)


def _moved(turn: Turn, places: Mapping[int, int]) -> Turn:
    items = _moved_items(turn.items, places)
    return replace(
        turn,
        opener=items[0] if turn.opener else None,
        items=items,
        responses=tuple(places[number] for number in turn.responses if number in places),
    )


def _moved_items(items: Iterable[Item], places: Mapping[int, int]) -> tuple[Item, ...]:
    return tuple(
        replace(item, items=_moved_items(item.items, places))
        if isinstance(item, Folded)
        else replace(item, response=places[item.response])
        if isinstance(item, Said | Thought | Called | Shown)
        else item
        for item in items
    )


def _merged(turn: Turn, more: Turn) -> Turn:
    responses = tuple(dict.fromkeys((*turn.responses, *more.responses)))
    return replace(turn, items=(*turn.items, *more.items), responses=responses)
