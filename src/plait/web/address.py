"""Server addresses, ports, and the file that announces a running server."""

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
from plait.view.page.frame import render_opening_page
from plait.web.guard import DEFAULT_COMMANDS, TICKET_LIFE, Commands, Keys, equal_in_constant_time

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  what they mean, nothing is bound
PORT = 8420
BACKLOG = 128
NEXT, PORTS = 20, 1 << 16
"""How many ports are tried if one is taken, and the number of ports."""


@dataclass(frozen=True)
class ServerAddress:
    """Where a server listens, and its host names."""

    host: str
    port: int
    names: frozenset[str] = frozenset({"localhost"})
    commands: Commands = DEFAULT_COMMANDS
    """Commands to sign in, and to start it again."""

    @property
    def is_remote(self) -> bool:
        """Whether other machines can reach it."""
        return not is_local(self.host)

    @property
    def url(self) -> str:
        """The URL for a browser on this machine."""
        host = EVERYWHERE.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class RunningServer(Struct, frozen=True):
    """A running server, as its file describes it."""

    host: str
    port: int
    pid: int
    secret: str

    @property
    def address(self) -> ServerAddress:
        """Its address."""
        return ServerAddress(self.host, self.port)


def open_listener(host: str, port: int) -> socket.socket:
    """Return a listening socket: on the port, the next free one, else any; 0 for any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in (*range(port, min(port + NEXT, PORTS)), 0) if port else (0,):
        # Declared as TCP, so that asyncio sends responses without waiting for acknowledgements.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(BACKLOG)  # clients that come before the server is ready wait
        except OSError as error:
            listener.close()
            if error.errno == EADDRINUSE:
                continue
            reason = (error.strerror or str(error)).lower()
            raise UserError(
                f"cannot listen on port {candidate} of '{host}': {reason}",
                "`--port 0` uses a free port",
            ) from error
        return listener
    raise UserError(f"cannot listen on '{host}': all ports are in use")


@contextmanager
def announce_server(path: Path, running: RunningServer) -> Iterator[None]:
    """Announce the server to other commands of this user while it runs."""
    write_private(path, msgspec.json.encode(running))
    try:
        yield
    finally:
        if read_server_file(path) == running:
            path.unlink(missing_ok=True)
            _remove_opening_files(path.parent, older=0)


def write_private(path: Path, data: bytes) -> None:
    """Write a file that nobody else may read, atomically."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError as error:
        raise SourceError(f"cannot write '{path}': {error.strerror}") from error


def read_server_file(path: Path) -> RunningServer | None:
    """Return the server in a file, whether it still runs or not."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=RunningServer)
    return None


def find_running_server(path: Path) -> RunningServer | None:
    """Return the server that a file describes, if it answers and proves to be ours."""
    running = read_server_file(path)
    if running is None:
        return None
    challenge = secrets.token_hex(16)
    address = f"{running.address.url}/alive?challenge={challenge}"
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=2) as response:
            proof = json.loads(response.read(4096))["proof"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (
        running
        if equal_in_constant_time(str(proof), Keys(running.secret).prove(challenge))
        else None
    )


def write_opening_file(folder: Path, running: RunningServer, path_to_open: str) -> Path:
    """Write the file that a browser is opened with, and remove earlier ones."""
    _remove_opening_files(folder, older=TICKET_LIFE)
    ticket = Keys(running.secret).create_ticket()
    path = folder / f"open-{secrets.token_hex(8)}.html"
    write_private(path, render_opening_page(running.address.url, ticket, path_to_open).encode())
    return path


def _remove_opening_files(folder: Path, older: float) -> None:
    for path in folder.glob("open-*.html"):
        with suppress(OSError):
            if path.stat().st_mtime <= time.time() - older:
                path.unlink()


def stop_server(path: Path, timeout: float = 10.0) -> RunningServer | None:
    """Stop the server in a file; return it, None if there is none."""
    running = find_running_server(path)
    if running is None:
        return None
    os.kill(running.pid, signal.SIGTERM)
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if read_server_file(path) != running and find_running_server(path) is None:
            return running
        time.sleep(0.05)
    raise SourceError(f"the server with process id {running.pid} did not stop")
