"""Outputs too large for the log to their words, from the session's own folder and no other."""

import os
from pathlib import Path

from plait.conversation.model import Called, Persisted
from plait.errors import SourceError
from plait.line import read_slice

FOLDER = "tool-results"
MOST_BYTES = 32 << 20
FORBIDDEN = frozenset({"", ".", ".."})


def whole_result(session_folder: Path, called: Called, most: int = MOST_BYTES) -> str | None:
    """Returns all that a tool answered, the part in the log where the rest is gone."""
    result = called.result
    if result is None:
        return None
    found = persisted_text(session_folder, result.persisted, most) if result.persisted else None
    return result.text if found is None else found


def persisted_text(
    session_folder: Path, persisted: Persisted, most: int = MOST_BYTES
) -> str | None:
    """Returns the words of an output that lies beside the log, None where it cannot be read.

    A name of the log is not trusted: it must be that of a plain file in the folder of tool
    results, and no link may lead out of it. Not more than so many bytes are read.
    """
    path = path_of(session_folder, persisted.name)
    if path is None:
        return None
    try:
        return read_slice(path, 0, most).decode("utf-8", "replace")
    except SourceError:
        return None


def path_of(session_folder: Path, name: str) -> Path | None:
    """Returns where an output lies, None where its name leads anywhere else."""
    if name in FORBIDDEN or any(mark in name for mark in "/\\\0:"):
        return None
    try:
        path = Path(os.path.realpath(session_folder / FOLDER / name))
        home = Path(os.path.realpath(session_folder))
        return path if path.parent == home / FOLDER and path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
