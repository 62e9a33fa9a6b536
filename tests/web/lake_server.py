"""A lake as `plait serve --lake` serves it, and people who come with their keys."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from http.client import HTTPConnection
from threading import Thread
from typing import Any
from urllib.parse import quote, urlencode, urljoin

from plait.lake.access import Policy, ServedLake
from plait.lake.query import QueryableLake
from plait.lake.saved_queries import SavedQuery, load_saved_queries
from plait.web.address import ServerAddress, open_listener
from plait.web.events import Hub
from plait.web.guard import Commands, Keys
from plait.web.lake import LakeState, PeopleKeys, create_lake_application
from plait.web.server import ConnectionLimits, Server, create_uvicorn_config
from tests.web.bare import PATIENCE, wait_for

LINK = re.compile(r'(?:href|action)="(/[^"#]*)')
MOST_PAGES = 300


@dataclass
class Visitor:
    """Somebody who asks a server."""

    port: int
    key: str = ""
    cookie: str = ""

    def ask(
        self, path: str, method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, str, dict[str, str]]:
        """Ask for something; returns the status, the text and the headers."""
        result = dict(headers)
        if self.cookie:
            result["Cookie"] = self.cookie
        if self.key:
            result["Authorization"] = f"Bearer {self.key}"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, body or None, result)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, {name.lower(): value for name, value in answer.getheaders()}

    def enter(self, key: str) -> int:
        """Show a key at the door; returns the status, and keep the cookie."""
        form = urlencode({"ticket": key, "to": "/"})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, _, headers = self.ask("/enter", "POST", form, **kind)
        self.cookie = headers.get("set-cookie", "").partition(";")[0]
        return status

    def page(self, path: str) -> str:
        """Return a page that is there."""
        status, text, _ = self.ask(path)
        assert status == 200, (path, status, text)
        return text

    def json(self, path: str) -> Any:
        """Return what a program is told."""
        return json.loads(self.page(f"/api/{path}"))

    def walk(self) -> dict[str, str]:
        """Return all pages that links lead to from the first one."""
        found: dict[str, str] = {}
        waiting = ["/"]
        while waiting and len(found) < MOST_PAGES:
            path = waiting.pop()
            if path in found or path.startswith(("/assets/", "/enter")):
                continue
            found[path] = self.page(path)
            links = (unescape(link) for link in LINK.findall(found[path]))
            waiting += (quote(urljoin(path, link), safe="/?=&%+") for link in links)
        return found


@contextmanager
def lake_served(
    lake: QueryableLake,
    policy: Callable[[], Policy] | None,
    known: Callable[[], dict[str, SavedQuery]] = load_saved_queries,
) -> Iterator[int]:
    """Serve a lake; gives the port."""
    listener = open_listener("127.0.0.1", 0)
    port = listener.getsockname()[1]
    keys = PeopleKeys("the secret", policy) if policy else Keys("the secret")
    state = LakeState(ServedLake(lake, policy), known)
    place = ServerAddress("127.0.0.1", port, commands=Commands("", "plait serve"))
    guard = create_lake_application(state, keys, place)
    server = Server(create_uvicorn_config(ConnectionLimits(guard)), guard, Hub(), None)
    thread = Thread(target=server.run, args=[listener], daemon=True)
    thread.start()
    wait_for(lambda: server.has_started)
    try:
        yield port
    finally:
        server.stop()
        thread.join(timeout=PATIENCE)
        listener.close()
        assert not thread.is_alive()
