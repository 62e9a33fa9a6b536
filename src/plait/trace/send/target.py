"""Addresses and keys to where spans go: any OTLP endpoint over HTTP, or Langfuse."""

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from plait.errors import ConfigError
from plait.trace.model import Convention

TRACES = "/v1/traces"
LANGFUSE = "/api/public/otel/v1/traces"
LANGFUSE_CLOUD = "https://cloud.langfuse.com"
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


class Target(Struct, frozen=True, kw_only=True):
    """Where spans go, and how. Its headers hold keys: they are never shown."""

    url: str
    headers: Mapping[str, str] = {}
    convention: Convention = "both"
    timeout: float = 10.0
    """Seconds that one request may take."""

    def __repr__(self) -> str:
        return f"Target({self.url})"

    @property
    def is_loopback(self) -> bool:
        """Tells whether it is on this machine."""
        return LOOPBACK.fullmatch(urlsplit(self.url).hostname or "") is not None


def otlp(endpoint: str, headers: Mapping[str, str] | None = None) -> Target:
    """Returns an OTLP collector; an address without a path means its usual one."""
    parts = _checked(endpoint)
    path = parts.path.rstrip("/")
    url = endpoint if path else f"{parts.scheme}://{parts.netloc}{TRACES}"
    return Target(url=url, headers=dict(headers or {}))


def langfuse(host: str, public_key: str, secret_key: str) -> Target:
    """Returns a Langfuse project."""
    _checked(host)
    keys = b64encode(f"{public_key}:{secret_key}".encode()).decode()
    return Target(
        url=host.rstrip("/") + LANGFUSE,
        headers={"Authorization": f"Basic {keys}"},
        convention="langfuse",
    )


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_good = False
    if not is_good:
        raise ConfigError(f"'{url}' is no address to send traces to", "say http://localhost:4318")
    if parts.username or parts.password:
        raise ConfigError(
            f"the address of '{parts.hostname}' holds a name or a password",
            "put them into `otlp_headers`: addresses are shown, headers are not",
        )
    return parts


def headers_in(text: str) -> dict[str, str]:
    """Returns the headers of a list such as `api-key=abc,x-team=blue`."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = part.partition("=")
        if not (sign and name.strip()):
            raise ConfigError("`otlp_headers` is no list of headers", "say name=value,name=value")
        found[name.strip()] = value.strip()
    return found
