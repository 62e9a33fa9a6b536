"""A file to the right to go on: one process at a time, given back even by a crash."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STEP = 0.02


@contextmanager
def held(path: Path, wait: float = 0.0) -> Iterator[bool]:
    """Tells whether the lock of a file is ours while the block runs; waits for it, but not for
    ever.
    """
    handle = opened(path)
    try:
        is_ours = taken_within(handle, wait)
        try:
            yield is_ours
        finally:
            if is_ours:
                given_back(handle)
    finally:
        os.close(handle)


def opened(path: Path) -> int:
    """Opens the file that is locked, for its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def taken_within(handle: int, wait: float) -> bool:
    """Takes the lock as soon as it is free, unless that takes too long."""
    until = time.monotonic() + wait
    while not taken(handle):
        if time.monotonic() >= until:
            return False
        time.sleep(STEP)
    return True


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
