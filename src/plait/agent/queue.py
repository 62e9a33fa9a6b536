"""Prompts that are typed while the model works, and news of what ran beside it, until taken."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from plait.write import SessionWriter
from plait.write.model import Content
from plait.write.prompts import words_of

Source: TypeAlias = Literal["typed", "queued", "news", "errand"]
NEWS: dict[str, Any] = {
    "origin": {"kind": "task-notification", "producer": "session-task"},
    "prompt_source": "system",
    "turn_origin": "task_notification",
    "queue_skip_attachments": True,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the model, and how it came."""

    content: Content
    time: str
    """When it was typed."""
    source: Source = "typed"

    def fields(self, *, is_typed: bool) -> dict[str, Any]:
        """Returns what its line says of how it came, by names in Python."""
        if self.source == "news":
            return NEWS
        return {"prompt_source": "queued"} if self.source == "queued" and is_typed else {}


class PromptQueue:
    """What waits, the first first; each step is logged."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._waiting: deque[Asked] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def prompts(self) -> tuple[Content, ...]:
        """The prompts that wait."""
        return tuple(one.content for one in self._waiting if one.source == "queued")

    def put(self, content: Content, source: Source = "queued") -> None:
        """Has a prompt wait, or news of something that ended."""
        self._waiting.append(Asked(content, self._writer.ids.time(), source))
        self._writer.queue("enqueue", words_of(content))

    def take(self) -> list[Asked]:
        """Returns all that waits, for a turn of its own."""
        taken = [*self._waiting]
        self._waiting.clear()
        for _ in taken:
            self._writer.queue("dequeue")
        return taken

    def take_into_turn(self) -> list[Asked]:
        """Returns all that waits, for the turn that is going on."""
        taken = [*self._waiting]
        self._waiting.clear()
        return taken

    def take_back(self) -> list[Content]:
        """Returns all prompts to whoever typed them, so that they can be changed."""
        taken = [one.content for one in self._without_news()]
        for content in taken:
            self._writer.queue("popAll", words_of(content))
        return taken

    def _without_news(self) -> list[Asked]:
        taken = [one for one in self._waiting if one.source != "news"]
        self._waiting = deque(one for one in self._waiting if one.source == "news")
        return taken
