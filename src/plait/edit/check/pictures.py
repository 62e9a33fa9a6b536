"""Pictures of a message to why the API refuses them, by their own bytes."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MOST_BYTES = 5_242_880
"""Of the base64 text: what is longer is refused."""
MOST_PIXELS = 8000
"""On one side."""
HEAD = 1 << 18
"""How much of the text is decoded to find the size: a JPEG can have a long preface."""


class Shape(NamedTuple):
    """What the bytes of a picture say that it is; no size where it could not be found."""

    media_type: str
    width: int = 0
    height: int = 0


def pictures_in(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the pictures among some blocks, those inside of results too."""
    for block in blocks:
        if block.get("type") == "image":
            yield block
        content = block.get("content") if block.get("type") == "tool_result" else None
        for inner in content if isinstance(content, list) else ():
            if isinstance(inner, dict) and inner.get("type") == "image":
                yield inner


def refusal_of(picture: Mapping[str, Any]) -> str | None:
    """Says why the API refuses a picture, None where it takes it or it lies elsewhere."""
    source = picture.get("source")
    if not isinstance(source, Mapping):
        return "has no source"
    if source.get("type") != "base64":
        return None
    data = source.get("data")
    if not isinstance(data, str) or not data.strip():
        return "is empty"
    if len(data) > MOST_BYTES:
        return f"is larger than 5 MB: {len(data):,} bytes of base64"
    shape = shape_of(data)
    if shape is None:
        return "is no picture in base64: no PNG, JPEG, GIF or WebP"
    if max(shape.width, shape.height) > MOST_PIXELS:
        return f"is larger than {MOST_PIXELS} pixels: {shape.width} × {shape.height}"
    named = source.get("media_type")
    return None if named == shape.media_type else f"is {shape.media_type}, not {named}"


def shape_of(data: str) -> Shape | None:
    """Returns what a picture in base64 is, None where it is none that the API knows."""
    try:
        data.encode("ascii")
        head = b64decode(data[:HEAD], validate=True)
        b64decode(data[len(data) // HEAD * HEAD :], validate=True)
    except (NotBase64, ValueError):
        return None
    for begins, shape in SHAPES:
        if head.startswith(begins):
            return shape(head)
    return None


def _png(head: bytes) -> Shape:
    width, height = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    return Shape("image/png", width, height)


def _gif(head: bytes) -> Shape:
    width, height = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return Shape("image/gif", width, height)


def _webp(head: bytes) -> Shape | None:
    if head[8:12] != b"WEBP":
        return None
    if head[12:16] == b"VP8X":
        width = int.from_bytes(head[24:27], "little") + 1
        return Shape("image/webp", width, int.from_bytes(head[27:30], "little") + 1)
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return Shape("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    width, height = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
    return Shape("image/webp", width & 0x3FFF, height & 0x3FFF)


FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG that are followed by its size."""


def _jpeg(head: bytes) -> Shape:
    place = 2
    while place + 9 < len(head) and head[place] == 0xFF:
        if head[place + 1] in FRAMES:
            height, width = head[place + 5 : place + 7], head[place + 7 : place + 9]
            return Shape("image/jpeg", int.from_bytes(width), int.from_bytes(height))
        place += 2 + int.from_bytes(head[place + 2 : place + 4])
    return Shape("image/jpeg")


SHAPES = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8\xff", _jpeg),
    (b"GIF8", _gif),
    (b"RIFF", _webp),
)
