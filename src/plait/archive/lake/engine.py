"""A function and many items to what it makes of each, here by processes or elsewhere by others.

    for found in LocalEngine(4).each(tables_written, chunks):
        match found:
            case Failure(chunk, why): ...

The function has a module of its own and is given all that it needs with the item, so that any
process on any machine can do it. What it raises, and what kills who does it, is a `Failure`:
no item ends the work on the others.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from plait.errors import PlaitError
from plait.line.cores import cores
from plait.line.workers import PATIENCE, RUN_BYTES, Workers

WORTH = 8_000_000
"""Bytes from which on several processes are sooner done."""


class Item(Protocol):
    """What is worked on in one go, by anybody: it can be pickled, and its name is its text."""

    @property
    def size(self) -> int:
        """How much there is to read, in bytes."""


I_ = TypeVar("I_", bound=Item)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Failure(Generic[I_]):
    """An item that nothing was made of."""

    item: I_
    why: str
    is_deadly: bool = False
    """Whether it ended who worked on it, again and again."""


class Engine(Protocol):
    """Who works."""

    def each(self, task: Callable[[I_], R], items: Sequence[I_]) -> Iterator[R | Failure[I_]]:
        """Yields what a function makes of each item, in any order, as soon as it is there."""


def attempt(task: Callable[[I_], R], item: I_) -> R | Failure[I_]:
    """Returns what a function makes of an item, or why it makes nothing of it."""
    try:
        return task(item)
    except PlaitError as error:
        return Failure(item, error.message)
    except OSError as error:
        return Failure(item, (error.strerror or str(error)).lower())
    except Exception as error:  # whatever is wrong with one, the others go on
        said = " ".join(str(error).split())
        return Failure(item, f"{type(error).__name__}: {said}" if said else type(error).__name__)


class LocalEngine:
    """Processes of this machine; this one alone where one is enough."""

    def __init__(
        self, jobs: int | None = None, losses: list[str] | None = None, worth: int = WORTH
    ) -> None:
        self.jobs = jobs or cores()
        self.losses = [] if losses is None else losses
        """What is said of processes that died."""
        self.worth = worth

    def each(self, task: Callable[[I_], R], items: Sequence[I_]) -> Iterator[R | Failure[I_]]:
        """Yields what a function makes of each item, in their order."""
        if self.jobs == 1 or sum(item.size for item in items) < self.worth:
            yield from (attempt(task, item) for item in items)
            return
        name = f"{task.__module__}:{task.__qualname__}"
        sizes = [max(item.size, RUN_BYTES) for item in items]  # each is given out by itself
        with Workers(min(self.jobs, len(items) or 1), self.losses) as workers:
            given = [(item, name) for item in items]
            for data in workers.each(f"{__name__}:packed", given, sizes, dead=_packed_dead):
                yield pickle.loads(data)  # noqa: S301  from a worker of our own


def packed(given: tuple[Any, str]) -> bytes:
    """Returns what a function makes of an item, in bytes: what a worker does."""
    from plait.line.worker import function_named

    item, name = given
    return pickle.dumps(attempt(function_named(name), item), pickle.HIGHEST_PROTOCOL)


def _packed_dead(given: tuple[Any, str]) -> bytes:
    died = f"{PATIENCE} processes died while they read it"
    return pickle.dumps(Failure(given[0], died, is_deadly=True), pickle.HIGHEST_PROTOCOL)
