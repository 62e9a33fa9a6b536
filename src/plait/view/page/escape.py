"""Texts of the log to text in a page: never markup, never running backwards."""

import re
from html import escape

DECEIVING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
ODD = re.compile(f"[&<>\"'{DECEIVING.pattern[1:]}")
"""What cannot stand in a page as it is; most texts hold none of it."""
STAND_IN = "\ufffd"


def esc(text: str) -> str:
    """Returns a text as it stands in a page or in an attribute."""
    return escape(clean(text)) if ODD.search(text) else text


def clean(text: str) -> str:
    """Returns a text without what would deceive its reader or break its encoding."""
    return DECEIVING.sub(STAND_IN, text)


def with_breaks(path: str) -> str:
    """Returns a path that may be broken behind its slashes."""
    return esc(path).replace("/", "/<wbr>")


def attribute(name: str, value: str | None) -> str:
    """Returns an attribute with a space before it, nothing where there is no value."""
    return f' {name}="{esc(value)}"' if value else ""
