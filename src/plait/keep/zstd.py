"""Bytes to one zstd frame and back, by whichever of two libraries is there."""

import struct
import sys
from contextlib import suppress

LEVEL = 3
WINDOW, HASHES, MATCH = 23, 18, 6
"""Eight megabytes: as much as a frame holds. `zstd` reads up to 27 without being told. Larger
tables of longer matches than the level has: logs repeat themselves in long runs."""
SKIPPABLE = 0x184D2A50
HEAD = struct.Struct("<II")


class BrokenFrame(Exception):
    """The bytes are no whole frame."""


def note(data: bytes) -> bytes:
    """Returns bytes as a frame that `zstd` passes over."""
    return HEAD.pack(SKIPPABLE, len(data)) + data


if sys.version_info >= (3, 14):  # pragma: no cover
    from compression import zstd

    OPTIONS = {
        zstd.CompressionParameter.compression_level: LEVEL,
        zstd.CompressionParameter.window_log: WINDOW,
        zstd.CompressionParameter.hash_log: HASHES,
        zstd.CompressionParameter.min_match: MATCH,
        zstd.CompressionParameter.checksum_flag: 1,
    }

    def packed(data: bytes | memoryview) -> bytes:
        """Returns bytes as one frame with its size and a checksum."""
        return zstd.compress(data, options=OPTIONS)

    def plain(frame: bytes, size: int) -> bytes:
        """Returns the bytes of a frame, and raises where they are not so many."""
        try:
            data = zstd.ZstdDecompressor().decompress(frame, size + 1)
        except zstd.ZstdError as error:
            raise BrokenFrame(str(error)) from error
        return _checked(data, size)

    def _reader() -> "zstd.ZstdDecompressor":
        return zstd.ZstdDecompressor()

    _BROKEN: tuple[type[Exception], ...] = (zstd.ZstdError, EOFError)
else:
    import zstandard

    _PARAMETERS = zstandard.ZstdCompressionParameters.from_level(
        LEVEL,
        window_log=WINDOW,
        hash_log=HASHES,
        min_match=MATCH,
        write_checksum=True,
        write_content_size=True,
    )

    def packed(data: bytes | memoryview) -> bytes:
        """Returns bytes as one frame with its size and a checksum."""
        return zstandard.ZstdCompressor(compression_params=_PARAMETERS).compress(data)

    def plain(frame: bytes, size: int) -> bytes:
        """Returns the bytes of a frame, and raises where they are not so many."""
        try:
            told = zstandard.frame_content_size(frame)
            if told != size:
                raise BrokenFrame(f"it says that it has {told} bytes")
            data = zstandard.ZstdDecompressor().decompress(frame, max_output_size=size)
        except zstandard.ZstdError as error:
            raise BrokenFrame(str(error)) from error
        return _checked(data, size)

    def _reader() -> "zstandard.ZstdDecompressionObj":
        return zstandard.ZstdDecompressor().decompressobj()

    _BROKEN: tuple[type[Exception], ...] = (zstandard.ZstdError,)


STEP = 1 << 12


def beginning(frame: bytes, size: int) -> bytes:
    """Returns what can be read of a frame that is damaged somewhere: all that stands before."""
    found, whole = _read_on(frame, size)
    if whole < len(frame):  # once more, and byte by byte where it went wrong
        reader = _reader()
        found = bytearray(reader.decompress(frame[:whole])) if whole else bytearray()
        with suppress(*_BROKEN):
            for at in range(whole, min(whole + STEP, len(frame))):
                found += reader.decompress(frame[at : at + 1])
    return bytes(found[:size])


def _read_on(frame: bytes, size: int) -> tuple[bytearray, int]:
    """Returns what a frame gives up to the step in which it breaks, and where that begins."""
    reader, found = _reader(), bytearray()
    for at in range(0, len(frame), STEP):
        try:
            found += reader.decompress(frame[at : at + STEP])
        except _BROKEN:
            return found, at
        if len(found) > size:
            break
    return found, len(frame)


def _checked(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise BrokenFrame(f"{len(data)} bytes instead of {size}")
    return data
