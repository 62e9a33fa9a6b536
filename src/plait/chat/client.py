"""A session with a model: prompts in, events out, all of it logged.

    model = MessagesApi("claude-opus-5-5", key="sk-…")
    async with Client.new("/home/me/.claude", cwd="/home/me/shop", model=model) as client:
        async for event in client.send("What is in the README?"):
            ...

`interrupt` stops the turn. A prompt given to `queue` meanwhile reaches the model within the turn
where tools run; otherwise it gets a turn of its own before `send` is over.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from plait.chat.approval import Mode
from plait.chat.compaction import describe_failure
from plait.chat.context import RequestBuilder
from plait.chat.engine import ContextFill
from plait.chat.events import Event, Notice
from plait.chat.model_info import get_capacity
from plait.chat.permissions import SessionPermissions
from plait.chat.prompts import Prompt, PromptQueue
from plait.chat.responses import ResponseClient, Sleep
from plait.chat.rewind import FileRewindPlan, RewindPoint, list_rewind_points, plan_rewind_from_log
from plait.chat.runtime import Runtime
from plait.chat.session import keeps_file_history, parse_session_options, restore_files
from plait.chat.session_commands import log_command, log_unknown_command, rename_session
from plait.chat.session_hooks import SessionLifecycle
from plait.chat.skills import SessionSkills
from plait.chat.streaming import Closeable, Model, ModelError
from plait.chat.tools import stop_all
from plait.chat.turn import Turn
from plait.chat.usage import Meter, SessionCost
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.record import Record
from plait.write import SessionWriter
from plait.write.lines import NEWEST, Content, Version

if TYPE_CHECKING:
    from plait.chat.session import SessionOptions


TurnWork: TypeAlias = Callable[[], Coroutine[None, None, None]]
"""What a session does while somebody follows."""


class Client:
    """A session that goes on."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        prices: Prices | None = None,
        sleep: Sleep = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self.runtime = runtime
        self.meter = Meter(prices or Prices())
        """What the session took since it is open."""
        self.cost = SessionCost(
            self.meter.prices, runtime.writer.cost_before, runtime.writer.ids.moment
        )
        """What it took in all, as the log will say."""
        self._queue = PromptQueue(runtime.writer)
        runtime.place.on_task_done = lambda task: self._queue.put_notification(task.notification)
        self._response_client = ResponseClient(runtime, self._emit, sleep=sleep, random=random)
        if runtime.agents:
            runtime.agents.attach(runtime, self._queue, self._emit, self.meter, sleep)
        self.lifecycle = SessionLifecycle(runtime, self.meter.prices, self._emit)
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._is_abandoned = False
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
        """Begin a session of a directory, in a configuration folder of the client.

        What else is said of how it is held is the fields of `plait.chat.Manner`.
        """
        writer = SessionWriter.new(
            folder,
            cwd=cwd,
            session=session,
            version=version,
            model=model.name,
            permission_mode=manner.get("mode", "default"),
            entrypoint=entrypoint,
            has_snapshots=keeps_file_history(version, entrypoint, manner.get("environment")),
        )
        return cls.from_writer(writer, parse_session_options(model, manner), prices=prices)

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
        """Go on with the session of a file, whoever wrote it."""
        writer = SessionWriter.resume(
            path,
            cwd=cwd,
            version=version,
            model=model.name,
            permission_mode=manner.get("mode"),
            entrypoint=entrypoint,
            has_snapshots=keeps_file_history(version, entrypoint, manner.get("environment")),
        )
        return cls.from_writer(writer, parse_session_options(model, manner), prices=prices)

    @classmethod
    def from_writer(
        cls, writer: SessionWriter, options: "SessionOptions", *, prices: Prices | None = None
    ) -> Self:
        """Hold the session of a log in some manner."""
        from plait.chat.session import build_runtime

        return cls(build_runtime(writer, options), prices=prices)

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.runtime.writer.session

    @property
    def path(self) -> Path:
        """The file of its log; there is none before its first line."""
        return self.runtime.writer.path

    @property
    def model(self) -> str:
        """The name of whoever answers."""
        return self.runtime.writer.setting.model

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        permissions = self.runtime.permissions
        return permissions.mode if isinstance(permissions, SessionPermissions) else "default"

    @property
    def tools(self) -> Sequence[str]:
        """The names of what the model can have done."""
        return tuple(self.runtime.tools)

    @property
    def commands(self) -> Mapping[str, str]:
        """The commands that people wrote down, by name, with what each is for."""
        skills = self.runtime.skills
        if not isinstance(skills, SessionSkills):
            return {}
        return {
            skill.name: skill.description for skill in skills.skills.values() if skill.is_for_person
        }

    @property
    def total_dollars(self) -> float | None:
        """What it cost with all that came before, None where nothing did."""
        return float(self.cost.fields["totalCostUSD"]) if self.cost.before else None

    @property
    def context_fill(self) -> ContextFill | None:
        """How full its context is, None where nobody knows."""
        requests = self.runtime.requests
        if not isinstance(requests, RequestBuilder):
            return None
        capacity = get_capacity(requests.model)
        return ContextFill(
            requests.context.tokens(), capacity.window, capacity.compaction_threshold
        )

    @property
    def rules(self) -> Sequence[str]:
        """What may be done without asking, what is asked about and what may not, a line each."""
        held = self.runtime.permissions
        return held.describe() if isinstance(held, SessionPermissions) else ()

    async def servers(self, approve: str = "") -> list[str]:
        """Return how each server stands; one that waits for leave is started first."""
        if self.runtime.servers is None:
            return []
        notices = await self.runtime.servers.start()
        lines = [await self.runtime.servers.approve(approve)] if approve else notices
        return [*lines, *self.runtime.servers.status_lines()]

    @property
    def is_busy(self) -> bool:
        """Whether a turn goes on."""
        return self._task is not None and not self._task.done()

    @property
    def has_events(self) -> bool:
        """Whether something has happened that whoever follows has not taken yet."""
        return self.is_busy and not self._events.empty()

    @property
    def waiting(self) -> tuple[Content, ...]:
        """The prompts that wait."""
        return self._queue.prompts

    async def wait_for_background(self) -> None:
        """Wait until something has come that has a turn of its own: the end of an agent."""
        while self.is_busy or not len(self._queue):
            self._queue.arrived.clear()
            await self._queue.arrived.wait()

    def continue_turns(self) -> AsyncGenerator[Event, None]:
        """Do the turns of what has come, and yields what happens, as `send` does."""
        return self._stream_events(lambda: self._run_turns(None))

    def send(self, content: Content, *, uuid: str | None = None) -> AsyncGenerator[Event, None]:
        """Asks, and yields what happens until nothing waits; left early, the turn is stopped."""
        return self._stream_events(lambda: self._run_turns(content, uuid))

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Have a summary stand for what was said."""
        compactor = self.runtime.compactor
        if compactor is None:
            raise UserError("this session cannot be compacted")

        async def work() -> None:
            if not await self.lifecycle.wait_started():
                return
            try:
                compacted = await compactor.compact("manual", focus)
            except ModelError as fault:
                self._emit(Notice(describe_failure(fault), is_error=True))
                return
            self.meter.add(compacted.model, compacted.usage, self.runtime.writer.ids.moment())
            self._emit(compacted)

        return self._stream_events(work)

    def queue(self, content: Content) -> None:
        """Have a prompt wait while a turn goes on."""
        if not self.is_busy:
            raise UserError("no turn is running", "send it")
        self._queue.put(content)

    def take_back(self) -> list[Content]:
        """Take the prompts back that wait."""
        return self._queue.take_back()

    def interrupt(self) -> bool:
        """Stop the turn that goes on; tells whether there was one."""
        if not self.is_busy or self._task is None:
            return False
        return self._task.cancel()

    def rewind_points(self) -> list[RewindPoint]:
        """Return the prompts that one can go back to, the oldest first."""
        return list_rewind_points(self.chain)

    @property
    def chain(self) -> Sequence[Record]:
        """The messages that lead to where the session stands, since the last summary."""
        requests = self.runtime.requests
        return requests.context.records if isinstance(requests, RequestBuilder) else ()

    def plan_file_rewind(self, point: RewindPoint) -> FileRewindPlan | None:
        """Return what going back to a prompt means for files, None where none were kept then."""
        root = Path(self.runtime.writer.setting.cwd)
        return plan_rewind_from_log(
            self.path, point.uuid, root, self.runtime.place.extra_directories
        )

    async def rewind(self, point: RewindPoint) -> None:
        """Go on from before a prompt; files stay as they are.

        Of files the model knows from then on what it was told before that prompt.
        """
        if self.is_busy:
            raise UserError("a turn is running", "stop it first")
        self.runtime.writer.rewind(point.before, is_kept=True)
        self.runtime.place.file_views.clear()
        restore_files(self.chain, self.runtime.place)

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        """Go on with another model of the same API, or in another mode."""
        if model:
            self.runtime.writer.setting.model = model
            if isinstance(self.runtime.requests, RequestBuilder):
                self.runtime.requests.model = model
        if mode and isinstance(self.runtime.permissions, SessionPermissions):
            self.runtime.permissions.set_mode(mode)

    async def rename(self, title: str) -> str:
        """Give the session a name; returns what the person is told."""
        return rename_session(self.runtime.writer, title)

    def log_command(self, name: str, rest: str, lines: list[str]) -> list[str]:
        """Have the log say that a command was given, as far as it says so; returns what is told."""
        return log_command(self.runtime.writer, self.cost, name, rest, lines)

    def log_unknown_command(self, name: str, rest: str) -> None:
        """Have the log say that somebody asked for a command that there is not."""
        log_unknown_command(self.runtime.writer, name, rest)

    async def close(self) -> None:
        """Stop what goes on, and logs where the session goes on."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._stop()
        if self.runtime.agents:
            await self.runtime.agents.close()
        if self.runtime.servers:
            await self.runtime.servers.close()
        await stop_all(self.runtime.place)
        self.runtime.writer.close()
        await self.lifecycle.end()
        if self.cost.has_grown and not self.runtime.writer.setting.is_older:
            self.runtime.writer.cost_state(self.cost.fields)
        if isinstance(self.runtime.model, Closeable):
            await self.runtime.model.close()

    async def _run_turns(self, content: Content | None, uuid: str | None = None) -> None:
        """Do the turn of a prompt, then that of the prompts that waited for its end."""
        if not await self.lifecycle.wait_started():
            return
        time = self.runtime.writer.ids.time()
        asked = [] if content is None else [Prompt(content, time, uuid=uuid)]
        prompts = [*self._queue.take(), *asked]
        while prompts:
            turn = Turn(self.runtime, self._emit, self._queue, self.meter, self._response_client)
            ended = await turn.run(prompts)
            goes_on = ended.ending not in ("max_turns", "max_budget") and not self._is_abandoned
            prompts = await self._next_prompts() if goes_on else []

    async def _next_prompts(self) -> list[Prompt]:
        """Return what waits; where nobody types, what agents in the background will report."""
        pool, is_typed = self.runtime.agents, self.runtime.writer.setting.entrypoint == "cli"
        while pool and not is_typed and not len(self._queue) and pool.background_count:
            await pool.wait_for_any()
            await asyncio.sleep(0)  # who waited longer is told first
        return self._queue.take()

    async def _stream_events(self, work: TurnWork) -> AsyncGenerator[Event, None]:
        """Do something, and yields what happens until it is over."""
        if self.is_busy:
            raise UserError("a turn is running", "`queue` adds a prompt to it")
        if self._is_closed:
            raise UserError("the session is closed")
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._events = events
        self._is_abandoned = False
        while self.runtime.agents and self.runtime.agents.notices:
            self._emit(Notice(self.runtime.agents.notices.pop(0)))
        self._task = asyncio.ensure_future(work())
        self._task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await self._events.get()) is not None:
                yield event
        finally:
            await self._stop()
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await self._task

    async def _stop(self) -> None:
        """End what goes on; what waits is not asked any more."""
        self._is_abandoned = True
        if self._task is None or self._task.done():
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def _emit(self, event: Event) -> None:
        self.cost.record(event)
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
