"""What a screen shows in part to what it can show whole when one asks for it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from plait.view.passages.call_view import CallView
from plait.view.passages.tools import CallLine
from plait.view.terminal.calls import CallBlocks
from plait.view.terminal.model import AnyBlock, Words

MOST_KEPT = 50
MOST_LETTERS = 20_000_000
"""Letters of all results that are kept; the log has the others."""
Whole: TypeAlias = Callable[[], Sequence[AnyBlock]]


@dataclass
class Folded:
    """Keeps the last calls and thoughts, with all that belongs to them."""

    kept: deque[tuple[str, Whole, int]] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    """What each is, what shows it, and how long it is."""
    _thought: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[str, Whole]]:
        return ((title, whole) for title, whole, _ in self.kept)

    def add_call(self, line: CallLine, seen: CallView) -> None:
        """Keeps a call with its result."""
        result = seen.called.result
        title = f"{line.tool} {line.subject}".strip()
        size = len(result.text) if result else 0
        self._add(title, lambda: [line, *CallBlocks(seen, is_full=True).all()], size)

    def add_thought(self, text: str) -> None:
        """Takes more of what the model thinks."""
        self._thought.append(text)

    def end_thought(self) -> None:
        """Keeps what the model thought, once it says or does something."""
        text, self._thought = "".join(self._thought), []
        if text.strip():
            self._add("thinking", lambda: [Words(voice="thinking", text=text)], len(text))

    def _add(self, title: str, whole: Whole, size: int) -> None:
        self.kept.append((title, whole, size))
        while len(self.kept) > 1 and sum(one[2] for one in self.kept) > MOST_LETTERS:
            self.kept.popleft()
