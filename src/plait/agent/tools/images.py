"""Bytes of an image to the block that the model sees."""

import struct
from base64 import b64encode
from typing import Any

from plait.agent.tools.model import Outcome, ToolError

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MOST_ENCODED = 5 * 1024 * 1024
"""Letters of base64 that the API takes for one image."""
STARTS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def media_type(data: bytes) -> str | None:
    """Returns what kind of image data begins as."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in STARTS.items() if data.startswith(start)), None)


def image_outcome(path: str, data: bytes) -> Outcome:
    """Returns an image as the model and the log have it; raises ToolError where it is none."""
    if not data:
        raise ToolError(f"Image file is empty: {path}")
    kind = media_type(data)
    if kind is None:
        raise ToolError(_no_image(path, data))
    encoded = b64encode(data).decode()
    if len(encoded) > MOST_ENCODED:
        raise ToolError(
            f"Image is too large to read ({len(data) / 1024**2:.1f}MB): {path}. Make a smaller copy"
            " of it with a shell command and read that."
        )
    block = {
        "type": "image",
        "source": {"type": "base64", "data": encoded, "media_type": kind},
    }
    file = {"base64": encoded, "type": kind, "originalSize": len(data), **_sized(kind, data)}
    return Outcome([block], {"type": "image", "file": file})


def _no_image(path: str, data: bytes) -> str:
    start = " ".join(f"{byte:02x}" for byte in data[:8])
    return (
        "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected:"
        f" unrecognized bytes (hex: {start}). This usually means a download saved an error/login"
        f' page instead of the image. Use `file "{path}"` to confirm, or read it as text with Bash'
        " (e.g. `head -c 500`)."
    )


def _sized(kind: str, data: bytes) -> dict[str, Any]:
    size = dimensions(kind, data)
    if size is None:
        return {}
    original = {"originalWidth": size[0], "originalHeight": size[1]}
    return {"dimensions": original | {"displayWidth": size[0], "displayHeight": size[1]}}


def dimensions(kind: str, data: bytes) -> tuple[int, int] | None:
    """Returns width and height as an image states them, None where it does not."""
    try:
        match kind:
            case "image/png":
                width, height = struct.unpack_from(">II", data, 16)
            case "image/gif":
                width, height = struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                return _jpeg(data)
            case _:
                return _webp(data)
    except struct.error:
        return None
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            width, height = data[24:27], data[27:30]
            return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            return None
