"""Compressed parts beside a page, from disk and from servers that declare encodings."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import BrowserContext, expect

from plait.view.page.raw_lines import make_lines_script, make_part_script, pack_lines
from tests.browser.sessions import drawn_sessions
from tests.view.page.packed import packed_in

WAYS, LATE = drawn_sessions()["ways"], drawn_sessions()["late"]


class Server(SimpleHTTPRequestHandler):
    """A server of files, of the kind that people publish sites with."""

    charset = ""

    def guess_type(self, path: object) -> str:
        return f"{super().guess_type(str(path))}{self.charset}"

    def log_message(self, *_: object) -> None:
        return


class ServerOfUTF8(Server):
    """One that says that all it has is UTF-8."""

    charset = "; charset=utf-8"


@pytest.fixture(params=[Server, ServerOfUTF8])
def address(site: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return where the site is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(request.param, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/sessions"
        server.shutdown()


def test_lines_and_parts_from_a_server(
    address: str, context: Callable[..., BrowserContext]
) -> None:
    page = context().new_page()
    page.goto(f"{address}/{WAYS.session}.html")
    entry = page.locator(f'[id="{WAYS.uuid_of("A1")}"]').first
    entry.get_by_role("button", name="Raw JSON").click()
    raw = entry.locator("pre.rawjson").inner_text()
    assert json.loads(raw)["uuid"] == WAYS.uuid_of("A1")
    page.goto(f"{address}/{LATE.session}.html#{LATE.uuid_of('U200')}")
    expect(page.locator(f'[id="{LATE.uuid_of("U200")}"]')).to_be_visible()


def test_every_byte_can_be_packed() -> None:
    line = bytes(item for item in range(256) if item != 10) * 3
    (piece,) = pack_lines(3, [(7, line), (8, b'\\"\r')])
    ((kind, numbers, text),) = packed_in(make_lines_script(piece))
    assert (kind, numbers, text) == ("lines", [3, 7, 8], b'7\t%s\n8\t\\"\r' % line)
    ((kind, numbers, text),) = packed_in(make_part_script(2, ("é", "\n")))
    assert (kind, numbers, json.loads(text)) == ("part", [2], ["é", "\n"])
