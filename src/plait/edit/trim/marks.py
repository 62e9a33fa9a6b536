"""Texts that are too long to the short ones in their place, which say how much was left out.

What they say is known again: a text that was shortened is not shortened once more.
"""

import re
from collections.abc import Mapping
from typing import Any

MORE = r"\d+ (?:images?|documents?|others?)"
MARK = re.compile(rf"\n?\[(?=\d)(?:([\d,]+) characters?)?(?:(?:, |(?<=\[)){MORE})* left out\]\Z")
STALE = re.compile(r"\[stale: .+ (?:read again|changed) later\]\Z")
INPUT_KEPT = 200
"""Characters that are left of a long text in the input of a call."""


def emptied(text: str, more: Mapping[str, int] = {}) -> str:
    """Returns the line in the place of a text, and of what else stood beside it."""
    return _mark(characters_of(text), more)


def cut(text: str, keep: int) -> str:
    """Returns the first characters of a text, and a line that says how many went."""
    words = MARK.sub("", text) if MARK.search(text) else text
    if len(words) <= keep:
        return text
    return f"{words[:keep]}\n{_mark(characters_of(text) - keep)}"


def stale(path: str, what: str) -> str:
    """Returns the line in the place of what was read of a file that was read or changed since."""
    return f"[stale: {path} was {what} later]".replace("\n", " ")


def is_short(text: str) -> bool:
    """Tells a text that is nothing but the line in the place of one."""
    match = MARK.search(text)
    return bool((match and match.start() == 0) or STALE.match(text))


def characters_of(text: str) -> int:
    """Returns how many characters a text had before it was shortened."""
    match = MARK.search(text)
    return len(text) if match is None else match.start() + int((match[1] or "0").replace(",", ""))


def shorter_input(given: Any) -> Any:
    """Returns the input of a call with its long texts cut, however deep they stand."""
    root = [given]
    waiting: list[Any] = [root]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            value = holder[key]
            if isinstance(value, str) and len(value) > 2 * INPUT_KEPT:
                holder[key] = cut(value, INPUT_KEPT)
            elif isinstance(value, dict | list):
                holder[key] = value.copy()
                waiting.append(holder[key])
    return root[0]


def _mark(count: int, more: Mapping[str, int] = {}) -> str:
    parts = {**({"character": count} if count or not more else {}), **more}
    told = (f"{number:,} {name}{'s' * (number != 1)}" for name, number in parts.items())
    return f"[{', '.join(told)} left out]"
