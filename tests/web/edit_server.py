"""Sessions at rest in a folder of a test's own, a server of them, and requests that change them."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from plait.archive import Archive, StorePlace
from plait.indexing import update_index
from tests.browser.sessions import drawn_sessions
from tests.web.reading_page import Served, served

MEANT = {"Plait-Edit": "yes"}


@dataclass
class EditServer:
    """A server, the folder that it serves, and the session with branches in it."""

    at: Served
    root: Path
    name: str

    @property
    def path(self) -> Path:
        """The log of the session."""
        return next(path for path in self.root.rglob("*.jsonl") if path.stem == self.name)

    @property
    def files(self) -> dict[str, bytes]:
        """All that a client would see."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found if ".plait" not in path.parts}

    def send(
        self, path: str, body: object = None, method: str = "POST", **headers: str
    ) -> tuple[int, Any]:
        """Send a request that changes something; returns the status and what is told."""
        cookie = f"plait{urlsplit(self.at.address).port}={self.at.keys.cookie}"
        data = json.dumps(body or {}).encode() if method == "POST" else None
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(self.at.address + path, data, {"Cookie": cookie, **given}, method=method)
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def planned(self, **asks: object) -> Any:
        """Plans a change of the session."""
        status, result = self.send(f"/api/v1/sessions/{self.name}/plan", asks, **MEANT)
        assert status == 200, result
        return result


@contextmanager
def serve_for_edits(
    folder: Path, *, is_live: bool = False, is_read_only: bool = False
) -> Iterator[EditServer]:
    """Serve drawn sessions that nobody has written to for an hour."""
    root, index = folder / "logs", folder / "index"
    for drawing in drawn_sessions().values():
        drawing.write(root)
    rest(root)
    update_index(Archive([root]), index)
    store = StorePlace(folder / "keep", folder / "read")
    with served(
        root,
        index,
        is_live=is_live,
        is_read_only=is_read_only,
        store=store,
        stars=folder / "stars.json",
    ) as at:
        yield EditServer(at, root, drawn_sessions()["ways"].session)


def rest(root: Path) -> None:
    """Make all logs an hour old."""
    then = time.time() - 3600
    for path in root.rglob("*.jsonl"):
        os.utime(path, (then, then))
