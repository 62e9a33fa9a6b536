"""Prompts typed while the model works, and notifications, queued until they are sent."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from plait.chat.tools.base import Expansion
from plait.write import SessionWriter
from plait.write.lines import Content, get_prompt_text
from plait.write.transcript import FROM_SENDER, TaskNotification

Source: TypeAlias = Literal["typed", "queued", "news", "errand", "message"]
NOTIFICATION_FIELDS: dict[str, Any] = {
    "origin": {"kind": "task-notification", "producer": "session-task"},
    "prompt_source": "system",
    "turn_origin": "task_notification",
    "queue_skip_attachments": True,
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and where it came from."""

    content: Content
    time: str
    """When it was typed."""
    source: Source = "typed"
    notification: TaskNotification | None = None
    """The background task that ended, for a notification."""
    expansion: Expansion | None = None
    """The expansion of the command it names."""
    uuid: str | None = None
    """The id of its message; None for a new one."""

    @property
    def is_from_user(self) -> bool:
        """Whether the user typed it."""
        return self.source in ("typed", "queued")

    @property
    def log_content(self) -> Content:
        """Its content in the log when it starts a turn."""
        if self.source == "message":
            return FROM_SENDER.format(get_prompt_text(self.content))
        return self.content

    def fields(self, *, is_typed: bool) -> dict[str, Any]:
        """Return the log fields that say where it came from, by Python names."""
        if self.source == "message":
            return {"is_meta": True, "origin": {"kind": "coordinator"}}
        if self.notification:
            run = {"runId": self.notification.run} if self.notification.run else {}
            return {
                **NOTIFICATION_FIELDS,
                "origin": {**NOTIFICATION_FIELDS["origin"], **run},
                "companion": self.notification.tools_text,
            }
        return {"prompt_source": "queued"} if self.source == "queued" and is_typed else {}


class PromptQueue:
    """Queued prompts, oldest first; each step is logged."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._waiting: deque[Prompt] = deque()
        self.arrived = asyncio.Event()
        """Set when something is queued."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def prompts(self) -> tuple[Content, ...]:
        """The prompts that wait."""
        return tuple(prompt.content for prompt in self._waiting if prompt.source == "queued")

    def put(self, content: Content) -> None:
        """Queue a prompt."""
        self._add(Prompt(content, self._writer.ids.time(), "queued"))

    def put_notification(self, notification: TaskNotification) -> None:
        """Queue a notification about something that ended."""
        self._add(Prompt(notification.words, self._writer.ids.time(), "news", notification))

    def put_message(self, words: str) -> None:
        """Queue a message to an agent; the session's log does not record it."""
        self._waiting.append(Prompt(words, self._writer.ids.time(), "message"))
        self.arrived.set()

    def _add(self, prompt: Prompt) -> None:
        self._waiting.append(prompt)
        self._writer.queue("enqueue", get_prompt_text(prompt.content))
        self.arrived.set()

    def take(self) -> list[Prompt]:
        """Return everything queued, for a turn of its own."""
        prompts = self.take_into_turn()
        for prompt in prompts:
            if prompt.source != "message":
                self._writer.queue("dequeue")
        return prompts

    def take_into_turn(self) -> list[Prompt]:
        """Return everything queued, for the turn that is running."""
        prompts = [*self._waiting]
        self._waiting.clear()
        return prompts

    def take_back(self) -> list[Content]:
        """Return the typed prompts to the user, so that they can be changed."""
        contents = [*self.prompts]
        self._waiting = deque(prompt for prompt in self._waiting if prompt.source != "queued")
        for content in contents:
            self._writer.queue("popAll", get_prompt_text(content))
        return contents
