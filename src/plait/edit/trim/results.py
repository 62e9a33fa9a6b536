"""A result to the cuts that shorten it: to its first characters, or to one line."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from plait.edit.trim import marks
from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import Place, words_of

MEDIA = frozenset({"image", "document"})


def shortened(place: Place, block: dict[str, Any], keep: int | None, reason: str) -> Iterator[Cut]:
    """Yields the cuts; what is as short already is left alone, and so is what loads tools."""
    content = block.get("content")
    if loads_tools(block):
        return
    if keep is None:
        words, more = words_of(block), _more_in(content)
        line = marks.emptied(words, more)
        is_long = len(words) > len(line) and not marks.is_short(words)
        if is_long or more:
            yield Cut(place.line, place.block, line, reason)
    elif isinstance(content, str):
        if len(left := marks.cut(content, keep)) < len(content):
            yield Cut(place.line, place.block, left, reason)
    elif isinstance(content, list):
        for inner, part in enumerate(content):
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and len(left := marks.cut(text, keep)) < len(text):
                yield Cut(place.line, place.block, left, reason, inner)


def loads_tools(block: dict[str, Any]) -> bool:
    """Tells a result that gives the model tools, which it would lose without it."""
    content = block.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") == "tool_reference" for one in parts)


def _more_in(content: object) -> Counter[str]:
    """Counts what a result holds besides words: pictures, documents."""
    parts = content if isinstance(content, list) else []
    kinds = [str(one.get("type")) if isinstance(one, dict) else "other" for one in parts]
    return Counter(one if one in MEDIA else "other" for one in kinds if one != "text")
