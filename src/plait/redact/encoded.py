"""Base64 to the secret in it: keys and addresses that are common there, by how they begin."""

import base64
import binascii

from plait.redact.looks import NOTHING
from plait.redact.model import Family, Span

HEADS = (
    "ghp_ gho_ ghs_ ghu_ github_pat_ glpat- sk-ant- sk-proj- sk-or-v1- AKIA AIza xoxb- xoxp- npm_ "
    "pypi- sk_live_ rk_live_ whsec_ postgres:// postgresql:// mysql:// mongodb:// mongodb+srv:// "
    "redis:// amqp:// hvs. dckr_pat_ gsk_ SG. hf_ shpat_ eyJhbGciOi"
).split()
LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
LABEL = "in base64"


def beginning(head: str) -> str:
    """Returns how the base64 of a text begins that begins so."""
    text = base64.b64encode(head.encode()).decode().rstrip("=")
    return text[: len(head) * 8 // 6].replace("+", r"\+")


def alone(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes base64 that no other base64 runs into, as a picture would."""
    return NOTHING if match.start and text[match.start - 1] in LETTERS else (match,)


def decoded(value: bytes) -> bytes | None:
    """Returns what base64 holds, None where it is none."""
    text = value.rstrip(b"=")
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None


ENCODED = Family(
    "base64",
    LABEL,
    f"(?:{'|'.join(map(beginning, HEADS))}|LS0tLS1CRUdJTi)[A-Za-z0-9+/]{{12,}}={{0,2}}",
    alone,
)
