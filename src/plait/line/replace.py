"""Bytes to a file that holds all of them or what it held before, whatever happens.

For Plait's own files and for settings; sessions are written elsewhere.
"""

import os
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Writes a file under another name, waits until it is on the disk, and gives it its own."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    waiting = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        write_through(waiting, data, mode)
        waiting.replace(path)
    except OSError:
        with suppress(OSError):
            waiting.unlink()
        raise
    settle(path.parent)


def write_through(path: Path, data: bytes, mode: int) -> None:
    """Writes a file and waits until it is on the disk."""
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
