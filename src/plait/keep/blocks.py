"""Bytes to blocks: runs of whole lines whose ends depend on what the lines say.

    line line line line │ line line │ line …          │ an end: the hash of the line before it

So two files that hold the same lines, after other ones too, have the same blocks, and a file
that grew has all its old blocks but the last.
"""

from collections.abc import Iterable, Iterator
from zlib import crc32

LEAST = 32 << 10
"""Bytes of a block from which on it may end."""
MOST = 256 << 10
"""Bytes from which on it ends with its line."""
LONGEST = 1 << 20
"""Bytes after which it ends wherever that is."""
ONE_OF = 16
"""How many lines there are to one that ends a block."""


def blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the bytes that come in pieces, as blocks."""
    rest = b""
    for piece in pieces:
        data = rest + piece if rest else piece
        start = 0
        while len(data) - start >= LONGEST:
            end = _end(data, start)
            yield data[start:end]
            start = end
        rest = data[start:]
    start = 0
    while start < len(rest):
        end = _end(rest, start)
        yield rest[start:end] if start or end < len(rest) else rest
        start = end


def _end(data: bytes, start: int) -> int:
    """Returns where the block that begins at a place ends, if no more bytes follow."""
    longest = min(start + LONGEST, len(data))
    line = data.find(b"\n", min(start + LEAST, longest) - 1, longest) + 1
    if not line:
        return longest
    view = memoryview(data)
    while line - start < MOST:
        following = data.find(b"\n", line, longest) + 1
        if not following:  # at the end of all lines, or before one that is too long
            return longest if longest - start < LONGEST else line
        if crc32(view[line:following]) % ONE_OF == 0:
            return following
        line = following
    return line
