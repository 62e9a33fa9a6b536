"""A library to the application that serves it."""

import asyncio
import logging
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from traceback import format_exception

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from plait.archive.live import LiveArchive
from plait.errors import PlaitError
from plait.web.answers import failed, hung_up, refused, serve_asset, unanswered
from plait.web.api.edits import HeldPlans
from plait.web.api.routes import ROUTES as API_ROUTES
from plait.web.bounds import MOST_CONNECTIONS, BoundedProtocol, Bounds
from plait.web.events import Hub, serve_events
from plait.web.guard import (
    MOST_HEADERS,
    USUAL,
    App,
    Commands,
    Door,
    Guard,
    Keys,
)
from plait.web.pages import copies, edits, figures, files, lists, session, session_tabs, share
from plait.web.place import Place
from plait.web.watcher import Told, Watcher

ROUTES = (
    *lists.ROUTES,
    *figures.ROUTES,
    *files.ROUTES,
    *session.ROUTES,
    *session_tabs.ROUTES,
    *copies.ROUTES,
    *share.ROUTES,
    *edits.ROUTES,
    *API_ROUTES,
    Route("/events", serve_events),
    Route("/assets/{name}", serve_asset),
)
"""All addresses behind the door."""


def application(
    library: LiveArchive,
    keys: Keys,
    place: Place,
    hub: Hub,
    *,
    is_live: bool = True,
    told: Told = lambda _: None,
) -> Guard:
    """Returns the application: the guard, and behind it the pages.

    Whoever ends it closes the hub first: its streams go on as long as it is open.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watcher = Watcher(library, hub, told) if is_live else None
        if watcher:
            watcher.start()
        yield
        if watcher:
            watcher.stop()

    hub.command = place.commands.serve
    door = Door(keys, f"plait{place.port}", place.commands)
    app = Starlette(
        routes=[
            Route("/enter", door.enter, methods=["GET", "POST"]),
            Route("/alive", door.alive),
            *ROUTES,
        ],
        lifespan=lifespan,
        exception_handlers={
            PlaitError: refused,
            HTTPException: unanswered,
            ClientDisconnect: hung_up,
            Exception: failed,
        },
    )
    app.state.library, app.state.hub, app.state.plans = library, hub, HeldPlans()
    guarded: App = app
    if place.is_remote:  # on one machine it would only cost time
        guarded = GZipMiddleware(app, minimum_size=2000, compresslevel=4)
    return Guard(
        guarded, keys, place.port, place.names, is_remote=place.is_remote, commands=place.commands
    )


LOGGERS = ("plait.web", "uvicorn.error")
MOST_LOGGED = 1 << 20
"""Characters that they write at most."""
TICK = 0.1


class Brief(logging.Filter):
    """Lets a log grow to an end: whoever can make the server fail cannot fill the disk."""

    def __init__(self, most: int = MOST_LOGGED) -> None:
        super().__init__()
        self.left = most

    def filter(self, record: logging.LogRecord) -> bool:
        """Tells whether a record is still written; the last one says that no more are."""
        if self.left <= 0:
            return False
        trace = "".join(format_exception(record.exc_info[1])) if record.exc_info else ""
        self.left -= len(trace) + len(record.getMessage())
        if self.left <= 0:
            record.msg, record.args, record.exc_info = "more is not told here", (), None
        return True


class Server:
    """Serves until it is told to stop, or until nobody has come for long enough."""

    def __init__(self, config: uvicorn.Config, guard: Guard, hub: Hub, idle: float | None) -> None:
        self.guard = guard
        self.hub = hub
        self.idle = idle
        """Seconds; None for ever."""
        self._server = uvicorn.Server(config)

    @property
    def has_started(self) -> bool:
        """Tells whether it answers by now."""
        return self._server.started

    def run(self, listener: socket.socket) -> None:
        """Answers whoever comes, until the end."""
        with _hang_up(self.end), _briefly():
            asyncio.run(self._serve(listener))

    def end(self) -> None:
        """Tells it to stop; may be called in any thread, and by a signal."""
        self._server.should_exit = True

    @property
    def is_forgotten(self) -> bool:
        """Tells whether no page is open and nobody has asked for anything for too long."""
        if self.idle is None or self.hub.count:
            return False
        return time.monotonic() - self.guard.last > self.idle

    async def _serve(self, listener: socket.socket) -> None:
        watch = asyncio.create_task(self._watch())
        try:
            await self._server.serve([listener])
        finally:
            watch.cancel()

    async def _watch(self) -> None:
        """Waits for the end, and ends the streams, which would go on for ever."""
        while not self._server.should_exit:
            if self.is_forgotten:
                self.end()
            await asyncio.sleep(TICK)
        self.hub.close()


@contextmanager
def _briefly() -> Iterator[None]:
    brief = Brief()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(brief)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(brief)


@contextmanager
def _hang_up(end: Callable[[], None]) -> Iterator[None]:
    """Ends in good order where the terminal goes, as where Ctrl-C is pressed."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        heard.append(number)
        end()

    before = signal.signal(hang_up, hear)
    try:
        yield
    finally:
        signal.signal(hang_up, before)
    for number in heard[:1]:
        signal.raise_signal(number)


def run(
    library: LiveArchive,
    listener: socket.socket,
    keys: Keys,
    names: frozenset[str],
    idle: float | None = None,
    told: Told = lambda _: None,
    commands: Commands = USUAL,
) -> None:
    """Serves until a signal ends it, or until it is forgotten; tells what is being read."""
    host, port = listener.getsockname()[:2]
    place, hub = Place(host, port, names | {"localhost"}, commands), Hub()
    guard = application(library, keys, place, hub, told=told)
    Server(bounded(Bounds(guard)), guard, hub, idle).run(listener)


def bounded(bounds: Bounds) -> uvicorn.Config:
    """Returns how a server speaks: in one way, not for ever, and of itself as little as it can."""
    return uvicorn.Config(
        bounds,
        http=BoundedProtocol,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADERS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        lifespan="on",
    )
