"""A conversation to its items, one by one: all of them, or those that a depth of reading shows.

A reader asks for as much as they want to see. What is not shown parts no call from its
result: `story` takes what is left.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Folded,
    Item,
    Left,
    Notable,
    Noted,
    Response,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
    Turn,
)
from plait.conversation.results import key_of, notable_outcome
from plait.conversation.timing import timed
from plait.conversation.tools import tool_named
from plait.conversation.turns import responses_in
from plait.graph.paths import SPOKEN


def walk(conversation: Conversation) -> Iterator[tuple[int, Item]]:
    """Yields every item with the number of its turn, what is folded in the place of its fold.

    What was written twice is yielded once: replays stay folded.
    """
    for turn in conversation.turns:
        for item in opened(turn.items):
            yield turn.number, item


def opened(items: Iterable[Item]) -> Iterator[Item]:
    """Yields items in order, those of folds in the place of the fold, replays left out."""
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
        elif not isinstance(item, Folded):
            yield item
        elif item.reason != "replay":
            waiting.append(iter(item.items))


def calls_of(conversation: Conversation) -> Iterator[tuple[int, Called]]:
    """Yields every call with the number of its turn, once where it was written as it came in."""
    for number, item in walk(conversation):
        if isinstance(item, Called) and not item.is_intermediate:
            yield number, item


def turns_with_calls(
    turns: Iterable[Turn], outcome: Notable | None = None, tool: str | None = None
) -> tuple[Turn, ...]:
    """Returns the turns with a call that ended so, or of a tool: their openers and such calls."""
    found: list[Turn] = []
    for turn in turns:
        wanted = list(_such_calls(turn.items, outcome, tool))
        if wanted:
            opener = (turn.opener,) if turn.opener and turn.opener not in wanted else ()
            found.append(replace(turn, items=(*opener, *wanted)))
    return tuple(found)


def _such_calls(items: Iterable[Item], outcome: Notable | None, tool: str | None) -> Iterator[Item]:
    names = {name.strip().casefold() for name in tool.split(",")} if tool else None
    told = set[tuple[str, str | None]]()
    for item in opened(items):
        is_told = isinstance(item, Answered) and key_of(item) in told
        if is_told or _is_such(item, outcome, names):
            yield item
            if isinstance(item, Called):
                told.add(key_of(item))


def _is_such(item: Item, outcome: Notable | None, names: Collection[str] | None) -> bool:
    if _is_again(item) or (outcome and notable_outcome(item) != outcome):
        return False
    if isinstance(item, Told):
        return outcome is not None and names is None
    if not isinstance(item, Called | Answered):
        return False
    return names is None or (item.name or "").casefold() in names


def _is_again(item: Item) -> bool:
    return isinstance(item, Called) and item.is_intermediate


Depth: TypeAlias = Literal[
    "prompts",  # what people typed
    "answers",  # and what the model said
    "agents",  # and whom it sent out, with their prompts and answers
    "tools",  # and every call, with its outcome
    "all",  # and everything else
]
DEPTHS: tuple[Depth, ...] = get_args(Depth)

TYPED: frozenset[ToldKind] = frozenset({"prompt", "queued", "command", "bash"})
HEARD: frozenset[ToldKind] = TYPED | {
    "command-output",
    "bash-output",
    "interruption",
    "notice",
    "teammate",
    "peer",
}
OBJECTIONS = frozenset({"feedback", "blocked", "stopped", "error"})
"""Of a hook: why the model went on, or a prompt did not come through."""
TROUBLE = frozenset(
    {
        "api_error",
        "api_refusal",
        "model_refusal_fallback",
        "model_refusal_no_fallback",
        "hook_stopped_continuation",
        "max_turns_reached",
        "error",
    }
)
"""Notes of the client that tell why an answer took long, or did not come."""


def visible(items: Iterable[Item], depth: Depth, *, thinking: bool = False) -> list[Item]:
    """Returns the items that a depth shows, in their order; everything includes the thinking."""
    seen = list(items)
    if depth == "all":
        return seen
    level = DEPTHS.index(depth)
    sending = frozenset(_calls_that_send(seen))
    return [item for item in seen if _is_visible(item, level, sending, thinking=thinking)]


def _calls_that_send(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Called) and (item.agents or tool_named(item.name).sends_agents):
            yield item.call


def _is_visible(item: Item, level: int, sending: Collection[str], *, thinking: bool) -> bool:
    has_answers, has_agents, has_tools = (level >= place for place in (1, 2, 3))
    match item:
        case Told(kind="hook", status=status):
            return has_answers and status in OBJECTIONS
        case Told(kind=kind):
            return kind in (HEARD if has_answers else TYPED)
        case Said():
            return has_answers and not item.is_intermediate and bool(item.text.strip())
        case Thought():
            return has_answers and thinking and not item.is_intermediate
        case Called() | Answered():
            return not _is_again(item) and (has_tools or (has_agents and item.call in sending))
        case Compacted() | Left():
            return True
        case Folded():
            return any(isinstance(one, Told) and one.kind in TYPED for one in item.items)
        case Noted():
            return has_tools and (item.subtype in TROUBLE or item.kind == "gone")
        case _:
            return has_tools and item.enclosure.kind != "empty"


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
    return replace(end, turns=timed(numbered, responses), responses=tuple(responses))


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
