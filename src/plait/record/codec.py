"""JSON of the log to Python values, and back to the bytes that the client would write.

Almost every line takes the first way: one typed pass that skips the long texts. The
others are the ones of real life: wrong types, lone surrogates, broken UTF-8, a byte
order mark. They are read as the client's own JSON reader would read them, and what does
not fit a type is left out, never an error. Raw values are asked in the same spirit.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec.structs import fields as struct_fields

from plait.record.model import Envelope

IRREGULAR = {
    "tool_use_id": "toolUseID",
    "call_id": "toolUseId",
}


def wire_name(name: str) -> str:
    """Returns the key of the log for an attribute: camel case but for a few."""
    if name in IRREGULAR:
        return IRREGULAR[name]
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


def fitting(value: object, kind: type[T]) -> T | None:
    """Returns the value as that type, or None where it is something else."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError, UnicodeError):
        return None


def lenient(value: Mapping[str, object], kind: type[S]) -> S:
    """Returns a struct of all fields that fit, the others absent."""
    whole = fitting(value, kind)
    if whole is not None:
        return whole
    fits: dict[str, object] = {}
    for known in struct_fields(kind):
        if known.encode_name in value:
            fits[known.name] = fitting_field(value[known.encode_name], known.type)
    return kind(**{name: fit for name, fit in fits.items() if fit is not None})


def fitting_field(value: object, kind: Any) -> Any:
    """Returns one field's value, itself taken leniently where it is a struct."""
    fit = fitting(value, kind)
    if fit is None and isinstance(value, Mapping):
        for choice in getattr(kind, "__args__", (kind,)):
            if isinstance(choice, type) and issubclass(choice, msgspec.Struct):
                return lenient(value, choice)
    return fit


def by_type(
    value: object, kinds: Mapping[str, type[msgspec.Struct]]
) -> msgspec.Struct | dict[str, Any] | None:
    """Returns an object in the form that its `type` names, or as it is where none does."""
    if not isinstance(value, Mapping):
        return None
    kind = kinds.get(value["type"]) if isinstance(value.get("type"), str) else None
    return lenient(value, kind) if kind else dict(value)


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
        value = _as_the_client_reads(data)
    if isinstance(value, dict):
        return value
    raise NotAnObject(f"a JSON {JSON_NAMES.get(type(value), 'value')}")


def _as_the_client_reads(data: bytes) -> object:
    text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise NotAnObject(TOO_DEEP) from None
    except ValueError as error:
        raise NotAnObject(str(error).partition(":")[0].lower()) from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not json")


JSON_NAMES = {list: "array", str: "string", int: "number", float: "number", bool: "literal"}
JSON_NAMES[type(None)] = "null"


LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(fields: Mapping[str, Any]) -> bytes:
    """Returns the compact line of an object, without its newline."""
    try:
        return msgspec.json.encode(_with_plain_numbers(fields))
    except UnicodeEncodeError:
        text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
        return LONE_SURROGATE.sub(_escaped, text).encode()


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"


def _with_plain_numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
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


def mapping(value: object) -> Mapping[str, Any]:
    """Returns an object of the log, an empty one in the place of anything else."""
    return value if isinstance(value, Mapping) else {}


def said(value: Mapping[str, Any], name: str) -> str | None:
    """Returns a text of the log, None where it is something else."""
    found = value.get(name)
    return found if isinstance(found, str) else None


def whole_number(value: object) -> int:
    """Returns a whole number of the log, 0 where it is none."""
    return int(value) if isinstance(value, int | float) and abs(value) < 1 << 53 else 0


def count_in(value: Mapping[str, Any], name: str) -> int | None:
    """Returns a whole number of the log, None where it is something else."""
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


WORDLESS = frozenset(
    "type rendered renderedRole toolUseID uuid hookEvent commandMode signature data".split()
)


def strings_in(value: Any, untold: Container[str] = WORDLESS) -> Iterator[str]:
    """Yields the texts in a value of the log, and its plain numbers, in their order.

    Fields of the client's own that hold no words are left out; a tool's input has none.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [one[key] for key in reversed(one) if key not in untold]
        elif isinstance(one, list | tuple):
            waiting += reversed(one)
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield str(one)
