"""A changed record to the bytes that the real client would write.

One line, no spaces, keys in their order, non-ASCII text as it is, numbers as JavaScript
writes them, a lone surrogate as its escape.
"""

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

import msgspec

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(fields: Mapping[str, Any]) -> bytes:
    """Returns the compact line of an object, without its newline."""
    try:
        return msgspec.json.encode(with_plain_numbers(fields))
    except UnicodeEncodeError:
        text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
        return LONE_SURROGATE.sub(escaped, text).encode()


def escaped(surrogate: re.Match[str]) -> str:
    """Returns the escape of a code unit that no UTF-8 can hold."""
    return f"\\u{ord(surrogate[0]):04x}"


def with_plain_numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a copy in which every float is the number that JavaScript writes."""
    copy = dict(fields)
    waiting: list[Any] = [copy]
    while waiting:
        holder = waiting.pop()
        places: Iterable[Any] = list(holder) if isinstance(holder, dict) else range(len(holder))
        for place in places:
            value = holder[place]
            if isinstance(value, float):
                holder[place] = msgspec.Raw(javascript_number(value).encode())
            elif isinstance(value, dict | list):
                holder[place] = value.copy()
                waiting.append(holder[place])
    return copy


def javascript_number(number: float) -> str:
    """Writes a number as `JSON.stringify` does."""
    if not isfinite(number):
        return "null"
    if number == 0:
        return "0"
    if 1e-6 <= abs(number) < 1e21:
        return format(Decimal(repr(number)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(number).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"
