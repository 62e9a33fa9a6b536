"""Values of the log to what one hopes that they are, and to the texts in them."""

from collections.abc import Container, Iterator, Mapping
from typing import Any


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
