"""The way in: a ticket or the key for a cookie, and what is told to everybody else.

The secret lies in a file that only its owner may read. Whoever can read it may enter; nobody
else on the machine can, though all may connect.
"""

import hmac
import secrets
import time
from base64 import b32encode
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from plait.view.page.frame import passing_page, sign_in_page

PRIVATE = "This page is private."
WRONG = "That key is not right, or was used already."
LIFE = 120
"""Seconds for which a ticket is good."""
OWNER = ""
"""Whose the key is where there is only one."""
PERSON = "plait.person"
"""Where a request says whose it is, once it was let pass."""


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

    def cookie_for(self, given: str) -> str | None:
        """Returns the cookie that a ticket or a key is changed for, None where it is not right."""
        return self.cookie if self.takes(given) else None

    def whose_cookie(self, given: str) -> str | None:
        """Returns whose a cookie is, None where it is nobody's: here all are the owner's."""
        return OWNER if equal(given, self.cookie) else None

    def whose_key(self, given: str) -> str | None:
        """Returns whose a key is, in the same way."""
        return OWNER if self.is_key(given) else None

    def proves(self, challenge: str) -> str:
        """Returns what only this server can answer."""
        return self._sign(f"proof {challenge}")

    def signed(self, text: str) -> str:
        """Returns what only who has the secret can make of a text."""
        return self._sign(f"for {text}")

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), sha256).hexdigest()


def equal(one: str, other: str) -> bool:
    """Compares two texts in a time that tells nothing of where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


def new_secret() -> str:
    """Returns a secret that nobody can guess."""
    return secrets.token_hex(32)


class Commands(NamedTuple):
    """What is typed where the server was started."""

    open: str = "plait open"
    serve: str = "plait serve"

    @property
    def hint(self) -> str:
        """Tells a program how it comes in."""
        if not self.open:
            return "`Authorization: Bearer KEY` with the key that you were given"
        words = self.open.split(" ")
        at = words.index("open") + 1
        asked = " ".join([*words[:at], "--print-key", *words[at:]])
        return f"`{asked}` prints the key for `Authorization: Bearer KEY`"


USUAL = Commands()
MOST, MOST_FIELDS = 4096, 10
"""Bytes that a request to enter may have."""


def refusing(
    status: int, reason: str, commands: Commands
) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Returns what answers a request that may not pass: the door, where a person asks."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        response = _refusal(status, reason, commands, _asked_for(scope))
        response.headers["Connection"] = "close"
        await response(scope, receive, send)

    return answer


def _asked_for(scope: Any) -> str | None:
    """Returns the page that a person has asked for, None where a program asks."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    if b"text/html" not in accepted or scope["path"].startswith("/api/"):
        return None
    query = scope["query_string"].decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])


def _refusal(status: int, reason: str, commands: Commands, page: str | None) -> Response:
    if page is not None:
        to = local_place(page) if status == 401 else None
        return HTMLResponse(sign_in_page(reason, commands.open, to), status)
    value = {"error": reason, "hints": [commands.hint] if status == 401 else []}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(value, status, headers)


class Door:
    """Changes a ticket or the key for a cookie."""

    def __init__(self, keys: Keys, cookie: str, commands: Commands = USUAL) -> None:
        self.keys = keys
        self.cookie = cookie
        self.commands = commands

    async def enter(self, request: Request) -> Response:
        """Lets a browser in and leads it on; the next page is asked for by ours.

        A cookie of this kind is not sent along a way that began on another page, so the
        answer is a page that goes on by itself.
        """
        if request.method != "POST":
            return HTMLResponse(sign_in_page(PRIVATE, self.commands.open, "/"), 401)
        given = await small_form(request)
        to = local_place(given.get("to", "/"))
        cookie = self.keys.cookie_for(given.get("ticket", ""))
        if cookie is None:
            return HTMLResponse(sign_in_page(WRONG, self.commands.open, to), 401)
        response = HTMLResponse(passing_page(to))
        response.set_cookie(self.cookie, cookie, httponly=True, samesite="strict")
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
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400, f"a form has at most {MOST_FIELDS} fields") from None
    return {name: values[0] for name, values in found.items()}


def local_place(place: str) -> str:
    """Returns a place on this server, its first page where another one is named."""
    is_here = place.startswith("/") and not place.startswith(("//", "/\\"))
    return place if is_here and place.isprintable() else "/"


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
        self,
        app: App,
        keys: Keys,
        port: int,
        names: frozenset[str],
        *,
        is_remote: bool = False,
        commands: Commands = USUAL,
    ) -> None:
        self.commands = commands
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
            scope[PERSON] = self.whose(scope["path"], _headers_of(scope))
        app: App = refusing(*refused, self.commands) if refused else self.app
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
        if is_open or self.whose(path, headers) is not None:
            return None
        return 401, PRIVATE

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

    def whose(self, path: str, headers: dict[str, str]) -> str | None:
        """Returns whose a request is: of a browser that was let in, or of who shows a key."""
        for pair in headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie and (person := self.keys.whose_cookie(value)) is not None:
                return person
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if path.startswith(API) and scheme.lower() == "bearer":
            return self.keys.whose_key(given)
        return None


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
