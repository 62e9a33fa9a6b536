"""`plait stats`: what an archive comes to, drawn as a page of small charts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Any

import click
import msgspec

from plait.archive import Session
from plait.cli.ls import say_where_plait_looked
from plait.cli.options import (
    Request,
    ascii_option,
    filter_options,
    global_options,
    json_option,
    name_argument,
    no_index_option,
)
from plait.cli.output import Output
from plait.cli.selection import is_within, point_in_time, selected, zone_named
from plait.cli.stats.panels import Panels, local_day, short_count
from plait.cli.text import counted, now
from plait.conversation.stats.model import Figures
from plait.view.amounts import hours_in_words, some_of
from plait.view.forms import day_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

TWO_COLUMNS = 110
WIDEST = 150
GAP = 4
BLOCK = "█"


@click.command("stats")
@name_argument
@click.option(
    "--timezone", "-z", metavar="ZONE", help="Hours and days of this zone: Europe/Berlin, UTC."
)
@ascii_option
@filter_options
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    name: str | None,
    timezone: str | None,
    ascii_only: bool,
    project: str | None,
    since: str | None,
    until: str | None,
    no_index: bool,
    as_json: bool,
) -> None:
    """Count what there is: prompts, tools, models, agents, files, hours of the day.

    Over the whole archive, or one SESSION, or one PROJECT. Every record counts once, for the
    session that began first, however often it was copied into others.
    """
    zone, time = zone_named(timezone), now()
    start, end = point_in_time(since, time, zone), point_in_time(until, time, zone)
    output = request.output
    with request.answering(no_index=no_index) as archive:
        chosen = selected(request, name, project)
        sessions = _sessions_between(request, chosen, start, end)
        watch = output.watch("counting")
        figures = archive.stats(sessions, zone=zone, since=start, until=end, watch=watch)
    if as_json:
        output.json(_figures_object(figures))
    elif figures.sessions:
        with output.paged():
            if name and len(sessions) == 1:
                output.heading(request.archive.facts(sessions[0]))
            is_plain = ascii_only or not _is_drawable(output.console.encoding)
            StatsPage(output, figures, zone, is_plain).print()
    elif request.archive.sessions:
        output.print("nothing to count")
    else:
        say_where_plait_looked(request)


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
        for remark in left_out(self.figures):
            self.output.print(remark, style="dim")
        self.output.print("")
        self.output.print(self.cards(width))
        self.output.print("")
        is_wide = width >= TWO_COLUMNS
        room = (width - GAP) // 2 if is_wide else width
        panels = Panels(self.figures, room, self.ascii_only)
        if is_wide:
            self.output.print(_side_by_side(panels.left(), panels.right(), room))
        else:
            for panel in (*panels.left(), *panels.right()):
                self.output.print(panel)

    def extent(self) -> str:
        """Says how much was counted, and from when to when."""
        figures = self.figures
        first, last = local_day(figures.first, self.zone), local_day(figures.last, self.zone)
        days = sum(1 for day in figures.days if day.prompts)
        parts = [
            some_of(figures.sessions, figures.all_sessions, "session"),
            counted(figures.projects, "project") if figures.projects > 1 else "",
            _between(first, last),
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
        yield hours_in_words(figures.working_ms) or "0", "work time"


def _between(first: date | None, last: date | None) -> str:
    if first is None or last is None:
        return ""
    if first == last:
        return day_of(first)
    return f"{day_of(first)} to {day_of(last)}"


def _side_by_side(
    left: "Iterator[RenderableType]", right: "Iterator[RenderableType]", room: int
) -> "Table":
    from rich.console import Group
    from rich.table import Table

    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(width=room)
    grid.add_column(width=room)
    grid.add_row(Group(*left), Group(*right))
    return grid


def _sessions_between(
    request: Request, sessions: list[Session], start: datetime | None, end: datetime | None
) -> list[Session]:
    if start is None and end is None:
        return sessions
    facts = request.archive.facts
    return [session for session in sessions if is_within(facts(session), start, end)]


def _is_drawable(encoding: str) -> bool:
    try:
        BLOCK.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def left_out(figures: Figures) -> Iterator[str]:
    """Says which sessions are not counted, and why."""
    silent = figures.all_sessions - figures.sessions - figures.copied_sessions
    if figures.copied_sessions:
        yield f"{counted(figures.copied_sessions, 'session')} not counted: {COPIED}"
    if silent:
        yield f"{counted(silent, 'session')} not counted: {SILENT}"


COPIED = "others hold all that they hold, or nothing of it lies in this time"
SILENT = "no conversation in them, only summaries, titles or notes of the client"


def _figures_object(figures: Figures) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(figures)
    plain["tokens"] = _tokens_object(plain["tokens"])
    for kind in ("models", "agent_types"):
        plain[kind] = [{**one, "tokens": _tokens_object(one["tokens"])} for one in plain[kind]]
    return plain


def _tokens_object(tokens: dict[str, Any]) -> dict[str, int]:
    return {
        "input_tokens": tokens["input"],
        "output_tokens": tokens["output"],
        "cache_creation_tokens": tokens["cache_write_5m"] + tokens["cache_write_1h"],
        "cache_read_tokens": tokens["cache_read"],
        "web_searches": tokens["web_searches"],
        "web_fetches": tokens["web_fetches"],
    }
