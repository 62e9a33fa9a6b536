"""A server as `plait serve` runs it, and clients that speak to it byte by byte."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

from plait.archive.live.live_archive import LiveArchive
from plait.sessions.model import StorePlace
from plait.web.address import ServerAddress, open_listener
from plait.web.events import Hub
from plait.web.guard import Keys
from plait.web.server import ConnectionLimits, Server, create_application, create_uvicorn_config

PATIENCE = 20.0


@dataclass
class Bare:
    """A server that runs, and what opens it."""

    port: int
    keys: Keys
    hub: Hub
    bounds: ConnectionLimits

    @property
    def cookie(self) -> str:
        """Return the header of a browser that was let in."""
        return f"Cookie: plait{self.port}={self.keys.cookie}"

    @property
    def host(self) -> str:
        """Return the header that names it."""
        return f"Host: 127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        """Return a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def say(self, *lines: str, body: bytes = b"") -> bytes:
        """Say something and return all that is answered; the connection is closed then."""
        with self.connect() as client:
            client.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
            return everything(client)

    def get(self, path: str, *headers: str, method: str = "GET") -> bytes:
        """Ask for something as a browser that was let in."""
        return self.say(f"{method} {path} HTTP/1.1", self.host, self.cookie, *headers)


def everything(client: socket.socket) -> bytes:
    """Return what comes until the other side hangs up."""
    found = b""
    try:
        while part := client.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found


def status(answer: bytes) -> int:
    """Return the status of an answer, 0 where none came."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0


@contextmanager
def bare(root: Path, index: Path, secret: str = "the secret") -> Iterator[Bare]:
    """Serve an archive with all its bounds."""
    listener = open_listener("127.0.0.1", 0)
    port = listener.getsockname()[1]
    keys, hub = Keys(secret), Hub()
    store = StorePlace(index / "keep", index / "read")
    library = LiveArchive((root,), index, store=store)
    guard = create_application(library, keys, ServerAddress("127.0.0.1", port), hub, is_live=False)
    bounds = ConnectionLimits(guard)
    server = Server(create_uvicorn_config(bounds), guard, hub, None)
    thread = Thread(target=server.run, args=[listener], daemon=True)
    thread.start()
    wait_for(lambda: server.has_started)
    try:
        yield Bare(port, keys, hub, bounds)
    finally:
        server.stop()
        thread.join(timeout=PATIENCE)
        listener.close()
        assert not thread.is_alive()


def wait_for(is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    end = monotonic() + patience
    while not is_so():
        assert monotonic() < end, "it never was so"
        sleep(0.01)
