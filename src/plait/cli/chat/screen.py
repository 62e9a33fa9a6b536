"""Events to lines above the keyboard, each drawn once; nothing in them commands the terminal."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from plait.agent.events import Event
from plait.cli.chat.drawing import Drawing
from plait.cli.chat.keyboard import Keyboard
from plait.cli.output import Output
from plait.cli.show.page import Page
from plait.view.terminal.model import AnyBlock


@dataclass
class Screen:
    """Draws a session on the output, above whoever types."""

    output: Output
    drawing: Drawing
    keyboard: Keyboard
    _page: Page = field(init=False)

    def __post_init__(self) -> None:
        self._page = Page(self.output, session="", hint="")

    async def show(self, event: Event) -> None:
        """Draws what an event adds."""
        await self.print(list(self.drawing.of(event)))

    async def print(self, blocks: Iterable[AnyBlock]) -> None:
        """Draws some passages, all at once."""
        parts = list(blocks)
        if not parts:
            return
        if self._page.is_plain:
            self._page.print(parts)
            self.output.console.file.flush()
            return
        with self.output.console.capture() as capture:
            self._page.print(parts)
        await self.keyboard.above(capture.get())

    async def say(self, *lines: str) -> None:
        """Writes lines of our own."""
        if self._page.is_plain:
            self.output.plain("".join(f"{line}\n" for line in lines))
            self.output.console.file.flush()
            return
        with self.output.console.capture() as capture:
            for line in lines:
                self.output.print(line)
        await self.keyboard.above(capture.get())
