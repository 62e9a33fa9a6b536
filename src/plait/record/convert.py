"""Decoded JSON to a typed value, as far as it fits: a misfit is left out, never an error."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import fields as struct_fields

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
            fits[known.name] = part(value[known.encode_name], known.type)
    return kind(**{name: fit for name, fit in fits.items() if fit is not None})


def part(value: object, kind: Any) -> Any:
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
