"""A file to the marks by which it is known again, grown or as it was."""

from hashlib import blake2b
from io import BufferedReader
from pathlib import Path

from plait.index.model import FileMark
from plait.index.scan import Stamp

HEAD = 512
BACK = 512


def mark_of(path: str, stamp: Stamp, kind: str, offset: int) -> FileMark:
    """Returns the marks of a file that has been read up to an offset."""
    try:
        with Path(path).open("rb") as file:
            head, mark = digests(file, offset)
    except OSError:
        head = mark = b""
    return FileMark(path, *stamp, kind, offset, head, mark)


def has_grown(known: FileMark, now: Stamp) -> bool:
    """Tells a file that was only added to from one that was written anew.

    A file of the same size that was touched may have been changed anywhere; one with another
    inode was put in its place.
    """
    if now.size <= known.size or now.inode != known.inode:
        return False
    try:
        with Path(known.path).open("rb") as file:
            return digests(file, known.offset) == (known.head, known.mark)
    except OSError:
        return False


def digests(file: BufferedReader, offset: int) -> tuple[bytes, bytes]:
    """Returns what stands for the first bytes of a file and for those before an offset."""
    head = file.read(min(HEAD, offset))
    start = max(0, offset - BACK)
    file.seek(start)
    return digest(head), digest(file.read(offset - start))


def digest(data: bytes) -> bytes:
    """Returns eight bytes that stand for some bytes."""
    return blake2b(data, digest_size=8).digest()
