"""Prompts that are typed while the model works, and news of what ran beside it, until taken."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from plait.agent.skills.model import Expansion
from plait.write import SessionWriter
from plait.write.model import Content
from plait.write.prompts import words_of
from plait.write.queued import FROM_SENDER, News

Source: TypeAlias = Literal["typed", "queued", "news", "errand", "message"]
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
    news: News | None = None
    """What ended in the background, where it is that."""
    expansion: Expansion | None = None
    """What the command makes of it that it names."""
    uuid: str | None = None
    """The id that its message shall have; None where that is all one."""

    @property
    def is_a_persons(self) -> bool:
        """Whether a person typed it."""
        return self.source in ("typed", "queued")

    @property
    def told(self) -> Content:
        """What stands in the log where it begins a turn."""
        if self.source == "message":
            return FROM_SENDER.format(words_of(self.content))
        return self.content

    def fields(self, *, is_typed: bool) -> dict[str, Any]:
        """Returns what its line says of how it came, by names in Python."""
        if self.source == "message":
            return {"is_meta": True, "origin": {"kind": "coordinator"}}
        if self.news:
            run = {"runId": self.news.run} if self.news.run else {}
            return {**NEWS, "origin": {**NEWS["origin"], **run}, "companion": self.news.used_told}
        return {"prompt_source": "queued"} if self.source == "queued" and is_typed else {}


class PromptQueue:
    """What waits, the first first; each step is logged."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._waiting: deque[Asked] = deque()
        self.has_come = asyncio.Event()
        """Set when something comes to wait."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def prompts(self) -> tuple[Content, ...]:
        """The prompts that wait."""
        return tuple(one.content for one in self._waiting if one.source == "queued")

    def put(self, content: Content) -> None:
        """Has a prompt wait."""
        self._put(Asked(content, self._writer.ids.time(), "queued"))

    def put_news(self, news: News) -> None:
        """Has news of something that ended wait."""
        self._put(Asked(news.words, self._writer.ids.time(), "news", news))

    def put_message(self, words: str) -> None:
        """Has a message to an agent wait; the log of the session does not say so."""
        self._waiting.append(Asked(words, self._writer.ids.time(), "message"))
        self.has_come.set()

    def _put(self, asked: Asked) -> None:
        self._waiting.append(asked)
        self._writer.queue("enqueue", words_of(asked.content))
        self.has_come.set()

    def take(self) -> list[Asked]:
        """Returns all that waits, for a turn of its own."""
        taken = [*self._waiting]
        self._waiting.clear()
        for asked in taken:
            if asked.source != "message":
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
        taken = [one for one in self._waiting if one.source == "queued"]
        self._waiting = deque(one for one in self._waiting if one.source != "queued")
        return taken
