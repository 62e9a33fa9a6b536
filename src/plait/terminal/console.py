"""The rich console for output."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from plait.terminal.text import safe
from plait.view.text import UNSAFE


class SafeConsole(Console):
    """A console on which text of a log cannot control the terminal; only its own styles can."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the rendered segments without terminal control codes."""
        for part in super().render(renderable, options):
            if part.control is None and UNSAFE.search(part.text):
                yield Segment(safe(part.text), part.style)
            else:
                yield part
