"""A session with somebody who asks: prompts in, events out, all of it logged.

    model = MessagesApi("claude-opus-5-5", key="sk-…")
    async with Client.new("/home/me/.claude", cwd="/home/me/shop", model=model) as client:
        async for event in client.send("What is in the README?"):
            ...

`interrupt` stops the turn from elsewhere; what is given to `queue` while it goes on is told to
the model within it, or else has a turn of its own, before `send` is over.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from plait.agent.answering import Asking, Sleep
from plait.agent.commands import note_unknown, noted
from plait.agent.compaction import told_fault
from plait.agent.cost import SessionCost
from plait.agent.events import Event, Noticed
from plait.agent.holding import has_snapshots, manner_of
from plait.agent.hooks.visit import Visit
from plait.agent.loop import Turn
from plait.agent.memory import SessionMemory
from plait.agent.meter import Meter
from plait.agent.parts import Parts
from plait.agent.permission import Mode
from plait.agent.permissions import SessionPermissions
from plait.agent.queue import Asked, PromptQueue
from plait.agent.recollection import recall_files
from plait.agent.rewinding import Point, Restoration, files_logged, points_of
from plait.agent.sessions import rename
from plait.agent.standing import Standing
from plait.agent.streaming import Closable, Model, ModelFault
from plait.agent.tools import end_all
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.record import Record
from plait.write import SessionWriter
from plait.write.model import Content
from plait.write.order import NEWEST, Version

if TYPE_CHECKING:
    from plait.agent.assembly import Manner


Work: TypeAlias = Callable[[], Coroutine[None, None, None]]
"""What a session does while somebody follows."""


class Client(Standing):
    """A session that goes on."""

    def __init__(
        self,
        parts: Parts,
        *,
        prices: Prices | None = None,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self.parts = parts
        self.meter = Meter(prices or Prices())
        """What the session took since it is open."""
        self.cost = SessionCost(
            self.meter.prices, parts.writer.cost_before, parts.writer.ids.moment
        )
        """What it took in all, as the log will say."""
        self._queue = PromptQueue(parts.writer)
        parts.place.when_done = lambda task: self._queue.put_news(task.news)
        self._asking = Asking(parts, self._emit, sleep=sleep, random=random)
        if parts.crew:
            parts.crew.join(parts, self._queue, self._emit, self.meter, sleep)
        self.visit = Visit(parts, self.meter.prices, self._emit)
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._work: asyncio.Task[None] | None = None
        self._is_closed = False
        self._is_left = False
        """Whether nobody looks at the turn any more."""

    @classmethod
    def new(
        cls,
        folder: str | Path,
        *,
        cwd: str | Path,
        model: Model,
        session: str | None = None,
        version: Version = NEWEST,
        entrypoint: str = "sdk-cli",
        prices: Prices | None = None,
        **manner: Any,
    ) -> Self:
        """Begins a session of a directory, in a configuration folder of the client.

        What else is said of how it is held is the fields of `plait.agent.Manner`.
        """
        writer = SessionWriter.new(
            folder,
            cwd=cwd,
            session=session,
            version=version,
            model=model.name,
            permission_mode=manner.get("mode", "default"),
            entrypoint=entrypoint,
            has_snapshots=has_snapshots(version, entrypoint),
        )
        return cls.of(writer, manner_of(model, manner), prices=prices)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        model: Model,
        cwd: str | Path | None = None,
        version: Version = NEWEST,
        entrypoint: str = "sdk-cli",
        prices: Prices | None = None,
        **manner: Any,
    ) -> Self:
        """Goes on with the session of a file, whoever wrote it."""
        writer = SessionWriter.resume(
            path,
            cwd=cwd,
            version=version,
            model=model.name,
            permission_mode=manner.get("mode"),
            entrypoint=entrypoint,
            has_snapshots=has_snapshots(version, entrypoint),
        )
        return cls.of(writer, manner_of(model, manner), prices=prices)

    @classmethod
    def of(cls, writer: SessionWriter, manner: "Manner", *, prices: Prices | None = None) -> Self:
        """Holds the session of a log in some manner."""
        from plait.agent.assembly import parts_of

        return cls(parts_of(writer, manner), prices=prices)

    @property
    def is_busy(self) -> bool:
        """Whether a turn goes on."""
        return self._work is not None and not self._work.done()

    @property
    def has_news(self) -> bool:
        """Whether something has happened that whoever follows has not taken yet."""
        return self.is_busy and not self._events.empty()

    @property
    def waiting(self) -> tuple[Content, ...]:
        """The prompts that wait."""
        return self._queue.prompts

    async def news(self) -> None:
        """Waits until something has come that has a turn of its own: the end of an agent."""
        while self.is_busy or not len(self._queue):
            self._queue.has_come.clear()
            await self._queue.has_come.wait()

    def go_on(self) -> AsyncGenerator[Event, None]:
        """Does the turns of what has come, and yields what happens, as `send` does."""
        return self._done(lambda: self._turns(None))

    def send(self, content: Content, *, uuid: str | None = None) -> AsyncGenerator[Event, None]:
        """Asks, and yields what happens until nothing waits; left early, the turn is stopped."""
        return self._done(lambda: self._turns(content, uuid))

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Has a summary stand for what was said."""
        compactor = self.parts.compactor
        if compactor is None:
            raise UserError("this session cannot be compacted")

        async def work() -> None:
            if not await self.visit.has_begun():
                return
            try:
                compacted = await compactor.compact("manual", focus)
            except ModelFault as fault:
                self._emit(Noticed(told_fault(fault), is_error=True))
                return
            self.meter.add(compacted.model, compacted.usage, self.parts.writer.ids.moment())
            self._emit(compacted)

        return self._done(work)

    def queue(self, content: Content) -> None:
        """Has a prompt wait while a turn goes on."""
        if not self.is_busy:
            raise UserError("nothing is going on that a prompt could wait for", "send it")
        self._queue.put(content)

    def take_back(self) -> list[Content]:
        """Takes the prompts back that wait."""
        return self._queue.take_back()

    def interrupt(self) -> bool:
        """Stops the turn that goes on; tells whether there was one."""
        if not self.is_busy or self._work is None:
            return False
        return self._work.cancel()

    def points(self) -> list[Point]:
        """Returns the prompts that one can go back to, the oldest first."""
        return points_of(self.chain)

    @property
    def chain(self) -> Sequence[Record]:
        """The messages that lead to where the session stands, since the last summary."""
        memory = self.parts.memory
        return memory.context.records if isinstance(memory, SessionMemory) else ()

    def files_at(self, point: Point) -> Restoration | None:
        """Returns what going back to a prompt means for files, None where none were kept then."""
        root = Path(self.parts.writer.setting.cwd)
        return files_logged(self.path, point.uuid, root, self.parts.place.others)

    async def rewind(self, point: Point) -> None:
        """Goes on from before a prompt; files stay as they are.

        Of files the model knows from then on what it was told before that prompt.
        """
        if self.is_busy:
            raise UserError("a turn is going on", "stop it first")
        self.parts.writer.rewind(point.before, is_kept=True)
        self.parts.place.seen.clear()
        recall_files(self.chain, self.parts.place)

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        """Goes on with another model of the same API, or in another mode."""
        if model:
            self.parts.writer.setting.model = model
            if isinstance(self.parts.memory, SessionMemory):
                self.parts.memory.model = model
        if mode and isinstance(self.parts.permissions, SessionPermissions):
            self.parts.permissions.switch(mode)

    async def rename(self, title: str) -> str:
        """Gives the session a name; returns what the person is told."""
        return rename(self.parts.writer, title)

    def noted(self, name: str, rest: str, said: list[str]) -> list[str]:
        """Has the log say that a command was given, as far as it says so; returns what is told."""
        return noted(self.parts.writer, self.cost, name, rest, said)

    def note_unknown(self, name: str, rest: str) -> None:
        """Has the log say that somebody asked for a command that there is not."""
        note_unknown(self.parts.writer, name, rest)

    async def close(self) -> None:
        """Stops what goes on, and logs where the session goes on."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._stop()
        if self.parts.crew:
            await self.parts.crew.close()
        if self.parts.servers:
            await self.parts.servers.close()
        await end_all(self.parts.place)
        self.parts.writer.close()
        await self.visit.end()
        if self.cost.has_grown and not self.parts.writer.setting.is_older:
            self.parts.writer.cost_state(self.cost.fields)
        if isinstance(self.parts.model, Closable):
            await self.parts.model.close()

    def _begin(self, work: Work) -> None:
        if self.is_busy:
            raise UserError("a turn is going on", "`queue` has a prompt wait for it")
        if self._is_closed:
            raise UserError("the session is closed")
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._events = events
        self._is_left = False
        while self.parts.crew and self.parts.crew.notices:
            self._emit(Noticed(self.parts.crew.notices.pop(0)))
        self._work = asyncio.ensure_future(work())
        self._work.add_done_callback(lambda _: events.put_nowait(None))

    async def _turns(self, content: Content | None, uuid: str | None = None) -> None:
        """Does the turn of a prompt, then that of the prompts that waited for its end."""
        if not await self.visit.has_begun():
            return
        time = self.parts.writer.ids.time()
        asked = [] if content is None else [Asked(content, time, uuid=uuid)]
        prompts = [*self._queue.take(), *asked]
        while prompts:
            turn = Turn(self.parts, self._emit, self._queue, self.meter, self._asking)
            ended = await turn.run(prompts)
            goes_on = ended.ending not in ("max_turns", "max_budget") and not self._is_left
            prompts = await self._next() if goes_on else []

    async def _next(self) -> list[Asked]:
        """Returns what waits; where nobody types, what agents in the background will report."""
        crew, is_typed = self.parts.crew, self.parts.writer.setting.entrypoint == "cli"
        while crew and not is_typed and not len(self._queue) and crew.pending:
            await crew.next_end()
            await asyncio.sleep(0)  # who waited longer is told first
        return self._queue.take()

    async def _done(self, work: Work) -> AsyncGenerator[Event, None]:
        """Does something, and yields what happens until it is over."""
        self._begin(work)
        try:
            while (event := await self._events.get()) is not None:
                yield event
        finally:
            await self._stop()
        if self._work is not None:
            with suppress(asyncio.CancelledError):
                await self._work

    async def _stop(self) -> None:
        """Ends what goes on; what waits is not asked any more."""
        self._is_left = True
        if self._work is None or self._work.done():
            return
        self._work.cancel()
        with suppress(asyncio.CancelledError):
            await self._work

    def _emit(self, event: Event) -> None:
        self.cost.take(event)
        self._events.put_nowait(event)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
