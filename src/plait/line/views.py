"""A file to views of its lines, none of them copied: for those who look at each once.

A view is of the buffer that the next one is read into: what is to be kept must be copied.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from plait.line.split import CHUNK, unreadable

Skip = Callable[[bytearray, int, int], bool]
"""Tells by a buffer, the beginning and the end of a line in it, that the line is of no use."""


def views(
    path: Path, skip: Skip | None = None, longer: int = 0
) -> Iterator[tuple[int, memoryview]]:
    """Yields the lines of a file with their numbers, each good until the next is asked for.

    Lines that are longer than so many bytes may be skipped.
    """
    buffer, held, number = bytearray(CHUNK), 0, 1
    try:
        with path.open("rb", buffering=0) as file:
            while got := file.readinto(memoryview(buffer)[held:]):
                filled, start, view, find = held + got, 0, memoryview(buffer), buffer.find
                while (stop := find(b"\n", start, filled)) >= 0:
                    if stop - start <= longer or not (skip and skip(buffer, start, stop)):
                        yield number, view[start:stop]
                    number += 1
                    start = stop + 1
                held = filled - start
                buffer = kept(buffer, start, filled)
    except OSError as error:
        raise unreadable(path, error) from error
    if held:
        yield number, memoryview(buffer)[:held]


def kept(buffer: bytearray, start: int, filled: int) -> bytearray:
    """Returns a buffer that begins with the line that is not whole yet, and has room for more."""
    if start == 0 and filled == len(buffer):
        return buffer + bytearray(len(buffer))
    rest = buffer[start:filled]
    buffer[: len(rest)] = rest
    return buffer
