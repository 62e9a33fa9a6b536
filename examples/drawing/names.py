"""Ids derived from names, so that they never change."""

from __future__ import annotations

import base64
import hashlib
import re

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ZERO_UUID = "00000000-0000-0000-0000-000000000000"
_AGENT = re.compile(r"a[0-9a-f]{6,16}|a\w+-[0-9a-f]+")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def uuid_of(name: str, session: str = "main") -> str:
    """Return the uuid (version 4 in form) of a record named in a session."""
    digits = hashlib.sha256(f"{session}/{name}".encode()).hexdigest()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def session_id(name: str) -> str:
    """Return the id of a session: the name itself if it is a uuid."""
    return name if UUID.fullmatch(name) else uuid_of("session", name)


def agent_id(name: str, session: str) -> str:
    """Return the id of a sub-agent: the name itself if it looks like one."""
    return name if _AGENT.fullmatch(name) else "a" + digest(f"agent/{session}/{name}", 16)


def api_id(prefix: str, key: str, length: int = 22) -> str:
    """Return an id in the API's format: `msg_01…`, `toolu_01…`, `req_011C…`."""
    number = int(digest(f"{prefix}/{key}", 64), 16)
    letters = []
    for _ in range(length):
        number, rest = divmod(number, 58)
        letters.append(_BASE58[rest])
    return prefix + "".join(letters)


def message_id(key: str) -> str:
    """Return the id of a response."""
    return api_id("msg_01", key)


def call_id(key: str) -> str:
    """Return the id of a tool call."""
    return api_id("toolu_01", key)


def request_id(key: str) -> str:
    """Return the id of a request."""
    return api_id("req_011C", key, 20)


def signature(key: str, length: int = 180) -> str:
    """Return the signature of a thinking block: meaningless base64."""
    seed = hashlib.sha256(f"signature/{key}".encode()).digest()
    noise = b"".join(hashlib.sha256(seed + bytes([n])).digest() for n in range(length // 32 + 1))
    return base64.b64encode(b"\x12\xaf\x01" + noise[: length - 3]).decode()


def digest(key: str, length: int) -> str:
    """Return hexadecimal digits that depend only on the key."""
    return hashlib.sha256(key.encode()).hexdigest()[:length]


def number(key: str, below: int) -> int:
    """Return a number that depends only on the key."""
    return int(digest(key, 12), 16) % below


def slug_of(cwd: str) -> str:
    """Return the folder of a working directory below `projects/` (paths up to 200 letters)."""
    return re.sub(r"[^A-Za-z0-9]", "-", cwd)
