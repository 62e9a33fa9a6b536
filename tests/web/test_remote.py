"""A server reachable from other machines: host names, compression, keys."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from plait.archive.live.live_archive import LiveArchive
from plait.web.address import ServerAddress
from plait.web.events import Hub
from plait.web.guard import Keys
from plait.web.server import create_application

KEYS = Keys("secret")
COOKIE = {"cookie": f"plait8420={KEYS.cookie}"}


@pytest.fixture(scope="module")
def client(archive_root: Path, archive_index: Path) -> Iterator[TestClient]:
    """Ask a server that listens everywhere and is called plait.example.org."""
    place = ServerAddress("0.0.0.0", 8420, frozenset({"localhost", "plait.example.org"}))
    library = LiveArchive((archive_root,), archive_index)
    guard = create_application(library, KEYS, place, Hub(), is_live=False)
    with TestClient(guard, base_url="https://plait.example.org") as opened:
        yield opened


def test_server_is_reachable_by_name_behind_a_proxy(client: TestClient) -> None:
    origin = {"origin": "https://plait.example.org"}
    assert client.get("/api/v1/sessions", headers={**COOKIE, **origin}).status_code == 200
    assert client.get("/api/v1/sessions", headers=origin).status_code == 401
    other = {"host": "evil.example"}
    assert client.get("/api/v1/sessions", headers={**COOKIE, **other}).status_code == 421


def test_large_responses_are_compressed(client: TestClient) -> None:
    requested = {**COOKIE, "accept-encoding": "gzip"}
    with client.stream("GET", "/assets/plait.css", headers=requested) as answer:
        assert answer.headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["vary"]
        packed = b"".join(answer.iter_raw())
    plain = client.get("/assets/plait.css", headers={"accept-encoding": "identity"})
    assert gzip.decompress(packed) == plain.content
    assert "content-encoding" not in client.get("/alive", headers=requested).headers


def test_compressed_responses_keep_their_etag(client: TestClient) -> None:
    requested = {**COOKIE, "accept-encoding": "gzip"}
    tag = client.get("/assets/plait.css", headers=requested).headers["etag"]
    again = client.get("/assets/plait.css", headers={**requested, "if-none-match": tag})
    assert again.status_code == 304
