"""Sessions with their figures to the rows of a list, as wide as there is room."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from plait.archive import Archive, Facts
from plait.cli.options import Request
from plait.cli.output import Output
from plait.cli.text import ago, clipped, columns, number, safe_line, size
from plait.record.time import moment
from plait.view.amounts import until

if TYPE_CHECKING:
    from rich.text import Text

    from plait.conversation.spending import SpendingSum
    from plait.index.rows import SessionShape

SOON = timedelta(days=7)
Group: TypeAlias = tuple[str, Sequence[Facts]]
"""A heading, and the sessions that stand below it."""
GAP, INDENT = "  ", "  "
NAME = 8
DISPENSABLE = {"size": 32, "agents": 28, "entries": 24, "turns": 12, "ended": 12, "cost ": 8}
"""Which figures are left out where a title had less room than that, the first of them first."""


class Figures(NamedTuple):
    """What a session comes to; None where nobody has counted."""

    shape: "SessionShape | None" = None
    spent: "SpendingSum | None" = None

    @property
    def turns(self) -> int | None:
        """How many turns it has, on all of its branches."""
        return self.shape.turns if self.shape else None

    @property
    def cost_usd(self) -> float | None:
        """What it cost, as far as anything in it has a price."""
        return self.spent.known_cost if self.spent else None

    @property
    def cost(self) -> str:
        """What it cost; a star says that something in it has no price."""
        from plait.view.usage import cost_of

        return cost_of(self.spent) if self.spent else ""


UNCOUNTED = Figures()
LITTLE = 100_000_000
"""Bytes of sessions whose turns are counted where no index knows them."""


def figures_of(archive: Archive, request: Request, rows: Sequence[Facts]) -> dict[Path, Figures]:
    """Returns what sessions come to, by path; turns only where that takes no long reading."""
    if not rows:
        return {}
    costs = archive.costs(request.prices)
    by_path = {session.path: session for session in archive.sessions}
    meant = [by_path[row.path] for row in rows]
    counted = archive.shapes(meant, watch=request.output.watch("counting turns"), most=LITTLE)
    shapes: Sequence[SessionShape | None] = counted or [None] * len(rows)
    owners = {row.session: row.path for row in sorted(rows, key=_by_path, reverse=True)}
    return {
        row.path: Figures(
            shape, costs.get(row.session) if owners[row.session] == row.path else None
        )
        for row, shape in zip(rows, shapes, strict=True)
    }


def _by_path(row: Facts) -> str:
    return str(row.path)


def together(figures: Iterable[Figures]) -> "SpendingSum":
    """Returns the sum of what sessions cost."""
    from plait.conversation.spending import SpendingSum

    total = SpendingSum()
    for one in figures:
        if one.spent:
            total.take(one.spent)
    return total


@dataclass(frozen=True)
class Listing:
    """Prints sessions project by project, below one head."""

    output: Output
    time: datetime
    figures: Mapping[Path, Figures]
    is_long: bool = False
    starred: Container[str] = ()
    """The sessions that are starred."""

    def print(self, groups: Sequence[Group]) -> None:
        """Prints all groups, each below its heading; one without a heading stands alone."""
        rows = [row for _, members in groups for row in members]
        indent = INDENT if any(heading for heading, _ in groups) else ""
        cells = self._cells(rows)
        widths = _fitting(cells, self.output.width - len(indent) - NAME - len(GAP))
        self.output.lines([self._head(cells, widths, indent)])
        place = count()
        for heading, members in groups:
            if heading:
                self.output.unbroken(safe_line(heading), style="bold")
            for row in members:
                at = next(place)
                shown = {name: cells[name][at] for name in widths}
                self.output.lines(self._lines(row, shown, widths, indent))
                if self.is_long:
                    self.output.lines(self._beside(row, widths, len(indent), heading))

    def _cells(self, rows: Sequence[Facts]) -> dict[str, list[str]]:
        """Returns the figures by their headings, without those that nobody has."""
        found = [self.figures.get(row.path, UNCOUNTED) for row in rows]
        cells = {
            "ended": [_ended(row, self.time) for row in rows],
            "turns": ["" if one.turns is None else number(one.turns) for one in found],
            "cost ": [one.cost for one in found],
            "entries": [number(row.entries) if self.is_long else "" for row in rows],
            "size": [size(row.bytes) for row in rows],
            "agents": [number(row.subagents) if row.subagents else "" for row in rows],
        }
        return {name: column for name, column in cells.items() if any(column)}

    def _head(self, cells: Iterable[str], widths: Mapping[str, int], indent: str) -> "Text":
        from rich.text import Text

        room = _room(self.output.width - len(indent) - NAME - len(GAP), widths)
        figures = (name.rjust(widths[name]) for name in cells if name in widths)
        words = GAP.join(["session ", _padded("title", room), *figures])
        return Text(f"{indent}{words}".rstrip(), style="dim")

    def _lines(
        self, row: Facts, cells: Mapping[str, str], widths: Mapping[str, int], indent: str
    ) -> "Iterator[Text]":
        from rich.text import Text

        room = _room(self.output.width - len(indent) - NAME - len(GAP), widths)
        line = Text(f"{indent}{_padded(row.session, NAME)}{GAP}")
        title = self._title(row, room)
        line.append_text(title).append(" " * max(room - title.cell_len, 0))
        for name, cell in cells.items():
            line.append(GAP + cell.rjust(widths[name]), style="green" if name == "cost " else "")
        line.rstrip()
        yield line

    def _beside(
        self, row: Facts, widths: Mapping[str, int], indent: int, heading: str
    ) -> "Iterator[Text]":
        from rich.text import Text

        margin = indent + NAME + len(GAP)
        for words in _said_beside(row, _room(self.output.width - margin, widths), heading):
            whole = Text(safe_line(words), style="dim")
            for line in whole.wrap(self.output.console, max(self.output.width - margin, NAME)):
                line.rstrip()
                yield Text(" " * margin).append_text(line)

    def _title(self, row: Facts, room: int) -> "Text":
        from rich.text import Text

        cell = Text()
        if row.session in self.starred:
            cell.append("★ ", style="yellow")
        if row.is_live:
            cell.append("● ", style="green")
        if is_expiring(row, self.time) and row.deleted_at:
            cell.append(f"† {until(row.deleted_at, self.time)}  ", style="red")
        if row.mark:
            cell.append(f"{row.mark}  ", style="cyan")
        title = safe_line(row.title or "(no title)")
        cell.append(clipped(title, max(room - cell.cell_len, 1)), "" if row.title else "dim")
        return cell


def is_expiring(row: Facts, time: datetime) -> bool:
    """Tells whether the client's cleanup will delete a session within a week."""
    return row.deleted_at is not None and row.deleted_at - time < SOON


def _ended(row: Facts, time: datetime) -> str:
    ended = moment(row.ended)
    return ago(ended, time) if ended else ""


def _said_beside(row: Facts, room: int, heading: str) -> Iterator[str]:
    yield row.session
    if heading and row.cwd and row.cwd != heading:
        yield f"in {row.cwd}"
    if row.title and columns(row.title) > room:
        yield row.title
    if row.first_prompt and row.first_prompt != row.title:
        yield row.first_prompt
    if row.versions:
        yield f"version {', '.join(row.versions)}"


def _fitting(cells: Mapping[str, Sequence[str]], room: int) -> dict[str, int]:
    """Returns the widths of the figures that there is room for beside a title."""
    widths = {name: max(map(columns, (name, *column))) for name, column in cells.items()}
    for name, least in DISPENSABLE.items():
        if _room(room, widths) < least:
            widths.pop(name, None)
    return widths


def _room(room: int, widths: Mapping[str, int]) -> int:
    return max(room - sum(widths.values()) - len(GAP) * len(widths), 1)


def _padded(text: str, width: int) -> str:
    shown = safe_line(text)[:width]
    return shown + " " * max(width - columns(shown), 0)
