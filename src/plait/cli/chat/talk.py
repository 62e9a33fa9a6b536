"""A person who types, and a session that answers: prompts, commands, stops, until one leaves."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from plait.agent.engine import Engine, Sessions
from plait.agent.events import Answered, Event, Prompted, Said, TurnEnded
from plait.agent.rewinding import Point
from plait.agent.streaming import ModelFault
from plait.cli.chat.keyboard import Keyboard
from plait.cli.chat.screen import Screen
from plait.errors import UserError
from plait.view.terminal.model import Remark, Words
from plait.write.prompts import words_of

INTERRUPTED = 130


@dataclass
class Talk:
    """Goes on until the person leaves."""

    client: Engine
    screen: Screen
    keyboard: Keyboard
    sessions: Sessions
    """Begins sessions in the place of another."""
    waiting: list[str] = field(default_factory=list)
    """Prompts that were typed ahead, as they are shown."""
    has_spoken: bool = False
    """Whether anything was asked."""
    _has_left: bool = False

    async def run(self, first: str | None) -> int:
        """Takes prompts until there are no more; returns the exit code."""
        text = first
        try:
            while not self._has_left:
                text = text or await self.keyboard.prompt()
                if text is None:
                    break
                await self.take(text)
                text = None
        except asyncio.CancelledError:
            return INTERRUPTED
        return 0

    async def take(self, text: str) -> None:
        """Does a command, or a turn."""
        from plait.cli.chat.commands import obey

        try:
            if text.startswith("/"):
                await self.screen.print([Words(voice="command", text=text)])
                await obey(self, text)
            else:
                self.has_spoken = True
                await self._follow(self.client.send(text), text)
        except UserError as error:
            await self._complain(error.message)
        except ModelFault as fault:
            await self._complain(fault.text)
        except asyncio.CancelledError:
            if _is_ending():
                raise
            await self._complain("stopped")

    async def _follow(self, events: AsyncGenerator[Event, None], text: str = "") -> None:
        """Shows a turn while it goes on; a prompt that got no answer goes back to the keyboard."""
        has_begun = False
        async with aclosing(events) as stream, self.keyboard.ahead(self._queue):
            async for event in stream:
                if isinstance(event, Prompted) and event.text in self.waiting:
                    self.waiting.remove(event.text)
                has_begun = has_begun or isinstance(event, Said | Answered)
                await self.screen.show(event)
                self.keyboard.redraw()
                if isinstance(event, TurnEnded) and event.ending == "interrupted" and not has_begun:
                    self.keyboard.put_back(text)

    def _queue(self, text: str) -> None:
        if self.client.is_busy:
            self.waiting.append(text)
            self.client.queue(text)
        else:
            self.keyboard.put_back(text)

    def take_back(self) -> str:
        """Takes back what was typed ahead and waits still."""
        self.waiting.clear()
        return "\n".join(words_of(content) for content in self.client.take_back())

    async def compact(self, focus: str) -> None:
        """Has a summary stand for what was said."""
        await self._follow(self.client.compact(focus))

    async def clear(self) -> None:
        """Begins a new session with nothing in its context."""
        old = self.client
        self.client = self.sessions.cleared(old)
        await old.close()

    async def branch(self, point: Point | None, title: str) -> None:
        """Goes on in a session of its own, from here or from before a prompt."""
        old = self.client
        self.client = await self.sessions.branched(old, point, title)
        await old.close()

    async def settled(self) -> None:
        """Waits until all that has happened is being drawn."""
        while self.client.has_news:
            await asyncio.sleep(0)

    def leave(self) -> None:
        """Goes, once what goes on is over."""
        self._has_left = True

    def stop(self) -> bool:
        """Stops what goes on; tells whether anything did."""
        return self.client.interrupt()

    async def say(self, *lines: str) -> None:
        """Writes lines of our own."""
        await self.screen.say(*lines)

    async def _complain(self, message: str) -> None:
        await self.screen.print([Remark(text=message, tone="trouble")])


def _is_ending() -> bool:
    """Tells whether we are to go, and not only what went on was stopped."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
