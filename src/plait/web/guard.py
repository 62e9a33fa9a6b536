"""Requests to those that may pass: the right host, the right page, the right person.

Host      a name of this server, or an address in figures: no name of the outside may
          point here (rebinding); a server of this machine alone goes by its own addresses
Origin    where a browser names one, it is the page's own, that of the Host; a form on a
          disk may enter
cookie    given for a ticket or the key; without it there is only the door
key       what programs show instead, for the API alone
"""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from plait.web.access import Keys, equal, refusing

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/enter", "/alive"})
"""What answers without a cookie."""
ASSETS = "/assets/"
API = "/api/"
LONGEST_PATH, LONGEST = 2048, 8192
"""Characters of an address, and of what is asked with it."""
MOST_HEADERS = 32 << 10
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class Guard:
    """Lets pass what may, and sees to it that every answer is a careful one."""

    def __init__(
        self, app: App, keys: Keys, port: int, names: frozenset[str], *, is_remote: bool = False
    ) -> None:
        self.app = app
        self.keys = keys
        self.names = names
        """Host names that mean this server, in small letters."""
        self.is_remote = is_remote
        """Other machines may come: it has addresses that it does not know."""
        self.cookie = f"plait{port}"
        self.last = time.monotonic()
        """When somebody was let pass last."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refused = self.refusal(scope)
        if refused is None:
            self.last = time.monotonic()
        app: App = refusing(*refused) if refused else self.app
        await app(scope, receive, _carefully(send))

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Returns why a request may not pass, None where it may."""
        headers = _headers_of(scope)
        if not self.is_host(headers.get("host", "")):
            return 421, "This server does not go by that name."
        if not self.is_from_here(scope, headers):
            return 403, "Another page has sent this request."
        if len(scope["path"]) > LONGEST_PATH or len(scope["query_string"]) > LONGEST:
            return 414, "The address is too long."
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
            return 431, "The request says too much of itself."
        path = scope["path"]
        is_open = path in OPEN or path.startswith(ASSETS)
        if is_open or self.has_cookie(headers.get("cookie", "")) or self.has_key(path, headers):
            return None
        return 401, "This page is private."

    def is_host(self, host: str) -> bool:
        """Tells whether a Host header names this server, by whatever port it is reached."""
        try:
            parts = urlsplit(f"//{host}")
            _ = parts.port
        except ValueError:
            return False
        name = (parts.hostname or "").lower()
        is_plain = not (parts.path or parts.query or parts.fragment or "@" in host)
        return is_plain and (name in self.names or self.is_address(name))

    def is_address(self, name: str) -> bool:
        """Tells an address in figures, which nobody can make point elsewhere, from a name."""
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self.is_remote or address.is_loopback

    def is_from_here(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Tells whether a request comes from a page of ours, or from nobody's."""
        is_reading = scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        if scope["path"] == "/enter" and origin in (None, "null"):
            return True  # the file that opens the page lies on the disk
        if origin is not None:
            return _is_origin(origin, headers.get("host", ""))
        site = headers.get("sec-fetch-site", "none")
        if not is_reading:
            return site == "same-origin" or "sec-fetch-site" not in headers
        return site in ("none", "same-origin") or headers.get("sec-fetch-mode") == "navigate"

    def has_cookie(self, header: str) -> bool:
        """Tells whether a browser has been let in."""
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie and equal(value, self.keys.cookie):
                return True
        return False

    def has_key(self, path: str, headers: dict[str, str]) -> bool:
        """Tells whether a program shows the key."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return path.startswith(API) and scheme.lower() == "bearer" and self.keys.is_key(given)


def _is_origin(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _headers_of(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        known = found.get(key)
        separator = "; " if key == "cookie" else ", "
        found[key] = text if known is None else f"{known}{separator}{text}"
    return found


def _carefully(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            added = [one for one in HEADERS if one[0] not in given]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sent
