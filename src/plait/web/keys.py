"""One server's secret to what opens it: a cookie, a key to type, tickets that work once.

The secret lies in a file that only its owner may read. Whoever can read it may enter; nobody
else on the machine can, though all may connect.
"""

import hmac
import secrets
import time
from base64 import b32encode
from collections.abc import Callable
from hashlib import sha256

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
