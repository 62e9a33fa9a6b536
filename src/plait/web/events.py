"""Server-sent events: what changes in the archive, for every open page."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from threading import Lock
from typing import TypeAlias

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from plait.web.responses import error_response

MOST_LISTENERS = 64
MOST_WAITING = 64
"""Events that may wait for a listener; one that falls behind is told to reload."""
HEARTBEAT = 20.0


class Event(Struct, frozen=True):
    """An event for pages."""

    kind: str
    """`session` if one has changed, `sessions` if the list has, `index` if search has, `reading`
    while logs are being read, `again` if so much has changed that everything must be reloaded,
    `beat` if nothing has.
    """
    session: str | None = None
    size: int = 0
    words: str = ""
    """Progress of reading, empty at its end. In the first beat: the command that starts the server
    again.
    """
    share: float = 0.0
    """The same, from 0 to 1."""


BEAT = Event("beat")


Listener: TypeAlias = "asyncio.Queue[Event | None]"


class Hub:
    """Passes events to all listeners; may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[Listener, tuple[asyncio.AbstractEventLoop, str | None]] = {}
        self._is_closed = False
        self.first_event: Event | None = None
        """The first event for a new listener."""
        self.command = "plait serve"
        """The command that starts the server again."""

    def publish(self, events: Iterable[Event]) -> None:
        """Pass events on."""
        with self._lock:
            listeners = list(self._listeners.items())
        for event in events:
            for queue, (loop, session) in listeners:
                if event.session is None or session in (None, event.session):
                    loop.call_soon_threadsafe(_put, queue, event)

    @property
    def listener_count(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    @property
    def is_full(self) -> bool:
        """Whether no more listeners are accepted."""
        return self._is_closed or len(self._listeners) >= MOST_LISTENERS

    def close(self) -> None:
        """Release all listeners, and accept no more."""
        with self._lock:
            self._is_closed = True
            for queue, (loop, _) in self._listeners.items():
                loop.call_soon_threadsafe(_put, queue, None)

    async def stream(self, session: str | None) -> AsyncIterator[bytes]:
        """Yield events for a browser; those of other sessions only as changes of the list."""
        queue: Listener = asyncio.Queue(MOST_WAITING)
        with self._lock:
            if self.is_full:  # others connected in the meantime: the browser tries again
                return
            self._listeners[queue] = asyncio.get_running_loop(), session
        try:
            yield b"retry: 2000\n\n"
            yield _encode(Event("beat", words=self.command))
            if self.first_event:
                yield _encode(self.first_event)
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), HEARTBEAT)
                except TimeoutError:
                    event = BEAT  # tells the listener that the connection works
                if event is None:
                    return
                yield _encode(event)
        finally:
            with self._lock:
                self._listeners.pop(queue, None)


def _put(queue: Listener, event: Event | None) -> None:
    """Put an event into a queue, replacing the events of a full one by `again`."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(Event("again"))
    queue.put_nowait(event)


def _encode(event: Event) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.kind.encode(), msgspec.json.encode(event))


KIND = "text/event-stream"
HEADERS = {"Cache-Control": "no-store"}


async def serve_events(request: Request) -> Response:
    """Serve events until the listener disconnects."""
    hub: Hub = request.app.state.hub
    if request.method == "HEAD":
        return Response(headers=HEADERS, media_type=KIND)
    if hub.is_full:
        response = error_response(request, 503, "too many open pages", ())
        response.headers["Retry-After"] = "30"
        return response
    stream = hub.stream(request.query_params.get("session"))
    return StreamingResponse(stream, 200, HEADERS, KIND)
