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

from plait.lake.asking import Kept
from plait.lake.policy import Policy
from plait.lake.questions import Question, questions
from plait.lake.serving import ServedLake
from plait.web.bounds import Bounds
from plait.web.events import Hub
from plait.web.guard import Commands, Keys
from plait.web.lake.asked import LakeState
from plait.web.lake.people import PeopleKeys
from plait.web.lake.server import lake_application
from plait.web.place import Place, listening
from plait.web.server import Server, bounded
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
        """Asks for something; returns the status, the text and the headers."""
        told = dict(headers)
        if self.cookie:
            told["Cookie"] = self.cookie
        if self.key:
            told["Authorization"] = f"Bearer {self.key}"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, body or None, told)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, {name.lower(): value for name, value in answer.getheaders()}

    def enter(self, key: str) -> int:
        """Shows a key at the door; returns the status, and keeps the cookie."""
        form = urlencode({"ticket": key, "to": "/"})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, _, headers = self.ask("/enter", "POST", form, **kind)
        self.cookie = headers.get("set-cookie", "").partition(";")[0]
        return status

    def page(self, path: str) -> str:
        """Returns a page that is there."""
        status, text, _ = self.ask(path)
        assert status == 200, (path, status, text)
        return text

    def json(self, path: str) -> Any:
        """Returns what a program is told."""
        return json.loads(self.page(f"/api/{path}"))

    def walk(self) -> dict[str, str]:
        """Returns all pages that links lead to from the first one."""
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
    lake: Kept,
    policy: Callable[[], Policy] | None,
    known: Callable[[], dict[str, Question]] = questions,
) -> Iterator[int]:
    """Serves a lake; gives the port."""
    listener = listening("127.0.0.1", 0)
    port = listener.getsockname()[1]
    keys = PeopleKeys("the secret", policy) if policy else Keys("the secret")
    state = LakeState(ServedLake(lake, policy), known)
    place = Place("127.0.0.1", port, commands=Commands("", "plait serve"))
    guard = lake_application(state, keys, place)
    server = Server(bounded(Bounds(guard)), guard, Hub(), None)
    thread = Thread(target=server.run, args=[listener], daemon=True)
    thread.start()
    wait_for(lambda: server.has_started)
    try:
        yield port
    finally:
        server.end()
        thread.join(timeout=PATIENCE)
        listener.close()
        assert not thread.is_alive()
