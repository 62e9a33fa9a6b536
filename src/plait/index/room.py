"""What goes wrong while an index is written to whether the disk is to blame, not the index."""

import sqlite3
from pathlib import Path

from plait.errors import SourceError

SIGNS = ("os error 28", "os error 27", "os error 122", "writer was killed")
"""In what the text index says: no space, a file too large, a quota; its threads gave up."""


def is_refused(error: BaseException | None) -> bool:
    """Tells whether the system did not take what was written; the index is as it was."""
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        return name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR")
    return isinstance(error, ValueError | OSError) and any(sign in str(error) for sign in SIGNS)


def refused(folder: Path, error: Exception) -> SourceError:
    """Returns the error that says so."""
    said = " ".join(str(error).split())[:200]
    return SourceError(
        f"cannot write the index in '{folder}': {said}",
        "make room on the disk, or set PLAIT_CACHE_DIR to a folder on another one",
    )
