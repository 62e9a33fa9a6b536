"""A request to the index that answers it, where there is one; else a word on how to get one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.cli.options import Request

if TYPE_CHECKING:
    from plait.archive.index.fresh import FreshIndex

LARGE = 200_000_000
"""Bytes of logs from which on it is said that an index makes this quicker."""
HINT = "reading all logs: `plait index` once, and this answers at once from then on"

no_index_option = click.option(
    "--no-index", is_flag=True, help="Read the logs, whatever the index says."
)


@contextmanager
def index_of(request: Request, *, no_index: bool) -> "Iterator[FreshIndex | None]":
    """Gives the index of the archive, None where the logs are to be read."""
    folder = request.settings.index
    if no_index or not is_there(folder):
        if not no_index and sys.stderr.isatty() and is_large(request):
            request.output.note(HINT)
        yield None
        return
    from plait.archive.index.fresh import fresh_index

    with fresh_index(request.archive, folder) as warm:
        yield warm


def is_there(folder: Path) -> bool:
    """Tells whether there is an index that may be looked at."""
    try:
        return folder.exists()
    except OSError:
        return False


def is_large(request: Request) -> bool:
    """Tells whether reading all logs takes a while."""
    return sum(file.size for file in request.archive.files) > LARGE
