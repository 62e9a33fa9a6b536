"""An errand to what came of it: an agent that works in a conversation and a log of its own."""

import asyncio
import json
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from plait.agent.agents.kinds import Kind
from plait.agent.agents.reports import Report, Tally
from plait.agent.answering import Asking
from plait.agent.events import Answered, Event, TurnEnded, Within
from plait.agent.loop import Turn
from plait.agent.parts import Parts
from plait.agent.queue import Asked, PromptQueue
from plait.agent.tools import end_all
from plait.agent.tools.model import ToolError
from plait.write import AgentWriter

if TYPE_CHECKING:
    from plait.agent.agents.crew import Crew

BROKEN = "Agent terminated early due to an API error: {} ({})"
SHOWN = ("tool_use", "tool_result")
"""What a message holds that is told of in the sender's log while the agent works."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What an agent is sent out for."""

    call: str
    kind: Kind
    description: str
    prompt: str
    model: str
    is_background: bool = False


@dataclass(slots=True)
class Work:
    """An agent at work, and what it did when it is over."""

    crew: "Crew"
    errand: Errand
    writer: AgentWriter
    parts: Parts
    sender: Parts
    tally: Tally
    queue: PromptQueue
    """What waits for it: messages, and news of what it started."""
    task: "asyncio.Task[TurnEnded] | None" = None
    words: tuple[str, ...] = ()
    """The texts of its last answer that has any."""
    fault: dict[str, Any] = field(default_factory=dict)
    """The line of the API error that ended it."""
    began: float = field(default_factory=monotonic)

    @property
    def id(self) -> str:
        """The id of the agent."""
        return self.writer.id

    @property
    def is_busy(self) -> bool:
        """Whether it is at work."""
        return self.task is not None and not self.task.done()

    @property
    def milliseconds(self) -> int:
        """How long ago it was sent out."""
        return round((monotonic() - self.began) * 1000)

    def begin(self, *asked: Asked) -> "asyncio.Task[TurnEnded]":
        """Has it go to work: on its errand, or on what is asked of it now."""
        self.fault = {}
        first = Asked(self.errand.prompt, self.writer.ids.time(), "errand")
        self.task = asyncio.create_task(self._work([*asked] or [first]))
        return self.task

    async def _work(self, prompts: list[Asked]) -> TurnEnded:
        asking = Asking(self.parts, self._emit, sleep=self.crew.sleep, random=self.crew.random)
        self.parts.place.when_done = lambda task: self.queue.put_news(task.news)
        if self.parts.hooks:
            await self.parts.hooks.agent_began()
        try:
            while True:
                turn = Turn(self.parts, self._emit, self.queue, self.crew.meter, asking)
                ended = await turn.run(prompts)
                prompts = self.queue.take() if ended.ending == "done" else []
                if not prompts:
                    break
        finally:
            await end_all(self.parts.place)
        if ended.ending != "interrupted":
            self.writer.note_beside(finished=True)
        return ended

    def _emit(self, event: Event) -> None:
        if isinstance(event, Answered):
            self.tally.take(event)
            texts = (block.get("text") for block in event.content if block.get("type") == "text")
            self.words = tuple(text for text in texts if text) or self.words
        self.crew.emit(Within(self.id, self.errand.call, event))

    def listen(self) -> None:
        """Takes note of the lines of its log, and tells of them in the sender's."""
        known = self.writer.on_line
        label = f"agent_{self.sender.writer.last_response}"

        def take(line: bytes) -> None:
            if known:
                known(line)
            entry = json.loads(line)
            if entry.get("isApiErrorMessage"):
                self.fault = entry
            if self.writer.setting.is_older and not self.errand.is_background:
                self._tell_progress(entry, label)

        self.writer.on_line = take

    def _tell_progress(self, entry: dict[str, Any], label: str) -> None:
        told = _told(entry)
        if told is None:
            return
        data = {
            "message": told,
            "normalizedMessages": [],
            "type": "agent_progress",
            "prompt": self.errand.prompt,
            "agentId": self.id,
        }
        self.sender.writer.progress(data, call=self.errand.call, label=label)

    def report(self, ended: TurnEnded) -> Report:
        """Returns what came of it; raises ToolError where nothing did."""
        if ended.ending == "failed":
            raise ToolError(self.failure(ended.text))
        return Report(
            self.id,
            self.errand.kind.name,
            self.errand.prompt,
            self.errand.model,
            self.words,
            self.tally,
            self.milliseconds,
            limit=ended.responses if ended.ending == "max_turns" else None,
            is_single=self.errand.kind.is_single,
        )

    def failure(self, text: str) -> str:
        """Returns why it could not go on."""
        line = self.fault
        if not line:
            return text
        known = [f"error type {line.get('error', 'unknown')}"]
        known += [f"HTTP {line['apiErrorStatus']}"] if "apiErrorStatus" in line else []
        known += [f"request id {line['requestId']}"] if "requestId" in line else []
        known.append(f"model sent to the API: {self.errand.model}")
        return BROKEN.format(text, ", ".join(known))


def _told(entry: dict[str, Any]) -> dict[str, Any] | None:
    """Returns a message as the sender's log tells of it: the prompt, calls and results."""
    message = entry.get("message")
    if not isinstance(message, dict) or entry.get("isMeta"):
        return None
    content: Any = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    elif not any(block.get("type") in SHOWN for block in content):
        return None
    told = {"type": entry["type"], "message": {**message, "content": content}}
    named = {name: entry[name] for name in ("requestId",) if name in entry}
    return {**told, **named, "uuid": entry["uuid"], "timestamp": entry["timestamp"]}
