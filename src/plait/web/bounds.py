"""Connections to bounded ones: nobody holds the server by saying nothing, or by never ending.

A client has a few seconds for a whole request, and must go on reading what it is sent. Who
comes while too many are here is sent away at once.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds in which a request must have been said."""
READING = 20.0
"""Seconds in which a client must have taken some of its answer."""
SOME = 16 << 10
MOST_CONNECTIONS = 200


class BoundedProtocol(H11Protocol):
    """Speaks HTTP with clients that come to the point."""

    _said_by: asyncio.TimerHandle | None = None
    _read_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Gives a new client a little time for its first request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._said_by = self.loop.call_later(PATIENCE, self._hurry)

    def data_received(self, data: bytes) -> None:
        """Takes what a client says; the last word of a request ends the waiting for it."""
        super().data_received(data)
        if not self._is_waiting():
            self._calm()
        elif self._said_by is None:
            self._said_by = self.loop.call_later(PATIENCE, self._hurry)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets a client."""
        self._calm()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begins to watch whether a client reads on."""
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """A client has read enough to be sent more."""
        self._stop_watching()
        super().resume_writing()

    def _is_waiting(self) -> bool:
        """Tells whether a request has begun, or may begin, that was not said to its end.

        The last cycle stays after its answer: what comes then is another request.
        """
        cycle = self.cycle
        return cycle is None or cycle.more_body or cycle.response_complete

    def _hurry(self) -> None:
        """Hangs up on a client that has not said what it wants."""
        self._said_by = None
        if self._is_waiting() and not self.transport.is_closing():
            self.transport.abort()

    def _calm(self) -> None:
        if self._said_by is not None:
            self._said_by.cancel()
            self._said_by = None

    def _watch(self, held: int) -> None:
        self._stop_watching()
        self._read_by = self.loop.call_later(READING, self._look, held)

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
