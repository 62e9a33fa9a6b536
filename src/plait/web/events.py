"""What happens in the archive to those who look on: events, each to everybody, bounded."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from threading import Lock
from typing import TypeAlias

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from plait.web.answers import troubled

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
