"""A hook and what it is told to what it says, within its time, with nothing left running."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic

from plait.agent.hooks.model import Hook, Ran

SHELL = "/bin/sh"
CHUNK = 64 * 1024
MOST_OUTPUT = 4 * 1024 * 1024
"""Bytes of what a hook says that are taken; one that says more is ended."""
LINGER = 0.2
"""Seconds in which a hook that has ended is still listened to, through what it left running."""
NOT_RUN = 126


async def run(hook: Hook, told: bytes, cwd: Path, environment: Mapping[str, str]) -> Ran:
    """Runs a hook to its end, or ends it with all that it started. Cancelled, it does the same."""
    began = monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            SHELL,
            "-c",
            hook.command,
            cwd=cwd,
            env=dict(environment),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ran(hook, NOT_RUN, stderr=str(error), milliseconds=_since(began))
    listening = [asyncio.ensure_future(_listen(process, stream)) for stream in (1, 2)]
    telling = asyncio.ensure_future(_tell(process, told))
    is_late = False
    try:
        async with asyncio.timeout(hook.seconds):
            await process.wait()
    except TimeoutError:
        is_late = True
    finally:
        if is_late or process.returncode is None:
            _end(process)
        telling.cancel()
        heard = await _heard(process, listening)
    code = process.returncode or 0
    return Ran(hook, 128 - code if code < 0 else code, *heard, _since(began), is_late)


async def _tell(process: Process, told: bytes) -> None:
    """Tells a hook what happened; one that does not listen is told nothing."""
    stream = process.stdin
    if stream is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(told)
        await stream.drain()
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.close()


async def _listen(process: Process, which: int) -> bytes:
    """Returns what a hook says. One that says too much is ended, and what is still on its way is
    taken: some Pythons wait for a process until all that it said was read.
    """
    stream = process.stdout if which == 1 else process.stderr
    heard, is_ended = bytearray(), False
    with suppress(asyncio.CancelledError):
        while stream and (chunk := await stream.read(CHUNK)):
            heard += chunk[: max(MOST_OUTPUT - len(heard), 0)]
            if len(heard) >= MOST_OUTPUT and not is_ended:
                is_ended = True
                _end(process)
    return bytes(heard)


async def _heard(process: Process, listening: "list[asyncio.Task[bytes]]") -> tuple[str, str]:
    """Returns what was said, without waiting for what a hook left running."""
    with suppress(asyncio.CancelledError):
        await process.wait()
    await asyncio.wait(listening, timeout=LINGER)
    for one in listening:
        one.cancel()
    if transport := getattr(process, "_transport", None):
        transport.close()  # what a hook left running may hold its pipes for ever
    done = await asyncio.gather(*listening, return_exceptions=True)
    texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else "" for one in done]
    return texts[0], texts[1]


def _end(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _since(began: float) -> int:
    return round((monotonic() - began) * 1000)
