"""Lines to the end of a session's file: whole, in one write, under the file's own lock.

    opened to append ── lock ── still the file of that name? ── "\\n" where the end is torn ── write

A line that the system took is there for every reader and outlives the process; only a loss of
power can still take it, unless `is_settled` waits for the disk. What does not fit on the disk
is taken back. Whoever else writes, without a lock too, never lands within a line.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG

from plait.errors import SourceError
from plait.line.atomic import given_back, settle, taken_within
from plait.line.folder import OWNER_FILE, OWNER_FOLDER, unwritable

PATIENCE = 10.0
"""Seconds that one waits for others who write to the same file."""
BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its reader


def append(path: Path, data: bytes, *, is_new: bool | None = None, is_settled: bool = False) -> int:
    """Adds whole lines to a file and returns the offset at which they begin.

    A new file is the owner's alone. `is_new` demands that there is none yet, or, where it is
    False, that there is one.
    """
    whole = data if data.endswith(b"\n") else data + b"\n"
    try:
        with appending(path, is_new=is_new) as handle:
            start = _written(path, handle, whole)
            if is_settled:
                os.fsync(handle)
    except OSError as error:
        raise unwritable(path, error) from error
    if is_settled and start == 0:
        settle(path.parent)
    return start


@contextmanager
def appending(path: Path, *, is_new: bool | None = None) -> Iterator[int]:
    """Holds a file open at its end while the block runs, and everyone else who locks it off."""
    handle = _locked(path, is_new)
    try:
        yield handle
    finally:
        given_back(handle)
        os.close(handle)


def _locked(path: Path, is_new: bool | None) -> int:
    """Returns the file that has this name once the lock is ours: it may have been replaced."""
    while True:
        handle = _opened(path, is_new)
        try:
            if not taken_within(handle, PATIENCE):
                raise SourceError(f"'{path}' is being written by another process")
            if _is_named(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _opened(path: Path, is_new: bool | None) -> int:
    flags = os.O_RDWR | os.O_APPEND | BINARY | NO_WAITING
    if is_new is not False:
        path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        flags |= os.O_CREAT | (os.O_EXCL if is_new else 0)
    return os.open(path, flags, OWNER_FILE)


def _is_named(handle: int, path: Path) -> bool:
    ours = os.fstat(handle)
    if not S_ISREG(ours.st_mode):
        raise SourceError(f"cannot write '{path}': it is no file")
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


def _written(path: Path, handle: int, data: bytes) -> int:
    """Writes at the end and returns where the data begins, or leaves the file as it was."""
    size = os.fstat(handle).st_size
    ended = b"\n" + data if _is_torn(handle, size) else data
    count = os.write(handle, ended)
    if count < len(ended):
        _taken_back(handle, count)
        raise SourceError(f"cannot write '{path}': no space left on device")
    return os.lseek(handle, 0, os.SEEK_CUR) - len(data)


def _is_torn(handle: int, size: int) -> bool:
    if not size:
        return False
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1) != b"\n"


def _taken_back(handle: int, count: int) -> None:
    """Takes back the half of a write, unless somebody has gone on behind it."""
    end = os.lseek(handle, 0, os.SEEK_CUR)
    if os.fstat(handle).st_size == end:
        os.ftruncate(handle, end - count)
