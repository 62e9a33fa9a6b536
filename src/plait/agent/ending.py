"""Tasks that go on to tasks that are over, however often whoever waits is told to stop."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from typing import Any, TypeAlias

Tasks: TypeAlias = "Collection[asyncio.Task[Any]]"


async def ended(tasks: Tasks) -> None:
    """Stops tasks, each once, so that none is stopped while it cleans up; waits for all."""
    for task in tasks:
        if not task.done() and not task.cancelling():
            task.cancel()
    while busy := [task for task in tasks if not task.done()]:
        with suppress(asyncio.CancelledError):
            await asyncio.wait(busy)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # seen, so that nobody complains that it was not
