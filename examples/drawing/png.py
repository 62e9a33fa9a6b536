"""Small images: a bar chart of 64 by 40 pixels, as base64 PNG."""

from __future__ import annotations

import base64
import struct
import zlib

from .names import number

WIDTH, HEIGHT, BARS = 64, 40, 8
_PALETTE = bytes((255, 255, 255, 232, 232, 232, 47, 111, 178, 196, 78, 60))


def png(key: str) -> str:
    """Return the image of a key, always the same one."""
    heights = [6 + number(f"{key}/{bar}", HEIGHT - 12) for bar in range(BARS)]
    rows = [_row(y, heights) for y in range(HEIGHT)]
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 2, 3, 0, 0, 0)
    # Level 0 does not compress: the output of other levels depends on the build of zlib.
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 0)
    chunks = [(b"IHDR", header), (b"PLTE", _PALETTE), (b"IDAT", pixels), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)
    return base64.b64encode(data).decode()


def _row(y: int, heights: list[int]) -> bytes:
    colours = [_colour(x, y, heights) for x in range(WIDTH)]
    return bytes(
        colours[x] << 6 | colours[x + 1] << 4 | colours[x + 2] << 2 | colours[x + 3]
        for x in range(0, WIDTH, 4)
    )


def _colour(x: int, y: int, heights: list[int]) -> int:
    bar, within = divmod(x, WIDTH // BARS)
    if 1 <= within <= 5 and HEIGHT - 3 - heights[bar] <= y < HEIGHT - 3:
        return 3 if heights[bar] == max(heights) else 2
    return 1 if y == HEIGHT - 3 else 0


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
