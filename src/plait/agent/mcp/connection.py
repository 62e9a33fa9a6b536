"""A server to a session with it that goes on until it is ended, with what it offers.

One task enters the session and leaves it, as the SDK wants it; whoever calls a tool only asks. A
server that died is started again when it is asked next.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plait.agent.mcp.model import Server, State
from plait.agent.tools.model import ToolError
from plait.errors import MissingExtra

START_WITHIN = 30.0
"""Seconds that a server may take to be ready."""
CALL_WITHIN = 1800.0
"""Seconds that a call may take."""
LEAVE_WITHIN = 10.0
"""Seconds that a server whose connection is closed may take to be gone."""
CLOSED = "Connection closed"
MOST_TOOLS = 200
MOST_PAGES = 50


class Connection:
    """A server, and the session with it."""

    def __init__(
        self,
        server: Server,
        cwd: Path,
        environment: Mapping[str, str],
        *,
        start_within: float = START_WITHIN,
    ) -> None:
        self.server = server
        self.state: State = "starting" if server.is_approved else "unapproved"
        self.fault = ""
        """Why it is not there."""
        self.instructions = ""
        self.tools: list[Mapping[str, Any]] = []
        """What it offers, as the protocol says it."""
        self._cwd = cwd
        self._environment = environment
        self._start_within = start_within
        self._session: Any = None
        self._work: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()

    def start(self) -> None:
        """Begins to reach it."""
        if self._work is None or self._work.done():
            self.state, self.fault = "starting", ""
            self._ready, self._leave = asyncio.Event(), asyncio.Event()
            self._work = asyncio.ensure_future(self._hold())

    async def settled(self) -> None:
        """Waits until it is ready, or is given up."""
        await self._ready.wait()

    async def close(self) -> None:
        """Ends the session, and the server with it."""
        self._leave.set()
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        self.state = "off"

    async def call(self, tool: str, given: Mapping[str, Any], progress: Any) -> Mapping[str, Any]:
        """Calls a tool, and returns what comes of it, as the protocol says it."""
        if self.state == "ended":
            self.start()
        await self.settled()
        if self.state != "ready":
            raise ToolError(f"The server '{self.server.name}' is not there: {self.fault}")
        from mcp import MCPError

        ended = asyncio.ensure_future(self._leave.wait())
        calling = asyncio.ensure_future(
            self._session.call_tool(
                tool, dict(given), read_timeout_seconds=CALL_WITHIN, progress_callback=progress
            )
        )
        try:
            await asyncio.wait({ended, calling}, return_when=asyncio.FIRST_COMPLETED)
            if not calling.done():
                raise ToolError(self._why_gone())
            result = calling.result()
        except MCPError as error:
            if error.error.message == CLOSED:
                await self._gone()
                raise ToolError(self._why_gone()) from None
            raise ToolError(error.error.message) from None
        finally:
            for one in (ended, calling):
                one.cancel()
            await asyncio.gather(ended, calling, return_exceptions=True)
        return dict(result.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def _gone(self) -> None:
        """Waits until a session that is over is left, so that the next call begins another."""
        self._leave.set()
        if self._work:
            await asyncio.wait({self._work}, timeout=LEAVE_WITHIN)

    def _why_gone(self) -> str:
        return f"{CLOSED}: {self.fault}" if self.fault else CLOSED

    async def _hold(self) -> None:
        """Holds the session, from its beginning to its end, and notes what became of it."""
        try:
            await self._held()
            self.state = "ended"
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            self._failed(_first(group))
        except Exception as error:
            self._failed(error)
        finally:
            self._session = None
            self._leave.set()
            self._ready.set()

    def _failed(self, error: BaseException) -> None:
        self.state = "failed" if not self._ready.is_set() else "ended"
        self.fault = self.fault or _in_words(error, self.server, self._start_within)

    async def _held(self) -> None:
        async with self._streams() as (said, told, pipe):
            from mcp import ClientSession

            async with ClientSession(said, told) as session:
                try:
                    async with asyncio.timeout(self._start_within):
                        await self._begin(session)
                except Exception:
                    self.fault = _complaint(pipe)
                    raise
                self._session, self.state = session, "ready"
                self._ready.set()
                await self._until_gone(pipe)

    async def _begin(self, session: Any) -> None:
        begun = await session.initialize()
        self.instructions = begun.instructions or ""
        self.tools = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await _page(session, cursor)
            self.tools += [one.model_dump(by_alias=True, exclude_none=True) for one in page.tools]
            cursor = page.next_cursor
            if not cursor or len(self.tools) > MOST_TOOLS:
                break

    async def _until_gone(self, pipe: Any) -> None:
        """Waits until it is left, or the server ends by itself."""
        if pipe is None:
            await self._leave.wait()
            return
        left = asyncio.ensure_future(self._leave.wait())
        gone = asyncio.ensure_future(pipe.process.wait())
        try:
            await asyncio.wait({left, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            gone.cancel()
        self.fault = _complaint(pipe)

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any, Any]]:
        if self.server.command:
            from plait.agent.mcp.stdio import piped

            async with piped(self.server, self._cwd, self._environment) as found:
                yield found
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers=dict(self.server.headers), timeout=CALL_WITHIN) as client,
            streamable_http_client(self.server.url, http_client=client) as (said, told),
        ):
            yield said, told, None


def check_installed() -> None:
    """Makes sure that the SDK is there."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "servers need the SDK of their protocol", "`pip install 'plait[agent]'`"
        ) from None


async def _page(session: Any, cursor: str | None) -> Any:
    from mcp_types import PaginatedRequestParams

    params = PaginatedRequestParams(cursor=cursor) if cursor else None
    return await session.list_tools(params=params)


def _complaint(pipe: Any) -> str:
    """Returns what is known of why a server is gone."""
    if pipe is None:
        return ""
    lines = pipe.complaint.decode(errors="replace").strip().splitlines()
    return str(pipe.fault or (lines[-1] if lines else ""))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _in_words(error: BaseException, server: Server, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"it was not ready after {seconds:g} seconds"
    if isinstance(error, FileNotFoundError):
        return f"there is no command '{server.command}'"
    return " ".join(str(error).split())[:300] or type(error).__name__
