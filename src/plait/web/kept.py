"""What was made of sessions lately, kept while their files are as they were."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 48


class Kept:
    """Values by what they were made from; those not asked for lately are let go."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._lock = Lock()
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def of(self, kind: str, name: str, marks: Hashable, make: Callable[[], T]) -> T:
        """Returns a value, made anew where what it is made from has changed."""
        with self._lock:
            known = self._known.get((kind, name))
            if known is not None and known[0] == marks:
                self._known.move_to_end((kind, name))
                found: T = known[1]
                return found
        made = make()
        with self._lock:
            self._known[kind, name] = (marks, made)
            self._known.move_to_end((kind, name))
            while len(self._known) > self.most:
                self._known.popitem(last=False)
        return made
