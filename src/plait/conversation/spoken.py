"""A conversation to its responses as they were spoken: blocks, calls, from when to when.

A response goes on until the next of its turn begins, the last one until its last block or
result. Traces and the Timeline draw the same intervals from here. Lines without any id join
the response that is open, as in `documents.group_turns`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from plait.conversation.model import (
    Called,
    Conversation,
    Folded,
    Item,
    Response,
    Said,
    Shown,
    Thought,
    Turn,
)
from plait.conversation.timing import noted_end
from plait.conversation.walk import opened
from plait.record.time import Interval, moment

Spoken: TypeAlias = Said | Thought | Called | Shown
UNKNOWN = Interval(None, None)


@dataclass(frozen=True, slots=True)
class SpokenResponse:
    """A response that begins in a turn, with all that belongs to it."""

    numbers: tuple[int, ...]
    """Its places in the conversation's responses: several where lines without an id joined it."""
    parts: tuple[Response, ...]
    blocks: tuple[Spoken, ...]
    folded: str | None
    """Why it is out of the reading order, where it is."""
    interval: Interval

    @property
    def response(self) -> Response:
        """What is said of it: the metadata of its first part."""
        return self.parts[0]

    @property
    def is_error(self) -> bool:
        """Tells whether it is the API's error in the place of an answer."""
        return self.response.is_error

    @property
    def text(self) -> str:
        """Its words, a line break between two blocks."""
        return "\n".join(one.text for one in self.blocks if isinstance(one, Said))

    @property
    def thinking(self) -> str | None:
        """Its thoughts, None where none were recorded."""
        texts = [one.text for one in self.blocks if isinstance(one, Thought) and one.text]
        return "\n".join(texts) or None

    @property
    def calls(self) -> tuple[Called, ...]:
        """Its calls of tools."""
        return tuple(one for one in self.blocks if isinstance(one, Called))

    @property
    def spoken_until(self) -> datetime | None:
        """When its last block was written."""
        return _latest(one.ended for one in self.parts)


class SpokenResponses:
    """The responses of a conversation, by the turn in which each begins."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._blocks: dict[int, list[Spoken]] = {}
        self._folded: dict[int, str] = {}
        self._told: dict[int, list[SpokenResponse]] = {}
        for item, reason in _items_with_folds(conversation):
            if isinstance(item, Said | Thought | Called | Shown):
                self._take(item, reason)

    def _take(self, item: Spoken, reason: str | None) -> None:
        if reason and item.response not in self._blocks:
            self._folded[item.response] = reason
        held = self._blocks.setdefault(item.response, [])
        if not (isinstance(item, Said | Thought | Called) and item.is_intermediate):
            held.append(item)

    def has(self, turn: Turn) -> bool:
        """Tells whether a response begins in a turn; what the client put in is none."""
        return any(True for _ in self._numbers(turn))

    def of(self, turn: Turn) -> list[SpokenResponse]:
        """Returns the responses that begin in a turn, in their order."""
        known = self._told.get(turn.number)
        if known is None:
            found = [self._joined(numbers) for numbers in self._groups(turn)]
            after = (*found[1:], None)
            known = [_timely(one, then, turn) for one, then in zip(found, after, strict=False)]
            self._told[turn.number] = known
        return known

    def last(self, turns: Iterable[Turn]) -> SpokenResponse | None:
        """Returns the last response of some turns."""
        return next((one for turn in reversed([*turns]) for one in self.of(turn)[-1:]), None)

    def _numbers(self, turn: Turn) -> Iterator[int]:
        responses = self.conversation.responses
        return (one for one in turn.responses if one in self._blocks and not responses[one].is_meta)

    def _groups(self, turn: Turn) -> list[list[int]]:
        groups: list[list[int]] = []
        for number in self._numbers(turn):
            if groups and self._joins(number):
                groups[-1].append(number)
            else:
                groups.append([number])
        return groups

    def _joins(self, number: int) -> bool:
        """Tells a line without any id, which joins what is open; an error is one of its own."""
        one = self.conversation.responses[number]
        return one.id is None and one.request is None and not one.is_error

    def _joined(self, numbers: Sequence[int]) -> SpokenResponse:
        return SpokenResponse(
            tuple(numbers),
            tuple(self.conversation.responses[number] for number in numbers),
            tuple(block for number in numbers for block in self._blocks[number]),
            self._folded.get(numbers[0]),
            UNKNOWN,
        )


def _items_with_folds(conversation: Conversation) -> Iterator[tuple[Item, str | None]]:
    for turn in conversation.turns:
        for item in turn.items:
            reason = item.reason if isinstance(item, Folded) else None
            for inner in opened((item,)):
                yield inner, reason


def _timely(one: SpokenResponse, after: SpokenResponse | None, turn: Turn) -> SpokenResponse:
    """Returns a response with its times: it gives way to the next."""
    start = moment(one.response.started)
    end = moment(after.response.started) if after else None
    if end is None:
        end = one.spoken_until
        ends = (end, *(call.interval.end for call in one.calls))
        end = max((at for at in ends if at), default=None) or moment(noted_end(turn))
    end = max(start, end) if start and end else end
    return SpokenResponse(one.numbers, one.parts, one.blocks, one.folded, Interval(start, end))


def _latest(stamps: Iterable[str | None]) -> datetime | None:
    return max((at for at in map(moment, stamps) if at), default=None)
