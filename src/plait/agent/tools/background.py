"""What goes on in the background to how it stands, until it ends or is ended."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from shutil import rmtree
from tempfile import mkdtemp
from typing import Literal, Protocol, TypeAlias
from xml.sax.saxutils import escape

from plait.agent.tools.model import Workplace
from plait.agent.tools.process import Running, stop
from plait.write.queued import News

Status: TypeAlias = Literal["running", "completed", "failed", "killed"]
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST = 600.0
"""Seconds that a command may go on in the background."""


class Background(Protocol):
    """What goes on in the background: a command, or an agent."""

    name: str
    description: str
    is_told: bool
    """Whether its end was told to the model."""
    call: str | None
    """The call that started it, for whoever knows it."""

    @property
    def kind(self) -> str:
        """What it is, in the words of the log."""
        ...

    @property
    def subject(self) -> str:
        """What it does: the command, or the task."""
        ...

    @property
    def status(self) -> Status:
        """How it stands."""
        ...

    @property
    def said(self) -> str:
        """What it said so far."""
        ...

    @property
    def code(self) -> int | None:
        """The exit code of a command that has ended."""
        ...

    @property
    def news(self) -> News:
        """What the model is told when it has ended."""
        ...

    async def wait(self, seconds: float) -> None:
        """Waits for its end, not longer than some seconds."""
        ...

    async def stop(self) -> None:
        """Ends it, and waits until it has ended."""
        ...


@dataclass(slots=True)
class Task:
    """A command in the background."""

    name: str
    running: Running
    description: str
    kind: str = "local_bash"
    call: str | None = None
    """The call that started it, for whoever knows it."""
    is_told: bool = False
    """Whether its end was told to the model."""

    @property
    def status(self) -> Status:
        """How it stands."""
        if self.running.pump is None or not self.running.pump.done():
            return "running"
        if self.running.is_stopped:
            return "killed"
        return "failed" if self.running.code else "completed"

    @property
    def subject(self) -> str:
        """What it does: the command."""
        return self.running.command

    @property
    def said(self) -> str:
        """What it said so far."""
        return self.running.text

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended."""
        return self.running.code

    async def wait(self, seconds: float) -> None:
        """Waits for its end, not longer than some seconds."""
        if self.running.pump:
            await asyncio.wait([self.running.pump], timeout=seconds)

    async def stop(self) -> None:
        """Ends it, and waits until it has ended."""
        self.is_told = True
        await stop(self.running)

    @property
    def news(self) -> News:
        """What the model is told when it has ended."""
        return News(self.notification)

    @property
    def notification(self) -> str:
        """The words of that."""
        asked = f"<tool-use-id>{self.call}</tool-use-id>\n" if self.call else ""
        return (
            f"<task-notification>\n<task-id>{self.name}</task-id>\n{asked}"
            f"<output-file>{self.running.output}</output-file>\n<status>{self.status}</status>\n"
            f"<summary>{escape(self._summary)}</summary>\n</task-notification>"
        )

    @property
    def _summary(self) -> str:
        told = f'Background command "{self.description}"'
        match self.status:
            case "completed":
                return f"{told} completed (exit code 0)"
            case "failed":
                return f"{told} failed with exit code {self.running.code}"
            case "killed":
                return f"{told} was stopped"
            case _:
                return f"{told} is running"


def task_name() -> str:
    """Returns a name for a command, as the client makes them."""
    return "b" + "".join(SystemRandom().choices(LETTERS, k=8))


def scratch(place: Workplace) -> Path:
    """Returns the folder that output goes to, and makes it where there is none."""
    if place.scratch is None:
        place.scratch = Path(mkdtemp(prefix="plait-")).resolve()
        place.is_scratch_own = True
    folder = place.scratch / "tasks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def keep(place: Workplace, name: str, running: Running, description: str, seconds: float) -> Task:
    """Goes on with a command in the background, no longer than it may."""
    task = Task(name, running, description or running.command)
    place.background[name] = task
    if running.pump:
        watch = asyncio.create_task(_end_late(running, seconds))
        running.pump.add_done_callback(lambda _: watch.cancel())
        running.pump.add_done_callback(lambda _: _tell(task, place))
    return task


def _tell(task: Task, place: Workplace) -> None:
    """Has the end of a task told, unless a tool has told it."""
    if not task.is_told:
        task.is_told = True
        place.when_done(task)


async def _end_late(running: Running, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await asyncio.shield(stop(running))


async def end_all(place: Workplace) -> None:
    """Ends all that runs in the background, and takes away what it wrote: the session is over."""
    place.when_done = lambda task: None
    tasks = [one for one in place.background.values() if one.status == "running"]
    await asyncio.gather(*(task.stop() for task in tasks))
    if place.scratch and place.is_scratch_own:
        rmtree(place.scratch, ignore_errors=True)
        place.scratch, place.is_scratch_own = None, False
