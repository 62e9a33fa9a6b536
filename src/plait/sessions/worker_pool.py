"""Work on sessions and files by several processes, where that is faster.

The same function does the work either way, so results are the same, and in the order of the input.
A process sends its result as a few bytes.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

from plait.line import LogFile
from plait.sessions.model import Session, SessionFamily

T = TypeVar("T")
Item = Session | LogFile
TASK = "plait.sessions.worker_pool:run_task"
FACTS_PARALLEL_BYTES = 48_000_000
"""Bytes of logs from which several processes are faster at reading facts for lists."""
ACCOUNTS_PARALLEL_BYTES = 12_000_000
"""The same for the account of every line."""


class HasSize(Protocol):
    """Anything with a size."""

    @property
    def size(self) -> int:
        """How many bytes are to be read."""


class WorkerPool(NamedTuple):
    """The number of worker processes, and messages about those that died."""

    jobs: int
    failures: list[str]


SINGLE_PROCESS = WorkerPool(1, [])


def is_worth_workers(pool: WorkerPool, given: Sequence[Session | HasSize], worth: int) -> bool:
    """Return whether several processes are faster for this many bytes."""
    return pool.jobs > 1 and len(given) > 1 and sum(map(_measure_item, given)) >= worth


def map_parallel(
    pool: WorkerPool,
    work: Callable[..., T],
    kind: Any,
    given: Sequence[Item],
    worth: int,
    *details: object,
) -> Iterator[T]:
    """Yield a function's result for each item, in order; with details if the function takes some.

    Small inputs stay in this process. Results are of a type that can be serialised.
    """
    if not is_worth_workers(pool, given, worth):
        yield from (work(item, *details) for item in given)
        return
    from plait.index.catalogue import from_bytes
    from plait.line.workers import Workers

    name = f"{work.__module__}:{work.__name__}"
    items = [
        (str(item.path), name, (detach((item,))[0] if isinstance(item, Session) else item), details)
        for item in given
    ]
    with Workers(pool.jobs, pool.failures) as workers:
        for data in workers.map(TASK, items, [_measure_item(item) for item in given]):
            yield from_bytes(data, kind)


def run_task(item: tuple[str, str, Item, tuple[object, ...]]) -> bytes:
    """Return the serialised result for a session or a file, in a worker."""
    from plait.index.catalogue import to_bytes
    from plait.line.worker import resolve_function

    _, name, entry, details = item
    return to_bytes(resolve_function(name)(entry, *details))


def is_picklable(value: object) -> bool:
    """Return whether a value can be sent to another process; custom prices may not."""
    import pickle

    try:
        pickle.dumps(value)
    except Exception:  # of whatever kind
        return False
    return True


def detach(members: SessionFamily) -> SessionFamily:
    """Return sessions without their archive, for another process."""
    return tuple(replace(session, archive=None) for session in members)


def count_bytes(members: SessionFamily) -> int:
    """Return the size of the logs of sessions."""
    return sum(map(_measure_item, members))


def _measure_item(session: Session | HasSize) -> int:
    return (
        sum(file.size for file in session.files) if isinstance(session, Session) else session.size
    )


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector: reading makes many objects and no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
