"""Access control: tickets and keys, sign-in, and the checks that every request passes.

The secret is in a file that only its owner may read. Whoever can read it may sign in; nobody else
on the machine can, although everybody can connect.
"""

import hmac
import re
import secrets
import time
from base64 import b32encode
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from plait.view.page.frame import render_redirect_page, render_sign_in_page

PRIVATE = "This page is private."
WRONG = "That key is wrong or has already been used."
TICKET_LIFE = 120
"""Seconds for which a ticket is valid."""
OWNER = ""
"""The owner of the key if there is only one."""
PERSON = "plait.person"
"""Where an accepted request records its person."""


class Keys:
    """Everything derived from a secret."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret.encode()
        self._now = clock
        self._used: dict[str, float] = {}

    @property
    def cookie(self) -> str:
        """The cookie of a signed-in browser."""
        return self._sign("cookie")

    @property
    def key(self) -> str:
        """The key to type instead of using a ticket."""
        digest = hmac.digest(self._secret, b"key", "sha256")[:15]
        text = b32encode(digest).decode().lower()
        return "-".join(text[at : at + 6] for at in range(0, 24, 6))

    def create_ticket(self) -> str:
        """Return a ticket that lets one browser in, once and soon."""
        payload = f"{int(self._now() + TICKET_LIFE)}.{secrets.token_urlsafe(12)}"
        return f"{payload}.{self._sign(f'ticket {payload}')}"

    def accepts(self, credential: str) -> bool:
        """Return whether a ticket or the key is valid; a ticket is used up."""
        if self.is_key(credential):
            return True
        payload, _, signature = credential.rpartition(".")
        expiry = payload.partition(".")[0]
        if (
            not equal_in_constant_time(signature, self._sign(f"ticket {payload}"))
            or float(expiry) < self._now()
        ):
            return False
        self._used = {
            payload_used: end for payload_used, end in self._used.items() if end >= self._now()
        }
        is_first = payload not in self._used
        self._used[payload] = float(expiry)
        return is_first

    def is_key(self, text: str) -> bool:
        """Return whether the key is right."""
        return equal_in_constant_time(text.strip().lower(), self.key)

    def exchange_for_cookie(self, credential: str) -> str | None:
        """Return the cookie for a ticket or key; None if it is invalid."""
        return self.cookie if self.accepts(credential) else None

    def find_cookie_owner(self, cookie: str) -> str | None:
        """Return the owner of a cookie, None for nobody; here all are the owner's."""
        return OWNER if equal_in_constant_time(cookie, self.cookie) else None

    def find_key_owner(self, key: str) -> str | None:
        """Return the owner of a key, None for nobody."""
        return OWNER if self.is_key(key) else None

    def prove(self, challenge: str) -> str:
        """Return an answer to a challenge that only this server can give."""
        return self._sign(f"proof {challenge}")

    def sign(self, text: str) -> str:
        """Return a signature that only the holder of the secret can make."""
        return self._sign(f"for {text}")

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), sha256).hexdigest()


def equal_in_constant_time(left: str, right: str) -> bool:
    """Compare two texts in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


def new_secret() -> str:
    """Return a secret that nobody can guess."""
    return secrets.token_hex(32)


class Commands(NamedTuple):
    """The commands that open the page and start the server."""

    open: str = "plait open"
    serve: str = "plait serve"

    @property
    def hint(self) -> str:
        """How a program signs in."""
        if not self.open:
            return "use `Authorization: Bearer KEY` with the key you were given"
        words = self.open.split(" ")
        index = words.index("open") + 1
        command = " ".join([*words[:index], "--print-key", *words[index:]])
        return f"`{command}` prints the key for `Authorization: Bearer KEY`"


DEFAULT_COMMANDS = Commands()
MOST, MOST_FIELDS = 4096, 10
"""Size limits of a sign-in request."""


def _create_refusal(scope: Any, status: int, reason: str, commands: Commands) -> Response:
    """Answer a refused request: the sign-in page for browsers, JSON for programs."""
    path, query = str(scope["path"]), scope["query_string"].decode("latin-1")
    accepted = dict(scope["headers"]).get(b"accept", b"")
    if b"text/html" in accepted and not path.startswith(API):
        page = to_local_path(f"{path}?{query}" if query else path) if status == 401 else None
        return HTMLResponse(render_sign_in_page(reason, commands.open, page), status)
    body = {"error": reason, "hints": [commands.hint] if status == 401 else []}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(body, status, headers)


class SignIn:
    """Exchanges a ticket or the key for a cookie."""

    def __init__(self, keys: Keys, cookie: str, commands: Commands = DEFAULT_COMMANDS) -> None:
        self.keys = keys
        self.cookie = cookie
        self.commands = commands

    async def enter(self, request: Request) -> Response:
        """Sign a browser in and redirect it.

        A strict cookie is not sent with a navigation that began on another site, so the response is
        a page of ours that continues by itself.
        """
        if request.method != "POST":
            return HTMLResponse(render_sign_in_page(PRIVATE, self.commands.open, "/"), 401)
        form = await read_small_form(request)
        path = to_local_path(form.get("to", "/"))
        cookie = self.keys.exchange_for_cookie(form.get("ticket", ""))
        if cookie is None:
            return HTMLResponse(render_sign_in_page(WRONG, self.commands.open, path), 401)
        response = HTMLResponse(render_redirect_page(path))
        response.set_cookie(self.cookie, cookie, httponly=True, samesite="strict")
        return response

    async def alive(self, request: Request) -> Response:
        """Confirm that a server is here, and prove that it has the secret."""
        challenge = request.query_params.get("challenge", "")[:200]
        return JSONResponse({"plait": True, "proof": self.keys.prove(challenge)})


async def read_small_form(request: Request) -> dict[str, str]:
    """Read the fields of a form, {} if it is too large."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST:
            return {}
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400, f"too many form fields; the limit is {MOST_FIELDS}") from None
    return {name: values[0] for name, values in fields.items()}


def to_local_path(url: str) -> str:
    """Return a path on this server, the first page for any other address."""
    is_local = url.startswith("/") and not url.startswith(("//", "/\\"))
    return url if is_local and url.isprintable() else "/"


Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/enter", "/alive"})
"""Addresses that need no cookie."""
ASSETS = "/assets/"
API = "/api/"
LONGEST_PATH, LONGEST = 2048, 8192
"""Length limits of an address and its query."""
MOST_HEADERS = 32 << 10
MAX_PORT = 65_535
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
    (b"cache-control", b"no-store"),
)
"""Headers of every response that does not set them itself."""
HOST_HEADER = re.compile(
    r"(?:\[(?P<ipv6>[0-9a-f]*:[0-9a-f:.]*)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>[0-9]{0,5}))?",
    re.IGNORECASE,
)
"""No zone (`[::1%25eth0]`): it is free text that a browser's check would not see."""


class Guard:
    """Accepts valid requests, and adds security headers to every response."""

    def __init__(
        self,
        app: App,
        keys: Keys,
        port: int,
        names: frozenset[str],
        *,
        is_remote: bool = False,
        commands: Commands = DEFAULT_COMMANDS,
    ) -> None:
        self.commands = commands
        self.app = app
        self.keys = keys
        self.host_names = names
        """Host names of this server, in lower case."""
        self.is_remote = is_remote
        """Whether other machines can connect, under addresses the server does not know."""
        self.cookie = f"plait{port}"
        self.last_request = time.monotonic()
        """When the last request passed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        app = self.app
        if refusal := self.find_refusal(scope):
            response = _create_refusal(scope, *refusal, self.commands)
            response.headers["Connection"] = "close"
            app = response
        else:
            self.last_request = time.monotonic()
            scope[PERSON] = self.find_person(scope["path"], _get_headers(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = [header for header in HEADERS if header[0] not in present]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await app(scope, receive, send_with_headers)

    def find_refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return why a request is refused; None if it is accepted."""
        headers = _get_headers(scope)
        if not self.is_host(headers.get("host", "")):
            return 421, "This server does not answer to that host name."
        if not self.is_same_origin(scope, headers):
            return 403, "This request came from another site."
        if len(scope["path"]) > LONGEST_PATH or len(scope["query_string"]) > LONGEST:
            return 414, "The address is too long."
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
            return 431, "The request has too many headers."
        path = scope["path"]
        is_open = path in OPEN or path.startswith(ASSETS)
        if is_open or self.find_person(path, headers) is not None:
            return None
        return 401, PRIVATE

    def is_host(self, host: str) -> bool:
        """Return whether a Host header names this server, on any port."""
        match = HOST_HEADER.fullmatch(host)
        if match is None or int(match["port"] or 0) > MAX_PORT:
            return False
        name = (match["ipv6"] or match["name"]).lower()
        return name in self.host_names or self.is_address(name)

    def is_address(self, name: str) -> bool:
        """Return whether a host is an IP address, which DNS cannot redirect."""
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self.is_remote or address.is_loopback

    def is_same_origin(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Return whether a request comes from a page of ours, or from no page."""
        is_reading = scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        if scope["path"] == "/enter" and origin in (None, "null"):
            return True  # the file that opens the page is on disk
        if origin is not None:
            host = headers.get("host", "")
            return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")
        site = headers.get("sec-fetch-site", "none")
        if not is_reading:
            return site == "same-origin" or "sec-fetch-site" not in headers
        return site in ("none", "same-origin") or headers.get("sec-fetch-mode") == "navigate"

    def find_person(self, path: str, headers: dict[str, str]) -> str | None:
        """Return who sends a request: a signed-in browser, or a holder of a key."""
        for pair in headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie and (person := self.keys.find_cookie_owner(value)) is not None:
                return person
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if path.startswith(API) and scheme.lower() == "bearer":
            return self.keys.find_key_owner(key)
        return None


def _get_headers(scope: Scope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        previous = headers.get(key)
        separator = "; " if key == "cookie" else ", "
        headers[key] = text if previous is None else f"{previous}{separator}{text}"
    return headers
