"""Figures to a page: what matters first, then panels with small charts, in one column or two."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TYPE_CHECKING

from plait.cli.output import Output
from plait.cli.stats_panels import Panels
from plait.cli.stats_text import day_in_words, hours_in_words, local_day, short_count
from plait.cli.text import counted
from plait.conversation.figures import Figures

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

TWO_COLUMNS = 110
WIDEST = 150
GAP = 4


@dataclass(frozen=True, slots=True)
class StatsPage:
    """Prints the figures of an archive."""

    output: Output
    figures: Figures
    zone: tzinfo | None
    ascii_only: bool

    def print(self) -> None:
        """Prints all there is to say."""
        width = min(self.output.width, WIDEST)
        self.output.print(self.extent(), style="dim")
        self.output.print("")
        self.output.print(self.cards(width))
        self.output.print("")
        is_wide = width >= TWO_COLUMNS
        room = (width - GAP) // 2 if is_wide else width
        panels = Panels(self.figures, room, self.ascii_only)
        if is_wide:
            self.output.print(side_by_side(panels.left(), panels.right(), room))
        else:
            for panel in (*panels.left(), *panels.right()):
                self.output.print(panel)

    def extent(self) -> str:
        """Says how much was counted, and from when to when."""
        figures = self.figures
        first, last = local_day(figures.first, self.zone), local_day(figures.last, self.zone)
        days = sum(1 for day in figures.days if day.prompts)
        parts = [
            counted(figures.sessions, "session"),
            counted(figures.projects, "project") if figures.projects > 1 else "",
            between(first, last),
            counted(days, "day with prompts", "days with prompts") if days > 1 else "",
        ]
        separator = " / " if self.ascii_only else " · "
        return separator.join(part for part in parts if part)

    def cards(self, width: int) -> "Table":
        """Returns the few figures that matter, each above its name."""
        from rich.table import Table

        cards = list(self.headline())
        while len(cards) > 2 and sum(max(map(len, card)) + GAP for card in cards) > width + GAP:
            cards.pop()
        table = Table.grid(padding=(0, GAP, 0, 0))
        table.add_row(*(figure for figure, _ in cards), style="bold")
        table.add_row(*(name for _, name in cards), style="dim")
        return table

    def headline(self) -> Iterator[tuple[str, str]]:
        """Yields the figures that matter, with their names."""
        figures = self.figures
        yield short_count(figures.prompts), "prompts"
        yield short_count(figures.responses), "responses"
        yield short_count(figures.calls), "tool calls"
        yield short_count(figures.agents), "agents"
        yield short_count(figures.tokens.output), "tokens out"
        yield hours_in_words(figures.working_ms) or "0", "at work"


def between(first: date | None, last: date | None) -> str:
    """Writes from when to when, a single day once."""
    if first is None or last is None:
        return ""
    if first == last:
        return day_in_words(first)
    return f"{day_in_words(first)} to {day_in_words(last)}"


def side_by_side(
    left: "Iterator[RenderableType]", right: "Iterator[RenderableType]", room: int
) -> "Table":
    """Returns two columns of panels."""
    from rich.console import Group
    from rich.table import Table

    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(width=room)
    grid.add_column(width=room)
    grid.add_row(Group(*left), Group(*right))
    return grid
