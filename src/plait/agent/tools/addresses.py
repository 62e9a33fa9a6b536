"""An address of the web to a connection with a public host, and with nobody else.

A name is looked up once, and the connection goes to what was found then: a name that means another
host a moment later leads nowhere.
"""

import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ssl import create_default_context
from typing import TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

from plait.agent.tools.model import ToolError

MayReach: TypeAlias = Callable[[str], bool]
"""Tells whether an address of the internet may be spoken to."""
TIMEOUT = 20.0
MOST_BYTES = 10 * 1024 * 1024
MOST_HOPS = 5
LONGEST_URL = 2000
MOVED = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered."""

    url: str
    code: int
    words: str
    kind: str
    data: bytes
    moved_to: str | None = None
    """Another host that it names, which was not asked."""


def is_public(address: str) -> bool:
    """Tells whether an address is one of the public internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    return found.is_global and not found.is_multicast and (mapped is None or mapped.is_global)


def parts_of(url: str) -> SplitResult:
    """Returns the parts of an address; raises ToolError where it is none of the web."""
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right or len(url) > LONGEST_URL or any(ord(letter) < 33 for letter in url):
        raise ToolError(f"Invalid URL: {url[:200]!r}", is_misuse=True)
    if parts.username or parts.password:
        raise ToolError("An address with a name and a password is not fetched.", is_misuse=True)
    return parts


def fetched(url: str, may_reach: MayReach) -> Answer:
    """Asks for an address; goes on where the same host moved it, not to another one."""
    for _ in range(MOST_HOPS):
        answer = _asked(parts_of(url), may_reach)
        if answer.moved_to is None:
            return answer
        if urlsplit(answer.moved_to).hostname != urlsplit(url).hostname:
            return answer
        url = answer.moved_to
    raise ToolError(f"Too many redirects (exceeded {MOST_HOPS})")


def _asked(parts: SplitResult, may_reach: MayReach) -> Answer:
    connection = _connection(parts, may_reach)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("GET", target, headers=_headers())
        return _answer(parts.geturl(), connection.getresponse())
    except (OSError, HTTPException, ValueError) as error:
        raise ToolError(f"Request failed: {error}") from error
    finally:
        connection.close()


def _headers() -> dict[str, str]:
    return {
        "Accept": "text/markdown, text/html, text/*, application/json, */*",
        "Accept-Encoding": "identity",
        "User-Agent": "plait",
    }


def _connection(parts: SplitResult, may_reach: MayReach) -> HTTPConnection:
    """Returns a connection to the host of an address, once it is known to be allowed."""
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found]
        if not addresses or not all(map(may_reach, addresses)):
            raise ToolError(f"Refusing to fetch from {host}: it is not on the public internet.")
        connection = HTTPConnection(host, port, timeout=TIMEOUT)
        line = socket.create_connection((addresses[0], port), timeout=TIMEOUT)
        is_sealed = parts.scheme == "https"
        context = create_default_context() if is_sealed else None
        connection.sock = context.wrap_socket(line, server_hostname=host) if context else line
    except (OSError, UnicodeError) as error:
        raise ToolError(f"Cannot reach {host}: {error}") from error
    return connection


def _answer(url: str, response: HTTPResponse) -> Answer:
    kind = response.headers.get_content_type()
    place = response.headers.get("Location")
    if response.status in MOVED and place:
        return Answer(url, response.status, response.reason, kind, b"", urljoin(url, place))
    data = response.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ToolError("The content is too large: more than 10MB")
    return Answer(url, response.status, response.reason, kind, data)
