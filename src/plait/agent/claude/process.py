"""A running client to objects that come and go by lines, and to requests that are answered."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from plait.errors import UserError

Json: TypeAlias = dict[str, Any]
Reply: TypeAlias = Callable[[Json], Awaitable[Json]]
"""Answers what the client asks; raises Unanswered where nobody can."""
LONGEST_LINE = 64 << 20
LINES_KEPT = 20
"""Lines of what it complained of that are kept, to be told if it dies."""
PATIENCE = 8.0
"""Seconds that it has to end by itself once it is told to."""
ANSWER = 60.0
"""Seconds that a request may take to be answered."""


class Unanswered(Exception):
    """A request of the client that nobody here can answer."""


class ClaudeProcess:
    """The client while it runs: `send` and `objects`, and `control` for requests."""

    def __init__(self, process: asyncio.subprocess.Process, reply: Reply) -> None:
        self._process = process
        self._reply = reply
        self._numbers = count(1)
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._replies: dict[str, asyncio.Task[None]] = {}
        self._complaints: deque[str] = deque(maxlen=LINES_KEPT)
        self._errors = asyncio.ensure_future(self._listen_to_errors())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        reply: Reply,
    ) -> "ClaudeProcess":
        """Starts the client in a directory, in a group of its own."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=directory,
                env=dict(environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"'{command[0]}' does not start: {error.strerror or error}") from error
        return cls(process, reply)

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more."""
        return self._process.returncode is not None

    @property
    def complaint(self) -> str:
        """How it ended, and the last it complained of."""
        code = self._process.returncode
        how = f"exit {code}" if code is None or code >= 0 else f"signal {-code}"
        said = next((line for line in reversed(self._complaints) if line.strip()), "")
        return f"Claude Code has ended ({how})" + (f": {said.strip()}" if said else "")

    async def send(self, value: Mapping[str, Any]) -> None:
        """Tells it something."""
        stdin = self._process.stdin
        assert stdin
        with suppress(ConnectionError):  # that it is gone shows at the other end
            stdin.write(msgspec.json.encode(value) + b"\n")
            await stdin.drain()

    async def control(self, subtype: str, **request: Any) -> Json:
        """Asks it to do something; returns what it answers, raises UserError where it refuses."""
        name = f"plait-{next(self._numbers)}"
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[name] = answer
        told = {"subtype": subtype, **request}
        await self.send({"type": "control_request", "request_id": name, "request": told})
        try:
            response = await asyncio.wait_for(answer, ANSWER)
        except TimeoutError:
            raise UserError(f"Claude Code does not answer to '{subtype}'") from None
        finally:
            self._asked.pop(name, None)
        if response.get("subtype") != "success":
            raise UserError(f"Claude Code refuses: {response.get('error') or subtype}")
        found = response.get("response")
        return found if isinstance(found, dict) else {}

    async def objects(self) -> AsyncIterator[Json]:
        """Yields what it tells, until it ends; requests are answered on the way."""
        while (value := await self._next()) is not None:
            match value.get("type"):
                case "control_response":
                    self._take_answer(value.get("response"))
                case "control_request":
                    self._answer(value)
                case "control_cancel_request":
                    self._cancel(str(value.get("request_id")))
                case _:
                    yield value
        await self._process.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._errors), 1)
        self._give_up()

    async def _next(self) -> Json | None:
        """Returns the next object, None at the end; lines that are none are complaints."""
        stdout = self._process.stdout
        assert stdout
        while True:
            try:
                line = await stdout.readline()
            except ValueError:
                self._complaints.append("a line was too long to be read")
                return None
            if not line:
                return None
            with suppress(msgspec.DecodeError):
                value = msgspec.json.decode(line)
                if isinstance(value, dict):
                    return value
            self._complaints.append(line.decode(errors="replace")[:500])

    def _take_answer(self, response: object) -> None:
        if not isinstance(response, dict):
            return
        answer = self._asked.get(str(response.get("request_id")))
        if answer and not answer.done():
            answer.set_result(response)

    def _answer(self, value: Json) -> None:
        name = str(value.get("request_id"))
        request = value.get("request")
        work = self._answered(name, request if isinstance(request, dict) else {})
        self._replies[name] = task = asyncio.ensure_future(work)
        task.add_done_callback(lambda _: self._replies.pop(name, None))

    async def _answered(self, name: str, request: Json) -> None:
        try:
            told: Json = {"subtype": "success", "response": await self._reply(request)}
        except Unanswered as error:
            told = {"subtype": "error", "error": str(error)}
        response = {**told, "request_id": name}
        await self.send({"type": "control_response", "response": response})

    def _cancel(self, name: str) -> None:
        if task := self._replies.get(name):
            task.cancel()

    async def _listen_to_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr
        while True:
            try:
                line = await stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            self._complaints.append(line.decode(errors="replace")[:500])

    def _give_up(self) -> None:
        """Has nobody wait for a client that is gone."""
        for answer in self._asked.values():
            if not answer.done():
                answer.set_result({"subtype": "error", "error": self.complaint})
        for task in self._replies.values():
            task.cancel()

    async def close(self) -> None:
        """Lets it end in order; ends it, and all that it started, where it does not."""
        for task in [*self._replies.values()]:
            task.cancel()
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal(number)
            if await self._has_gone(PATIENCE):
                break
        self._errors.cancel()

    async def _has_gone(self, seconds: float) -> bool:
        """Tells whether it ends in time; what it still says is read, so that it can."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drained(), seconds)
            return True
        return False

    async def _drained(self) -> None:
        stdout = self._process.stdout
        with suppress(RuntimeError):  # somebody else reads it
            while stdout and await stdout.read(1 << 16):
                pass
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
