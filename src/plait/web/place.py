"""Hosts and ports to places where a server answers, and to files that tell others of it."""

import json
import os
import secrets
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EADDRINUSE
from ipaddress import ip_address
from pathlib import Path

import msgspec
from msgspec import Struct

from plait.errors import SourceError, UserError
from plait.view.page.frame import opening_page
from plait.web.guard import LIFE, USUAL, Commands, Keys, equal

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  what they mean, nothing is bound
PORT = 8420
BACKLOG = 128
NEXT, PORTS = 20, 1 << 16
"""How many ports are tried where one is taken, and how many there are."""


@dataclass(frozen=True)
class Place:
    """Where a server answers, and to which names."""

    host: str
    port: int
    names: frozenset[str] = frozenset({"localhost"})
    commands: Commands = USUAL
    """What is typed to come in, and to start it again."""

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
    """Returns a socket that listens: on the port, the next that is free, else on any; 0 for any."""
    for one in (*range(port, min(port + NEXT, PORTS)), 0) if port else (0,):
        found = _listening_on(host, one)
        if found is not None:
            return found
    raise UserError(f"cannot listen on '{host}': all ports are taken")


def _listening_on(host: str, port: int) -> socket.socket | None:
    """Returns a socket that listens on a port, None where that is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that asyncio lets no answer wait until its head was acknowledged.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(BACKLOG)  # who comes before the server is ready waits
    except OSError as error:
        found.close()
        if error.errno == EADDRINUSE:
            return None
        reason = (error.strerror or str(error)).lower()
        hint = "`--port 0` takes one that is free"
        raise UserError(f"cannot listen on port {port} of '{host}': {reason}", hint) from error
    return found


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
