"""A log to how far it has been read: enough to go on without reading it again.

The last turn that was sent is read once more each time: commands, hooks and agents may still
add to it.
"""

from pathlib import Path

from msgspec import Struct

from plait.errors import SourceError
from plait.line.split import read_slice

MARK = 64


class Progress(Struct, array_like=True):
    """Where the last turn that was sent begins, and what stands before it."""

    path: str
    read: int
    """The number of the last line that has been looked at."""
    line: int
    """The number of the line that it begins with."""
    offset: int
    mark: bytes
    """The bytes before that."""
    number: int
    """The number of the turn."""
    sent: list[str]
    """The spans of it that were sent, by their ids."""
    agents: dict[str, int]
    """The agents' files that have been sent, with their sizes."""
    held: list[str]
    """The agents' files that are not complete yet."""
    bends: bytes
    """What must be known to tell whether the log goes on straight."""
    telling: list[tuple[str, int, int]] | None = None
    """The lines that taught a redactor something: their file, offset and length. None where
    there was no redactor.
    """


def mark_at(path: Path, offset: int) -> bytes:
    """Returns the bytes before an offset, by which a file is known again."""
    start = max(offset - MARK, 0)
    return read_slice(path, start, offset - start)


def goes_on_from(progress: Progress, path: Path) -> bool:
    """Tells whether a log is still the one that was read, be it longer."""
    try:
        is_long_enough = path.stat().st_size >= progress.offset
        return (
            progress.path == str(path)
            and is_long_enough
            and mark_at(path, progress.offset) == progress.mark
        )
    except (OSError, SourceError):
        return False
