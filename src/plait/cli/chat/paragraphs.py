"""Words as they stream to paragraphs that are whole, so that each is laid out once."""

from collections.abc import Iterator
from dataclasses import dataclass, field

FENCES = ("```", "~~~")


@dataclass
class Paragraphs:
    """Gathers words until a blank line ends them; a block of code is never cut."""

    _lines: list[str] = field(default_factory=list)
    """Lines that are whole, of a paragraph that is not."""
    _line: str = ""
    _fence: str | None = None

    @property
    def open(self) -> str:
        """What has come of the paragraph that is not whole."""
        return "\n".join([*self._lines, self._line])

    def add(self, text: str) -> Iterator[str]:
        """Takes more words; yields the paragraphs that they end."""
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self._mark_fence(line)
            if line.strip() or self._fence:
                self._lines.append(line)
            elif self._lines:
                yield self._taken()

    def rest(self) -> Iterator[str]:
        """Yields the paragraph that is not whole, if there is one, and begins anew."""
        self._lines.append(self._line)
        self._line, self._fence = "", None
        text = self._taken()
        if text.strip():
            yield text

    def _taken(self) -> str:
        lines, self._lines = self._lines, []
        return "\n".join(lines).strip("\n")

    def _mark_fence(self, line: str) -> None:
        mark = line.lstrip()[:3]
        if mark not in FENCES:
            return
        if self._fence is None:
            self._fence = mark
        elif mark == self._fence and not line.strip().strip(mark[0]):
            self._fence = None
