"""Connections to bounded ones: nobody holds the server by saying nothing, or by never ending.

A client has a few seconds for a whole request, and must go on reading what it is sent. Who
comes while too many are here is sent away at once.

    bytes ── BoundedProtocol ── the server's own protocol ── Bounds ── application
             keeps the time                                  tells it of requests
"""

import asyncio
from contextvars import Context, ContextVar, copy_context
from functools import cache
from typing import Any

import uvicorn
from h11 import LocalProtocolError

from plait.web.guard import App, Message, Receive, Scope, Send

PATIENCE = 10.0
"""Seconds in which a request must have been said."""
READING = 20.0
"""Seconds in which a client must have taken some of its answer."""
SOME = 16 << 10
MOST_CONNECTIONS = 200
_CONNECTION: ContextVar["BoundedProtocol | None"] = ContextVar("connection", default=None)
"""By which connection a request came."""


class Bounds:
    """Lets an application answer, and tells each connection when it was asked and answered."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.connections: set[BoundedProtocol] = set()
        """Those that are open."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = _CONNECTION.get()
        if scope["type"] != "http" or connection is None:
            await self.app(scope, receive, send)
            return

        request = object()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                connection.was_asked(request)
            return message

        async def sent(message: Message) -> None:
            try:
                await send(message)
            except LocalProtocolError:
                if not connection.transport.is_closing():
                    raise
                await connection.hang_up()

        if not _has_body(scope):
            connection.was_asked(request)
        try:
            await self.app(scope, received, sent)
        finally:
            connection.was_answered(request)


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


@cache
def _http() -> type[asyncio.Protocol]:
    """Returns what speaks HTTP as such, by the name that the server's settings have for it."""
    config = uvicorn.Config(Bounds, http="h11", log_config=None)
    config.load()
    return config.http_protocol_class


class BoundedProtocol(asyncio.Protocol):
    """Speaks HTTP with clients that come to the point."""

    transport: asyncio.Transport
    _context: Context

    def __init__(self, config: uvicorn.Config, **given: Any) -> None:
        assert isinstance(config.app, Bounds)
        self._here = config.app.connections
        make: Any = _http()
        self._inner: asyncio.Protocol = make(config=config, **given)
        self._loop = asyncio.get_running_loop()
        self._is_lost = asyncio.Event()
        self._answering: set[object] = set()
        self._said_by: asyncio.TimerHandle | None = None
        self._read_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Gives a new client a little time for its first request."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._context = copy_context()
        self._context.run(_CONNECTION.set, self)
        self._here.add(self)
        self._inner.connection_made(transport)
        if len(self._here) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Takes what a client says; its requests are answered in the context of this one."""
        if not self._answering:
            self._wait()
        try:
            self._context.run(self._inner.data_received, data)
        except LocalProtocolError:  # what cannot be read came where no answer may have words
            self.transport.abort()

    def eof_received(self) -> bool | None:
        """A client has said all that it will say."""
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets a client."""
        self._here.discard(self)
        self._calm()
        self._stop_watching()
        self._inner.connection_lost(exc)
        self._is_lost.set()

    async def hang_up(self) -> None:
        """Leaves a client that nothing can be said to any more."""
        self.transport.abort()
        await self._is_lost.wait()

    def was_asked(self, request: object) -> None:
        """A request was said to its end: the waiting for it is over."""
        self._answering.add(request)
        self._calm()

    def was_answered(self, request: object) -> None:
        """What comes now is another request, if that has not come already."""
        self._answering.discard(request)
        self._calm()

    def pause_writing(self) -> None:
        """Begins to watch whether a client reads on."""
        self._inner.pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """A client has read enough to be sent more."""
        self._stop_watching()
        self._inner.resume_writing()

    def _wait(self) -> None:
        if self._said_by is None:
            self._said_by = self._loop.call_later(PATIENCE, self._hurry)

    def _hurry(self) -> None:
        """Hangs up on a client that has not said what it wants."""
        self._said_by = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _calm(self) -> None:
        if self._said_by is not None:
            self._said_by.cancel()
            self._said_by = None

    def _watch(self, held: int) -> None:
        self._stop_watching()
        self._read_by = self._loop.call_later(READING, self._look, held)

    def _look(self, held: int) -> None:
        """Hangs up on a client that has read next to nothing since."""
        self._read_by = None
        left = self.transport.get_write_buffer_size()
        if left > held - SOME:
            self.transport.abort()
        else:
            self._watch(left)

    def _stop_watching(self) -> None:
        if self._read_by is not None:
            self._read_by.cancel()
            self._read_by = None
