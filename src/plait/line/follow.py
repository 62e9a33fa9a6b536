"""A growing file to its new lines, each given once it is whole.

Truncation, replacement and deletion are noticed: the next growth then begins the file
anew and says so. A file that was cut and has grown past the old place again is told by
the bytes that stood before it.
"""

from dataclasses import dataclass
from io import FileIO
from os import fstat
from pathlib import Path

from plait.line.model import Line
from plait.line.split import split, unreadable

MARK = 64


@dataclass(frozen=True, slots=True)
class Growth:
    """What has changed since the last look."""

    lines: tuple[Line, ...] = ()
    is_restarted: bool = False
    """The file is another one than before: these lines are its first."""
    is_gone: bool = False


class Follower:
    """Remembers how far a file has been read, and looks again when asked."""

    def __init__(self, path: Path, *, offset: int = 0, number: int = 1) -> None:
        self.path = path
        self.offset = offset
        """Where the first line that is not whole yet begins."""
        self.number = number
        self._mark: bytes | None = None
        self._file: tuple[int, int] | None = None
        self._is_gone = False

    def look(self) -> Growth:
        """Returns the lines that have become whole since the last look."""
        try:
            with self.path.open("rb", buffering=0) as file:
                return self._read(file)
        except FileNotFoundError:
            self._is_gone = True
            return Growth(is_gone=True)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _read(self, file: FileIO) -> Growth:
        status = fstat(file.fileno())
        identity = (status.st_dev, status.st_ino)
        is_restarted = self._is_another(file, identity, status.st_size)
        if is_restarted:
            self.offset, self.number = 0, 1
        file.seek(self.offset)
        whole = tuple(line for line in split(file, self.offset, self.number) if line.is_ended)
        if whole:
            self.offset = whole[-1].offset + len(whole[-1].data) + 1
            self.number = whole[-1].number + 1
        self._file, self._mark, self._is_gone = identity, _mark_before(file, self.offset), False
        return Growth(whole, is_restarted)

    def _is_another(self, file: FileIO, identity: tuple[int, int], size: int) -> bool:
        if size < self.offset or self._is_gone:
            return True
        if self._file is None:
            return False
        return identity != self._file or _mark_before(file, self.offset) != self._mark


def _mark_before(file: FileIO, offset: int) -> bytes:
    start = max(0, offset - MARK)
    file.seek(start)
    return file.read(offset - start)
