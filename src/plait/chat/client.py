"""A session with a model through the API: prompts in, events out, everything logged.

    model = MessagesApi("claude-opus-5-5", key="sk-…")
    async with Client.new("/home/me/.claude", cwd="/home/me/shop", model=model) as client:
        async for event in client.send("What is in the README?"):
            ...

`interrupt` stops the turn. A prompt given to `queue` reaches the model within the current turn if
tools run; otherwise it gets a turn of its own before `send` ends.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self, TypeAlias

from plait.chat.approval import Mode
from plait.chat.compaction import describe_failure
from plait.chat.events import Event, Notice
from plait.chat.model_info import ContextFill, get_capacity
from plait.chat.prompts import Prompt, PromptQueue
from plait.chat.responses import ResponseClient, Sleep
from plait.chat.rewind import FileRewindPlan, RewindPoint, list_rewind_points, plan_rewind_from_log
from plait.chat.runtime import Runtime
from plait.chat.session import (
    SessionOptions,
    build_runtime,
    keeps_file_history,
    parse_session_options,
    restore_files,
)
from plait.chat.session_commands import rename_session
from plait.chat.session_hooks import SessionLifecycle
from plait.chat.streaming import Closeable, Model, ModelError
from plait.chat.tools.shell import stop_all
from plait.chat.turn import Turn
from plait.chat.usage import Meter, SessionCost, format_usage_lines
from plait.conversation.prices import Prices
from plait.errors import UserError
from plait.record import Record
from plait.write import SessionWriter
from plait.write.lines import NEWEST, Content, Version

TurnWork: TypeAlias = Callable[[], Coroutine[None, None, None]]


class Client:
    """A session through the API; an `Engine` of the console."""

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
        """Usage since the session was opened."""
        self.cost = SessionCost(
            self.meter.prices, runtime.writer.cost_before, runtime.writer.ids.moment
        )
        """The whole cost of the session, as it is logged."""
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
        """Whether the consumer of the running turn has gone."""

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
        **options: Any,
    ) -> Self:
        """Start a new session of a directory, logged in a configuration folder of Claude Code.

        Further options are the fields of `plait.chat.SessionOptions`.
        """
        writer = SessionWriter.new(
            folder,
            cwd=cwd,
            session=session,
            version=version,
            model=model.name,
            permission_mode=options.get("mode", "default"),
            entrypoint=entrypoint,
            has_snapshots=keeps_file_history(version, entrypoint, options.get("environment")),
        )
        return cls.from_writer(writer, parse_session_options(model, options), prices=prices)

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
        **options: Any,
    ) -> Self:
        """Resume the session in a log written by Plait or Claude Code."""
        writer = SessionWriter.resume(
            path,
            cwd=cwd,
            version=version,
            model=model.name,
            permission_mode=options.get("mode"),
            entrypoint=entrypoint,
            has_snapshots=keeps_file_history(version, entrypoint, options.get("environment")),
        )
        return cls.from_writer(writer, parse_session_options(model, options), prices=prices)

    @classmethod
    def from_writer(
        cls, writer: SessionWriter, options: SessionOptions, *, prices: Prices | None = None
    ) -> Self:
        """Open the session of a `SessionWriter`."""
        return cls(build_runtime(writer, options), prices=prices)

    @property
    def session(self) -> str:
        """The session ID."""
        return self.runtime.writer.session

    @property
    def path(self) -> Path:
        """The log; it is created with its first line."""
        return self.runtime.writer.path

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.runtime.writer.setting.model

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self.runtime.permissions.mode

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools."""
        return tuple(self.runtime.tools)

    @property
    def commands(self) -> Mapping[str, str]:
        """Custom commands and skills of the user, by name, with their descriptions."""
        skills = self.runtime.skills
        if skills is None:
            return {}
        return {
            skill.name: skill.description for skill in skills.skills.values() if skill.is_for_person
        }

    @property
    def total_dollars(self) -> float | None:
        """The cost of the whole session; None if its log had no cost when it was opened."""
        return float(self.cost.fields["totalCostUSD"]) if self.cost.before else None

    @property
    def context_fill(self) -> ContextFill | None:
        """How many tokens the context has, and the limits of the model."""
        requests = self.runtime.requests
        capacity = get_capacity(requests.model)
        return ContextFill(
            requests.context.tokens(), capacity.window, capacity.compaction_threshold
        )

    @property
    def rules(self) -> Sequence[str]:
        """The permission mode and rules, one per line."""
        return self.runtime.permissions.describe()

    async def servers(self, approve: str = "") -> list[str]:
        """Return the status of each MCP server, after approving one if named."""
        if self.runtime.servers is None:
            return []
        notices = await self.runtime.servers.start()
        lines = [await self.runtime.servers.approve(approve)] if approve else notices
        return [*lines, *self.runtime.servers.status_lines()]

    @property
    def is_busy(self) -> bool:
        """Whether a turn is running."""
        return self._task is not None and not self._task.done()

    @property
    def has_events(self) -> bool:
        """Whether there are events that were not consumed yet."""
        return self.is_busy and not self._events.empty()

    def warm_up(self) -> None:
        """Run the hooks for the start of a session while the user still types."""
        self.lifecycle.start()

    async def wait_for_background(self) -> None:
        """Wait until something needs a turn of its own, such as the end of an agent."""
        while self.is_busy or not len(self._queue):
            self._queue.arrived.clear()
            await self._queue.arrived.wait()

    def continue_turns(self) -> AsyncGenerator[Event, None]:
        """Run the turns of what has arrived; yield events as `send` does."""
        return self._stream_events(lambda: self._run_turns(None))

    def send(self, content: Content, *, uuid: str | None = None) -> AsyncGenerator[Event, None]:
        """Send a prompt; yield events until nothing is queued. Closed early, the turn is stopped."""
        return self._stream_events(lambda: self._run_turns(content, uuid))

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Replace the conversation with a summary."""
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
        """Queue a prompt while a turn is running."""
        if not self.is_busy:
            raise UserError("no turn is running", "use `send` instead")
        self._queue.put(content)

    def take_back(self) -> list[Content]:
        """Take the queued prompts back."""
        return self._queue.take_back()

    def interrupt(self) -> bool:
        """Stop the running turn; return whether there was one."""
        if not self.is_busy or self._task is None:
            return False
        return self._task.cancel()

    def rewind_points(self) -> list[RewindPoint]:
        """Return the prompts that can be rewound to, oldest first."""
        return list_rewind_points(self.chain)

    @property
    def chain(self) -> Sequence[Record]:
        """The messages of the conversation since the last compaction."""
        return self.runtime.requests.context.records

    def plan_file_rewind(self, point: RewindPoint) -> FileRewindPlan | None:
        """Return what a rewind changes in files; None if there are no backups for that prompt."""
        root = Path(self.runtime.writer.setting.cwd)
        return plan_rewind_from_log(
            self.path, point.uuid, root, self.runtime.place.extra_directories
        )

    async def rewind(self, point: RewindPoint) -> None:
        """Continue from before a prompt; files are not changed.

        Only files that were read or written before that prompt count as known afterwards.
        """
        if self.is_busy:
            raise UserError("a turn is running", "stop it first")
        self.runtime.writer.rewind(point.before, is_kept=True)
        self.runtime.place.file_views.clear()
        restore_files(self.chain, self.runtime.place)

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        """Switch to another model or permission mode."""
        if model:
            self.runtime.writer.setting.model = self.runtime.requests.model = model
        if mode:
            self.runtime.permissions.set_mode(mode)

    async def rename(self, title: str) -> str:
        """Rename the session; return the message for the user."""
        return rename_session(self.runtime.writer, title)

    def log_command(self, name: str, rest: str, lines: list[str]) -> list[str]:
        """Log a slash command as Claude Code does; return the lines to show.

        The client logs `/cost` only in print mode; on a terminal it opens a view and logs nothing.
        """
        writer = self.runtime.writer
        if name == "cost" and not writer.setting.is_older:
            if not writer.is_unseen:
                return lines
            name, lines = "usage", format_usage_lines(self.cost.fields)
        writer.command(name, rest, "\n".join(lines))
        return lines

    def log_unknown_command(self, name: str, rest: str) -> None:
        """Log that an unknown slash command was typed."""
        texts = [f"Unknown command: /{name}"]
        if rest:
            texts.append(f"Args from unknown skill: {rest}")
        for text in texts:
            self.runtime.writer.system("informational", content=text, level="warning")

    async def close(self) -> None:
        """Stop everything that runs and log how the session ends."""
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
        """Run the turn of a prompt, then those of queued prompts."""
        if not await self.lifecycle.wait_started():
            return
        time = self.runtime.writer.ids.time()
        asked = [] if content is None else [Prompt(content, time, uuid=uuid)]
        prompts = [*self._queue.take(), *asked]
        while prompts:
            turn = Turn(self.runtime, self._emit, self._queue, self.meter, self._response_client)
            ended = await turn.run(prompts)
            goes_on = ended.ending not in ("max_turns", "max_budget") and not self._is_abandoned
            if not goes_on:
                return
            pool = self.runtime.agents if self.runtime.writer.is_unseen else None
            while pool and not len(self._queue) and pool.background_count:
                await pool.wait_for_any()  # in print mode
                await asyncio.sleep(0)  # lets callbacks of the agent queue its notification
            prompts = self._queue.take()

    async def _stream_events(self, work: TurnWork) -> AsyncGenerator[Event, None]:
        """Run some work in a task; yield its events until it is done."""
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
        """Cancel the running work; queued prompts are not sent any more."""
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
