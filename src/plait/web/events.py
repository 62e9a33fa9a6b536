"""What happens in the archive to those who look on: events, each to everybody, bounded."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic
from typing import TypeAlias

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from plait.archive import Session, changes
from plait.archive.live import LARGE, LiveArchive, Snapshot
from plait.conversation.usage import NOTHING
from plait.errors import PlaitError
from plait.web.answers import troubled
from plait.web.pages.session import body

MOST_LISTENERS = 64
MOST_WAITING = 64
"""Events that may wait for a listener; one who falls behind is told to look anew."""
HEARTBEAT = 20.0


class Event(Struct, frozen=True):
    """Something that a page may want to know."""

    kind: str
    """`session` where one has changed, `sessions` where the list has, `index` where search has."""
    session: str | None = None
    size: int = 0


Listener: TypeAlias = "asyncio.Queue[Event | None]"


class Hub:
    """Passes events on to all who listen; may be told of them in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[Listener, asyncio.AbstractEventLoop] = {}
        self._is_closed = False

    def tell(self, events: Iterable[Event]) -> None:
        """Passes events on."""
        with self._lock:
            listeners = list(self._listeners.items())
        for event in events:
            for queue, loop in listeners:
                loop.call_soon_threadsafe(_put, queue, event)

    @property
    def count(self) -> int:
        """How many listen."""
        return len(self._listeners)

    @property
    def is_full(self) -> bool:
        """Tells whether nobody else may listen."""
        return self._is_closed or len(self._listeners) >= MOST_LISTENERS

    def close(self) -> None:
        """Lets all listeners go, and takes no more."""
        with self._lock:
            self._is_closed = True
            for queue, loop in self._listeners.items():
                loop.call_soon_threadsafe(_put, queue, None)

    async def stream(self, session: str | None) -> AsyncIterator[bytes]:
        """Yields events as a browser takes them; those of other sessions only as a list's."""
        queue: Listener = asyncio.Queue(MOST_WAITING)
        with self._lock:
            if self.is_full:  # others came in the meantime: the browser tries again
                return
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield b"retry: 2000\n\n"
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), HEARTBEAT)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                if event.session is None or session in (None, event.session):
                    yield _wire_form(event)
        finally:
            with self._lock:
                self._listeners.pop(queue, None)


def _put(queue: Listener, event: Event | None) -> None:
    """Puts an event into a queue; into a full one that everything must be looked at anew."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(Event("sessions"))
    queue.put_nowait(event)


def _wire_form(event: Event) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.kind.encode(), msgspec.json.encode(event))


KIND = "text/event-stream"
HEADERS = {"Cache-Control": "no-store"}


async def serve_events(request: Request) -> Response:
    """Returns events until the listener goes."""
    hub: Hub = request.app.state.hub
    if request.method == "HEAD":
        return Response(headers=HEADERS, media_type=KIND)
    if hub.is_full:
        refused = troubled(request, 503, "too many pages listen already", ())
        refused.headers["Retry-After"] = "30"
        return refused
    stream = hub.stream(request.query_params.get("session"))
    return StreamingResponse(stream, 200, HEADERS, KIND)


QUIET = 2.0
"""Seconds without a request after which nobody is kept waiting."""
MOST, MOST_BYTES = 12, 200_000_000
"""Sessions that are read, the newest first, and the bytes of their logs together."""


def _read_ahead(library: LiveArchive, stop: Flag) -> None:
    if stop.wait(QUIET):
        return
    library.prices.cost("claude", NOTHING, None)  # the list of prices is large as well
    for name, session in _worth_reading(library):
        while monotonic() - library.asked < QUIET:
            if stop.wait(QUIET):
                return
        if stop.wait(0.2):
            return
        _draw_page(library, name, session)


def _worth_reading(library: LiveArchive) -> list[tuple[str, Session]]:
    found: list[tuple[str, Session]] = []
    room = MOST_BYTES
    newest = sorted(library.now.names.items(), key=lambda one: -one[1].modified)
    for name, session in newest:
        size = sum(file.size for file in session.files)
        if len(found) < MOST and LARGE <= size <= room:
            room -= size
            found.append((name, session))
    return found


def _draw_page(library: LiveArchive, name: str, session: Session) -> None:
    if library.kept_page(name, session) is not None:
        return
    asked = library.asked
    try:
        one = library.opened(name)
        library.pages.keep(name, one.mark, body(one))
    except PlaitError:  # gone since
        return
    finally:
        library.asked = asked


SWITCH = 0.001
"""Seconds after which a thread that works lets one that answers go first."""
REST = 9
"""How much longer than it took to index what was new the next time has to wait."""


class Watcher:
    """Looks on in threads of its own until it is stopped.

    One tells what has changed as soon as it has. Another brings the index up to date, which may
    take longer where a large session has turned. The third reads ahead while nobody asks.
    """

    def __init__(self, library: LiveArchive, hub: Hub) -> None:
        self.library = library
        self.hub = hub
        self._stop = Flag()
        self._is_behind = Flag()
        self._threads = (
            Thread(target=self._watch, name="plait-watcher", daemon=True),
            Thread(target=self._index, name="plait-indexer", daemon=True),
            Thread(
                target=_read_ahead, args=(library, self._stop), name="plait-warmer", daemon=True
            ),
        )

    def start(self) -> None:
        """Begins to look."""
        sys.setswitchinterval(SWITCH)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends within a moment."""
        self._stop.set()
        self._is_behind.set()
        for thread in self._threads:
            thread.join(timeout=1)

    def _watch(self) -> None:
        places = [root.logs for root in self.library.now.archive.roots]
        before = self.library.now
        for _ in changes(places, stop=self._stop):
            if self._stop.is_set():
                return
            before = self.look(before)

    def look(self, before: Snapshot) -> Snapshot:
        """Tells what has changed since; returns how it is now."""
        self.library.renew()
        now = self.library.now
        changed = now.changed_since(before)
        events = [Event("session", name, size) for name, size in changed.items()]
        self.hub.tell([*events, Event("sessions")] if events else ())
        self._is_behind.set()
        return now

    def _index(self) -> None:
        while self._is_behind.wait() and not self._stop.is_set():
            self._is_behind.clear()
            start = monotonic()
            self.take_in()
            self._stop.wait(REST * (monotonic() - start))

    def take_in(self) -> None:
        """Brings the index up to date, and says so."""
        try:
            report = self.library.now.archive.update_index(wait=0.1)
        except PlaitError:  # another process writes the index: its turn, or next time
            return
        if not report.is_unchanged:
            self.library.indexed()
            self.hub.tell([Event("index")])
