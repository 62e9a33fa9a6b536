"""Silent, malformed, endless and stalled clients cannot block the server."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.web import events, server
from tests.web.bare import Bare, bare, everything, status, wait_for

SOON = 0.3


@pytest.fixture(scope="module")
def hasty(archive_root: Path, archive_index: Path) -> Iterator[Bare]:
    """Serve with little patience."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(server, "REQUEST_TIMEOUT", SOON)
        patched.setattr(server, "READ_TIMEOUT", SOON)
        patched.setattr(server, "MOST_CONNECTIONS", 24)
        patched.setattr(events, "MOST_LISTENERS", 4)
        with bare(archive_root, archive_index) as item:
            yield item


@pytest.fixture(autouse=True)
def still_answers(hasty: Bare) -> Iterator[None]:
    """Check after each test that others are answered as before."""
    yield
    wait_for(lambda: status(hasty.get("/alive")) == 200)
    wait_for(lambda: len(hasty.bounds.connections) == 0)


def hung_up(client: socket.socket) -> bool:
    """Return whether the other side ends a connection, and does so without being asked."""
    client.settimeout(10)
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def test_silent_client_is_disconnected(hasty: Bare) -> None:
    with hasty.connect() as client:
        assert hung_up(client)


def test_slow_request_times_out(hasty: Bare) -> None:
    with hasty.connect() as client, pytest.raises(OSError):
        for _ in range(400):
            client.sendall(b"G")
            time.sleep(0.01)


def test_slow_second_request_times_out(hasty: Bare) -> None:
    with hasty.connect() as client:
        client.sendall(f"GET /alive HTTP/1.1\r\n{hasty.host}\r\n\r\n".encode())
        assert received(client, b"}").startswith(b"HTTP/1.1 200")
        with pytest.raises(OSError):
            for _ in range(400):
                client.sendall(b"X")
                time.sleep(0.01)


@pytest.mark.parametrize(
    "head", ["Content-Length: 1000000", "Transfer-Encoding: chunked"], ids=["sized", "chunked"]
)
def test_endless_body_times_out(hasty: Bare, head: str) -> None:
    with hasty.connect() as client, pytest.raises(OSError):
        client.sendall(f"POST /enter HTTP/1.1\r\n{hasty.host}\r\n{head}\r\n\r\n".encode())
        for _ in range(400):
            client.sendall(b"1\r\nx\r\n" if "chunked" in head else b"x")
            time.sleep(0.01)


def test_large_form_is_refused_early(hasty: Bare) -> None:
    with hasty.connect() as client:
        head = f"POST /enter HTTP/1.1\r\n{hasty.host}\r\nContent-Length: 100000000\r\n\r\n"
        client.sendall(head.encode() + b"ticket=" + b"x" * 8192)
        assert client.recv(65536).startswith(b"HTTP/1.1 401")


def test_client_that_never_reads_is_disconnected(hasty: Bare) -> None:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", hasty.port))
        requested = f"GET /assets/plait.css HTTP/1.1\r\n{hasty.host}\r\n\r\n".encode()
        client.settimeout(5)
        with pytest.raises(OSError):
            for _ in range(3000):
                client.sendall(requested)
                time.sleep(0.002)


def test_idle_connection_is_closed(hasty: Bare) -> None:
    with hasty.connect() as client:
        client.sendall(f"GET /alive HTTP/1.1\r\n{hasty.host}\r\n\r\n".encode())
        assert received(client, b"}").startswith(b"HTTP/1.1 200")
        client.sendall(b"GET ")  # not even this keeps it
        assert hung_up(client)


def test_too_many_connections_are_refused(hasty: Bare) -> None:
    clients = [hasty.connect() for _ in range(60)]
    try:
        wait_for(lambda: len(hasty.bounds.connections) <= 24)
        assert all(hung_up(client) for client in clients)
    finally:
        for client in clients:
            client.close()


def test_requests_on_connections_beyond_the_limit_are_answered_503(hasty: Bare) -> None:
    """The first 24 of 60 kept connections are served, all others get a short text and an end."""
    request = f"GET /alive HTTP/1.1\r\n{hasty.host}\r\n\r\n".encode()
    clients = []
    try:
        answers = []
        for _ in range(60):
            client = hasty.connect()
            clients.append(client)
            client.sendall(request)
            answers.append(received(client, b"}") if len(clients) <= 24 else everything(client))
        assert [status(answer) for answer in answers] == [200] * 24 + [503] * 36
        assert all(answer.endswith(b"Try again in a moment.\n") for answer in answers[24:])
    finally:
        for client in clients:
            client.close()


def test_event_listeners_are_limited(hasty: Bare) -> None:
    listeners = []
    requested = "\r\n".join(["GET /events HTTP/1.1", hasty.host, hasty.cookie, "", ""]).encode()
    for _ in range(4):
        client = hasty.connect()
        client.sendall(requested)
        assert b"retry: 2000" in received(client, b"retry: 2000")
        listeners.append(client)
    assert hasty.hub.listener_count == 4
    refused = hasty.get("/events")
    assert status(refused) == 503
    assert b"retry-after: 30" in refused.lower()
    for client in listeners:
        client.close()
    wait_for(lambda: hasty.hub.listener_count == 0)


def received(client: socket.socket, until: bytes) -> bytes:
    """Return what comes until something is in it."""
    found = b""
    while until not in found and (part := client.recv(65536)):
        found += part
    return found


def test_slow_listener_is_asked_to_reload(hasty: Bare) -> None:
    result = [events.Event("session", f"s{number}") for number in range(500)]
    with hasty.connect() as client:
        requested = "\r\n".join(["GET /events HTTP/1.1", hasty.host, hasty.cookie, "", ""])
        client.sendall(requested.encode())
        received(client, b"retry: 2000")
        hasty.hub.publish(result)
        last = received(client, b'"s499"')
    assert b"event: again\n" in last


def test_slow_response_is_allowed(hasty: Bare) -> None:
    with hasty.connect() as client:
        requested = "\r\n".join(["GET /events HTTP/1.1", hasty.host, hasty.cookie, "", ""])
        client.sendall(requested.encode())
        received(client, b"retry: 2000")
        time.sleep(2 * SOON)
        hasty.hub.publish([events.Event("session", "late")])
        assert b'"late"' in received(client, b'"late"')


def test_connection_stays_open_after_a_form(hasty: Bare) -> None:
    form = f"POST /enter HTTP/1.1\r\n{hasty.host}\r\nContent-Length: 8\r\n\r\nticket=x"
    with hasty.connect() as client:
        for _ in range(3):
            client.sendall(form.encode())
            assert received(client, b"</html>").startswith(b"HTTP/1.1 401")
            time.sleep(SOON * 1.5)  # nothing is begun, so nothing is late


@pytest.mark.parametrize(
    "said",
    [
        b"\x00\x01\x02\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 20_000 + b"\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=range(12),
)
def test_malformed_request_is_refused_and_the_connection_closed(hasty: Bare, said: bytes) -> None:
    with hasty.connect() as client:
        try:
            client.sendall(said)
        except ConnectionError:
            return
        assert status(everything(client)) in (0, 400, 401, 414, 421, 431)


@pytest.mark.parametrize(
    "first",
    [
        "GET http://evil.example/ HTTP/1.1",
        "GET //evil.example/ HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "CONNECT evil.example:443 HTTP/1.1",
        "TRACE / HTTP/1.1",
        "BREW /s/x HTTP/1.1",
        "GET /%00%ff%fe HTTP/1.1",
        "GET /s/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1",
        f"GET /s/x/raw/{'9' * 1900}/file HTTP/1.1",
    ],
)
def test_odd_requests_get_a_harmless_answer(hasty: Bare, first: str) -> None:
    answer = hasty.say(first, hasty.host, hasty.cookie)
    assert status(answer) in (400, 404, 405)
    assert b"location:" not in answer.lower()


def test_protocol_upgrade_is_ignored(hasty: Bare) -> None:
    answer = hasty.get("/alive", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    assert status(answer) == 200
