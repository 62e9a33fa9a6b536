"""Words as they stream to paragraphs that are whole, so that each is laid out once."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

FENCES = ("```", "~~~")
ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
"""How a point of a list begins."""
WIDEST_LINE = 4_000


@dataclass
class Paragraphs:
    """Gathers words until a blank line ends them.

    A block of code is never cut, nor a point of a list from what is indented below it.
    """

    _lines: list[str] = field(default_factory=list)
    """Lines that are whole, of a paragraph that is not."""
    _line: str = ""
    _fence: str | None = None
    _is_pending: bool = False
    """Whether a point of a list came to a blank line, and may go on."""

    @property
    def open(self) -> str:
        """What has come of the paragraph that is not whole."""
        return "\n".join([*self._lines, self._line])

    def add(self, text: str) -> Iterator[str]:
        """Takes more words; yields the paragraphs that they end."""
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            yield from self._take(line)
        if self._is_pending and self._line[:1].strip():
            yield self._taken()

    def _take(self, line: str) -> Iterator[str]:
        if self._is_pending and line[:1].strip():
            yield self._taken()
        self._fence = fence_after(line, self._fence)
        if line.strip() or self._fence:
            if self._is_pending and line.strip():
                self._lines.append("")
                self._is_pending = False
            self._lines.append(line)
        elif self._lines and ITEM.match(self._lines[0]):
            self._is_pending = True
        elif self._lines:
            yield self._taken()

    def rest(self) -> Iterator[str]:
        """Yields the paragraph that is not whole, if there is one, and begins anew."""
        if self._is_pending and self._line.strip():
            self._lines.append("")
        self._lines.append(self._line)
        self._line, self._fence = "", None
        text = self._taken()
        if text.strip():
            yield text

    def _taken(self) -> str:
        lines, self._lines, self._is_pending = self._lines, [], False
        return "\n".join(lines).strip("\n")


def fence_after(line: str, fence: str | None) -> str | None:
    """Returns the mark of the block of code that is open behind a line, None for none."""
    mark = line.lstrip()[:3]
    if mark not in FENCES:
        return fence
    if fence is None:
        return mark
    return None if mark == fence and not line.strip().strip(mark[0]) else fence


def open_end(text: str, rows: int) -> str:
    """Returns the last lines of a text, as few as fill so many rows.

    Code stays code: the block that the first of them stands in is opened before it.
    """
    lines = text.split("\n")
    left, kept = lines[: -rows or len(lines)], lines[-rows:]
    opened = _opened_by(left)
    return "\n".join([*opened, *(line[-WIDEST_LINE:] for line in kept)])


def _opened_by(lines: Iterable[str]) -> list[str]:
    fence: str | None = None
    opening = ""
    for line in lines:
        before, fence = fence, fence_after(line, fence)
        if fence and not before:
            opening = line.strip()
    return [opening] if fence else []
