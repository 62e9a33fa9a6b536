"""A conversation to its responses, each with the blocks that it consists of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
from plait.conversation.walk import opened


@dataclass(frozen=True, slots=True)
class Parts:
    """What each response of a conversation said, thought and called, and what was retracted."""

    conversation: Conversation
    blocks: dict[int, list[Said | Thought | Called | Shown]]
    folded: dict[int, str]
    """Why a response is out of the reading order, for those that are."""

    def response(self, number: int) -> Response:
        """Returns a response."""
        return self.conversation.responses[number]

    def numbers(self, turn: Turn) -> list[int]:
        """Returns the responses that begin in a turn; what the client put in is none."""
        return [
            one for one in turn.responses if one in self.blocks and not self.response(one).is_meta
        ]

    def text(self, number: int) -> str:
        """Returns the words of a response, a line break between two blocks."""
        return "\n".join(one.text for one in self.blocks[number] if isinstance(one, Said))

    def thinking(self, number: int) -> str | None:
        """Returns the thoughts of a response, None where none were recorded."""
        texts = [one.text for one in self.blocks[number] if isinstance(one, Thought) and one.text]
        return "\n".join(texts) or None

    def calls(self, number: int) -> list[Called]:
        """Returns the calls of a response."""
        return [one for one in self.blocks[number] if isinstance(one, Called)]

    def message(self, numbers: list[int]) -> dict[str, Any] | None:
        """Returns the words of the last of some responses, as a message."""
        return message("assistant", self.text(numbers[-1])) if numbers else None


def parts_of(conversation: Conversation) -> Parts:
    """Returns the responses of a conversation with their blocks."""
    blocks: dict[int, list[Said | Thought | Called | Shown]] = {}
    folded: dict[int, str] = {}
    for item, reason in read(conversation):
        if not isinstance(item, Said | Thought | Called | Shown):
            continue
        if reason and item.response not in blocks:
            folded[item.response] = reason
        held = blocks.setdefault(item.response, [])
        if not (isinstance(item, Said | Thought | Called) and item.is_intermediate):
            held.append(item)
    return Parts(conversation, blocks, folded)


def read(conversation: Conversation) -> Iterator[tuple[Item, str | None]]:
    """Yields every item, with the reason of the fold that it stands in."""
    for turn in conversation.turns:
        for item in turn.items:
            reason = item.reason if isinstance(item, Folded) else None
            for inner in opened((item,)):
                yield inner, reason


def message(role: str, content: str) -> dict[str, Any]:
    """Returns words as a message."""
    return {"role": role, "content": content}
