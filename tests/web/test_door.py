"""Signing in, and the headers of every response, on a real server."""

import json
import logging
import re

import pytest

from plait.web.guard import Keys
from plait.web.server import LogLimit
from tests.web.bare import Bare, status, wait_for


def entering(server: Bare, ticket: str, *headers: str, to: str = "/") -> bytes:
    """Show a ticket at the door."""
    body = f"ticket={ticket}&to={to}".encode()
    head = ("Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}")
    return server.say("POST /enter HTTP/1.1", server.host, *head, *headers, body=body)


def test_ticket_is_exchanged_for_a_cookie_and_redirects(server: Bare) -> None:
    answer = entering(server, server.keys.create_ticket(), "Origin: null", to="/s/x")
    assert status(answer) == 200
    assert b'content="0;url=/s/x"' in answer
    found = re.search(rb"set-cookie: (.*)\r\n", answer, re.IGNORECASE)
    assert found
    cookie = found[1].decode()
    assert cookie.startswith(f"plait{server.port}={server.keys.cookie};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Domain" not in cookie


def test_used_or_foreign_ticket_is_refused(server: Bare) -> None:
    ticket = server.keys.create_ticket()
    entering(server, ticket)
    for item in (ticket, Keys("another").create_ticket(), "", "x" * 3000):
        answer = entering(server, item)
        assert status(answer) == 401
        assert b"set-cookie" not in answer.lower()


def test_cross_site_sign_in_is_refused(server: Bare) -> None:
    answer = entering(server, server.keys.create_ticket(), "Origin: http://evil.example")
    assert status(answer) == 403


def test_ticket_in_a_url_is_ignored(server: Bare) -> None:
    answer = server.say(f"GET /enter?ticket={server.keys.create_ticket()} HTTP/1.1", server.host)
    assert status(answer) == 401
    assert b"set-cookie" not in answer.lower()


@pytest.mark.parametrize("path", ["/", "/nothing", "/assets/plait.css", "/alive", "/enter"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_every_response_has_security_headers(server: Bare, path: str, method: str) -> None:
    head = server.get(path, method=method).split(b"\r\n\r\n")[0].lower()
    assert b"content-security-policy: default-src 'none'; script-src 'self';" in head
    assert b"frame-ancestors 'none'" in head
    assert b"x-frame-options: deny" in head
    assert b"referrer-policy: no-referrer" in head
    assert b"x-content-type-options: nosniff" in head
    assert b"server:" not in head
    assert b"access-control-allow" not in head


def test_no_response_may_be_stored(server: Bare) -> None:
    """Before, the download of a log, the CSV of usage and the sign-in page came without a word."""
    listed = server.get("/api/v1/sessions").partition(b"\r\n\r\n")[2]
    name = json.loads(listed)["sessions"][0]["name"]
    addresses = ("/", "/usage.csv", "/alive", "/enter", "/nothing", "/api/v1/sessions")
    logs = (f"/s/{name}", f"/s/{name}/raw/0/file", f"/s/{name}/raw/0/1?raw", f"/s/{name}/markdown")
    for address in (*addresses, *logs):
        head = server.get(address).partition(b"\r\n\r\n")[0].lower()
        assert b"cache-control: no-store" in head or b"cache-control: private, no-cache" in head


def test_refusal_reveals_nothing(server: Bare) -> None:
    for path in ("/s/x", "/search?q=harbour", "/api/v1/sessions"):
        answer = server.say(f"GET {path} HTTP/1.1", server.host)
        assert status(answer) == 401
        assert b"harbour" not in answer.lower()


def test_programs_get_errors_as_json(server: Bare) -> None:
    answer = server.say("GET /api/v1/sessions HTTP/1.1", server.host, "Accept: text/html")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"www-authenticate: bearer" in head.lower()
    assert "--print-key" in json.loads(body)["hints"][0]


def test_server_proves_its_identity_without_its_secret(server: Bare) -> None:
    body = server.get("/alive?challenge=abc").partition(b"\r\n\r\n")[2]
    assert json.loads(body) == {"plait": True, "proof": server.keys.prove("abc")}


@pytest.mark.parametrize("path", ["/", "/api/v1/sessions", "/assets/plait.css"])
def test_head_matches_get(server: Bare, path: str) -> None:
    full, head = server.get(path), server.get(path, method="HEAD")
    assert head.endswith(b"\r\n\r\n")
    wanted = re.search(rb"content-length: (\d+)", full.lower())
    assert wanted
    assert wanted[0] in head.lower()


def test_head_of_the_event_stream_does_not_subscribe(server: Bare) -> None:
    answer = server.get("/events", method="HEAD")
    assert status(answer) == 200
    assert server.hub.listener_count == 0


@pytest.mark.parametrize("path", ["/", "/api/v1/sessions", "/events"])
def test_pages_refuse_other_methods(server: Bare, path: str) -> None:
    answer = server.get(path, method="DELETE")
    assert status(answer) == 405
    assert b"allow: " in answer.lower()


def test_unchanged_content_is_not_sent_again(server: Bare) -> None:
    tag = re.search(rb'etag: (".*?")', server.get("/assets/plait.css"), re.IGNORECASE)
    assert tag
    answer = server.get("/assets/plait.css", f"If-None-Match: {tag[1].decode()}")
    assert status(answer) == 304
    assert answer.endswith(b"\r\n\r\n")


def test_loopback_responses_are_not_compressed(server: Bare) -> None:
    answer = server.get("/assets/plait.css", "Accept-Encoding: gzip")
    assert b"content-encoding" not in answer.split(b"\r\n\r\n")[0].lower()


def form(server: Bare, address: str, body: bytes, *headers: str) -> bytes:
    """Return what a form is answered with."""
    return server.say(
        f"POST {address} HTTP/1.1",
        server.host,
        f"Origin: http://127.0.0.1:{server.port}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        *headers,
        body=body,
    )


@pytest.mark.parametrize(("count", "wanted"), [(10, 401), (11, 400), (200, 400)])
def test_form_with_many_fields_is_refused(server: Bare, count: int, wanted: int) -> None:
    body = "&".join(f"a{number}=1" for number in range(count)).encode()
    assert status(form(server, "/enter", body)) == wanted
    assert status(form(server, "/s/x/export", body, server.cookie)) in (400, 404)


def test_disconnect_during_sign_in_is_silent(
    server: Bare, caplog: pytest.LogCaptureFixture
) -> None:
    for address, extra in (("/enter", ""), ("/s/x/export", server.cookie)):
        with server.connect() as client:
            head = [
                f"POST {address} HTTP/1.1",
                server.host,
                f"Origin: http://127.0.0.1:{server.port}",
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Length: 1000",
                *([extra] if extra else []),
            ]
            client.sendall("\r\n".join([*head, "", "ticket"]).encode())
    assert status(server.get("/alive")) == 200
    wait_for(lambda: not server.bounds.connections)
    assert caplog.records == []


def test_server_log_is_bounded() -> None:
    log, output = logging.getLogger("tests.brief"), list[str]()
    log.addFilter(LogLimit(1000))
    handler = logging.Handler()
    handler.emit = lambda record: output.append(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    for number in range(500):
        log.error("failed %s", number)
    assert output[-1] == "further errors are not logged"
    assert output[:-1] == [f"failed {number}" for number in range(len(output) - 1)]
    assert 50 < len(output) < 120
