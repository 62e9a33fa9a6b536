"""A server on loopback, and a reader in a real browser who may see nothing go wrong."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import pytest
import uvicorn
from playwright.sync_api import Page

from plait.archive.live.live_archive import LiveArchive
from plait.sessions.model import StorePlace
from plait.web.address import ServerAddress, open_listener
from plait.web.events import Hub
from plait.web.guard import Keys
from plait.web.server import Server, create_application
from tests.browser.sessions import drawn_sessions, hostile
from tests.browser.windows import Listeners, Windows

__all__ = ["Reader", "Served", "at", "reader", "served"]
Reader = Callable[..., Page]


@dataclass
class Served:
    """A server that runs."""

    library: LiveArchive
    keys: Keys
    hub: Hub
    address: str

    def ask(self, path: str, form: dict[str, str] | None = None) -> tuple[int, Message, bytes]:
        """Return the status, the headers and the body of an answer to somebody who may ask."""
        data = urlencode(form).encode() if form is not None else None
        cookie = f"plait{urlsplit(self.address).port}={self.keys.cookie}"
        request = Request(self.address + path, data, {"Cookie": cookie})
        opener = build_opener(ProxyHandler({}))
        try:
            with opener.open(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read()
        except HTTPError as error:
            return error.code, error.headers, error.read()

    def json(self, path: str) -> Any:
        """Return the value of an answer."""
        return json.loads(self.ask(path)[2])


@contextmanager
def served(
    root: Path,
    index: Path,
    *,
    is_live: bool = False,
    is_read_only: bool = False,
    store: StorePlace | None = None,
    stars: Path | None = None,
    port: int = 0,
    secret: str = "a secret of this test",
) -> Iterator[Served]:
    """Serve an archive on a port that is free, or on the one that another has left."""
    listener = open_listener("127.0.0.1", port)
    port = listener.getsockname()[1]
    library = LiveArchive((root,), index, is_read_only=is_read_only, store=store, star_file=stars)
    keys = Keys(secret)
    place = ServerAddress("127.0.0.1", port)
    hub = Hub()
    guard = create_application(library, keys, place, hub, is_live=is_live)
    server = Server(uvicorn.Config(guard, log_level="warning", lifespan="on"), guard, hub, None)
    thread = Thread(target=server.run, args=[listener], daemon=True)
    thread.start()
    end = monotonic() + 20
    while not server.has_started and monotonic() < end:
        sleep(0.01)
    try:
        yield Served(library, keys, hub, place.url)
    finally:
        server.stop()
        thread.join(timeout=10)
        listener.close()


@pytest.fixture
def reader(windows: Windows) -> Iterator[Reader]:
    """Open served pages; none may complain or reach out to anybody else."""
    trouble: list[str] = []
    yield make_reader(windows, trouble)
    assert not trouble, trouble


@pytest.fixture
def forgiving(windows: Windows) -> Iterator[Reader]:
    """Open served pages that may complain of a server that is gone, or that lets nobody in."""
    trouble: list[str] = []
    yield make_reader(windows, trouble)
    other = [item for item in trouble if not item.startswith("console: Failed to load resource")]
    assert not other, other


def make_reader(windows: Windows, trouble: list[str]) -> Reader:
    """Return a function that opens pages, signed in, and remembers what goes wrong in them."""

    def open_(
        at: Served, path: str, width: int = 1400, height: int = 900, **options: object
    ) -> Page:
        listeners: Listeners = {
            "console": lambda said: noted(said.text, said.location.get("url", ""), trouble),
            "pageerror": lambda error: trouble.append(f"error: {error}"),
            "request": lambda sent: foreign(sent.url, at.address, trouble),
            "dialog": lambda asked: trouble.append(f"dialog: {asked.message}"),
        }
        page = windows.open(listeners, width, height, **options)
        page.context.request.post(f"{at.address}/enter", form={"ticket": at.keys.key, "to": "/"})
        page.goto(at.address + path)
        return page

    return open_


def noted(words: str, place: str, trouble: list[str]) -> None:
    """Remember what a page complained of."""
    if not place.endswith("/favicon.ico"):
        trouble.append(f"console: {words} ({place})")


def foreign(url: str, address: str, trouble: list[str]) -> None:
    """Remember a request to another host."""
    if not url.startswith((address, "data:", "blob:")):
        trouble.append(f"request: {url}")


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the drawn sessions."""
    root = tmp_path_factory.mktemp("logs")
    for drawing in drawn_sessions().values():
        drawing.write(root)
    hostile(root)
    with served(root, tmp_path_factory.mktemp("index")) as item:
        yield item
