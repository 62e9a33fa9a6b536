"""Bytes to blocks: runs of whole lines whose ends depend on what the lines say.

    line line line line │ line line │ line …          │ an end: the hash of the line before it

So two files that hold the same lines, after other ones too, have the same blocks, and a file
that grew has all its old blocks but the last.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias
from zlib import crc32

LEAST = 32 << 10
"""Bytes of a block from which on it may end."""
MOST = 256 << 10
"""Bytes from which on it ends with its line."""
LONGEST = 1 << 20
"""Bytes after which it ends wherever that is."""
ONE_OF = 16
"""How many lines there are to one that ends a block."""
HEAD = 256
"""Bytes at the beginning of a line that decide: ids and times stand there."""
ROOM = 4 * LONGEST

Fill: TypeAlias = Callable[[memoryview], int]
"""Writes the next bytes of a file to a place, and returns how many: none where it has ended."""


class Cutter:
    """Cuts one file after another, in the same room."""

    def __init__(self) -> None:
        self._buffer = bytearray(ROOM)

    def blocks(self, fill: Fill, first: bytes = b"") -> Iterator[memoryview]:
        """Yields the blocks of what begins so and goes on as it is filled in.

        A block is good until the next one is asked for.
        """
        buffer, view = self._buffer, memoryview(self._buffer)
        start, end, is_more = 0, len(first), True
        view[:end] = first
        while is_more or start < end:
            if is_more and end - start < LONGEST:
                view[: end - start] = view[start:end]
                start, end = 0, end - start
                count = fill(view[end:])
                is_more, end = count > 0, end + count
                continue
            cut = _end(buffer, view, start, end)
            yield view[start:cut]
            start = cut


def _end(buffer: bytearray, view: memoryview, start: int, end: int) -> int:
    """Returns where the block that begins at a place ends, if no more bytes follow."""
    longest = min(start + LONGEST, end)
    line = buffer.find(b"\n", min(start + LEAST, longest) - 1, longest) + 1
    if not line:
        is_too_long = longest - start == LONGEST
        return (is_too_long and buffer.rfind(b"\n", start, start + LEAST) + 1) or longest
    while line - start < MOST:
        following = buffer.find(b"\n", line, longest) + 1
        if not following:  # at the end of all lines, or before one that is too long
            return longest if longest - start < LONGEST else line
        if crc32(view[line : min(following, line + HEAD)]) % ONE_OF == 0:
            return following
        line = following
    return line
