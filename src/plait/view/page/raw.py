"""The lines of a session to what a page fetches when more is asked for: packed, in pieces."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import NamedTuple

try:  # several times faster; any other platform packs as well, in its own time
    from isal.isal_zlib import compress
except ImportError:  # pragma: no cover
    from zlib import compress

LEVEL = 2
PIECE = 1_000_000


class Piece(NamedTuple):
    """Some lines of one file, packed."""

    file: int
    first: int
    last: int
    data: str


def pieces(file: int, lines: Iterable[tuple[int, bytes]]) -> Iterator[Piece]:
    """Yields the lines of a file, numbered, in pieces of about a megabyte."""
    held: list[bytes] = []
    first = last = size = 0
    for number, line in lines:
        if not held:
            first = number
        held.append(b"%d\t%s" % (number, line))
        last, size = number, size + len(line)
        if size >= PIECE:
            yield packed(file, first, last, held)
            held, size = [], 0
    if held:
        yield packed(file, first, last, held)


def packed(file: int, first: int, last: int, lines: list[bytes]) -> Piece:
    """Returns lines as one text that no browser reads as anything but data."""
    return Piece(file, first, last, b64encode(compress(b"\n".join(lines), LEVEL)).decode())


def script_of(piece: Piece) -> str:
    """Returns a piece as a script of its own: pages on a disk can load nothing else."""
    return f'plait.lines({piece.file},{piece.first},{piece.last},"{piece.data}")\n'
