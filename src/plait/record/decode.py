"""Bytes of a line to an envelope, or to the whole object they hold.

Almost every line takes the first way: one typed pass that skips the long texts. The
others are the ones of real life: wrong types, lone surrogates, broken UTF-8, a byte
order mark. They are read as the client's own JSON reader would read them.
"""

import json
from typing import Any, NoReturn

import msgspec

from plait.record.convert import lenient
from plait.record.model import Envelope

TOO_DEEP = "nested too deeply to be read"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_envelope = msgspec.json.Decoder(Envelope).decode
_anything = msgspec.json.Decoder().decode


class NotAnObject(ValueError):
    """The bytes are not one JSON object; the text says why, for a finding."""


def envelope_of(data: bytes) -> Envelope:
    """Returns the envelope of a line, or raises NotAnObject."""
    try:
        return _envelope(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return lenient(object_of(data), Envelope)


def object_of(data: bytes) -> dict[str, Any]:
    """Returns the JSON object that a line holds, or raises NotAnObject."""
    try:
        value = _anything(data)
    except RecursionError:
        raise NotAnObject(TOO_DEEP) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        value = as_the_client_reads(data)
    if isinstance(value, dict):
        return value
    raise NotAnObject(f"a JSON {NAMES.get(type(value), 'value')}")


def as_the_client_reads(data: bytes) -> object:
    """Decodes what a strict reader refuses: U+FFFD stands for bytes that are no text."""
    text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise NotAnObject(TOO_DEEP) from None
    except ValueError as error:
        raise NotAnObject(str(error).partition(":")[0].lower()) from None


def refuse(name: str) -> NoReturn:
    """Refuses NaN and Infinity, which are not JSON."""
    raise ValueError(f"{name} is not json")


NAMES = {list: "array", str: "string", int: "number", float: "number", bool: "literal"}
NAMES[type(None)] = "null"
