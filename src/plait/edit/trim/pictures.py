"""Pictures of a log to the texts in their place: all, or those that the API would refuse."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from plait.edit.check.pictures import refusal_of, shape_of
from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import blocks_in
from plait.edit.trim.sent import SentLog
from plait.record import Record
from plait.record.codec import mapping, said

MOST = 100
"""Pictures that the API takes in one request."""
REFUSED = "picture that the API refuses"
TOO_MANY = "picture beyond the 100 that the API takes"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and where it stands."""

    line: int
    place: int
    inner: int | None
    """Its place within a result, None for one that stands by itself."""
    block: dict[str, Any]

    def cut(self, reason: str) -> Cut:
        """Returns the cut that puts a text in its place."""
        return Cut(self.line, self.place, self.words, reason, self.inner)

    @property
    def words(self) -> str:
        """What stands in its place."""
        source = mapping(self.block.get("source"))
        data = said(source, "data") or ""
        shape = shape_of(data) if said(source, "type") == "base64" else None
        size = f", {shape.width} × {shape.height}" if shape and shape.width else ""
        return f"[picture left out: {said(source, 'media_type') or 'unknown'}{size}]"


def pictures_of(record: Record) -> Iterator[Picture]:
    """Yields the pictures of a message, those within results too."""
    if b'"image"' not in record.raw:
        return
    for place, block in enumerate(blocks_in(record)):
        value = mapping(block)
        if value.get("type") == "image":
            yield Picture(record.line, place, None, dict(value))
        content = value.get("content") if value.get("type") == "tool_result" else None
        for inner, part in enumerate(content if isinstance(content, list) else ()):
            if mapping(part).get("type") == "image":
                yield Picture(record.line, place, inner, dict(mapping(part)))


def refused_pictures(log: SentLog) -> Iterator[Cut]:
    """Yields the pictures for which the API would refuse what is sent.

    Those that it cannot read, or that are too large; then, of more than it takes, the oldest,
    what tools gave before what people did.
    """
    taken: list[Picture] = []
    for picture in _sent(log):
        if refusal_of(picture.block):
            yield picture.cut(REFUSED)
        else:
            taken.append(picture)
    given = sorted(taken, key=lambda one: one.inner is None)
    yield from (one.cut(TOO_MANY) for one in given[: max(len(taken) - MOST, 0)])


def _sent(log: SentLog) -> Iterable[Picture]:
    for one in log.chain:
        yield from pictures_of(one.record)
