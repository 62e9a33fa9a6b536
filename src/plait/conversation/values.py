"""Values of the log to what one hopes that they are: what misfits is as good as absent."""

from collections.abc import Mapping
from typing import Any


def mapping(value: object) -> Mapping[str, Any]:
    """Returns an object of the log, an empty one in the place of anything else."""
    return value if isinstance(value, Mapping) else {}


def said(value: Mapping[str, Any], name: str) -> str | None:
    """Returns a text of the log, None where it is something else."""
    found = value.get(name)
    return found if isinstance(found, str) else None


def whole(value: object) -> int:
    """Returns a whole number of the log, 0 where it is none."""
    return int(value) if isinstance(value, int | float) and abs(value) < 1 << 53 else 0


def count_in(value: Mapping[str, Any], name: str) -> int | None:
    """Returns a whole number of the log, None where it is something else."""
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
