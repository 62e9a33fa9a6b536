"""Events to lines above the keyboard, each drawn once; nothing in them commands the terminal."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from plait.agent.events import Event
from plait.cli.chat.drawing import Drawing
from plait.cli.chat.keyboard import Keyboard, View
from plait.cli.chat.paragraphs import open_end
from plait.cli.output import Output
from plait.cli.show.page import WIDEST_PAGE, Page
from plait.view.terminal.model import AnyBlock, Words

OPENED = ", Ctrl-O shows them"


@dataclass
class Screen:
    """Draws a session on the output, above whoever types."""

    output: Output
    drawing: Drawing
    keyboard: Keyboard
    _page: Page = field(init=False)
    _drawn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while something is drawn: what comes first stands above."""

    def __post_init__(self) -> None:
        hint = OPENED if self.keyboard.is_live else ""
        self._page = Page(self.output, session="", hint=hint)

    def open_words(self, width: int, rows: int) -> list[str]:
        """Returns the last lines of the words that stream, laid out as they will stand there."""
        text = open_end(self.drawing.words.open, rows)
        if not text.strip():
            return []
        lines = self._drawn_lines([Words(voice="answer", text=text, is_markdown=True)], width)
        return ["", *lines][-rows:]

    def folded(self) -> list[View]:
        """Returns what is not shown whole, as it is shown on a screen of its own."""
        return [self.view(title, whole) for title, whole in self.drawing.folded]

    def view(self, title: str, whole: Callable[[], Sequence[AnyBlock]]) -> View:
        """Returns what shows passages to their ends."""
        return View(title, lambda width: self._drawn_lines(whole(), width))

    def _drawn_lines(self, blocks: Sequence[AnyBlock], width: int) -> list[str]:
        page = Page(self.output, session="", hint="", beyond="wrap")
        page.width = min(width, WIDEST_PAGE)
        with self.output.console.capture() as capture:
            page.print(blocks)
        return capture.get().removesuffix("\n").split("\n")

    async def show(self, event: Event) -> None:
        """Draws what an event adds."""
        await self.print(list(self.drawing.of(event)))

    async def print(self, blocks: Iterable[AnyBlock], *, is_whole: bool = False) -> None:
        """Draws some passages, all at once; what must be seen whole is not cut at the edge."""
        parts = list(blocks)
        if not parts:
            return
        async with self._drawn:
            self._page.beyond = "wrap" if is_whole else "cut"
            self._page.width = min(self.output.console.width, WIDEST_PAGE)
            await self._put(lambda: self._page.print(parts))

    async def say(self, *lines: str) -> None:
        """Writes lines of our own."""
        async with self._drawn:
            await self._put(lambda: self._write(lines))

    def _write(self, lines: tuple[str, ...]) -> None:
        if self._page.is_plain:
            self.output.plain("".join(f"{line}\n" for line in lines))
            return
        for line in lines:
            self.output.print(line)

    async def _put(self, draw: Callable[[], None]) -> None:
        if self._page.is_plain:
            draw()
            self.output.console.file.flush()
            return
        with self.output.console.capture() as capture:
            draw()
        await self.keyboard.above(capture.get())
