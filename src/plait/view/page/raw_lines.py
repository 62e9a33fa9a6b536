"""Lines of a log packed for exported pages, and the scripts that hold them."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

LEVEL, PART_LEVEL = 2, 3
PIECE = 1_000_000


try:  # several times faster; other platforms compress with zlib
    from isal.isal_zlib import compress
except ImportError:  # pragma: no cover
    from zlib import compress


class PackedLines(NamedTuple):
    """Some lines of one file, compressed."""

    file: int
    first: int
    last: int
    data: bytes

    @property
    def letters(self) -> str:
        """The same in base64, for a page that contains everything itself."""
        return b64encode(self.data).decode()


def pack_lines(file: int, lines: Iterable[tuple[int, bytes]]) -> Iterator[PackedLines]:
    """Yield the lines of a file, numbered, in chunks of about a megabyte."""
    chunk: list[bytes] = []
    first = last = size = 0
    for number, line in lines:
        if not chunk:
            first = number
        chunk.append(b"%d\t%s" % (number, line))
        last, size = number, size + len(line)
        if size >= PIECE:
            yield _pack(file, first, last, chunk)
            chunk, size = [], 0
    if chunk:
        yield _pack(file, first, last, chunk)


def _pack(file: int, first: int, last: int, lines: list[bytes]) -> PackedLines:
    return PackedLines(file, first, last, compress(b"\n".join(lines), LEVEL))


def make_lines_script(chunk: PackedLines) -> bytes:
    """Return a chunk as a script: pages on disk can load nothing else."""
    call = b"plait.lines(%d,%d,%d," % (chunk.file, chunk.first, chunk.last)
    return call + _quote_bytes(chunk.data) + b")\n"


def make_part_script(number: int, turns: Sequence[str]) -> bytes:
    """Return turns that are not in their page as a script."""
    data = compress(msgspec.json.encode(turns), PART_LEVEL)
    return b"plait.part(%d," % number + _quote_bytes(data) + b")\n"


def _quote_bytes(data: bytes) -> bytes:
    """Return bytes as a script string with one character per byte."""
    for byte, escape in ESCAPES:
        data = data.replace(byte, escape)
    return b'"' + data + b'"'


ESCAPES = ((b"\\", rb"\\"), (b'"', rb"\""), (b"\n", rb"\n"), (b"\r", rb"\r"))
