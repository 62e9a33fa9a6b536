"""Blocks that are neither words nor calls to enclosures: pictures, documents, unknown kinds."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import to_builtins

from plait.conversation.model import Enclosure
from plait.record.message import BLOCKS, Block, Document, Image, ToolReference, UnknownBlock

BASE64_BYTES = 3 / 4
NAMES = {kind: name for name, kind in BLOCKS.items()}


def enclosures_of(blocks: Iterable[Block]) -> tuple[Enclosure, ...]:
    """Returns each block as an enclosure, its value as the log has it."""
    return tuple(enclosure_of(block) for block in blocks)


def enclosure_of(block: Block) -> Enclosure:
    """Returns one block as an enclosure."""
    match block:
        case Image(source):
            return sourced("image", source, None)
        case Document(source, title):
            return sourced("document", source, title)
        case UnknownBlock(kind, value):
            return Enclosure(kind or "unknown", value)
        case ToolReference(name):
            return Enclosure("tool_reference", {"tool_name": name}, title=name)
        case _:
            return Enclosure(NAMES[type(block)], to_builtins(block))


def sourced(kind: str, source: Mapping[str, Any], title: str | None) -> Enclosure:
    """Returns a picture or a document with what is known of its data."""
    media = source.get("media_type")
    data = source.get("data")
    size = 0
    if isinstance(data, str):
        size = int(len(data) * BASE64_BYTES) if source.get("type") == "base64" else len(data)
    return Enclosure(kind, source, media if isinstance(media, str) else None, title, size)
