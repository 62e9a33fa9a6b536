"""Prompts that are typed while the model works, until somebody takes them."""

from collections import deque
from dataclasses import dataclass

from plait.write import SessionWriter
from plait.write.model import Content
from plait.write.prompts import words_of


@dataclass(frozen=True, slots=True)
class Waiting:
    """A prompt that waits."""

    content: Content
    time: str
    """When it was typed."""


class PromptQueue:
    """What waits, the first first; each step is logged."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._waiting: deque[Waiting] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def prompts(self) -> tuple[Content, ...]:
        """What waits."""
        return tuple(one.content for one in self._waiting)

    def put(self, content: Content) -> None:
        """Has a prompt wait."""
        self._waiting.append(Waiting(content, self._writer.ids.time()))
        self._writer.queue("enqueue", words_of(content))

    def take(self) -> list[Content]:
        """Returns all prompts, for a turn of their own."""
        taken = [one.content for one in self._waiting]
        self._waiting.clear()
        for _ in taken:
            self._writer.queue("dequeue")
        return taken

    def take_into_turn(self) -> list[Waiting]:
        """Returns all prompts, for the turn that is going on; the log says that they left."""
        taken = [*self._waiting]
        self._waiting.clear()
        return taken

    def take_back(self) -> list[Content]:
        """Returns all prompts to whoever typed them, so that they can be changed."""
        taken = [one.content for one in self._waiting]
        self._waiting.clear()
        for content in taken:
            self._writer.queue("popAll", words_of(content))
        return taken
