"""A folder to the right to write in it: one process at a time, given back even by a crash."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.errors import SourceError

NAME = "lock"
STEP = 0.02


@contextmanager
def locked(folder: Path, wait: float = 30.0) -> Iterator[None]:
    """Holds the lock of a folder; waits for another process that has it, but not for ever."""
    handle = opened(folder / NAME)
    try:
        until = time.monotonic() + wait
        while not taken(handle):
            if time.monotonic() > until:
                raise SourceError(
                    f"another process is writing the index in '{folder}'",
                    "wait until it is done, or look for a `plait index --watch` that runs",
                )
            time.sleep(STEP)
        try:
            yield
        finally:
            given_back(handle)
    finally:
        os.close(handle)


def opened(path: Path) -> int:
    """Opens the file that is locked."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise unwritable(path.parent, error) from error


def unwritable(folder: Path, error: OSError) -> SourceError:
    """Returns the error that says why an index cannot be written."""
    reason = (error.strerror or str(error)).lower()
    return SourceError(
        f"cannot write the index in '{folder}': {reason}",
        "set PLAIT_CACHE_DIR to a folder that can be written",
    )


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def taken(handle: int) -> bool:
        """Takes the lock where it is free."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True

    def given_back(handle: int) -> None:
        """Gives the lock back."""
        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def taken(handle: int) -> bool:
        """Takes the lock where it is free."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def given_back(handle: int) -> None:
        """Gives the lock back."""
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
