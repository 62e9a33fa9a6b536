"""A person who types, and a session that answers: prompts, commands, stops, until one leaves."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from plait.agent.ending import ended
from plait.agent.engine import Engine, Sessions
from plait.agent.events import Answered, Event, Prompted, Said, TurnEnded
from plait.agent.permission import Mode
from plait.agent.rewinding import Point
from plait.agent.streaming import ModelFault
from plait.cli.chat.beside import Beside
from plait.cli.chat.keyboard import Keyboard
from plait.cli.chat.past import Past
from plait.cli.chat.screen import Screen
from plait.cli.chat.standing import Standing
from plait.errors import PlaitError, UserError
from plait.view.terminal.model import Remark, Words
from plait.write.prompts import words_of

INTERRUPTED = 130
MODES: tuple[Mode, ...] = ("default", "acceptEdits", "plan")
"""What Shift-Tab goes through."""


@dataclass
class Talk:
    """Goes on until the person leaves."""

    client: Engine
    screen: Screen
    keyboard: Keyboard
    sessions: Sessions
    """Begins sessions in the place of another."""
    standing: Standing
    past: Past
    beside: Beside = field(default_factory=Beside)
    waiting: list[str] = field(default_factory=list)
    """Prompts that were typed ahead, as they are shown."""
    later: list[str] = field(default_factory=list)
    """Commands that were typed ahead, and are done when the turn is over."""
    has_spoken: bool = False
    """Whether anything was asked."""
    _has_left: bool = False
    _looks: set["asyncio.Future[None]"] = field(default_factory=set)

    async def run(self, first: str | None) -> int:
        """Takes prompts until there are no more; returns the exit code."""
        text = first
        try:
            while not self._has_left:
                text = text or self._next_command() or await self._typed()
                if text is None:
                    break
                await self.take(text)
                text = None
        except asyncio.CancelledError:
            return INTERRUPTED
        return 0

    async def _typed(self) -> str | None:
        """Returns the next prompt; what comes meanwhile of agents has its turn before it."""
        while self.keyboard.is_live:
            typing = asyncio.ensure_future(self.keyboard.prompt())
            coming = asyncio.ensure_future(self.client.news())
            try:
                await asyncio.wait([typing, coming], return_when=asyncio.FIRST_COMPLETED)
            finally:
                coming.cancel()
                await ended([typing])
            if not typing.cancelled():
                return typing.result()
            await self._guarded(self._follow(self.client.go_on()))
        return await self.keyboard.prompt()

    async def take(self, text: str) -> None:
        """Does a command, or a turn."""
        await self._guarded(self._done(text))

    async def _done(self, text: str) -> None:
        from plait.cli.chat.commands import obey

        if text.startswith("/"):
            await self.screen.print([Words(voice="command", text=text)])
            await obey(self, text)
        else:
            await self.ask(text)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        """Does something, and says what went wrong with it."""
        try:
            await work
        except PlaitError as error:
            await self._complain(error.message, *error.hints)
        except ModelFault as fault:
            await self._complain(fault.text)
        except asyncio.CancelledError:
            if _is_ending():
                raise
            await self._complain("stopped")

    async def ask(self, text: str) -> None:
        """Does a turn."""
        await self._mention_price()
        self.has_spoken = True
        await self._follow(self.client.send(text), text)

    async def _follow(self, events: AsyncGenerator[Event, None], text: str = "") -> None:
        """Shows a turn while it goes on; a prompt that got no answer goes back to the keyboard."""
        has_begun = False
        async with aclosing(events) as stream, self.keyboard.ahead(self._queue):
            async for event in stream:
                if isinstance(event, Prompted) and event.text in self.waiting:
                    self.waiting.remove(event.text)
                has_begun = has_begun or isinstance(event, Said | Answered)
                self.beside.take(event)
                self.standing.take(event, self.client)
                await self.screen.show(event)
                self.keyboard.redraw()
                if isinstance(event, TurnEnded) and event.ending == "interrupted" and not has_begun:
                    self.keyboard.put_back(text)

    def _queue(self, text: str) -> None:
        """Takes what is typed while something goes on: a look at once, all else in its turn."""
        if text.startswith("/"):
            self._queue_command(text)
        elif self.client.is_busy:
            self.waiting.append(text)
            self.client.queue(text)
        else:
            self.keyboard.put_back(text)

    def _queue_command(self, text: str) -> None:
        from plait.cli.chat.commands import is_look

        if is_look(text):
            look = asyncio.ensure_future(self.take(text))
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)
        else:
            self.waiting.append(text)
            self.later.append(text)

    def _next_command(self) -> str | None:
        if not self.later:
            return None
        text = self.later.pop(0)
        self.waiting.remove(text)
        return text

    def take_back(self) -> str:
        """Takes back what was typed ahead and waits still."""
        prompts = [words_of(content) for content in self.client.take_back()]
        taken = [*prompts, *self.later]
        self.waiting.clear()
        self.later.clear()
        return "\n".join(taken)

    def change_mode(self) -> None:
        """Goes on in the next of the modes that are changed between while one works."""
        mode = self.client.mode
        following = MODES[(MODES.index(mode) + 1) % len(MODES)] if mode in MODES else MODES[0]
        change = asyncio.ensure_future(self.client.switch(mode=following))
        self._looks.add(change)
        change.add_done_callback(self._changed)

    def _changed(self, change: "asyncio.Future[None]") -> None:
        self._looks.discard(change)
        self.keyboard.redraw()

    async def _mention_price(self) -> None:
        """Tells what a prompt costs where nobody could be asked before."""
        doubt = "" if self.keyboard.is_live else self.standing.doubt()
        if doubt:
            await self.screen.print([Remark(text=doubt)])

    async def compact(self, focus: str) -> None:
        """Has a summary stand for what was said."""
        await self._follow(self.client.compact(focus))

    async def clear(self) -> None:
        """Begins a new session with nothing in its context."""
        await self._go_on_with(self.sessions.cleared(self.client))

    async def branch(self, point: Point | None, title: str) -> None:
        """Goes on in a session of its own, from here or from before a prompt."""
        await self._go_on_with(await self.sessions.branched(self.client, point, title))

    async def resume(self, path: Path) -> None:
        """Goes on with another session."""
        if path == self.client.path:
            raise UserError("that is this session")
        await self._go_on_with(self.sessions.resumed(path))

    def foresee(self) -> None:
        """Looks what the next prompt of a session that goes on costs, while one types."""
        path = self.client.path
        look = asyncio.ensure_future(self._foreseen(path))
        self._looks.add(look)
        look.add_done_callback(self._looks.discard)

    async def _foreseen(self, path: Path) -> None:
        found = await asyncio.to_thread(self.past.following, path)
        if found and self.standing.following is None and self.client.path == path:
            self.standing.following = found
            self.keyboard.redraw()

    async def _go_on_with(self, client: Engine) -> None:
        old, self.client = self.client, client
        self.beside = Beside()
        self.standing.following, self.standing.share = None, None
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

    async def _complain(self, message: str, *hints: str) -> None:
        told = [Remark(text=message, tone="trouble"), *(Remark(text=hint) for hint in hints)]
        await self.screen.print(told)


def _is_ending() -> bool:
    """Tells whether we are to go, and not only what went on was stopped."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
