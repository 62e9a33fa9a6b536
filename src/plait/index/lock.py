"""A folder to the right to write in it: one process at a time, given back even by a crash."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from plait.errors import SourceError
from plait.line.atomic import held

NAME = "lock"


@contextmanager
def locked(folder: Path, wait: float = 30.0) -> Iterator[None]:
    """Holds the lock of a folder; waits for another process that has it, but not for ever."""
    with ExitStack() as stack:
        try:
            is_ours = stack.enter_context(held(folder / NAME, wait))
        except OSError as error:
            raise unwritable(folder, error) from error
        if not is_ours:
            raise SourceError(
                f"another process is writing the index in '{folder}'",
                "wait until it is done, or look for a `plait index --watch` that runs",
            )
        yield


def unwritable(folder: Path, error: OSError) -> SourceError:
    """Returns the error that says why an index cannot be written."""
    reason = (error.strerror or str(error)).lower()
    return SourceError(
        f"cannot write the index in '{folder}': {reason}",
        "set PLAIT_CACHE_DIR to a folder that can be written",
    )
