"""Compactions and branches to the marks that a reader finds their way by."""

from collections.abc import Iterator

from plait.conversation.model import Compacted, Left
from plait.view.amounts import lines_in_words, many, time_in_words, tokens_in_words
from plait.view.passages import Landmark, Leaving


def landmark(compacted: Compacted, summary: str | None, level: int) -> Landmark:
    """Returns a compaction with what is known of it."""
    size = compacted.pre_tokens
    tokens = f" ({tokens_in_words(size)} tokens)" if size is not None else ""
    return Landmark(
        level=level,
        text=f"{compacted.text}{tokens}",
        details=tuple(details_of(compacted, summary)),
        time=compacted.time,
    )


def details_of(compacted: Compacted, summary: str | None) -> Iterator[str]:
    """Yields how a compaction came about and what it left."""
    if compacted.trigger:
        yield "by hand" if compacted.trigger == "manual" else "automatically"
    if compacted.post_tokens is not None:
        yield f"{tokens_in_words(compacted.post_tokens)} tokens left"
    if compacted.preserved:
        yield f"{many(len(compacted.preserved), 'record')} kept word by word"
    if took := time_in_words(compacted.duration_ms):
        yield f"took {took}"
    if summary:
        yield f"summary of {lines_in_words(summary)}"


def leaving(left: Left, level: int) -> Leaving:
    """Returns the place where another conversation leaves."""
    return Leaving(
        level=level,
        to=left.to,
        kind=left.kind,
        label=left.label,
        is_active=left.is_active,
        time=left.time,
    )
