"""A file to its lines, without ever holding more of it than its largest line.

Only the newline byte ends a line: form feeds and U+2028 are content. Files are read in
chunks rather than mapped, because a mapped file that another program cuts short kills
the reader (docs/decisions/0002-read-in-chunks.md).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from errno import EINVAL
from io import BufferedReader, FileIO
from os import fstat
from pathlib import Path
from stat import S_IMODE, S_ISREG

from plait.errors import SourceError
from plait.line.fetch import opened, opened_buffered, status_of, with_fetched
from plait.line.model import FileStamp, Line

CHUNK = 1 << 19
NEWLINE = ord(b"\n")


def lines(
    path: Path, *, offset: int = 0, number: int = 1, end: int | None = None
) -> Iterator[Line]:
    """Yields the lines of a file, in order, from an offset that begins a line to an end."""
    try:
        with opened(path) as file:
            file.seek(offset)
            yield from split(file, offset, number, end)
    except OSError as error:
        raise unreadable(path, error) from error


def split(file: FileIO, offset: int, number: int, end: int | None = None) -> Iterator[Line]:
    """Yields the lines that follow; the last one may lack its newline."""
    parts: list[bytes] = []  # of a line that began in an earlier chunk
    for buffer, filled in _chunks(file, None if end is None else end - offset):
        start = 0
        view = memoryview(buffer)
        while (stop := buffer.find(b"\n", start, filled)) >= 0:
            data = bytes(view[start:stop])
            if parts:
                data = b"".join((*parts, data))
                parts.clear()
            yield Line(number, offset, data, True)
            number += 1
            offset += len(data) + 1
            start = stop + 1
        if start < filled:
            parts.append(bytes(view[start:filled]))
    if parts:
        yield Line(number, offset, b"".join(parts), False)


def _chunks(file: FileIO, most: int | None) -> Iterator[tuple[bytearray, int]]:
    size = fstat(file.fileno()).st_size
    buffer = bytearray(min(CHUNK, size + 1))  # most files are small, and there are thousands
    while filled := file.readinto(buffer):
        if most is not None:
            filled = min(filled, most)
            most -= filled
        yield buffer, filled
        if most == 0:
            break


def count_lines(path: Path) -> tuple[int, int]:
    """Returns how many lines and how many bytes a file has, by its newlines alone."""
    count, size, last = 0, 0, 0
    try:
        with opened(path) as file:
            for buffer, filled in _chunks(file, None):
                count += buffer.count(b"\n", 0, filled)
                size += filled
                last = buffer[filled - 1]
    except OSError as error:
        raise unreadable(path, error) from error
    return count + (size > 0 and last != NEWLINE), size


def pieces(path: Path) -> Iterator[bytes]:
    """Yields the bytes of a file piece by piece."""
    try:
        with opened(path) as file:
            for buffer, filled in _chunks(file, None):
                yield bytes(memoryview(buffer)[:filled])
    except OSError as error:
        raise unreadable(path, error) from error


def read_slice(path: Path, offset: int, length: int) -> bytes:
    """Returns the bytes of one line whose place is known."""
    try:
        with opened_buffered(path) as file:
            file.seek(offset)
            return file.read(length)
    except OSError as error:
        raise unreadable(path, error) from error


def read_whole(path: Path, most: int) -> bytes | None:
    """Returns the bytes of a file, None where it has gone or has more of them than that."""
    try:
        with opened(path) as file:
            return file.readall() if fstat(file.fileno()).st_size <= most else None
    except OSError:
        return None


def read_small(path: Path) -> bytes | None:
    """Returns the bytes of a side file, None where there is none to be read."""
    try:
        return read_regular(path)
    except (OSError, ValueError):
        return None


def read_regular(path: Path) -> bytes:
    """Returns the bytes of a file; what is none, such as a pipe that nobody writes to, raises."""
    with with_fetched(path, _opened_unblocked) as file:
        if not S_ISREG(fstat(file.fileno()).st_mode):
            raise OSError(EINVAL, "it is no plain file")
        return file.read()


def _opened_unblocked(path: Path) -> BufferedReader:
    return open(path, "rb", opener=_unblocked)


def _unblocked(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def unreadable(path: Path, error: OSError) -> SourceError:
    """Returns the error that says which file could not be read, and why."""
    if isinstance(error, FileNotFoundError):
        return SourceError(f"no such file or folder: '{path}'")
    return SourceError(f"cannot read '{path}': {(error.strerror or str(error)).lower()}")


def blocks(path: Path) -> Iterator[tuple[bytearray, int]]:
    """Yields the file as whole lines, many at once: a buffer, and how much of it they fill.

    A buffer is good until the next is asked for; the last line may lack its newline.
    """
    held = 0
    try:
        with opened(path) as file:
            buffer = bytearray(min(CHUNK, fstat(file.fileno()).st_size + 1))
            while got := file.readinto(memoryview(buffer)[held:]):
                filled = held + got
                end = buffer.rfind(b"\n", held, filled) + 1
                if end:
                    yield buffer, end
                held = filled - end
                buffer = _with_rest_in_front(buffer, end, filled)
    except OSError as error:
        raise unreadable(path, error) from error
    if held:
        yield buffer, held


def views(path: Path) -> Iterator[tuple[int, memoryview]]:
    """Yields the lines of a file with their numbers, each good until the next is asked for."""
    number = 0
    for buffer, filled in blocks(path):
        view, stop = memoryview(buffer), -1
        while (start := stop + 1) < filled:
            stop = buffer.find(b"\n", start, filled)
            if stop < 0:
                stop = filled
            number += 1
            yield number, view[start:stop]


def _with_rest_in_front(buffer: bytearray, start: int, filled: int) -> bytearray:
    if start == 0 and filled == len(buffer):
        return buffer + bytearray(len(buffer))
    rest = buffer[start:filled]
    buffer[: len(rest)] = rest
    return buffer


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
            with opened(self.path) as file:
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


def stamp_of(path: Path) -> FileStamp | None:
    """Returns what the system says of a file, None where it has gone."""
    try:
        status = status_of(path)
    except OSError:
        return None
    return FileStamp(status.st_ino, status.st_size, max(status.st_mtime_ns, status.st_ctime_ns))


def mode_of(path: Path) -> int | None:
    """Returns who may read and write a file, None where it has gone."""
    try:
        return S_IMODE(status_of(path).st_mode)
    except OSError:
        return None


def times_of(path: Path) -> tuple[int, int] | None:
    """Returns when a file was read and written last, in nanoseconds; None where it has gone."""
    try:
        status = status_of(path)
    except OSError:
        return None
    return status.st_atime_ns, status.st_mtime_ns
