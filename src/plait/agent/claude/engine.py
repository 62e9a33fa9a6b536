"""A session that the installed client holds: prompts in, events out, the log is the client's."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

from plait.agent.capacity import capacity_of
from plait.agent.claude.log import is_logged
from plait.agent.claude.process import ClaudeProcess, Unanswered
from plait.agent.claude.proposals import answered
from plait.agent.claude.start import Start
from plait.agent.claude.telling import Telling, commands_in, servers_in
from plait.agent.context import chain_to
from plait.agent.engine import Fill
from plait.agent.events import Answered, Event, Noticed, Said, TurnEnded
from plait.agent.meter import Meter
from plait.agent.permission import Asker, Mode
from plait.agent.rewinding import Point, Restoration, files_logged, points_of
from plait.agent.tools.model import Workplace
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.line import lines, stamp_of
from plait.record import Record, client_records
from plait.write.fork import forked_chain
from plait.write.ids import now
from plait.write.model import Content
from plait.write.place import session_file


class Taken(NamedTuple):
    """A prompt that the client has taken up; told in order with what happens."""

    uuid: str


class ClaudeEngine:
    """A session of the installed client; it is started with the first thing asked of it."""

    def __init__(
        self, start: Start, *, asker: Asker | None = None, prices: Prices | None = None
    ) -> None:
        self.start = start
        self.asker = asker
        self.meter = Meter(prices or Prices())
        """What the session took since it is open."""
        self.place = Workplace(start.directory, cwd=start.directory)
        known = start.session or (None if start.is_fork else start.resumed)
        self._telling = Telling(self.place, self._took, session=known or str(uuid4()))
        self.start = replace(start, session=self._telling.session)
        self._process: ClaudeProcess | None = None
        self._reader: asyncio.Task[None] | None = None
        self._events: asyncio.Queue[Event | Taken | None] = asyncio.Queue()
        self._commands: dict[str, str] = {}
        self._starting = asyncio.Lock()
        self._has_come = asyncio.Event()
        self._waiting: dict[str, Content] = {}
        self._is_busy = self._is_closed = self._has_spoken = False
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def session(self) -> str:
        """The id of the session."""
        return self._telling.session

    @property
    def path(self) -> Path:
        """The file of its log; there is none before its first line."""
        return session_file(self.start.root, self.start.directory.resolve(), self.session)

    @property
    def model(self) -> str:
        """The name of whoever answers; before the first answer, what was asked for."""
        return self._telling.model or self.start.model or "claude"

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        return self._telling.mode or self.start.mode or "default"  # type: ignore[return-value]

    @property
    def tools(self) -> Sequence[str]:
        """The names of what the model can have done, as far as the client has told."""
        return self._telling.tools

    @property
    def commands(self) -> Mapping[str, str]:
        """The commands that the client does itself, by name, with what each is for."""
        told = dict.fromkeys(self._telling.commands, "a command of Claude Code")
        return {**told, **self._commands}

    @property
    def dollars_in_all(self) -> float | None:
        """What the client says that the session cost, None where nothing came before."""
        is_more = self._telling.dollars > self.meter.dollars and self.start.resumed
        return self._telling.dollars if is_more else None

    @property
    def fill(self) -> Fill | None:
        """How full its context is, None where nobody knows."""
        if not self._telling.tokens:
            return None
        capacity = capacity_of(self.model)
        return Fill(self._telling.tokens, capacity.window, capacity.full)

    @property
    def is_busy(self) -> bool:
        """Whether a turn goes on."""
        return self._is_busy

    @property
    def has_news(self) -> bool:
        """Whether something has happened that whoever follows has not taken yet."""
        return self._is_busy and not self._events.empty()

    def warm_up(self) -> None:
        """Has the client start before anything is asked; what goes wrong shows then."""
        self._do(self._running())

    async def send(self, content: Content) -> AsyncGenerator[Event, None]:
        """Asks, and yields what happens until nothing waits; left early, the turn is stopped."""
        self._begin()
        try:
            first = await self._ask(content)
            async with aclosing(self._followed(first)) as events:
                async for event in events:
                    yield event
        finally:
            self._is_busy = False

    async def news(self) -> None:
        """Waits until the client begins a turn by itself: something ended in the background."""
        while self.is_busy or not self._has_come.is_set():
            self._has_come.clear()
            await self._has_come.wait()

    async def go_on(self) -> AsyncGenerator[Event, None]:
        """Yields what happens in a turn that the client began by itself."""
        self._has_come.clear()
        self._is_busy = True
        try:
            async with aclosing(self._followed("")) as events:
                async for event in events:
                    yield event
        finally:
            self._is_busy = False

    async def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Has a summary stand for what was said."""
        async with aclosing(self.send(f"/compact {focus}".strip())) as events:
            async for event in events:
                if not isinstance(event, TurnEnded) or event.ending != "done":
                    yield event

    def queue(self, content: Content) -> None:
        """Has a prompt wait while a turn goes on."""
        if not self.is_busy:
            raise UserError("nothing is going on that a prompt could wait for", "send it")
        self._do(self._ask(content))

    def take_back(self) -> list[Content]:
        """Takes the prompts back that wait."""
        taken = dict(self._waiting)
        self._waiting.clear()
        for uuid in taken:
            self._do(self._control("cancel_async_message", message_uuid=uuid))
        return [*taken.values()]

    def interrupt(self) -> bool:
        """Stops the turn that goes on; tells whether there was one."""
        if self.is_busy:
            self._do(self._control("interrupt"))
        return self.is_busy

    def points(self) -> list[Point]:
        """Returns the prompts that one can go back to, the oldest first."""
        return points_of(self._chain())

    def files_at(self, point: Point) -> Restoration | None:
        """Returns what going back to a prompt means for files, None where none were kept then."""
        return files_logged(self.path, point.uuid, self.start.directory.resolve())

    async def rewind(self, point: Point) -> None:
        """Goes on from before a prompt, in a new run of the client; files stay as they are.

        Before the first prompt the client cannot go back: a new session begins there.
        """
        if self.is_busy:
            raise UserError("a turn is going on", "stop it first")
        old = self.session
        await self._leave()
        if point.before is None:
            self._telling.session = str(uuid4())
            self.start = replace(
                self.start, resumed=None, at=None, is_fork=False, session=self.session
            )
        else:
            self.start = replace(self.start, resumed=old, at=point.before, is_fork=False)

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        """Goes on with another model, or in another mode."""
        if model:
            await self._control("set_model", model=model)
            self.start, self._telling.model = replace(self.start, model=model), model
        if mode:
            await self._control("set_permission_mode", mode=mode)
            self.start, self._telling.mode = replace(self.start, mode=mode), mode

    @property
    def rules(self) -> Sequence[str]:
        """What is said of rules: they are the client's own."""
        return ("rules are those of Claude Code's settings: `claude`, then /permissions",)

    async def servers(self, approve: str = "") -> list[str]:
        """Returns a line for each server whose tools the client uses; approving is up to it."""
        if approve:
            raise UserError("Claude Code approves servers itself", "`claude`, then /mcp")
        return servers_in(await self._control("mcp_status"))

    async def rename(self, title: str) -> str:
        """Gives the session a name; returns what the person is told."""
        name = " ".join(title.split())
        if not name:
            raise UserError("a title needs words", "such as `/rename the parser`")
        await self._control("rename_session", title=name, source="host")
        return f"Session renamed to: {name}"

    def noted(self, name: str, rest: str, said: list[str]) -> list[str]:
        """Returns what is told of a command: the log is the client's, and says nothing of it."""
        return said

    def note_unknown(self, name: str, rest: str) -> None:
        """Leaves the log alone."""

    async def close(self) -> None:
        """Stops what goes on, and has the client leave."""
        if not self._is_closed:
            self._is_closed = True
            await self._leave()

    def _begin(self) -> None:
        if self.is_busy:
            raise UserError("a turn is going on", "`queue` has a prompt wait for it")
        if self._is_closed:
            raise UserError("the session is closed")
        self._is_busy = True
        self._has_come.clear()
        self._events = asyncio.Queue()

    async def _ask(self, content: Content) -> str:
        uuid = str(uuid4())
        self._waiting[uuid] = content
        process = await self._running()
        message = {"role": "user", "content": content}
        told = {"type": "user", "message": message, "parent_tool_use_id": None, "uuid": uuid}
        self._has_spoken = True
        await process.send({**told, "session_id": self.session})
        return uuid

    def _took(self, uuid: str) -> None:
        self._events.put_nowait(Taken(uuid))

    async def _running(self) -> ClaudeProcess:
        """Returns the client, started where it does not run."""
        async with self._starting:
            return await self._started()

    async def _started(self) -> ClaudeProcess:
        if self._process and not self._process.has_ended:
            return self._process
        if self._has_spoken:  # it has died since
            self.start = replace(self.start, resumed=self.session, at=None, is_fork=False)
        start = self.start
        self._process = process = await ClaudeProcess.start(
            start.command,
            directory=start.directory,
            environment=start.whole_environment,
            reply=self._reply,
        )
        self._reader = asyncio.ensure_future(self._read(process))
        told = await process.control("initialize", hooks=None)
        self._commands = commands_in(told)
        if start.title:
            await process.control("rename_session", title=start.title, source="host")
            self.start = replace(self.start, title=None)
        return process

    async def _read(self, process: ClaudeProcess) -> None:
        async for value in process.objects():
            for event in self._telling.of(value):
                if isinstance(event, Answered) and event.model != "<synthetic>":
                    self.meter.add(event.model, event.usage, now())
                self._events.put_nowait(event)
                if isinstance(event, Said | Answered) and not self.is_busy:
                    self._has_come.set()
        self._events.put_nowait(None)

    async def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("subtype") != "can_use_tool":
            raise Unanswered(f"nobody here answers to '{request.get('subtype')}'")
        told = await answered(self.asker, request, self.place)
        if told["behavior"] == "deny":
            self._telling.denied.add(str(request.get("tool_use_id")))
        return told

    async def _control(self, subtype: str, **request: Any) -> dict[str, Any]:
        return await (await self._running()).control(subtype, **request)

    def _do(self, work: Coroutine[Any, Any, Any]) -> None:
        """Has something done that nobody waits for; what goes wrong is told."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, UserError):
            self._events.put_nowait(Noticed(error.message, is_error=True))

    async def _followed(self, first: str) -> AsyncGenerator[Event, None]:
        has_ended = False
        try:
            while (event := await self._events.get()) is not None:
                if isinstance(event, Taken):
                    self._waiting.pop(event.uuid, None)
                    continue
                yield event
                has_ended = isinstance(event, TurnEnded)
                if has_ended:
                    self._waiting.pop(first, None)  # nothing says that a command was taken
                if has_ended and not self._waiting:
                    await is_logged(self.path, self._telling.last)
                    return
            for last in self._died():
                yield last
            has_ended = True
        finally:
            if not has_ended:
                await self._stop()

    def _died(self) -> list[Event]:
        self._waiting.clear()
        words = self._process.complaint if self._process else "Claude Code has ended"
        return [Noticed(words, is_error=True), TurnEnded("failed", "", 0, 0, {}, None)]

    async def _stop(self) -> None:
        """Has the client stop the turn, and waits for that."""
        self._waiting.clear()
        if self._process and not self._process.has_ended:
            with suppress(UserError):
                await self._process.control("interrupt")
                await self._ended_turn()

    async def _ended_turn(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                while not isinstance(await self._events.get(), TurnEnded | None):
                    pass

    async def _leave(self) -> None:
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        process, self._process = self._process, None
        if process:
            await process.close()
        if self._reader:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
        self._has_spoken = False

    def _chain(self) -> list[Record]:
        """Returns the messages that lead to where the session stands."""
        path, tip = self.path, self._telling.last
        if not self._has_spoken:
            tip, resumed = self.start.at or "", self.start.resumed
            path = path.with_stem(resumed) if resumed else path
        if tip:
            return chain_to(path, tip)
        stamp = stamp_of(path)
        return forked_chain(list(client_records(lines(path))), stamp.size) if stamp else []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
