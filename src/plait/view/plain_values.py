"""Values to plain objects and lists, as JSON has them; the data of pictures can be left out."""

from collections.abc import Mapping
from typing import Any

import msgspec

LONG = 200
BASE64_KEYS = frozenset({"data", "base64"})


def builtins(value: object) -> dict[str, Any]:
    """Returns a value as plain objects and lists."""
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


def without_data(value: dict[str, Any]) -> dict[str, Any]:
    """Returns an object in which the data of pictures is left out; what is around it stays."""
    holder: dict[str, Any] = {"": value}
    waiting: list[Any] = [holder]
    while waiting:
        one = waiting.pop()
        for key, inner in one.items() if isinstance(one, dict) else enumerate(one):
            if isinstance(inner, Mapping):
                one[key] = {k: v for k, v in inner.items() if not is_data(inner, k, v)}
                waiting.append(one[key])
            elif isinstance(inner, list | tuple):
                one[key] = list(inner)
                waiting.append(one[key])
    found: dict[str, Any] = holder[""]
    return found


def is_data(around: Mapping[str, Any], key: str, value: object) -> bool:
    """Tells whether a text is a file in base64."""
    if key not in BASE64_KEYS or not isinstance(value, str) or len(value) < LONG:
        return False
    return key == "base64" or around.get("type") == "base64"
