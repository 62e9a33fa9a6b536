"""Decoding and encoding the JSON of the log, and the envelope of a record.

The envelope is what can be known of a line without reading its content. It is decoded from every
line, so it contains what graphs, lists and counts need and skips the long texts.

Almost every line takes that typed pass. The others have wrong types, lone surrogates, broken UTF-8
or a byte order mark. They are read as the client's own JSON reader would read them; what does not
fit a type is left out and is never an error. Encoding writes the bytes that the client would write.
Wire names exist only in this package.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import fields as struct_fields


class BlockHead(Struct, frozen=True, gc=False):
    """The type and the ids of one content block."""

    tool_use_id: str | None = None
    type: str | None = None
    id: str | None = None
    name: str | None = None


class MessageHead(Struct, frozen=True, gc=False):
    """What the API message says about itself, with the heads of its blocks."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[BlockHead] | None = None
    stop_reason: str | None = None
    timestamp: str | int | float | None = None
    request_id: str | None = field(default=None, name="requestId")


class KindHead(Struct, frozen=True, gc=False):
    """The type of an attachment, of progress, or of an origin."""

    type: str | None = None
    kind: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    command_mode: str | None = field(default=None, name="commandMode")
    agent_id: str | None = field(default=None, name="agentId")
    origin: "KindHead | None" = None
    is_meta: bool | None = field(default=None, name="isMeta")


class ForkedFrom(Struct, frozen=True, gc=False, rename="camel"):
    """The session and the entry that a copied entry was taken from."""

    session_id: str | None = None
    message_uuid: str | None = None


class Envelope(Struct, frozen=True, gc=False, rename="camel"):
    """The flat facts of one record; None if the line does not say.

    The fields are in the order in which the client writes them: a decoder that looks for the next
    key right after the last one then seldom searches twice.
    """

    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None
    attachment: KindHead | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    message: MessageHead | None = None
    request_id: str | None = None
    type: str | None = None
    subtype: str | None = None
    content: str | list[BlockHead] | None = None
    data: KindHead | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    is_api_error_message: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_compact_summary: bool | None = None
    is_meta: bool | None = None
    source_tool_assistant_uuid: str | None = field(default=None, name="sourceToolAssistantUUID")
    source_tool_use_id: str | None = field(default=None, name="sourceToolUseID")
    origin: KindHead | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    team_name: str | None = None
    forked_from: ForkedFrom | None = None
    role: str | None = None
    leaf_uuid: str | None = None
    explicit: bool | None = None
    summary: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None


IRREGULAR = {
    "tool_use_id": "toolUseID",
    "call_id": "toolUseId",
}


def wire_name(name: str) -> str:
    """Return the key of the log for an attribute: camel case with a few exceptions."""
    if name in IRREGULAR:
        return IRREGULAR[name]
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


def convert_or_none(value: object, kind: type[T]) -> T | None:
    """Return a value as a type; None if it is something else."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError, UnicodeError):
        return None


def convert_leniently(value: Mapping[str, object], kind: type[S]) -> S:
    """Return a struct with all fields that fit; the others are absent."""
    converted = convert_or_none(value, kind)
    if converted is not None:
        return converted
    fits: dict[str, object] = {}
    for known in struct_fields(kind):
        if known.encode_name in value:
            fits[known.name] = convert_field(value[known.encode_name], known.type)
    return kind(**{name: fit for name, fit in fits.items() if fit is not None})


def convert_field(value: object, kind: Any) -> Any:
    """Return one field's value, converted leniently if it is a struct."""
    fit = convert_or_none(value, kind)
    if fit is None and isinstance(value, Mapping):
        for choice in getattr(kind, "__args__", (kind,)):
            if isinstance(choice, type) and issubclass(choice, msgspec.Struct):
                return convert_leniently(value, choice)
    return fit


def convert_by_type(
    value: object, kinds: Mapping[str, type[msgspec.Struct]]
) -> msgspec.Struct | dict[str, Any] | None:
    """Return an object as the struct for its `type`; unchanged if there is none."""
    if not isinstance(value, Mapping):
        return None
    kind = kinds.get(value["type"]) if isinstance(value.get("type"), str) else None
    return convert_leniently(value, kind) if kind else dict(value)


TOO_DEEP = "nested too deeply to be read"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_envelope = msgspec.json.Decoder(Envelope).decode
_anything = msgspec.json.Decoder().decode


class NotAnObject(ValueError):
    """The bytes are not one JSON object; the text says why."""


def decode_envelope(data: bytes) -> Envelope:
    """Return the envelope of a line; raise NotAnObject."""
    try:
        return _envelope(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return convert_leniently(decode_object(data), Envelope)


def decode_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in a line; raise NotAnObject."""
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
    """Return the compact line of an object, without its newline."""
    try:
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
        return msgspec.json.encode(copy)
    except UnicodeEncodeError:
        return _encode_surrogates(fields)


def encode_value(value: Any) -> bytes:
    """Return a value as compact JSON, with lone surrogates escaped."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _encode_surrogates(value)


def _encode_surrogates(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return LONE_SURROGATE.sub(_escaped, text).encode()


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"


def javascript_number(number: float) -> str:
    """Return a number as `JSON.stringify` writes it."""
    if not isfinite(number):
        return "null"
    if number == 0:
        return "0"
    if 1e-6 <= abs(number) < 1e21:
        return format(Decimal(repr(number)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(number).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a value as an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def get_text(value: Mapping[str, Any], name: str) -> str | None:
    """Return a value as text; None for anything else."""
    found = value.get(name)
    return found if isinstance(found, str) else None


def as_count(value: object) -> int:
    """Return a value as an integer; 0 for anything else."""
    return int(value) if isinstance(value, int | float) and abs(value) < 1 << 53 else 0


def drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are known."""
    return {name: value for name, value in values.items() if value is not None}


def get_count(value: Mapping[str, Any], name: str) -> int | None:
    """Return a value as an integer; None for anything else."""
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


WORDLESS = frozenset(
    "type rendered renderedRole toolUseID uuid hookEvent commandMode signature data".split()
)


def iter_strings(value: Any, untold: Container[str] = WORDLESS) -> Iterator[str]:
    """Yield the texts and plain numbers in a value of the log, in order.

    Fields of the client without text are left out; in a tool's input all are included.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting += [item[key] for key in reversed(item) if key not in untold]
        elif isinstance(item, list | tuple):
            waiting += reversed(item)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)
