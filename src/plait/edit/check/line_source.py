"""Pieces of a file to its lines."""

from collections.abc import Iterable, Iterator

from plait.line import Line


def lines_of(pieces: Iterable[bytes]) -> Iterator[Line]:
    """Yields the lines of a file that comes piece by piece."""
    number, offset = 1, 0
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for data in whole:
            yield Line(number, offset, data, True)
            number, offset = number + 1, offset + len(data) + 1
    if rest:
        yield Line(number, offset, rest, False)
