"""Access checks: host, origin and cookie."""

from typing import Any

import pytest

from plait.web.guard import Guard, Keys
from plait.web.server import ROUTES

KEYS = Keys("secret")
HERE = "127.0.0.1:8420"


async def nobody(scope: Any, receive: Any, send: Any) -> None:
    """Answer nothing: nobody comes so far."""


def guard(*names: str, is_remote: bool = False) -> Guard:
    """Return a guard of a server on this machine, or of one that others reach."""
    return Guard(nobody, KEYS, 8420, frozenset({"localhost", *names}), is_remote=is_remote)


def scope(path: str = "/", method: str = "GET", query: str = "", **headers: str) -> dict[str, Any]:
    """Return a request of a browser that was let in, but for what is said otherwise."""
    given = {"host": HERE, "cookie": f"plait8420={KEYS.cookie}", **headers}
    pairs = [
        (name.replace("_", "-").encode(), item.encode("latin-1")) for name, item in given.items()
    ]
    raw = path.encode("latin-1", "replace")
    return {
        "type": "http",
        "path": path,
        "raw_path": raw,
        "query_string": query.encode(),
        "method": method,
        "headers": pairs,
    }


def code(refused: tuple[int, str] | None) -> int:
    """Return the status of a refusal, 200 for none."""
    return refused[0] if refused else 200


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("127.0.0.1:8420", 200),
        ("localhost:8420", 200),
        ("LOCALHOST:8420", 200),
        ("[::1]:8420", 200),
        ("localhost:9000", 200),  # a port that is led here, such as by ssh
        ("127.0.0.1", 200),
        ("evil.example:8420", 421),
        ("localhost.evil.example:8420", 421),
        ("127.0.0.1.nip.io:8420", 421),
        ("0.0.0.0:8420", 421),
        ("192.168.1.5:8420", 421),
        ("localhost:8420@evil.example", 421),
        ("user@localhost:8420", 421),
        ("@localhost", 421),
        ("localhost/x", 421),
        ("localhost:99999999", 421),
        ("[::1", 421),
        ("localhost, evil.example", 421),
        ("[::1%25evil]", 421),
        ("[::1%lo]", 421),
        ("[::1]evil:8420", 421),
        ("[127.0.0.1]", 421),
        ("127.0\t.0.1", 421),
        ("", 421),
    ],
)
def test_only_own_host_names_are_answered(host: str, wanted: int) -> None:
    assert code(guard().find_refusal(scope(host=host))) == wanted


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("192.168.1.5:8420", 200),
        ("plait.example.org", 200),
        ("evil.example:8420", 421),
        ("other.example.org", 421),
    ],
)
def test_public_server_accepts_addresses_and_configured_names(host: str, wanted: int) -> None:
    first = guard("plait.example.org", is_remote=True)
    assert code(first.find_refusal(scope(host=host))) == wanted


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (f"http://{HERE}", 200),
        ("http://127.0.0.1:9999", 403),  # another server of this machine
        ("http://localhost:8420", 403),  # the same one, but not the page that was asked
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("file://", 403),
        (f"http://{HERE}.evil.example", 403),
    ],
)
def test_cross_origin_requests_are_refused(method: str, origin: str, wanted: int) -> None:
    assert code(guard().find_refusal(scope("/s/a", method, origin=origin))) == wanted


@pytest.mark.parametrize(
    ("method", "site", "mode", "wanted"),
    [
        ("GET", "none", "navigate", 200),
        ("GET", "same-origin", "cors", 200),
        ("GET", "cross-site", "navigate", 200),  # a link: the cookie does not come along
        ("GET", "cross-site", "no-cors", 403),
        ("GET", "same-site", "no-cors", 403),
        ("GET", "same-site", "cors", 403),
        ("POST", "same-origin", "cors", 200),
        ("POST", "cross-site", "navigate", 403),
        ("POST", "same-site", "navigate", 403),
        ("POST", "none", "navigate", 403),
    ],
)
def test_sec_fetch_site_is_honoured(method: str, site: str, mode: str, wanted: int) -> None:
    requested = scope("/x", method, sec_fetch_site=site, sec_fetch_mode=mode)
    assert code(guard().find_refusal(requested)) == wanted


def test_file_origin_may_only_sign_in() -> None:
    assert guard().find_refusal(scope("/enter", "POST", origin="null", cookie="")) is None
    assert code(guard().find_refusal(scope("/enter", "POST", origin="http://evil.example"))) == 403


@pytest.mark.parametrize(
    "path", sorted({route.path for route in ROUTES if "assets" not in route.path})
)
def test_nothing_is_served_without_a_cookie(path: str) -> None:
    assert code(guard().find_refusal(scope(path, cookie=""))) == 401


@pytest.mark.parametrize(
    "path", sorted({route.path for route in ROUTES if "POST" in (route.methods or ())})
)
def test_cross_origin_posts_change_nothing(path: str) -> None:
    assert code(guard().find_refusal(scope(path, "POST", origin="http://evil.example"))) == 403
    assert code(guard().find_refusal(scope(path, "POST", origin="null"))) == 403
    assert code(guard().find_refusal(scope(path, "POST", sec_fetch_site="same-site"))) == 403


@pytest.mark.parametrize(
    ("cookie", "wanted"),
    [
        (f"plait8420={KEYS.cookie}", 200),
        (f"other=1; plait8420={KEYS.cookie}; more=2", 200),
        (f"plait8420=wrong; plait8420={KEYS.cookie}", 200),  # one that another page planted
        (f"plait8421={KEYS.cookie}", 401),
        (f"plait8420={Keys('another').cookie}", 401),
        ("plait8420=", 401),
        ("plait8420", 401),
        (";;;===", 401),
        ("plait8420=é\xff", 401),
    ],
)
def test_only_own_cookie_is_accepted(cookie: str, wanted: int) -> None:
    assert code(guard().find_refusal(scope(cookie=cookie))) == wanted


@pytest.mark.parametrize(
    ("path", "given", "wanted"),
    [
        ("/api/v1/sessions", f"Bearer {KEYS.key}", 200),
        ("/api/v1/sessions", f"bearer  {KEYS.key}", 200),
        ("/api/v1/sessions", f"Bearer {Keys('another').key}", 401),
        ("/api/v1/sessions", f"Bearer {KEYS.cookie}", 401),
        ("/api/v1/sessions", f"Basic {KEYS.key}", 401),
        ("/api/v1/sessions", "Bearer", 401),
        ("/s/a", f"Bearer {KEYS.key}", 401),
        ("/", f"Bearer {KEYS.key}", 401),
    ],
)
def test_bearer_key_works_only_for_the_api(path: str, given: str, wanted: int) -> None:
    assert code(guard().find_refusal(scope(path, cookie="", authorization=given))) == wanted


def test_key_does_not_help_a_cross_origin_page() -> None:
    requested = scope(
        "/api/v1/sessions", authorization=f"Bearer {KEYS.key}", origin="http://evil.example"
    )
    assert code(guard().find_refusal(requested)) == 403


def test_overlong_url_is_refused() -> None:
    assert code(guard().find_refusal(scope("/search", query="q=" + "x" * 9000))) == 414
    digits = "9" * 5000  # more than Python turns into a number
    assert code(guard().find_refusal(scope(f"/s/x/raw/{digits}/file"))) == 414
