"""A conversation to its items, one by one: all of them, or those that a depth of reading shows.

A reader asks for as much as they want to see. What is not shown parts no call from its
result: `story` takes what is left.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Literal, TypeAlias, get_args

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Folded,
    Item,
    Left,
    Noted,
    Said,
    Thought,
    Told,
    ToldKind,
)
from plait.conversation.tools import tool_named


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
TROUBLE = frozenset({"api_error", "api_refusal", "model_refusal_fallback", "error"})
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
        case Told(kind=kind):
            return kind in (HEARD if has_answers else TYPED)
        case Said():
            return has_answers and not item.is_intermediate and bool(item.text.strip())
        case Thought():
            return has_answers and thinking and not item.is_intermediate
        case Called() | Answered():
            is_again = isinstance(item, Called) and item.is_intermediate
            return not is_again and (has_tools or (has_agents and item.call in sending))
        case Compacted() | Left():
            return True
        case Folded():
            return any(isinstance(one, Told) and one.kind in TYPED for one in item.items)
        case Noted():
            return has_tools and (item.subtype in TROUBLE or item.kind == "gone")
        case _:
            return has_tools and item.enclosure.kind != "empty"
