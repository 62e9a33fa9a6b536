"""What was made lately, in memory, until what it was made from changes."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Thread
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")
S = TypeVar("S")
log = logging.getLogger("plait.web")


class Made(NamedTuple):
    """A value, and what it was made from."""

    source: object
    value: Any
    weight: int


class Cache:
    """Values by name, each right as long as what it was made from is the same.

    Nobody makes what another makes already. What was not asked for lately is let go where all
    together weigh too much; the last one always stays.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, Made] = OrderedDict()
        self._turns: dict[Hashable, Lock] = {}

    def of(self, name: Hashable, source: object, make: Callable[[], T], weight: int = 1) -> T:
        """Returns a value, made anew where what it is made from has changed."""
        known = self.last(name)
        if known is None or known.source != source:
            with self._turn(name):
                known = self.last(name)
                if known is None or known.source != source:
                    known = Made(source, make(), weight)
                    self._keep(name, known)
        found: T = known.value
        return found

    def last(self, name: Hashable) -> Made | None:
        """Returns what was last made under a name, whatever has changed since."""
        with self._lock:
            known = self._made.get(name)
            if known is not None:
                self._made.move_to_end(name)
            return known

    def _keep(self, name: Hashable, made: Made) -> None:
        with self._lock:
            self._made[name] = made
            self._made.move_to_end(name)
            while len(self._made) > 1 and self._weight() > self.most:
                self._made.popitem(last=False)

    def _weight(self) -> int:
        return sum(one.weight for one in self._made.values())

    @contextmanager
    def _turn(self, name: Hashable) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(name, Lock())
        try:
            with turn:
                yield
        finally:
            with self._lock:
                if not turn.locked():
                    self._turns.pop(name, None)


PATIENCE, MOMENT = 0.2, 0.02
"""Seconds that who asks waits for the first sum, and for a newer one."""
REST = 4
"""So many times as long as it took, a sum is left alone after it was counted."""


class SumSoFar(NamedTuple, Generic[T]):
    """What was counted; nothing where it is not counted yet, or could not be."""

    value: T | None
    is_counting: bool
    """Tells whether a newer one is on its way."""


class RunningSum(Generic[S, T]):
    """A sum over something that changes, counted in a thread of its own.

    Who asks waits for a moment only. What takes longer is counted on, and the last sum stands
    in for it. Nothing is counted before it is ready to be.
    """

    def __init__(
        self,
        now: Callable[[], S],
        work: Callable[[S], T],
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._now = now
        self._work = work
        self._is_ready = is_ready
        self._cache = Cache(1)
        self._lock = Lock()
        self._thread: Thread | None = None
        self._failed: S | None = None
        self._rested = 0.0

    def ask(self, patience: float = PATIENCE) -> SumSoFar[T]:
        """Returns the newest sum that there is within a moment."""
        known = self._cache.last("sum")
        if not self._is_ready():
            return SumSoFar(known.value if known else None, is_counting=True)
        with self._lock:
            thread = self._begun(self._now())
        if thread is not None:
            thread.join(MOMENT if self._cache.last("sum") else patience)
        known = self._cache.last("sum")
        return SumSoFar(known.value if known else None, not self._is_counted(self._now()))

    def whole(self) -> T:
        """Returns the sum of what there is now, however long that takes."""
        return self._counted(self._now())

    def _counted(self, state: S) -> T:
        return self._cache.of("sum", state, partial(self._work, state))

    def _is_counted(self, state: S) -> bool:
        known = self._cache.last("sum")
        return self._failed is state or (known is not None and known.source is state)

    def _begun(self, now: S) -> Thread | None:
        """Returns the thread that counts; begins one where something has changed."""
        is_rested = time.monotonic() >= self._rested
        if self._thread is None and is_rested and not self._is_counted(now):
            self._thread = Thread(target=self._count, args=(now,), name="plait-sums", daemon=True)
            self._thread.start()
        return self._thread

    def _count(self, state: S) -> None:
        started = time.monotonic()
        try:
            self._counted(state)
        except Exception:
            log.exception("counting failed")
            self._failed = state
        with self._lock:
            now = time.monotonic()
            self._thread, self._rested = None, now + (now - started) * REST
