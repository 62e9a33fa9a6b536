"""The client's own view of a result to the words that the result itself does not say.

Mostly the view repeats what the model was told, or what the tool was given. What it has
beyond that (errors beside the output, lines around a change) stands nowhere else in the log.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from plait.record.codec import WORDLESS

ECHOES = frozenset("originalFile oldString newString prompt".split())
"""Texts of the input, and files as they were: a patch has what was taken out of them."""
FACTS = frozenset("filePath mode status".split())
"""Words of the client's own, and the path that the tool was given."""
WRITTEN = frozenset({"create", "update"})
NUMBERED = re.compile(r"\s*\d+[→\t]")
FAILED = "Error: "
FEW = 4
"""Lines from which on a text is compared by its ends and its middle alone."""
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")


def words_beside(view: Any, *told: str) -> dict[str, str]:
    """Returns the words of a view that are told nowhere, by the names that lead to them."""
    if view is None or (isinstance(view, str) and view in told):
        return {}
    known = _Known(told)
    found: dict[str, list[str]] = {}
    for name, text in _texts_in(view):
        if not known.repeats(text) and (lines := [*filter(known.lacks, text.split("\n"))]):
            found.setdefault(name, []).extend(lines)
    return {name: "\n".join(lines) for name, lines in found.items()}


class _Known:
    """Lines that are told already; what is said once is known from then on."""

    def __init__(self, told: tuple[str, ...]) -> None:
        self.whole = "\n".join(told)
        self._said: set[str] = set()

    @cached_property
    def _lines(self) -> set[str]:
        lines = self.whole.split("\n")
        return {NUMBERED.sub("", line, count=1).strip() for line in lines}

    def repeats(self, text: str) -> bool:
        """Tells whether a text is told as it is, or with the number of each line before it."""
        words = text.strip()
        if words in self.whole:
            return True
        lines = words.count("\n")
        if lines < FEW or self.whole.count("\n") < lines:
            return False
        ends = (words[: words.index("\n")], words[words.rindex("\n") + 1 :])
        middle = words[words.rfind("\n", 0, len(words) // 2) + 1 :].partition("\n")[0]
        return all(one.strip() in self.whole for one in (*ends, middle))

    def lacks(self, line: str) -> bool:
        """Tells whether a line is told nowhere yet."""
        words = line.strip().removeprefix(FAILED)
        if not words or words in self._said or words in self.whole or words in self._lines:
            return False
        self._said.add(words)
        return True


def _texts_in(view: Any) -> Iterator[tuple[str, str]]:
    """Yields the texts of a view with the names that lead to each."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), view)]
    while waiting:
        names, one = waiting.pop()
        if isinstance(one, str):
            if not BASE64.fullmatch(one):
                yield ".".join(names), one.replace("\r", "\n")
        elif isinstance(one, Mapping):
            waiting += [((*names, str(key)), one[key]) for key in reversed(_telling(one))]
        elif isinstance(one, list | tuple):
            waiting += [(names, inner) for inner in reversed(one)]


def _telling(view: Mapping[str, Any]) -> list[str]:
    is_written = view.get("type") in WRITTEN and isinstance(view.get("content"), str)
    has_patch = bool(view.get("structuredPatch"))
    return [
        key
        for key in view
        if key not in WORDLESS
        and key not in FACTS
        and not (key in ECHOES and (has_patch or key != "originalFile"))
        and not (key == "content" and is_written)
    ]
