"""A conversation to what stands in it, one by one, with the turn it stands in."""

from collections.abc import Iterable, Iterator

from plait.conversation.model import Called, Conversation, Folded, Item


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
