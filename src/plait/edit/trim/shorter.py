"""A block, and the client's own view of a result, to shorter ones of the same form.

{"stdout": 9,000 letters, "stderr": "", "interrupted": false}
{"stdout": the text in its place, "stderr": "", "interrupted": false}
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import words_of
from plait.edit.trim.splice import GONE
from plait.record.codec import encode

SHORT = 80
"""Characters that a text may always have: names, ids, paths."""
ALIKE = 64
"""Characters by which a text of the view is known to be that of the result."""
SAVED = ("persistedOutputPath", "persistedOutputSize")
KEPT_WHOLE = frozenset({"prompt", "description", "agentId", "agentType", "filePath"})
"""What a view repeats of its call, or is known by."""


def after(block: Any, cuts: Iterable[Cut]) -> object:
    """Returns what cuts leave of a block."""
    whole = [cut for cut in cuts if cut.inner is None]
    if any(cut.to is None for cut in whole):
        return GONE
    if whole:
        return _said_otherwise(block, whole[-1].to or "")
    return {**block, "content": _parts_after(block["content"], cuts)}


def _said_otherwise(block: dict[str, Any], words: str) -> dict[str, Any]:
    kind = str(block.get("type"))
    if kind.endswith("tool_result"):
        return block if block.get("content") == words else {**block, "content": words}
    if kind.endswith("tool_use"):
        return {**block, "input": msgspec.json.decode(words)}
    return {**block, "text": words} if kind == "text" else text_block(words)


def text_block(words: str) -> dict[str, Any]:
    """Returns words as a block."""
    return {"type": "text", "text": words}


def _parts_after(content: list[Any], cuts: Iterable[Cut]) -> list[Any]:
    parts: list[Any] = list(content)
    for cut in cuts:
        if cut.inner is not None:
            parts[cut.inner] = GONE if cut.to is None else _said_otherwise(parts[cut.inner], cut.to)
    return [part for part in parts if part is not GONE]


def shorter_view(view: Any, before: dict[str, Any], now: dict[str, Any]) -> Any:
    """Returns the client's own view of a result without what the result no longer says."""
    words = words_of(now)
    shrunk = _Shrinking(words_of(before), words).value(view)
    if isinstance(shrunk, dict) and not _names_file(shrunk, words):
        shrunk = {key: value for key, value in shrunk.items() if key not in SAVED}
    return shrunk


def _names_file(view: dict[str, Any], words: str) -> bool:
    path = view.get(SAVED[0])
    return isinstance(path, str) and path.replace("\\", "/").rpartition("/")[2] in words


class _Shrinking:
    """Makes texts as short as the one that stands in the place of the result's."""

    def __init__(self, text: str, words: str) -> None:
        self.text = text
        self.words = words
        self.most = max(len(words), SHORT)

    def value(self, view: Any) -> Any:
        """Returns a value of the same form without a long text, nor a long list in a field."""
        root = [view]
        waiting: list[Any] = [root]
        lists: list[tuple[dict[str, Any], str]] = []
        while waiting:
            holder = waiting.pop()
            for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
                value = holder[key]
                if isinstance(value, str) and key not in KEPT_WHOLE:
                    holder[key] = self.shortened(value)
                elif isinstance(value, dict | list):
                    holder[key] = value.copy()
                    waiting.append(holder[key])
                if isinstance(value, list) and isinstance(holder, dict):
                    lists.append((holder, str(key)))
        for holder, key in lists:
            if len(encode({"": holder[key]})) > 2 * self.most:
                holder[key] = []
        return root[0]

    def shortened(self, text: str) -> str:
        """Returns a text as it is where it is short, else what stands in its place."""
        if len(text) <= self.most:
            return text
        is_result = text.strip()[:ALIKE] in self.text
        return self.words if is_result else f"{text[: self.most - 1]}…"
