"""The journal to a compressed copy of it, and back, where the journal itself is damaged.

    frame │ 24 bytes: which bytes of the journal it holds │ frame │ …

It is never waited for: a copy that does not end where the journal ends is made anew.
"""

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from plait.keep.zstd import HEAD, SKIPPABLE, BrokenFrame, note, packed, plain
from plait.line.folder import BINARY, OWNER_FILE

COPY = "journal.copy.zst"
SPAN = struct.Struct("<QQQ")
"""Where in the journal a frame begins and ends, and how many bytes it has itself."""
MOST = 1 << 32
TRAIL = HEAD.size + SPAN.size


class JournalCopy:
    """The copy of a journal."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / COPY

    def add(self, journal: Path, data: bytes, start: int) -> None:
        """Adds what was added to the journal; a copy that lags behind takes all of it."""
        with suppress(OSError):  # it can do without
            if self.end() != start:
                self.drop()
                data, start = journal.read_bytes(), 0
            frame = packed(data)
            span = note(SPAN.pack(start, start + len(data), len(frame)))
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, OWNER_FILE)
            with os.fdopen(handle, "wb") as out:
                out.write(frame + span)

    def remake(self, journal: Path) -> None:
        """Makes the copy anew."""
        self.drop()
        self.add(journal, b"", -1)

    def drop(self) -> None:
        """Deletes the copy: the journal is about to be another one."""
        self.path.unlink(missing_ok=True)

    def end(self) -> int:
        """Returns where in the journal it ends, -1 where it was cut off."""
        try:
            with self.path.open("rb") as file:
                return _span_before(file, file.seek(0, os.SEEK_END))[1]
        except FileNotFoundError:
            return 0
        except _NoSpan:
            return -1

    def read(self) -> bytes:
        """Returns the journal as far as it can be read here, with zeros for what cannot."""
        try:
            with self.path.open("rb") as file:
                return _read_back(file, file.seek(0, os.SEEK_END))
        except OSError:
            return b""


class _NoSpan(Exception):
    """No span ends there."""


def _span_before(file: BinaryIO, end: int) -> tuple[int, int, int]:
    data = _read_at(file, end - TRAIL, TRAIL) if end >= TRAIL else b""
    if data[: HEAD.size] != HEAD.pack(SKIPPABLE, SPAN.size):
        raise _NoSpan
    start, stop, length = SPAN.unpack(data[HEAD.size :])
    return start, stop, length


def _read_at(file: BinaryIO, place: int, length: int) -> bytes:
    file.seek(place)
    return file.read(length)


def _read_back(file: BinaryIO, end: int) -> bytes:
    """Returns what the frames hold, found from the last to the first."""
    found: list[bytes] = []
    start = 0
    with suppress(_NoSpan):
        while end > 0:
            start, stop, length = _span_before(file, end)
            end -= TRAIL + length
            if end < 0 or not 0 <= stop - start <= MOST:
                raise _NoSpan
            try:
                found.append(plain(_read_at(file, end, length), stop - start))
            except BrokenFrame:
                found.append(bytes(stop - start))
    found.append(bytes(min(start, MOST)))  # what stands before is lost
    return b"".join(reversed(found))
