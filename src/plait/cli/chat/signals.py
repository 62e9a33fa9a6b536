"""Signals to what they ask of a session: the first stops what goes on, the next one ends it."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def stopped_by(stop: Callable[[], bool]) -> Iterator[None]:
    """While entered, Ctrl-C stops what goes on; where nothing does, or again, the task ends."""
    task = asyncio.current_task()
    has_stopped = False

    def interrupt() -> None:
        nonlocal has_stopped
        if has_stopped or not stop():
            _end(task)
        has_stopped = True

    with caught(interrupt):
        yield


@contextmanager
def caught(interrupt: Callable[[], None]) -> Iterator[None]:
    """While entered, Ctrl-C is told, and what would end the process ends the task in order."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    told = {signal.SIGINT: interrupt, **dict.fromkeys(ENDING, lambda: _end(task))}
    # only the main thread can, and not on every platform
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number, tell in told.items():
            loop.add_signal_handler(number, tell)
    try:
        yield
    finally:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in told:
                loop.remove_signal_handler(number)


def _end(task: "asyncio.Task[Any] | None") -> None:
    if task:
        task.cancel()
