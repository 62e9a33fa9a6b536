"""What happens in the archive to those who look on: events, each to everybody, bounded."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from threading import Lock
from typing import TypeAlias

import msgspec
from msgspec import Struct

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
                loop.call_soon_threadsafe(put, queue, event)

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
                loop.call_soon_threadsafe(put, queue, None)

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
                    yield told(event)
        finally:
            with self._lock:
                self._listeners.pop(queue, None)


def put(queue: Listener, event: Event | None) -> None:
    """Puts an event into a queue; into a full one that everything must be looked at anew."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(Event("sessions"))
    queue.put_nowait(event)


def told(event: Event) -> bytes:
    """Returns an event as it goes over the wire."""
    return b"event: %s\ndata: %s\n\n" % (event.kind.encode(), msgspec.json.encode(event))
