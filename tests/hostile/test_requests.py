"""Hostile requests to the page: none succeeds, none stops the server."""

import random

import pytest

from tests.hostile.archive import SESSION, WORD
from tests.hostile.conftest import rounds
from tests.web.bare import Bare, everything, status

PATHS = (
    "/",
    "/sessions",
    "/search?q=x",
    "/usage",
    "/waste",
    f"/s/{SESSION}",
    f"/s/{SESSION}/raw",
    f"/s/{SESSION}/context",
    f"/s/{SESSION}/timeline",
    f"/s/{SESSION}/files",
    f"/s/{SESSION}/usage",
    f"/s/{SESSION}/compare",
    f"/s/{SESSION}/export",
    "/api/v1/sessions",
    f"/api/v1/sessions/{SESSION}",
    f"/api/v1/sessions/{SESSION}/lines",
    "/api/v1/search?q=x",
    "/api/v1/usage",
    "/api/openapi.json",
    "/events",
    "/enter",
    "/alive",
    "/assets/plait.css",
)
TRICKS = (
    "/../../etc/passwd",
    "/assets/../../../etc/passwd",
    "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/s/..%2f..%2fetc%2fpasswd",
    "/s/%00",
    f"/s/{SESSION}%0d%0aSet-Cookie:x=1",
    "/s/" + "x" * 5000,
    "//evil.example/",
    "/\\evil.example",
    f"/s/{SESSION}?turn=99999999999999999999",
    f"/s/{SESSION}?turn=-1&mark=%ff%fe",
    f"/s/{SESSION}/raw?file=999&line=-5",
    f"/s/{SESSION}/raw?file=../../etc/passwd",
    f"/s/{SESSION}/compare?a=%ud800&b=",
    "/search?q=" + "(" * 3000,
    "/search?q=" + "a*" * 1000,
    "/search?way=regex&q=(a%2B)%2B%24",
    "/search?n=99999999&q=x",
    "/api/v1/search?q=%00&limit=1e9",
    "/api/v1/sessions?limit=-1&offset=999999999999",
    "/?" + "&".join(f"a{n}=1" for n in range(2000)),
)
HEADERS = (
    "Host: evil.example",
    "Origin: http://evil.example",
    "Origin: null",
    "Sec-Fetch-Site: cross-site",
    "X-Forwarded-For: 127.0.0.1",
    "Cookie: plait=1",
    "Authorization: Bearer wrong",
    "Authorization: Basic Og==",
    "Content-Length: -1",
    "Transfer-Encoding: chunked",
    "Accept: text/html",
    "Range: bytes=0-99999999999",
    "X: " + "y" * 40_000,
)
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "X")
OPEN = ("/enter", "/alive", "/assets/")


def check_alive(server: Bare) -> None:
    assert status(server.get("/alive")) == 200


@pytest.mark.parametrize("path", [*PATHS, *TRICKS], ids=lambda path: path[:40])
def test_without_a_key_nothing_is_revealed(
    served: Bare, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = served.say(f"GET {path} HTTP/1.1", served.host)
    if not path.startswith(OPEN):
        assert status(answer) in (0, 400, 401, 403, 404, 414)
    secrets = (b"root:x:", b"owned", served.keys.key.encode(), served.keys.cookie.encode())
    assert not any(secret in answer for secret in secrets)
    assert caplog.records == []


@pytest.mark.parametrize("path", TRICKS, ids=lambda path: path[:40])
def test_with_a_key_every_request_is_answered(
    served: Bare, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = served.get(path)
    assert status(answer) not in (0, 500), answer[:200]
    assert b"root:x:" not in answer
    assert b"\r\nset-cookie: x=1" not in answer.lower()
    assert caplog.records == []


COMBINED = [
    (method, path, header)
    for path in (*PATHS, *TRICKS)
    for method, header in (
        *((item, "X: y") for item in METHODS),
        *(("GET", item) for item in HEADERS),
    )
    if path != "/events" or method != "GET"
]
"""Every address by every method, and with every header: 1,950 requests with a key and without."""


@pytest.mark.parametrize("share", range(rounds(1, 24)))
@pytest.mark.parametrize("has_key", [True, False], ids=["key", "no key"])
def test_every_method_and_header(
    served: Bare, has_key: bool, share: int, caplog: pytest.LogCaptureFixture
) -> None:
    for method, path, header in COMBINED[share::24]:
        key = [served.cookie] if has_key else []
        answer = served.say(f"{method} {path} HTTP/1.1", served.host, *key, header)
        assert status(answer) != 500, (method, path, header)
        assert b"root:x:" not in answer
        if not has_key and not path.startswith(OPEN):
            assert b"owned" not in answer
    assert caplog.records == []
    check_alive(served)


@pytest.mark.parametrize("seed", range(rounds(2, 40)))
def test_fuzzed_requests(served: Bare, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(seed)
    for _ in range(rounds(25, 250)):
        answer = asked(served, rng)
        assert status(answer) != 500, answer[:300]
    assert caplog.records == []
    check_alive(served)


def asked(server: Bare, rng: random.Random) -> bytes:
    """Return the answer to a request that chance has made."""
    path = changed(rng.choice([*PATHS, *TRICKS]).encode(), rng)
    lines = [rng.choice(METHODS).encode() + b" " + path + b" HTTP/1.1"]
    lines += [server.host.encode()] if rng.random() < 0.9 else []
    lines += [server.cookie.encode()] if rng.random() < 0.7 else []
    lines += [changed(item.encode(), rng) for item in rng.sample(HEADERS, rng.randrange(3))]
    body = rng.randbytes(rng.randrange(200)) if rng.random() < 0.3 else b""
    lines += [b"Content-Length: %d" % len(body)] if body else []
    with server.connect() as client:
        client.settimeout(20)
        client.sendall(b"\r\n".join([*lines, b"Connection: close", b"", b""]) + body)
        return b"" if b"/events" in path else everything(client)


def changed(data: bytes, rng: random.Random) -> bytes:
    """Return bytes of which some are others."""
    found = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 3))):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found).replace(b"\n", b"").replace(b"\r", b"")


def test_pages_of_hostile_sessions_are_text(served: Bare) -> None:
    answer = served.get(f"/s/{SESSION}")
    assert status(answer) == 200
    assert WORD.encode() not in answer
    assert not any(sign in answer for sign in (b"\x1b", "\u202e".encode(), b"\x9b31m"))


@pytest.mark.parametrize("method", ["HEAD", "GET", "POST"])
@pytest.mark.parametrize("path", ["/alive", "/nowhere"])
def test_unreadable_body_is_not_a_server_error(
    served: Bare, method: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = (f"{method} {path} HTTP/1.1", served.host, served.cookie, "Transfer-Encoding: chunked")
    assert status(served.say(*head, body=b"\x8b\x115A\xce\n")) != 500
    check_alive(served)
    assert caplog.records == []
