"""A command to messages that come from it and go to it, a line each, with bounds to all of it.

The SDK's own way lets a line grow without end and prints what it cannot read; here a server that
floods is ended, and what it says on its error output is kept in short, to be told when it dies.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from plait.agent.mcp.model import Server

LONGEST_LINE = 16 * 1024 * 1024
MOST_GARBAGE = 1000
"""Lines that are no messages before a server is given up."""
KEPT = 2000
"""Bytes of the error output that are kept."""
PATIENCE = 0.5
"""Seconds that a server may take to end once nobody speaks to it."""


class Pipe:
    """A server that runs, and what it said last on its error output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.complaint = b""
        self.fault = ""
        """What was wrong with what it said."""

    async def read(self, into: Any, parse: Any) -> None:
        """Hands on what it says, until it ends or says too much."""
        assert self.process.stdout
        garbage = 0
        async with into:
            while garbage < MOST_GARBAGE:
                try:
                    line = await self.process.stdout.readline()
                except ValueError:
                    self.fault = "a message was too long"
                    return
                if not line:
                    return
                try:
                    message = parse(line)
                except ValueError:
                    garbage += bool(line.strip())
                    continue
                await into.send(message)
            self.fault = "what it says is no message"

    async def write(self, source: Any) -> None:
        """Tells it what is to be told."""
        assert self.process.stdin
        with suppress(OSError):
            async for one in source:
                told = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                self.process.stdin.write(told.encode() + b"\n")
                await self.process.stdin.drain()

    async def listen(self) -> None:
        """Keeps the end of what it says on its error output."""
        assert self.process.stderr
        while data := await self.process.stderr.read(4096):
            self.complaint = (self.complaint + data)[-KEPT:]

    async def end(self) -> None:
        """Ends it with all that it started: first by silence, then by force."""
        assert self.process.stdin
        self.process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), PATIENCE)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        # With output that nobody reads it counts as running until its pipes are closed.
        self.process._transport.close()  # type: ignore[attr-defined]
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), PATIENCE)


@asynccontextmanager
async def piped(
    server: Server, cwd: Path, environment: Mapping[str, str]
) -> AsyncIterator[tuple[Any, Any, Pipe]]:
    """Runs a server; gives the streams that the SDK speaks over."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    def parse(line: bytes) -> SessionMessage:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))

    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env={**environment, **server.environment},
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    pipe = Pipe(process)
    inward, said = anyio.create_memory_object_stream[Any](0)
    told, outward = anyio.create_memory_object_stream[Any](0)
    work = [pipe.read(inward, parse), pipe.write(outward), pipe.listen()]
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        yield said, told, pipe
    finally:
        await asyncio.shield(pipe.end())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (inward, said, told, outward):
            stream.close()
