"""How far the reading of logs has come to a bar on the screen, where there is one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from plait.archive.indexing import Watch
from plait.cli.options import Request


@contextmanager
def watched(request: Request, label: str = "reading sessions") -> Iterator[Watch | None]:
    """Gives what shows how many bytes have been read; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    console = request.output.stderr
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(label, total=None, visible=False)

        def watch(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total, visible=True)

        yield watch
