"""Values to lines of text for pictures that are kept in files: only what is not as usual."""

from datetime import datetime
from typing import Any

import msgspec

DIGEST = 1 << 40
"""Whole numbers above it are digests, and all look alike."""
SHORT = 24


def told(value: msgspec.Struct, untold: frozenset[str] = frozenset()) -> str:
    """Return the fields of a value that are not as usual."""
    kept = zip(value.__struct_fields__, usual_of(value), strict=True)
    return " ".join(
        f"{name}={short(found)}"
        for name, usual in kept
        if (found := getattr(value, name)) != usual and found is not None and name not in untold
    )


def usual_of(value: msgspec.Struct) -> list[Any]:
    """Return what the fields of a value are where nobody says."""
    return [
        field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        for field in msgspec.structs.fields(value)
    ]


def short(value: Any) -> str:
    """Return any value in one line."""
    if isinstance(value, msgspec.Struct):
        return f"({told(value)})"
    if isinstance(value, tuple | list):
        return "[" + " ".join(map(short, value)) + "]"
    if isinstance(value, dict):
        return "{" + " ".join(f"{key}:{short(one)}" for key, one in value.items()) + "}"
    if isinstance(value, int) and value > DIGEST:
        return "digest"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat()
    return shortened(str(value))


def shortened(text: str) -> str:
    """Return the first words of a text, in one line."""
    line = text.replace("\n", "⏎")
    return line if len(line) <= SHORT or " " not in line else line[:SHORT] + "…"
