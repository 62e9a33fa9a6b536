"""Pictures and documents of a conversation to files beside a document, or to words about them."""

from base64 import b64decode
from binascii import Error
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from plait.conversation.model import Enclosure
from plait.record.codec import mapping

PICTURES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
SOURCED = {"image": "pictures", "document": "documents"}
"""Kinds whose data stands in the log, with what they are called where they are left out."""


@dataclass
class Pictures:
    """Keeps pictures as files in a folder, each once; without a folder none is kept."""

    folder: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """By their names, the folder first."""
    lost: Counter[str] = field(default_factory=Counter)
    """What is told in words alone."""
    _known: dict[bytes, str] = field(default_factory=dict)

    def place(self, one: Enclosure) -> str | None:
        """Returns where a picture lies from now on; None for what is told in words alone."""
        source = mapping(one.value)
        address, data = source.get("url"), source.get("data")
        if one.kind == "image" and one.media_type in PICTURES and isinstance(data, str):
            found = self._kept(data, PICTURES[one.media_type])
            if found:
                return found
        elif one.kind == "image" and isinstance(address, str) and one.media_type in PICTURES:
            return address
        if one.kind in SOURCED:
            self.lost[SOURCED[one.kind]] += 1
        return None

    def _kept(self, data: str, ending: str) -> str | None:
        if self.folder is None:
            return None
        try:
            content = b64decode(data, validate=True)
        except (Error, ValueError):
            return None
        key = blake2b(content, digest_size=16).digest()
        name = self._known.setdefault(key, f"{self.folder}/{len(self._known) + 1}.{ending}")
        self.files[name] = content
        return name


def described(enclosures: Iterable[Enclosure]) -> list[dict[str, Any]]:
    """Returns what is known of enclosures; the whole of those that are no pictures or documents."""
    return [
        {
            **{
                name: getattr(one, name)
                for name in ("kind", "media_type", "title")
                if value(one, name)
            },
            **({"bytes": one.size} if one.size else {}),
            **({} if one.kind in SOURCED else {"value": one.value}),
        }
        for one in enclosures
    ]


def value(one: Enclosure, name: str) -> str | None:
    """Returns what an enclosure says of itself under a name."""
    found: str | None = getattr(one, name)
    return found
