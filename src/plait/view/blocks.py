"""Content blocks of a message to a few words: what they say, and which they are."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from plait.view.wording import one_line, plain_words


def first_words(blocks: list[dict[str, Any]]) -> str:
    """Returns how a message begins: its first text, else its first call, result or thought."""
    found = {block.get("type"): block for block in reversed(blocks)}
    if "text" in found:
        return one_line(plain_words(str(found["text"].get("text", "")).strip()))
    if "tool_use" in found:
        return called(str(found["tool_use"].get("name")), found["tool_use"].get("input"))
    if "tool_result" in found:
        return answered(found["tool_result"].get("content"))
    if "thinking" in found:
        return one_line(str(found["thinking"].get("thinking", "")))
    return ""


def called(name: str, given: object) -> str:
    """Returns a call as its tool and the first text handed to it."""
    values = given.values() if isinstance(given, Mapping) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return one_line(f"{name}({one_line(first)[:80]})")


def answered(content: object) -> str:
    """Returns the first text of a result."""
    if isinstance(content, str):
        return one_line(content)
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return one_line(next((text for text in texts if isinstance(text, str)), ""))


def block_names(blocks: list[dict[str, Any]]) -> str:
    """Returns the kinds of blocks in a message, calls by their tools, with their numbers."""
    counts = Counter(names(blocks))
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


def names(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Yields a name for each block."""
    for block in blocks:
        kind = str(block.get("type"))
        if kind == "tool_use":
            yield str(block.get("name"))
        else:
            yield kind.removeprefix("tool_")
