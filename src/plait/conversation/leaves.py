"""Values of the log to the texts in them."""

from collections.abc import Container, Iterator, Mapping
from typing import Any

UNTOLD = frozenset(
    "type rendered renderedRole toolUseID uuid hookEvent commandMode signature data".split()
)


def leaves(value: Any, untold: Container[str] = UNTOLD) -> Iterator[str]:
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
