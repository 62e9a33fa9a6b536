"""Plait's own files to whole writes, and to a lock that even a crash gives back.

A replaced file holds all of its new bytes or what it held before, whatever happens. Sessions
are written elsewhere.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Writes a file under another name, waits until it is on the disk, and gives it its own."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    waiting = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        _write_through(waiting, data, mode)
        waiting.replace(path)
    except OSError:
        with suppress(OSError):
            waiting.unlink()
        raise
    settle(path.parent)


def _write_through(path: Path, data: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with open(handle, "wb") as file:  # noqa: PTH123  of the handle, whose mode is set
        file.write(data)
        file.flush()
        os.fsync(handle)


def settle(folder: Path) -> None:
    """Waits until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


FIRST_STEP, STEP = 0.0005, 0.02


@contextmanager
def held(path: Path, wait: float = 0.0) -> Iterator[bool]:
    """Tells whether the lock of a file is ours while the block runs; waits for it, but not for
    ever.
    """
    handle = _opened_lock(path)
    try:
        is_ours = taken_within(handle, wait)
        try:
            yield is_ours
        finally:
            if is_ours:
                given_back(handle)
    finally:
        os.close(handle)


def _opened_lock(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def taken_within(handle: int, wait: float) -> bool:
    """Takes the lock as soon as it is free, unless that takes too long."""
    until, step = time.monotonic() + wait, FIRST_STEP
    while not taken(handle):
        if time.monotonic() >= until:
            return False
        time.sleep(step)
        step = min(step * 2, STEP)
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
