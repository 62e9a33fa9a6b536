"""`plait stats`: figures of an archive, drawn as a page of small charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Any

import click
import msgspec

from plait.archive import Session
from plait.cli.ls import print_no_sessions
from plait.cli.options import (
    Request,
    ascii_option,
    command,
    filter_options,
    json_option,
    name_argument,
    no_index_option,
)
from plait.cli.output import Output
from plait.cli.selection import is_in_period, parse_time_option, parse_zone, select_sessions
from plait.cli.text import format_number, now, safe, short_id, shorten_path
from plait.conversation.session_counts import ArchiveFigures
from plait.conversation.statistics import SERVICE
from plait.record.time import parse_time
from plait.view.charts import draw_axis, draw_bar, group_counts, justify_ends
from plait.view.charts import draw_columns as charts_columns
from plait.view.formats import (
    format_count,
    format_count_of,
    format_day,
    format_hours,
    format_latency,
    format_models_distinctly,
    format_tokens,
)
from plait.view.summaries import to_single_line
from plait.view.text import shorten_to_width

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text


TWO_COLUMNS = 110
WIDEST = 150
GAP = 4
BLOCK = "█"


@command(
    "stats",
    name_argument,
    click.option(
        "--timezone", "-z", metavar="ZONE", help="Time zone for days and hours: Europe/Berlin, UTC."
    ),
    ascii_option,
    filter_options,
    no_index_option,
    json_option,
)
def stats_command(
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
    """Count prompts, tool calls, models, agents, files and hours of the day.

    Of all sessions, one SESSION or one PROJECT. Every record counts once, for the session that
    started first, however often it was copied.
    """
    zone, time = parse_zone(timezone), now()
    start, end = parse_time_option(since, time, zone), parse_time_option(until, time, zone)
    output = request.output
    with request.open_archive(no_index=no_index) as archive:
        chosen = select_sessions(request, name, project)
        sessions = _sessions_between(request, chosen, start, end)
        watch = output.progress_for("counting")
        figures = archive.stats(sessions, zone=zone, since=start, until=end, watch=watch)
    if as_json:
        output.json(_figures_to_json(figures))
    elif figures.sessions:
        with output.paged():
            if name and len(sessions) == 1:
                output.print_heading(request.archive.facts(sessions[0]))
            is_plain = ascii_only or not _is_drawable(output.console.encoding)
            StatsPage(output, figures, zone, is_plain).print()
    elif request.archive.sessions:
        output.print("nothing to count")
    else:
        print_no_sessions(request)


@dataclass(frozen=True, slots=True)
class StatsPage:
    """Print the figures of an archive."""

    output: Output
    figures: ArchiveFigures
    zone: tzinfo | None
    ascii_only: bool

    def print(self) -> None:
        """Print all there is to say."""
        width = min(self.output.width, WIDEST)
        self.output.print(self.extent(), style="dim")
        for remark in describe_uncounted(self.figures):
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
        """Say how much was counted, and from when to when."""
        figures = self.figures
        first, last = local_day(figures.first, self.zone), local_day(figures.last, self.zone)
        days = sum(1 for day in figures.days if day.prompts)
        parts = [
            format_count_of(figures.sessions, figures.all_sessions, "session"),
            format_count(figures.projects, "project") if figures.projects > 1 else "",
            _between(first, last),
            format_count(days, "day with prompts", "days with prompts") if days > 1 else "",
        ]
        separator = " / " if self.ascii_only else " · "
        return separator.join(part for part in parts if part)

    def cards(self, width: int) -> "Table":
        """Return the few figures that matter, each above its name."""
        from rich.table import Table

        cards = list(self.headline())
        while len(cards) > 2 and sum(max(map(len, card)) + GAP for card in cards) > width + GAP:
            cards.pop()
        table = Table.grid(padding=(0, GAP, 0, 0))
        table.add_row(*(figure for figure, _ in cards), style="bold")
        table.add_row(*(name for _, name in cards), style="dim")
        return table

    def headline(self) -> Iterator[tuple[str, str]]:
        """Yield the figures that matter, with their names."""
        figures = self.figures
        yield short_count(figures.prompts), "prompts"
        yield short_count(figures.responses), "responses"
        yield short_count(figures.calls), "tool calls"
        yield short_count(figures.agents), "agents"
        yield short_count(figures.tokens.output), "tokens out"
        yield format_hours(figures.working_ms) or "0", "work time"


def _between(first: date | None, last: date | None) -> str:
    if first is None or last is None:
        return ""
    if first == last:
        return format_day(first)
    return f"{format_day(first)} to {format_day(last)}"


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
    return [session for session in sessions if is_in_period(facts(session), start, end)]


def _is_drawable(encoding: str) -> bool:
    try:
        BLOCK.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def describe_uncounted(figures: ArchiveFigures) -> Iterator[str]:
    """Say which sessions are not counted, and why."""
    silent = figures.all_sessions - figures.sessions - figures.copied_sessions
    if figures.copied_sessions:
        yield f"{format_count(figures.copied_sessions, 'session')} not counted: {COPIED}"
    if silent:
        yield f"{format_count(silent, 'session')} not counted: {SILENT}"


COPIED = "copies of others, or nothing in this period"
SILENT = "no conversation, only summaries, titles or notes of Claude Code"


def _figures_to_json(figures: ArchiveFigures) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(figures)
    plain["tokens"] = _tokens_to_json(plain["tokens"])
    for kind in ("models", "agent_types"):
        plain[kind] = [
            {**entry, "tokens": _tokens_to_json(entry["tokens"])} for entry in plain[kind]
        ]
    return plain


def _tokens_to_json(tokens: dict[str, Any]) -> dict[str, int]:
    return {
        "input_tokens": tokens["input"],
        "output_tokens": tokens["output"],
        "cache_creation_tokens": tokens["cache_write_5m"] + tokens["cache_write_1h"],
        "cache_read_tokens": tokens["cache_read"],
        "web_searches": tokens["web_searches"],
        "web_fetches": tokens["web_fetches"],
    }


MILLION, BILLION = 1_000_000, 1_000_000_000
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TALL = 3
MOST_ROWS = 8
MOST_TOOLS = 12
BAR = 8
WEEK = 36
CHART = "cyan"
OTHER_COUNTS = (
    ("words_typed", "word typed", "words typed"),
    ("words_said", "word by the model", "words by the model"),
    ("commands", "slash command", "slash commands"),
    ("shell_lines", "shell line typed after !", "shell lines typed after !"),
    ("queued", "prompt typed while it worked", "prompts typed while it worked"),
    ("retracted", "prompt retracted or sent again", "prompts retracted or sent again"),
    ("interruptions", "interruption by you", "interruptions by you"),
    ("rejected", "call you rejected", "calls you rejected"),
    ("rewinds", "rewind to an earlier point", "rewinds to an earlier point"),
    ("compactions", "compaction of the context", "compactions of the context"),
    ("api_errors", "API error", "API errors"),
    ("api_retries", "API request retried", "API requests retried"),
)


def short_count(count: int) -> str:
    """Write a number; a very large one shorter."""
    if count < MILLION:
        return format_number(count)
    return f"{count / BILLION:.1f} B" if count >= BILLION else f"{count / MILLION:.1f} M"


def _percent(part: int, total: int) -> str:
    if not part or not total:
        return ""
    share = 100 * part / total
    return f"{share:.0f} %" if share >= 1 else "<1 %"


def local_day(stamp: str | None, zone: tzinfo | None) -> date | None:
    """Return the day of a time of the log, in a zone or in this machine's."""
    time = parse_time(stamp)
    try:
        return time.astimezone(zone).date() if time else None
    except (OverflowError, OSError, ValueError):  # a year that no clock knows
        return None


def tool_name(name: str) -> str:
    """Return what a tool is called, one of a server with the server's name."""
    server, parted, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}: {tool}" if name.startswith("mcp__") and parted else name


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of a page; one with nothing to show is left out."""

    figures: ArchiveFigures
    room: int
    ascii_only: bool

    def left(self) -> "Iterator[RenderableType]":
        """Yield when it was and with which tools."""
        yield from self.over_time()
        yield from self.by_hour()
        yield from self.tools()
        yield from self.agents()

    def right(self) -> "Iterator[RenderableType]":
        """Yield what happened, with which models, to which files, for how long."""
        yield from self.render_other_counts()
        yield from self.models()
        yield from self.files()
        yield from self.longest()

    def over_time(self) -> "Iterator[RenderableType]":
        """Yield prompts by day, week or month."""
        days = {
            date.fromisoformat(day_figures.day): day_figures.prompts
            for day_figures in self.figures.days
        }
        stretch = group_counts({day: count for day, count in days.items() if count}, self.room)
        if stretch is None or len(stretch.counts) < 2:
            return
        width = max(min(self.room // len(stretch.counts), 3), 1)
        yield self.heading(f"Prompts by {stretch.span}")
        yield from map(
            self.chart, charts_columns(stretch.counts, TALL, width, ascii_only=self.ascii_only)
        )
        ends = (format_day(stretch.first), format_day(stretch.last))
        yield self.text(justify_ends(*ends, len(stretch.counts) * width), "dim")
        yield ""

    def by_hour(self) -> "Iterator[RenderableType]":
        """Yield prompts by hour of the day and by day of the week."""
        hours, weekdays = self.figures.hours, self.figures.weekdays
        if sum(1 for day in self.figures.days if day.prompts) < 2:
            return  # one day says nothing of the others
        yield self.heading("Prompts by hour of the day")
        width = 2 if self.room >= 2 * len(hours) else 1
        yield from map(self.chart, charts_columns(hours, TALL, width, ascii_only=self.ascii_only))
        labels = {width * hour: f"{hour}:00" for hour in range(0, 24, 6)}
        yield self.text(draw_axis(labels, width * len(hours)), "dim")
        yield ""
        yield self.heading("Prompts by day of the week")
        yield self.week(weekdays)
        yield ""

    def week(self, counts: Sequence[int]) -> "Table":
        """Return a bar for each day of the week."""
        from rich.table import Table

        room = min(self.room - 12, WEEK)
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column()
        table.add_column(width=room)
        table.add_column(justify="right")
        for name, count in zip(WEEKDAYS, counts, strict=True):
            line = draw_bar(count, max(counts), room, ascii_only=self.ascii_only)
            table.add_row(name, self.chart(line), format_number(count) if count else "")
        return table

    def tools(self) -> "Iterator[RenderableType]":
        """Yield the tools that were called most."""
        tools = self.figures.tools
        rows = [
            (
                self.shown(tool_name(tool.name), self.room - BAR - 36),
                self.bar(tool.calls, tools[0].calls),
                format_number(tool.calls),
                _percent(tool.failed, tool.calls),
                format_hours(tool.total_ms),
                format_latency(tool.median_ms),
            )
            for tool in tools[:MOST_TOOLS]
        ]
        headings = ("Tools", "", "calls", "failed", "time", "median")
        yield from self.table(headings, rows, len(tools))

    def models(self) -> "Iterator[RenderableType]":
        """Yield the models that answered."""
        models = self.figures.models
        names = format_models_distinctly(model.model for model in models[:MOST_ROWS]).values()
        rows = [
            (
                self.shown(name, self.room - BAR - 32),
                self.bar(model.responses, models[0].responses),
                format_number(model.responses),
                format_tokens(model.tokens.total_input),
                format_tokens(model.tokens.output),
            )
            for name, model in zip(names, models, strict=False)
        ]
        headings = ("Models", "", "responses", "tokens in", "out")
        yield from self.table(headings, rows, len(models))

    def agents(self) -> "Iterator[RenderableType]":
        """Yield the agents by kind."""
        kinds = self.figures.agent_types
        most = max((agent.agents for agent in kinds if agent.type != SERVICE), default=0)
        rows = [
            (
                self.shown(agent.type, self.room - BAR - 34),
                self.bar(agent.agents if agent.type != SERVICE else 0, most),
                format_number(agent.agents),
                format_number(agent.calls),
                format_tokens(agent.tokens.total_input),
                format_tokens(agent.tokens.output),
            )
            for agent in kinds[:MOST_ROWS]
        ]
        headings = ("Agents", "", "sent", "calls", "tokens in", "out")
        yield from self.table(headings, rows, len(kinds))

    def render_other_counts(self) -> "Iterator[RenderableType]":
        """Yield the remaining counts that are not zero."""
        from rich.table import Table

        figures = self.figures
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(justify="right")
        table.add_column()
        for name, singular, plural in OTHER_COUNTS:
            if count := getattr(figures, name):
                table.add_row(format_number(count), singular if count == 1 else plural)
        yield self.heading("Events")
        yield table
        yield ""

    def files(self) -> "Iterator[RenderableType]":
        """Yield the files that were changed most."""
        files = [file for file in self.figures.files if file.changes]
        rows = [
            (
                shorten_path(safe(file.path), self.room - 27, "~" if self.ascii_only else "…"),
                format_number(file.changes),
                f"+{format_number(file.added)}",
                f"-{format_number(file.removed)}",
            )
            for file in files[:MOST_ROWS]
        ]
        headings = ("Files changed most", "changes", "added", "removed")
        yield from self.table(headings, rows, len(files))

    def longest(self) -> "Iterator[RenderableType]":
        """Yield the turns and the sessions that took longest."""
        turns = [
            (entry.session, entry.working_ms, to_single_line(entry.words))
            for entry in self.figures.longest_turns
            if entry.working_ms
        ]
        sessions = [
            (entry.session, entry.working_ms, to_single_line(entry.title or entry.project))
            for entry in self.figures.longest_sessions
            if entry.working_ms
        ]
        for name, rows in (("Longest turns", turns), ("Longest sessions", sessions)):
            if len(rows) > 1:
                yield self.heading(name)
                yield self.list_of(rows)
                yield ""

    def list_of(self, rows: Sequence[tuple[str, float, str]]) -> "Table":
        """Return a table of how long something took, what it was, and in which session."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(justify="right", no_wrap=True, width=10)
        table.add_column(no_wrap=True, width=self.room - 22)
        table.add_column(no_wrap=True, style="dim")
        for session, took, words in rows:
            table.add_row(
                format_hours(took), self.shown(words, self.room - 22), safe(short_id(session))
            )
        return table

    def table(
        self, headings: Sequence[str], rows: "Sequence[Sequence[str | Text]]", count: int
    ) -> "Iterator[RenderableType]":
        """Yield the first rows below their headings, and how many are not shown.

        The first column is named like the panel; a bar stands where a heading is empty.
        """
        from rich.table import Table

        if not rows:
            return
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column(self.heading(headings[0]), no_wrap=True, header_style="not dim")
        for heading in headings[1:]:
            table.add_column(heading, no_wrap=True, justify="right" if heading else "left")
        for row in rows:
            table.add_row(*row)
        yield table
        if count > len(rows):
            yield self.text(f"and {format_number(count - len(rows))} more", "dim")
        yield ""

    def bar(self, value: float, most: float) -> "Text":
        """Return a bar of the width that all tables have."""
        return self.chart(draw_bar(value, most, BAR, ascii_only=self.ascii_only))

    def chart(self, line: str) -> "Text":
        """Return a part of a chart in its colour."""
        return self.text(line, CHART)

    def heading(self, words: str) -> "Text":
        """Return the heading of a panel."""
        return self.text(words, "bold")

    def text(self, words: str, style: str) -> "Text":
        """Return words in a style, on one line."""
        from rich.text import Text

        return Text(words, style=style, no_wrap=style == CHART)

    def shown(self, words: str, room: int) -> str:
        """Return words of the log, made safe and short."""
        found = shorten_to_width(safe(words), max(room, 8))
        return found.replace("…", "~") if self.ascii_only else found
