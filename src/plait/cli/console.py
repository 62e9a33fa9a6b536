"""What is drawn to a screen on which nothing of a log commands the terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from plait.cli.text import safe
from plait.view.text import UNSAFE


class SafeConsole(Console):
    """A console that only its own styles can command: whatever is drawn is made harmless here."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the parts of what is drawn, each without what a terminal would obey."""
        for part in super().render(renderable, options):
            if part.control is None and UNSAFE.search(part.text):
                yield Segment(safe(part.text), part.style)
            else:
                yield part
