"""The way in: a ticket or the key for a cookie, and what is told to everybody else."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from plait.view.page.door import door_page, passing_page
from plait.web.keys import Keys

HINTS = {401: ("`plait open --print-key` prints the key for `Authorization: Bearer KEY`",)}
MOST = 4096
"""Bytes that a request to enter may have."""


def closed(status: int, reason: str) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Returns what answers a request that may not pass: the door, where a person asks."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        response = refusal(status, reason, is_page=wants_page(scope))
        response.headers["Connection"] = "close"
        await response(scope, receive, send)

    return answer


def wants_page(scope: Any) -> bool:
    """Tells a person who looks for a page from a program that asks for something."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return b"text/html" in accepted and not scope["path"].startswith("/api/")


def refusal(status: int, reason: str, *, is_page: bool) -> Response:
    """Returns why somebody may not pass."""
    if is_page:
        return HTMLResponse(door_page(reason, can_enter=status == 401), status)
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
            return HTMLResponse(door_page("This page is private."), 401)
        given = await small_form(request)
        if not self.keys.takes(given.get("ticket", "")):
            return HTMLResponse(door_page("That key is not right, or was used already."), 401)
        response = HTMLResponse(passing_page(local(given.get("to", "/"))))
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


def local(place: str) -> str:
    """Returns a place on this server, its first page where another one is named."""
    is_here = place.startswith("/") and not place.startswith(("//", "/\\"))
    return place if is_here and place.isprintable() else "/"
