"""A library to the application that serves it."""

import asyncio
import json
import logging
import os
import secrets
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from errno import EADDRINUSE
from ipaddress import ip_address
from pathlib import Path
from traceback import format_exception

import msgspec
import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from plait.archive.live import LiveArchive
from plait.errors import PlaitError, SourceError, UserError
from plait.view.page.frame import opening_page
from plait.web.answers import failed, hung_up, refused, serve_asset, unanswered
from plait.web.api.edits import HeldPlans
from plait.web.api.routes import ROUTES as API_ROUTES
from plait.web.bounds import MOST_CONNECTIONS, BoundedProtocol, Bounds
from plait.web.events import Hub, Watcher, serve_events
from plait.web.guard import LIFE, MOST_HEADERS, App, Door, Guard, Keys, equal
from plait.web.pages import edits, lists, session, session_tabs, share

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  what they mean, nothing is bound


ROUTES = (
    *lists.ROUTES,
    *lists.FIGURE_ROUTES,
    *session.ROUTES,
    *session_tabs.ROUTES,
    *share.ROUTES,
    *edits.ROUTES,
    *API_ROUTES,
    Route("/events", serve_events),
    Route("/assets/{name}", serve_asset),
)
"""All addresses behind the door."""


@dataclass(frozen=True)
class Place:
    """Where a server answers, and to which names."""

    host: str
    port: int
    names: frozenset[str] = frozenset({"localhost"})

    @property
    def is_remote(self) -> bool:
        """Tells whether other machines can reach it."""
        return not is_local(self.host)

    @property
    def address(self) -> str:
        """What a browser on this machine is given."""
        host = EVERYWHERE.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def is_local(host: str) -> bool:
    """Tells whether only this machine can reach a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def application(
    library: LiveArchive, keys: Keys, place: Place, hub: Hub, *, is_live: bool = True
) -> Guard:
    """Returns the application: the guard, and behind it the pages.

    Whoever ends it closes the hub first: its streams go on as long as it is open.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watcher = Watcher(library, hub) if is_live else None
        if watcher:
            watcher.start()
        yield
        if watcher:
            watcher.stop()

    door = Door(keys, f"plait{place.port}")
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
    return Guard(guarded, keys, place.port, place.names, is_remote=place.is_remote)


LOGGERS = ("plait.web", "uvicorn.error")
MOST_LOGGED = 1 << 20
"""Characters that they write at most."""
PORT = 8420
BACKLOG = 128
TICK = 0.1
TAKEN = "another program does already"


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


class Running(Struct, frozen=True):
    """A server that is there."""

    host: str
    port: int
    pid: int
    secret: str

    @property
    def place(self) -> Place:
        """Where it answers."""
        return Place(self.host, self.port)


def listening(host: str, port: int) -> socket.socket:
    """Returns a socket that listens; 0 takes any port that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that asyncio lets no answer wait until its head was acknowledged.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(BACKLOG)  # who comes before the server is ready waits
    except OSError as error:
        found.close()
        reason = TAKEN if error.errno == EADDRINUSE else (error.strerror or str(error)).lower()
        hint = "`--port 0` takes one that is free"
        raise UserError(f"cannot listen on port {port} of '{host}': {reason}", hint) from error
    return found


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
) -> None:
    """Serves until a signal ends it, or until it is forgotten."""
    host, port = listener.getsockname()[:2]
    place, hub = Place(host, port, names | {"localhost"}), Hub()
    guard = application(library, keys, place, hub)
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


@contextmanager
def announced(path: Path, running: Running) -> Iterator[None]:
    """Tells other commands of this user where the server is, as long as it is there."""
    write_private(path, msgspec.json.encode(running))
    try:
        yield
    finally:
        if found(path) == running:
            path.unlink(missing_ok=True)
            _forget_openings(path.parent, older=0)


def write_private(path: Path, data: bytes) -> None:
    """Writes a file that nobody else may read, all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError as error:
        raise SourceError(f"cannot write '{path}': {error.strerror}") from error


def found(path: Path) -> Running | None:
    """Returns the server that a file tells of, whether it is still there or not."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=Running)
    return None


def alive(path: Path) -> Running | None:
    """Returns the server that a file tells of, where it answers and proves that it is ours."""
    running = found(path)
    if running is None:
        return None
    challenge = secrets.token_hex(16)
    address = f"{running.place.address}/alive?challenge={challenge}"
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=2) as response:
            proof = json.loads(response.read(4096))["proof"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return running if equal(str(proof), Keys(running.secret).proves(challenge)) else None


def opening_file(folder: Path, running: Running, to: str) -> Path:
    """Writes the file that a browser is opened with, and forgets those of earlier times."""
    _forget_openings(folder, older=LIFE)
    ticket = Keys(running.secret).ticket()
    path = folder / f"open-{secrets.token_hex(8)}.html"
    write_private(path, opening_page(running.place.address, ticket, to).encode())
    return path


def _forget_openings(folder: Path, older: float) -> None:
    for path in folder.glob("open-*.html"):
        with suppress(OSError):
            if path.stat().st_mtime <= time.time() - older:
                path.unlink()


def stopped(path: Path, patience: float = 10.0) -> Running | None:
    """Ends the server that a file tells of; returns it, None where there is none."""
    running = alive(path)
    if running is None:
        return None
    os.kill(running.pid, signal.SIGTERM)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found(path) != running and alive(path) is None:
            return running
        time.sleep(0.05)
    raise SourceError(f"the server with process id {running.pid} does not stop")
