"""The way in: a ticket or the key for a cookie, and what is told to everybody else.

The secret lies in a file that only its owner may read. Whoever can read it may enter; nobody
else on the machine can, though all may connect.
"""

import hmac
import secrets
import time
from base64 import b32encode
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from plait.view.page.frame import passing_page, sign_in_page

LIFE = 120
"""Seconds for which a ticket is good."""


class Keys:
    """Everything that follows from a secret."""

    def __init__(self, secret: str, now: Callable[[], float] = time.time) -> None:
        self._secret = secret.encode()
        self._now = now
        self._used: dict[str, float] = {}

    @property
    def cookie(self) -> str:
        """What the browser shows with each request."""
        return self._sign("cookie")

    @property
    def key(self) -> str:
        """What a person may type who has no ticket."""
        digest = hmac.digest(self._secret, b"key", "sha256")[:15]
        text = b32encode(digest).decode().lower()
        return "-".join(text[at : at + 6] for at in range(0, 24, 6))

    def ticket(self) -> str:
        """Returns a ticket that lets one browser in, once and soon."""
        said = f"{int(self._now() + LIFE)}.{secrets.token_urlsafe(12)}"
        return f"{said}.{self._sign(f'ticket {said}')}"

    def takes(self, given: str) -> bool:
        """Tells whether a ticket or the key is right; a ticket is worthless afterwards."""
        if self.is_key(given):
            return True
        said, _, signature = given.rpartition(".")
        until = said.partition(".")[0]
        if not equal(signature, self._sign(f"ticket {said}")) or float(until) < self._now():
            return False
        self._used = {one: end for one, end in self._used.items() if end >= self._now()}
        is_first = said not in self._used
        self._used[said] = float(until)
        return is_first

    def is_key(self, given: str) -> bool:
        """Tells whether the key is right."""
        return equal(given.strip().lower(), self.key)

    def proves(self, challenge: str) -> str:
        """Returns what only this server can answer."""
        return self._sign(f"proof {challenge}")

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), sha256).hexdigest()


def equal(one: str, other: str) -> bool:
    """Compares two texts in a time that tells nothing of where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


def new_secret() -> str:
    """Returns a secret that nobody can guess."""
    return secrets.token_hex(32)


HINTS = {401: ("`plait open --print-key` prints the key for `Authorization: Bearer KEY`",)}
MOST = 4096
"""Bytes that a request to enter may have."""


def refusing(status: int, reason: str) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Returns what answers a request that may not pass: the door, where a person asks."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        response = _refusal(status, reason, is_page=_wants_page(scope))
        response.headers["Connection"] = "close"
        await response(scope, receive, send)

    return answer


def _wants_page(scope: Any) -> bool:
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return b"text/html" in accepted and not scope["path"].startswith("/api/")


def _refusal(status: int, reason: str, *, is_page: bool) -> Response:
    if is_page:
        return HTMLResponse(sign_in_page(reason, can_enter=status == 401), status)
    value = {"error": reason, "hints": list(HINTS.get(status, ()))}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(value, status, headers)


class Door:
    """Changes a ticket or the key for a cookie."""

    def __init__(self, keys: Keys, cookie: str) -> None:
        self.keys = keys
        self.cookie = cookie

    async def enter(self, request: Request) -> Response:
        """Lets a browser in and leads it on; the next page is asked for by ours.

        A cookie of this kind is not sent along a way that began on another page, so the
        answer is a page that goes on by itself.
        """
        if request.method != "POST":
            return HTMLResponse(sign_in_page("This page is private."), 401)
        given = await small_form(request)
        if not self.keys.takes(given.get("ticket", "")):
            return HTMLResponse(sign_in_page("That key is not right, or was used already."), 401)
        response = HTMLResponse(passing_page(local_place(given.get("to", "/"))))
        response.set_cookie(self.cookie, self.keys.cookie, httponly=True, samesite="strict")
        return response

    async def alive(self, request: Request) -> Response:
        """Says that a server is here, and proves that it is the one that has the secret."""
        challenge = request.query_params.get("challenge", "")[:200]
        return JSONResponse({"plait": True, "proof": self.keys.proves(challenge)})


async def small_form(request: Request) -> dict[str, str]:
    """Returns the fields of a form that is as small as it should be."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST:
            return {}
    found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    return {name: values[0] for name, values in found.items()}


def local_place(place: str) -> str:
    """Returns a place on this server, its first page where another one is named."""
    is_here = place.startswith("/") and not place.startswith(("//", "/\\"))
    return place if is_here and place.isprintable() else "/"
