"""Output that was folded to a screen where one reads all of it, and looks for words in it."""

import asyncio
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from plait.cli.chat.keyboard import View
from plait.cli.chat.whole_screen import coloured, room, whole_screen
from plait.cli.text import clipped, safe_line
from plait.view.text import without_sequences

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

KEYS = "↑ ↓ Space move, ← → another, / looks for words, q goes back"
DRAFT = "prompt.md"


@dataclass
class Viewer:
    """Shows one of several things, from some line on."""

    views: Sequence[View]
    number: int = 0
    top: int = 0
    sought: str = ""
    typed: str | None = None
    """What is being typed to be looked for."""
    _drawn: tuple[int, int, Sequence[str]] = field(default=(-1, 0, ()))

    @property
    def lines(self) -> Sequence[str]:
        """The lines of what is shown, as wide as the screen is."""
        width = room()[0]
        number, drawn_for, lines = self._drawn
        if (number, drawn_for) != (self.number, width):
            lines = self.views[self.number].lines(width)
            self._drawn = self.number, width, lines
        return lines

    def move(self, count: int) -> None:
        """Goes so many lines on, or back."""
        most = max(len(self.lines) - room()[1], 0)
        self.top = min(max(self.top + count, 0), most)

    def turn_to(self, number: int) -> None:
        """Shows another one, from its beginning."""
        if 0 <= number < len(self.views):
            self.number, self.top = number, 0

    def find(self, step: int = 1) -> None:
        """Goes to the next line that holds the words, or the one before."""
        lines, start = self.lines, self.top
        places = range(start + step, len(lines) if step > 0 else -1, step)
        place = next((one for one in places if self._holds(lines[one])), None)
        if place is not None:
            self.top = place

    def _holds(self, line: str) -> bool:
        return bool(self.sought) and self.sought in without_sequences(line).casefold()

    def head(self) -> str:
        """Returns what is shown, and which it is."""
        count = f"{self.number + 1} of {len(self.views)}  " if len(self.views) > 1 else ""
        return clipped(f"{count}{safe_line(self.views[self.number].title)}", room()[0])

    def body(self) -> "StyleAndTextTuples":
        """Returns the lines that there is room for."""
        shown: StyleAndTextTuples = []
        for line in self.lines[self.top : self.top + room()[1]]:
            shown += coloured([line], "class:found" if self._holds(line) else "")
        return shown

    def foot(self) -> str:
        """Returns where one is, and what can be done."""
        if self.typed is not None:
            return f"/{safe_line(self.typed)}"
        last = min(self.top + room()[1], len(self.lines))
        return clipped(f"{self.top + 1}–{last} of {len(self.lines)}  {KEYS}", room()[0])

    def keys(self) -> KeyBindings:
        """Returns what keys do."""
        keys = KeyBindings()
        is_typing = Condition(lambda: self.typed is not None)
        self._moving(keys, ~is_typing)
        self._looking(keys, is_typing)

        @keys.add("q", filter=~is_typing)
        @keys.add("escape", filter=~is_typing)
        @keys.add("c-o")
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit()

        return keys

    def _moving(self, keys: KeyBindings, is_free: Filter) -> None:
        steps: dict[str, Callable[[], int]] = {
            **dict.fromkeys(("down", "j", "enter"), lambda: 1),
            **dict.fromkeys(("up", "k"), lambda: -1),
            **dict.fromkeys((" ", "pagedown", "c-f"), lambda: room()[1]),
            **dict.fromkeys(("b", "pageup", "c-b"), lambda: -room()[1]),
            **dict.fromkeys(("g", "home"), lambda: -len(self.lines)),
            **dict.fromkeys(("G", "end"), lambda: len(self.lines)),
        }
        for key, step in steps.items():
            keys.add(key, filter=is_free)(lambda event, step=step: self.move(step()))
        for key, count in {"left": -1, "h": -1, "right": 1, "l": 1}.items():
            keys.add(key, filter=is_free)(
                lambda event, count=count: self.turn_to(self.number + count)
            )
        keys.add("n", filter=is_free)(lambda event: self.find())
        keys.add("N", filter=is_free)(lambda event: self.find(-1))

    def _looking(self, keys: KeyBindings, is_typing: Condition) -> None:
        @keys.add("/", filter=~is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed = ""

        @keys.add("<any>", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed = (self.typed or "") + event.data

        @keys.add("backspace", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed = self.typed[:-1] if self.typed else None

        @keys.add("escape", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.typed = None

        @keys.add("enter", filter=is_typing)
        def _(event: KeyPressEvent) -> None:
            self.sought, self.typed = (self.typed or "").casefold(), None
            self.find()


async def look_at(
    views: Sequence[View], source: "Input | None" = None, output: "Output | None" = None
) -> None:
    """Shows things until the person goes back, the last of them first."""
    viewer = Viewer(views, len(views) - 1)
    app = whole_screen(viewer.head, viewer.body, viewer.foot, viewer.keys(), source, output)
    await app.run_async(handle_sigint=False)


async def edited_outside(text: str, editor: str) -> str:
    """Returns a text as it was left in the person's own editor; as it was where that failed."""
    with TemporaryDirectory(prefix="plait-") as folder:
        file = Path(folder) / DRAFT
        file.write_text(text, encoding="utf-8")
        try:
            command = [*shlex.split(editor), str(file)]
            done = await asyncio.to_thread(subprocess.run, command, check=False)
            after = file.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return text
    return after.removesuffix("\n") if done.returncode == 0 else text
