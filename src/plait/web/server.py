"""The server: connection limits, the application with its routes, logging, running.

Nobody blocks the server by sending nothing, or by never finishing: a client has a few seconds for a
whole request, and must keep reading the response. Requests on connections beyond the limit are
answered 503, and those connections are closed.

    bytes ── LimitedProtocol ── uvicorn's protocol ── ConnectionLimits ── application
             enforces times                           reports requests
"""

import asyncio
import logging
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import cache
from traceback import format_exception
from typing import Any

import uvicorn
from h11 import LocalProtocolError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import ExceptionHandler

from plait.archive.live import LiveArchive
from plait.errors import PlaitError
from plait.web.address import ServerAddress
from plait.web.api.edits import HeldPlans
from plait.web.api.routes import ROUTES as API_ROUTES
from plait.web.events import Hub, serve_events
from plait.web.guard import (
    DEFAULT_COMMANDS,
    MOST_HEADERS,
    App,
    Commands,
    Guard,
    Keys,
    Message,
    Receive,
    Scope,
    Send,
    SignIn,
)
from plait.web.pages import ROUTES as PAGE_ROUTES
from plait.web.responses import (
    handle_disconnect,
    handle_exception,
    handle_http_error,
    handle_plait_error,
    serve_asset,
)
from plait.web.watcher import ReadingCallback, Watcher

REQUEST_TIMEOUT = 10.0
"""Seconds for a complete request."""
READ_TIMEOUT = 20.0
"""Seconds in which a client must read part of the response."""
SOME = 16 << 10
MOST_CONNECTIONS = 200
"""Connections that are served at the same time."""
MOST_REFUSED = 1000
"""Connections beyond those that are answered 503; any more are reset."""
BUSY_TEXT = (
    f"Plait serves at most {MOST_CONNECTIONS} connections at a time. Try again in a moment.\n"
)
BUSY = (
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Cache-Control: no-store\r\nRetry-After: 5\r\nConnection: close\r\n"
    f"Content-Length: {len(BUSY_TEXT)}\r\n\r\n{BUSY_TEXT}"
).encode()
_CONNECTION: ContextVar["LimitedProtocol | None"] = ContextVar("connection", default=None)
"""The connection of a request."""


class ConnectionLimits:
    """Runs an application, and tells each connection when requests start and end."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.connections: set[LimitedProtocol] = set()
        """The connections that are served."""
        self.refused: set[LimitedProtocol] = set()
        """Those beyond the limit, until they have been answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = _CONNECTION.get()
        if scope["type"] != "http" or connection is None:
            await self.app(scope, receive, send)
            return

        request = object()

        async def receive_and_note() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                connection.start_request(request)
            return message

        async def send_or_hang_up(message: Message) -> None:
            try:
                await send(message)
            except LocalProtocolError:
                if not connection.transport.is_closing():
                    raise
                await connection.hang_up()

        if not any(
            name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]
        ):
            connection.start_request(request)
        try:
            await self.app(scope, receive_and_note, send_or_hang_up)
        finally:
            connection.end_request(request)


@cache
def _load_http_protocol() -> type[asyncio.Protocol]:
    """Return uvicorn's protocol class for HTTP by its setting's name."""
    config = uvicorn.Config(ConnectionLimits, http="h11", log_config=None)
    config.load()
    return config.http_protocol_class


class BusyProtocol(asyncio.Protocol):
    """Answers the first request of a connection beyond the limit, and ends the connection.

    It stays open until the client closes it or its time is up: closing while the client still sends
    would reset the connection, and the client would never see the answer.
    """

    _transport: asyncio.Transport | None = None
    _is_answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answer."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once; ignore the rest."""
        if self._transport is not None and not self._is_answered:
            self._is_answered = True
            self._transport.write(BUSY)
            self._transport.write_eof()


class LimitedProtocol(asyncio.Protocol):
    """Speaks HTTP with clients within the time limits."""

    transport: asyncio.Transport
    _context: Context

    def __init__(self, config: uvicorn.Config, **arguments: Any) -> None:
        assert isinstance(config.app, ConnectionLimits)
        self._limits = config.app
        create: Any = _load_http_protocol()
        self._inner: asyncio.Protocol = create(config=config, **arguments)
        self._loop = asyncio.get_running_loop()
        self._is_lost = asyncio.Event()
        self._open_requests: set[object] = set()
        self._request_deadline: asyncio.TimerHandle | None = None
        self._read_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give a new client a little time for its first request."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._context = copy_context()
        self._context.run(_CONNECTION.set, self)
        if len(self._limits.connections) < MOST_CONNECTIONS:
            self._limits.connections.add(self)
        else:
            self._limits.refused.add(self)
            self._inner = BusyProtocol()
        self._inner.connection_made(transport)
        if len(self._limits.refused) > MOST_REFUSED:
            transport.abort()
            return
        self._start_request_deadline()

    def data_received(self, data: bytes) -> None:
        """Receive data; requests are answered in the context of this connection."""
        if not self._open_requests:
            self._start_request_deadline()
        try:
            self._context.run(self._inner.data_received, data)
        except LocalProtocolError:  # an unreadable request arrived where no response is possible
            self.transport.abort()

    def eof_received(self) -> bool | None:
        """Note that the client sends no more."""
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client."""
        self._limits.connections.discard(self)
        self._limits.refused.discard(self)
        self._stop_request_deadline()
        self._stop_read_deadline()
        self._inner.connection_lost(exc)
        self._is_lost.set()

    async def hang_up(self) -> None:
        """Close a connection whose client cannot be told anything more."""
        self.transport.abort()
        await self._is_lost.wait()

    def start_request(self, request: object) -> None:
        """Note that a request was received completely: its deadline no longer applies."""
        self._open_requests.add(request)
        self._stop_request_deadline()

    def end_request(self, request: object) -> None:
        """Note that a request was answered; what follows is another one."""
        self._open_requests.discard(request)
        self._stop_request_deadline()

    def pause_writing(self) -> None:
        """Start to watch whether the client continues reading."""
        self._inner.pause_writing()
        self._start_read_deadline(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Note that the client has read enough to be sent more."""
        self._stop_read_deadline()
        self._inner.resume_writing()

    def _start_request_deadline(self) -> None:
        if self._request_deadline is None:
            self._request_deadline = self._loop.call_later(
                REQUEST_TIMEOUT, self._close_late_request
            )

    def _close_late_request(self) -> None:
        """Close a connection whose request is late."""
        self._request_deadline = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _stop_request_deadline(self) -> None:
        if self._request_deadline is not None:
            self._request_deadline.cancel()
            self._request_deadline = None

    def _start_read_deadline(self, buffered: int) -> None:
        self._stop_read_deadline()
        self._read_deadline = self._loop.call_later(READ_TIMEOUT, self._check_reading, buffered)

    def _check_reading(self, buffered: int) -> None:
        """Close a connection whose client has read next to nothing since."""
        self._read_deadline = None
        remaining = self.transport.get_write_buffer_size()
        if remaining > buffered - SOME:
            self.transport.abort()
        else:
            self._start_read_deadline(remaining)

    def _stop_read_deadline(self) -> None:
        if self._read_deadline is not None:
            self._read_deadline.cancel()
            self._read_deadline = None


ROUTES = (
    *PAGE_ROUTES,
    *API_ROUTES,
    Route("/events", serve_events),
    Route("/assets/{name}", serve_asset),
)
"""All addresses behind the guard."""


def create_application(
    library: LiveArchive,
    keys: Keys,
    address: ServerAddress,
    hub: Hub,
    *,
    is_live: bool = True,
    on_progress: ReadingCallback = lambda _: None,
) -> Guard:
    """Create the application: the guard, and behind it the pages.

    To end it, close the hub first: its streams continue as long as it is open.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watcher = Watcher(library, hub, on_progress) if is_live else None
        if watcher:
            watcher.start()
        yield
        if watcher:
            watcher.stop()
        library.index_reader.close()

    hub.command = address.commands.serve
    return create_guarded_application(
        ROUTES,
        keys,
        address,
        {PlaitError: handle_plait_error, Exception: handle_exception},
        lifespan,
        library=library,
        hub=hub,
        plans=HeldPlans(),
    )


def create_guarded_application(
    routes: Iterable[Route],
    keys: Keys,
    address: ServerAddress,
    handlers: Mapping[Any, ExceptionHandler],
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
    **state: object,
) -> Guard:
    """Create an application behind the guard, with the pages to sign in and its state."""
    sign_in = SignIn(keys, f"plait{address.port}", address.commands)
    app = Starlette(
        routes=[
            Route("/enter", sign_in.enter, methods=["GET", "POST"]),
            Route("/alive", sign_in.alive),
            *routes,
        ],
        lifespan=lifespan,
        exception_handlers={
            HTTPException: handle_http_error,
            ClientDisconnect: handle_disconnect,
            **handlers,
        },
    )
    for name, value in state.items():
        setattr(app.state, name, value)
    guarded: App = app
    if address.is_remote:  # on one machine it would only cost time
        guarded = GZipMiddleware(app, minimum_size=2000, compresslevel=4)
    return Guard(
        guarded,
        keys,
        address.port,
        address.names,
        is_remote=address.is_remote,
        commands=address.commands,
    )


LOGGERS = ("plait.web", "uvicorn.error")
MOST_LOGGED = 1 << 20
"""Maximum size of the log in characters."""
TICK = 0.1


class LogLimit(logging.Filter):
    """Bounds a log, so that nobody can fill the disk by causing errors."""

    def __init__(self, most: int = MOST_LOGGED) -> None:
        super().__init__()
        self.left = most

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is still written; the last one says that no more are."""
        if self.left <= 0:
            return False
        trace = "".join(format_exception(record.exc_info[1])) if record.exc_info else ""
        self.left -= len(trace) + len(record.getMessage())
        if self.left <= 0:
            record.msg, record.args, record.exc_info = "further errors are not logged", (), None
        return True


class Server:
    """Serves until stopped, or until there were no requests for long enough."""

    def __init__(self, config: uvicorn.Config, guard: Guard, hub: Hub, idle: float | None) -> None:
        self.guard = guard
        self.hub = hub
        self.idle = idle
        """Seconds; None for no limit."""
        self._server = uvicorn.Server(config)

    @property
    def has_started(self) -> bool:
        """Whether it answers requests."""
        return self._server.started

    def run(self, listener: socket.socket) -> None:
        """Serve until the end."""
        limit = LogLimit()
        loggers = [logging.getLogger(name) for name in LOGGERS]
        for logger in loggers:
            logger.addFilter(limit)
        try:
            with _stop_on_hangup(self.stop):
                asyncio.run(self._serve(listener))
        finally:
            for logger in loggers:
                logger.removeFilter(limit)

    def stop(self) -> None:
        """Stop the server; may be called from any thread, and by a signal."""
        self._server.should_exit = True

    @property
    def is_idle(self) -> bool:
        """Whether no page is open and there were no requests for too long."""
        if self.idle is None or self.hub.listener_count:
            return False
        return time.monotonic() - self.guard.last_request > self.idle

    async def _serve(self, listener: socket.socket) -> None:
        watch = asyncio.create_task(self._watch())
        try:
            await self._server.serve([listener])
        finally:
            watch.cancel()

    async def _watch(self) -> None:
        """Wait for the end, and end the streams, which would continue for ever."""
        while not self._server.should_exit:
            if self.is_idle:
                self.stop()
            await asyncio.sleep(TICK)
        self.hub.close()


@contextmanager
def _stop_on_hangup(end: Callable[[], None]) -> Iterator[None]:
    """Stop cleanly when the terminal closes, as on Ctrl-C."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signals: list[int] = []

    def handle_signal(number: int, _: object) -> None:
        signals.append(number)
        end()

    previous_handler = signal.signal(hang_up, handle_signal)
    try:
        yield
    finally:
        signal.signal(hang_up, previous_handler)
    for number in signals[:1]:
        signal.raise_signal(number)


def run(
    library: LiveArchive,
    listener: socket.socket,
    keys: Keys,
    names: frozenset[str],
    idle: float | None = None,
    on_progress: ReadingCallback = lambda _: None,
    commands: Commands = DEFAULT_COMMANDS,
) -> None:
    """Serve until a signal, or until idle for too long."""
    host, port = listener.getsockname()[:2]
    address = ServerAddress(host, port, names | {"localhost"}, commands)
    hub = Hub()
    guard = create_application(library, keys, address, hub, on_progress=on_progress)
    Server(create_uvicorn_config(ConnectionLimits(guard)), guard, hub, idle).run(listener)


def create_uvicorn_config(application: ConnectionLimits) -> uvicorn.Config:
    """Return the settings of uvicorn: HTTP only, limits on everything, no banner."""
    return uvicorn.Config(
        application,
        http=LimitedProtocol,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MOST_HEADERS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        lifespan="on",
    )
