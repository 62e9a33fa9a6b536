"""What goes on to the lines above the one where one types, and to the one below it."""

import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text import ANSI, to_formatted_text

from plait.cli.chat.keyboard import MARK, Live
from plait.cli.text import clipped, safe_line
from plait.view.text import columns, only_colours

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

GRACE = 2.0
"""Seconds in which a second Ctrl-C leaves."""
FEWEST_WORDS = 6
"""Lines of the words that stream, on however small a screen."""
MOST_WAITING = 4
LEAVE = "Ctrl-C again to leave"
AGAIN = "Enter again sends it"


@dataclass
class Below:
    """Draws what is never printed for good: it changes while one looks."""

    live: Live
    is_busy: bool = False
    began: float = 0.0
    warned_at: float = field(default=-GRACE)
    """When Ctrl-C was pressed."""
    doubt: str = ""
    """What has to be confirmed before a prompt is sent."""

    def begin(self) -> None:
        """Notes that something goes on from now on."""
        self.is_busy, self.began, self.warned_at = True, time.monotonic(), -GRACE

    @property
    def is_warned(self) -> bool:
        """Whether Ctrl-C was pressed just now."""
        return time.monotonic() - self.warned_at < GRACE

    def message(self, mark: str = MARK) -> "StyleAndTextTuples":
        """Returns what stands before what is typed."""
        if not self.is_busy:
            return [("bold", mark)]
        size = shutil.get_terminal_size()
        width, rows = size.columns - 1, max(size.lines // 2, FEWEST_WORDS)
        words = [f"{only_colours(line)}\n" for line in self.live.words(width, rows)]
        return [
            *(to_formatted_text(ANSI("".join(words))) if words else ()),
            ("class:state", f"{self._state(width)}\n"),
            *(("", f"{clipped(safe_line(one), width)}\n") for one in self.live.beside()),
            *(("", f"{clipped(safe_line(one), width)}\n") for one in self._waiting()),
            ("bold", mark),
        ]

    def _state(self, width: int) -> str:
        took = int(time.monotonic() - self.began)
        margin = f" {LEAVE}" if self.is_warned else f" {took} s, Ctrl-C stops"
        state = f"· {safe_line(self.live.doing())}"
        return f"{clipped(state, max(width - columns(margin), 8))}{margin}"

    def _waiting(self) -> list[str]:
        shown = [f"  queued: {one}" for one in self.live.waiting[:MOST_WAITING]]
        more = len(self.live.waiting) - len(shown)
        return [*shown, f"  … and {more} more"] if more else shown

    def toolbar(self) -> str:
        """Returns the line below all others."""
        width = shutil.get_terminal_size().columns - 1
        if self.is_warned and not self.is_busy:
            return LEAVE
        words = f"{self.doubt}: {AGAIN}" if self.doubt else self.live.standing()
        return clipped(safe_line(words), width)
