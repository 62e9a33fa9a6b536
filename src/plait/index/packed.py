"""Values to bytes for the catalogue, and back."""

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
JSON = b"[{"
"""How a value begins that was written as JSON."""


def packed(value: Any) -> bytes:
    """Returns the bytes of a value; lone surrogates and huge numbers are kept as they are."""
    try:
        return msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(value, str_keys=True)).encode()


def unpacked(data: bytes, kind: type[T]) -> T:
    """Returns the value that some bytes stand for."""
    if data[:1] and data[:1] in JSON:
        return msgspec.convert(json.loads(data), kind, str_keys=True)
    return msgspec.msgpack.decode(data, type=kind)
