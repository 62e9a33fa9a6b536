"""How far the reading of logs has come to a bar on the screen, where there is one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plait.cli.options import Request

if TYPE_CHECKING:
    from rich.progress import Progress

    from plait.archive.index.update import Watch


@contextmanager
def watched(request: Request, label: str = "reading sessions") -> "Iterator[Watch | None]":
    """Gives what shows how many bytes have been read; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(request, label)
    try:
        yield bar.watch
    finally:
        bar.stop()


class Bar:
    """A bar that is drawn when there is something to be told, and goes away at the end."""

    def __init__(self, request: Request, label: str) -> None:
        self.request = request
        self.label = label
        self.progress: Progress | None = None

    def watch(self, done: int, total: int) -> None:
        """Shows how many bytes have been read of how many."""
        if self.progress is None:
            self.progress = self.started()
        self.progress.update(self.progress.task_ids[0], completed=done, total=total)

    def started(self) -> "Progress":
        """Draws the bar."""
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        console = self.request.output.stderr
        progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
        progress.add_task(self.label, total=None)
        progress.start()
        return progress

    def stop(self) -> None:
        """Takes the bar away."""
        if self.progress:
            self.progress.stop()
