"""Reading log files: their lines, their stamps, and following them as they grow.

Only the newline byte ends a line: form feeds and U+2028 are content. Files are read in chunks
rather than mapped, because a mapped file that another program cuts short kills the reader
(docs/decisions/0002-reading.md). No more of a file is held than its largest line.

A file that is missing from its place may be fetched there by whoever registered as its source:
backed-up sessions have a folder of their own, which is empty until one of their files is opened.
Opening a file that exists pays nothing for this.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from errno import EINVAL
from io import BufferedReader, FileIO
from os import fstat, stat_result
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from plait.errors import SourceError


class Line(NamedTuple):
    """The bytes between two newlines, with their place in the file."""

    number: int
    """Counts from 1, as editors do."""
    offset: int
    data: bytes
    """Without the newline; a carriage return or a byte order mark stays."""
    is_ended: bool
    """False for a last line that no newline has ended yet."""


class FileStamp(NamedTuple):
    """Identity, size and change time of a file: it has changed if any of them differs later."""

    inode: int
    size: int
    changed: int


FileKind = Literal["session", "agent", "journal"]


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of log lines, named by its place; nothing in it has been read."""

    path: Path
    kind: FileKind
    project: str
    """The name of the project's folder."""
    session: str | None
    """The session it belongs to; None for an agent file of older versions, beside its session."""
    agent: str | None
    run: str | None
    """The workflow run an agent or a journal belongs to."""
    size: int
    modified: float

    @property
    def folder(self) -> Path:
        """The folder of the session's side files."""
        return self.path.with_suffix("")


@dataclass(frozen=True, slots=True)
class Root:
    """A place to look for logs."""

    path: Path
    config: Path | None
    """The client's configuration folder, where the root is one."""
    logs: Path
    """The folder of the log files."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found under the roots, and what could not be looked into."""

    files: tuple[LogFile, ...]
    unread: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd in the data: it is counted and shown, and stops nothing."""

    code: str
    """One word or two that name the kind, such as `glued lines`."""
    sentence: str
    path: Path | None = None
    line: int | None = None
    uuid: str | None = None

    def __str__(self) -> str:
        place = f"{self.path}" if self.path else ""
        if self.line:
            place += f":{self.line}" if place else f"line {self.line}"
        return f"{place}: {self.sentence}" if place else self.sentence


T = TypeVar("T")
Fetch: TypeAlias = Callable[[Path], bool]
"""Puts a file at its path, and returns whether it did."""

SourceSetup: TypeAlias = tuple[str, tuple[str, ...]]
"""Name and arguments of the function with which another process registers the same source."""

_sources: dict[Path, Fetch] = {}
_setups: dict[Path, SourceSetup] = {}


def register_source(folder: Path, fetch: Fetch, setup: SourceSetup | None = None) -> None:
    """Have files that are missing in a folder fetched; the last source of a folder counts."""
    _sources[folder.absolute()] = fetch
    if setup is not None:
        _setups[folder.absolute()] = setup


def list_sources() -> tuple[SourceSetup, ...]:
    """Return the calls with which a new process registers the same sources."""
    return tuple(_setups.values())


def fetch_missing(path: Path) -> bool:
    """Return whether a missing file could be fetched."""
    if not _sources:
        return False
    path = path.absolute()
    return any(fetch(path) for folder, fetch in _sources.items() if folder in path.parents)


def call_with_fetch(path: Path, function: Callable[[Path], T]) -> T:
    """Call a function with a path, and again once the file was fetched if it was missing."""
    try:
        return function(path)
    except FileNotFoundError:
        if not fetch_missing(path):
            raise
    return function(path)


def open_unbuffered(path: Path) -> FileIO:
    """Open a file for reading without a buffer, fetched where it is missing."""
    return call_with_fetch(path, lambda path: path.open("rb", buffering=0))


def open_buffered(path: Path) -> BufferedReader:
    """Open a file for reading, fetched where it is missing."""
    return call_with_fetch(path, lambda path: path.open("rb"))


def read_status(path: Path) -> stat_result:
    """Return the status of a file, fetched where it is missing."""
    return call_with_fetch(path, Path.stat)


CHUNK = 1 << 19
NEWLINE = ord(b"\n")


def iter_lines(
    path: Path, *, offset: int = 0, number: int = 1, end: int | None = None
) -> Iterator[Line]:
    """Yield the lines of a file from an offset at which a line starts up to `end`."""
    try:
        with open_unbuffered(path) as file:
            file.seek(offset)
            yield from split_lines(file, offset, number, end)
    except OSError as error:
        raise make_read_error(path, error) from error


def split_lines(file: FileIO, offset: int, number: int, end: int | None = None) -> Iterator[Line]:
    """Yield the lines of an open file; the last one may lack its newline."""
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
    """Return the number of lines and of bytes of a file."""
    count, size, last = 0, 0, 0
    try:
        with open_unbuffered(path) as file:
            for buffer, filled in _chunks(file, None):
                count += buffer.count(b"\n", 0, filled)
                size += filled
                last = buffer[filled - 1]
    except OSError as error:
        raise make_read_error(path, error) from error
    return count + (size > 0 and last != NEWLINE), size


def iter_bytes(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks."""
    try:
        with open_unbuffered(path) as file:
            for buffer, filled in _chunks(file, None):
                yield bytes(memoryview(buffer)[:filled])
    except OSError as error:
        raise make_read_error(path, error) from error


def file_contains(path: Path, needles: tuple[bytes, ...]) -> bool:
    """Return whether a file contains one of some byte strings; False where it is gone."""
    longest, rest = max(map(len, needles), default=1), b""
    with suppress(SourceError):
        for chunk in iter_bytes(path):
            held = rest + chunk
            if any(needle in held for needle in needles):
                return True
            rest = held[-longest:]
    return False


def read_slice(path: Path, offset: int, length: int) -> bytes:
    """Return the bytes at a place of a file, such as those of one line."""
    try:
        with open_buffered(path) as file:
            file.seek(offset)
            return file.read(length)
    except OSError as error:
        raise make_read_error(path, error) from error


def read_file(path: Path, most: int) -> bytes | None:
    """Return the bytes of a file, None if it is gone or larger than `most`."""
    try:
        with open_unbuffered(path) as file:
            return file.readall() if fstat(file.fileno()).st_size <= most else None
    except OSError:
        return None


def read_small(path: Path) -> bytes | None:
    """Return the bytes of a side file, None if it cannot be read."""
    try:
        return read_regular(path)
    except (OSError, ValueError):
        return None


def open_without_blocking(path: str, flags: int) -> int:
    """Open a file as `opener`: a pipe that nobody writes to would else wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file; anything else, such as a pipe, raises."""
    with call_with_fetch(path, lambda path: open(path, "rb", opener=open_without_blocking)) as file:
        if not S_ISREG(fstat(file.fileno()).st_mode):
            raise OSError(EINVAL, "not a regular file")
        return file.read()


def make_read_error(path: Path, error: OSError) -> SourceError:
    """Return the error that says which file could not be read and why."""
    if isinstance(error, FileNotFoundError):
        return SourceError(f"no such file or folder: '{path}'")
    return SourceError(f"cannot read '{path}': {(error.strerror or str(error)).lower()}")


def iter_blocks(path: Path) -> Iterator[tuple[bytearray, int]]:
    """Yield a file as blocks of complete lines: a buffer, and how much of it they fill.

    A buffer is valid until the next is asked for; the last line may lack its newline.
    """
    rest = 0  # bytes at the start of the buffer, of a line that has not ended yet
    try:
        with open_unbuffered(path) as file:
            buffer = bytearray(min(CHUNK, fstat(file.fileno()).st_size + 1))
            while count := file.readinto(memoryview(buffer)[rest:]):
                filled = rest + count
                end = buffer.rfind(b"\n", rest, filled) + 1
                if end:
                    yield buffer, end
                rest = filled - end
                if rest == len(buffer):
                    buffer = buffer + bytearray(len(buffer))
                else:
                    buffer[:rest] = buffer[end:filled]
    except OSError as error:
        raise make_read_error(path, error) from error
    if rest:
        yield buffer, rest


def iter_line_views(path: Path) -> Iterator[tuple[int, memoryview]]:
    """Yield the lines of a file with their numbers, each valid until the next is asked for."""
    number = 0
    for buffer, filled in iter_blocks(path):
        view, stop = memoryview(buffer), -1
        while (start := stop + 1) < filled:
            stop = buffer.find(b"\n", start, filled)
            if stop < 0:
                stop = filled
            number += 1
            yield number, view[start:stop]


MARK = 64
"""Bytes before the place up to which a file was read, by which it is recognised."""


@dataclass(frozen=True, slots=True)
class FileUpdate:
    """What has changed since a file was polled last."""

    lines: tuple[Line, ...] = ()
    is_restarted: bool = False
    """The file is another one than before, and these lines are its first."""
    is_gone: bool = False


class Follower:
    """Reads the lines that a file gains, each time it is polled."""

    def __init__(self, path: Path, *, offset: int = 0, number: int = 1) -> None:
        self.path = path
        self.offset = offset
        """Where the first line starts that has not ended yet."""
        self.number = number
        self._mark: bytes | None = None
        self._file: tuple[int, int] | None = None
        self._is_gone = False

    def poll(self) -> FileUpdate:
        """Return the lines that have ended since the last time."""
        try:
            with open_unbuffered(self.path) as file:
                status = fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                is_restarted = self._is_another(file, identity, status.st_size)
                if is_restarted:
                    self.offset, self.number = 0, 1
                file.seek(self.offset)
                found = split_lines(file, self.offset, self.number)
                lines = tuple(line for line in found if line.is_ended)
                if lines:
                    self.offset = lines[-1].offset + len(lines[-1].data) + 1
                    self.number = lines[-1].number + 1
                self._file, self._mark = identity, self._read_mark(file)
                self._is_gone = False
                return FileUpdate(lines, is_restarted)
        except FileNotFoundError:
            self._is_gone = True
            return FileUpdate(is_gone=True)
        except OSError as error:
            raise make_read_error(self.path, error) from error

    def _is_another(self, file: FileIO, identity: tuple[int, int], size: int) -> bool:
        if size < self.offset or self._is_gone:
            return True
        if self._file is None:
            return False
        return identity != self._file or self._read_mark(file) != self._mark

    def _read_mark(self, file: FileIO) -> bytes:
        start = max(0, self.offset - MARK)
        file.seek(start)
        return file.read(self.offset - start)


def read_file_stamp(path: Path) -> FileStamp | None:
    """Return the stamp of a file, None if it is gone."""
    try:
        status = read_status(path)
    except OSError:
        return None
    return FileStamp(status.st_ino, status.st_size, max(status.st_mtime_ns, status.st_ctime_ns))


def read_file_mode(path: Path) -> int | None:
    """Return the permissions of a file, None if it is gone."""
    try:
        return S_IMODE(read_status(path).st_mode)
    except OSError:
        return None


def read_file_times(path: Path) -> tuple[int, int] | None:
    """Return when a file was read and written last, in nanoseconds; None if it is gone."""
    try:
        status = read_status(path)
    except OSError:
        return None
    return status.st_atime_ns, status.st_mtime_ns
