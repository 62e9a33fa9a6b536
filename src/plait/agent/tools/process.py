"""A shell command to its output, in a process group of its own that can be ended as a whole."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from time import monotonic

from plait.agent.tools.model import ToolError

SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")
CHUNK = 64 * 1024
MOST_OUTPUT = 64 * 1024 * 1024
"""Bytes of output that are kept of one command; one that says more is ended."""
GRACE = 2.0
"""Seconds between being asked to end and being made to."""
LINGER = 0.2
"""Seconds in which a shell that has ended is still listened to, through what it left running."""
HEAD = 512 * 1024
"""Bytes of output that are kept at hand."""


@dataclass(slots=True)
class Running:
    """A command that runs, or ran."""

    command: str
    process: Process
    reading: int
    """The end of the pipe that its output comes out of."""
    output: Path
    """The file that its output goes to as it comes."""
    where: Path
    """The file that says in which folder it ended."""
    began: float = field(default_factory=monotonic)
    head: bytearray = field(default_factory=bytearray)
    size: int = 0
    is_stopped: bool = False
    """Whether it was ended from here."""
    pump: "asyncio.Task[int] | None" = None

    @property
    def text(self) -> str:
        """The beginning of what it said so far."""
        return self.head.decode("utf-8", "replace")

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return monotonic() - self.began

    @property
    def code(self) -> int | None:
        """How it ended, as a shell says it; None while it runs."""
        found = self.process.returncode
        return 128 - found if found is not None and found < 0 else found


async def start(
    command: str, cwd: Path, environment: Mapping[str, str], folder: Path, name: str
) -> Running:
    """Starts a command, with nothing to read from and one stream to speak to."""
    output, where = folder / f"{name}.output", folder / f"{name}.cwd"
    shell = next((shell for shell in SHELLS if Path(shell).exists()), "sh")
    script = f"eval {quote(command)} < /dev/null && pwd -P >| {quote(str(where))}"
    _touch(output)
    reading, writing = os.pipe()
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            shell,
            "-c",
            script,
            cwd=cwd,
            env=dict(environment),
            stdin=DEVNULL,
            stdout=writing,
            stderr=STDOUT,
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        os.close(reading)
        await _undone(starting)
        raise
    except (OSError, ValueError) as error:
        os.close(reading)
        raise ToolError(f"Cannot run the command: {error}") from error
    finally:
        os.close(writing)
    running = Running(command, process, reading, output, where)
    running.pump = asyncio.create_task(_pump(running))
    return running


async def _undone(starting: "asyncio.Future[Process]") -> None:
    """Ends a command that was stopped while it started, with what it has started by then."""
    with suppress(OSError, ValueError):
        process = await starting
        _signal(process, signal.SIGKILL)
        await process.wait()


def _touch(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise ToolError(f"Cannot keep the output of the command: {error}") from error


async def _pump(running: Running) -> int:
    """Takes what a command says to its file until it ends; ends one that never stops talking."""
    stream = asyncio.StreamReader()
    pipe = os.fdopen(running.reading, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), pipe
    )
    with running.output.open("ab", buffering=0) as file:
        listener = asyncio.create_task(_listen(running, stream, file.write))
        try:
            code = await running.process.wait()
            await asyncio.wait([listener], timeout=LINGER)
        finally:
            listener.cancel()
            transport.close()
    return code


async def _listen(
    running: Running, stream: asyncio.StreamReader, write: Callable[[bytes], object]
) -> None:
    while chunk := await stream.read(CHUNK):
        room = max(MOST_OUTPUT - running.size, 0)
        with suppress(OSError):  # a full disk loses output, not the turn
            write(chunk[:room])
        running.head += chunk[: max(HEAD - len(running.head), 0)]
        running.size += len(chunk)
        if running.size >= MOST_OUTPUT:
            kill(running)


async def stop(running: Running) -> None:
    """Ends a command and all that it started in its group."""
    running.is_stopped = True
    _signal(running.process, signal.SIGTERM)
    if running.pump:
        done, _ = await asyncio.wait([running.pump], timeout=GRACE)
        _signal(running.process, signal.SIGKILL)
        if not done:
            await asyncio.wait([running.pump])


def kill(running: Running) -> None:
    """Ends a command and its group at once, without waiting for it."""
    running.is_stopped = True
    _signal(running.process, signal.SIGKILL)


def _signal(process: Process, which: signal.Signals) -> None:
    # The group outlives its first process: what that left running is ended too.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)
