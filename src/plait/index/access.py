"""A folder to the right to write an index in it, or to the error that says why there is none."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from plait.errors import SourceError
from plait.line.atomic import held

IN_USE = "LockBusy"
SIGNS = ("os error 28", "os error 27", "os error 122", "writer was killed", IN_USE)
"""In what the text index says: no space, a file too large, a quota; its threads gave up."""
DISK = ("SQLITE_FULL", "SQLITE_IOERR")
HELD = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
"""Somebody else has locked the catalogue, or it is not for us to write."""


def is_refused(error: BaseException | None) -> bool:
    """Tells whether the system did not take what was written; the index is as it was."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", "").startswith((*DISK, *HELD))
    return isinstance(error, ValueError | OSError) and any(sign in str(error) for sign in SIGNS)


def refusal(folder: Path, error: Exception) -> SourceError:
    """Returns the error that says so."""
    said = " ".join(str(error).split())[:200]
    is_held = getattr(error, "sqlite_errorname", "").startswith(HELD) or IN_USE in said
    hint = "end the program that uses it" if is_held else "make room on the disk"
    return SourceError(
        f"cannot write the index in '{folder}': {said}",
        f"{hint}, or set PLAIT_CACHE_DIR to another folder",
    )


LOCK = "lock"


@contextmanager
def locked(folder: Path, wait: float = 30.0) -> Iterator[None]:
    """Holds the lock of a folder; waits for another process that has it, but not for ever."""
    with ExitStack() as stack:
        try:
            is_ours = stack.enter_context(held(folder / LOCK, wait))
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
