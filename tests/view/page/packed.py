"""Scripts beside a page to what is packed in them, read as the page reads them."""

import re
import zlib
from collections.abc import Iterator

CALL = re.compile(rb'plait\.(lines|part)\(([\d,]+),"((?:[^"\\\n\r]|\\.)*)"\)\n', re.DOTALL)
ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
WRITTEN = {b"n": b"\n", b"r": b"\r"}


def packed_in(data: bytes) -> Iterator[tuple[str, list[int], bytes]]:
    """Yield what a script calls, the numbers it calls it with, and what it unpacks to."""
    for name, numbers, literal in CALL.findall(data):
        plain = ESCAPE.sub(lambda found: WRITTEN.get(found[1], found[1]), literal)
        yield name.decode(), [int(number) for number in numbers.split(b",")], zlib.decompress(plain)
