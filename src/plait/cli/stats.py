"""`plait stats`: figures of an archive, drawn as a page of small charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TYPE_CHECKING, Any

import msgspec

from plait.cli import shared
from plait.cli.ls import print_no_sessions
from plait.cli.options import Request, command
from plait.cli.selection import Filters
from plait.conversation.session_counts import ArchiveFigures
from plait.conversation.statistics import SERVICE
from plait.record.time import parse_time
from plait.record.time_words import parse_zone
from plait.terminal.output import Output, make_text
from plait.terminal.text import format_number, safe, short_id
from plait.view.charts import draw_axis, draw_bar, draw_columns, group_counts, justify_ends
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
from plait.view.text import shorten_path, shorten_to_width

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

TWO_COLUMNS = 110
WIDEST = 150
GAP = 4
MILLION, BILLION = 1_000_000, 1_000_000_000
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TALL = 3
MOST_ROWS = 8
MOST_TOOLS = 12
BAR = 8
WEEK = 36
CHART = "cyan"
COPIED = "copies of other sessions, or no activity in this period"
SILENT = "no conversation, only summaries, titles or notes by Claude Code"
OTHER_COUNTS = (
    ("words_typed", "word typed", "words typed"),
    ("words_said", "word by Claude", "words by Claude"),
    ("commands", "slash command", "slash commands"),
    ("shell_lines", "shell line typed after !", "shell lines typed after !"),
    ("queued", "prompt queued while Claude worked", "prompts queued while Claude worked"),
    ("retracted", "prompt retracted or sent again", "prompts retracted or sent again"),
    ("interruptions", "interruption", "interruptions"),
    ("rejected", "call you rejected", "calls you rejected"),
    ("rewinds", "rewind to an earlier point", "rewinds to an earlier point"),
    ("compactions", "compaction of the context", "compactions of the context"),
    ("api_errors", "API error", "API errors"),
    ("api_retries", "API request retried", "API requests retried"),
)


@command(examples="plait stats\nplait stats latest\nplait stats shop --since 30d")
def stats_command(
    request: Request,
    filters: Filters,
    name: str | None = shared.name,
    timezone: str | None = shared.timezone,
    ascii_only: bool = shared.ascii_only,
    no_index: bool = shared.no_index,
    as_json: bool = shared.as_json,
) -> None:
    """Count prompts, tool calls, models, agents, files and hours of the day.

    Covers all sessions, one SESSION or one PROJECT. A record that was copied to several sessions
    counts once, for the earliest.
    """
    zone, output = parse_zone(timezone), request.output
    start, end = filters.period(zone)
    with request.open_archive(no_index=no_index) as archive:
        sessions = filters.select(request, name, zone=zone)
        watch = output.progress_for("counting")
        figures = archive.stats(sessions, zone=zone, since=start, until=end, watch=watch)
    if as_json:
        plain: dict[str, Any] = msgspec.to_builtins(figures)
        for entry in (plain, *plain["models"], *plain["agent_types"]):
            tokens = entry["tokens"]
            entry["tokens"] = {
                "input_tokens": tokens["input"],
                "output_tokens": tokens["output"],
                "cache_creation_tokens": tokens["cache_write_5m"] + tokens["cache_write_1h"],
                "cache_read_tokens": tokens["cache_read"],
                "web_searches": tokens["web_searches"],
                "web_fetches": tokens["web_fetches"],
            }
        output.json(plain)
    elif figures.sessions:
        with output.paged():
            if name and len(sessions) == 1:
                output.print_heading(request.archive.facts(sessions[0]))
            width = min(output.width, WIDEST)
            is_wide = width >= TWO_COLUMNS
            room = (width - GAP) // 2 if is_wide else width
            is_plain = ascii_only or not output.console.encoding.startswith("utf")
            StatsPage(output, figures, zone, room, is_plain).print(width, is_wide=is_wide)
    elif request.archive.sessions:
        output.print("nothing to count")
    else:
        print_no_sessions(request)


def short_count(count: int) -> str:
    """Format a number; a very large one is shortened."""
    if count < MILLION:
        return format_number(count)
    return f"{count / BILLION:.1f} B" if count >= BILLION else f"{count / MILLION:.1f} M"


def _percent(part: int, total: int) -> str:
    if not part or not total:
        return ""
    share = 100 * part / total
    return f"{share:.0f}%" if share >= 1 else "<1%"


def tool_name(name: str) -> str:
    """Return the name of a tool; for MCP tools with the server's name."""
    server, parted, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}: {tool}" if name.startswith("mcp__") and parted else name


@dataclass(frozen=True, slots=True)
class StatsPage:
    """The figures of an archive as a page of panels; empty ones are left out."""

    output: Output
    figures: ArchiveFigures
    zone: tzinfo | None
    room: int
    """The width of a panel."""
    ascii_only: bool

    def print(self, width: int, *, is_wide: bool) -> None:
        """Print everything in one column or in two."""
        from rich.console import Group

        output = self.output
        output.print(self.extent(), style="dim")
        copied = self.figures.copied_sessions
        silent = self.figures.all_sessions - self.figures.sessions - copied
        for count, why in ((copied, COPIED), (silent, SILENT)):
            if count:
                output.print(f"{format_count(count, 'session')} not counted: {why}", style="dim")
        output.print("")
        output.print(self.cards(width))
        output.print("")
        left = [*self.over_time(), *self.by_hour(), *self.tools(), *self.agents()]
        right = [*self.other_counts(), *self.models(), *self.files(), *self.longest()]
        if is_wide:
            columns: Any = [(Group(*left), Group(*right))]
            output.print(output.grid(columns, gap=GAP, widths={0: self.room, 1: self.room}))
        else:
            for panel in (*left, *right):
                output.print(panel)

    def extent(self) -> str:
        """Return what was counted, and its period."""
        figures = self.figures
        first, last = self.local_day(figures.first), self.local_day(figures.last)
        when = f"{first} to {last}" if first != last and first and last else first and last
        days = sum(1 for day in figures.days if day.prompts)
        parts = [
            format_count_of(figures.sessions, figures.all_sessions, "session"),
            format_count(figures.projects, "project") if figures.projects > 1 else "",
            when,
            format_count(days, "day with prompts", "days with prompts") if days > 1 else "",
        ]
        return (" / " if self.ascii_only else " · ").join(filter(None, parts))

    def local_day(self, stamp: str | None) -> str:
        """Return the day of a time of the log; empty without one."""
        time = parse_time(stamp)
        try:
            return format_day(time.astimezone(self.zone)) if time else ""
        except (OverflowError, OSError, ValueError):  # a year outside the range of datetime
            return ""

    def cards(self, width: int) -> "Table":
        """Return the main figures, each above its name."""
        figures = self.figures
        cards = [
            (short_count(figures.prompts), "prompts"),
            (short_count(figures.responses), "responses"),
            (short_count(figures.calls), "tool calls"),
            (short_count(figures.agents), "agents"),
            (short_count(figures.tokens.output), "tokens out"),
            (format_hours(figures.working_ms) or "0", "work time"),
        ]
        while len(cards) > 2 and sum(max(map(len, card)) + GAP for card in cards) > width + GAP:
            cards.pop()
        table = self.output.grid(zip(*cards, strict=True), gap=GAP)
        table.rows[0].style, table.rows[1].style = "bold", "dim"
        return table

    def over_time(self) -> "Iterator[RenderableType]":
        """Yield prompts by day, week or month."""
        days = {date.fromisoformat(day.day): day.prompts for day in self.figures.days}
        stretch = group_counts({day: count for day, count in days.items() if count}, self.room)
        if stretch is None or len(stretch.counts) < 2:
            return
        width = max(min(self.room // len(stretch.counts), 3), 1)
        yield self.text(f"Prompts by {stretch.span}", "bold")
        yield from self.columns(stretch.counts, width)
        ends = (format_day(stretch.first), format_day(stretch.last))
        yield self.text(justify_ends(*ends, len(stretch.counts) * width), "dim")
        yield ""

    def by_hour(self) -> "Iterator[RenderableType]":
        """Yield prompts by hour of the day and by day of the week."""
        hours, weekdays = self.figures.hours, self.figures.weekdays
        if sum(1 for day in self.figures.days if day.prompts) < 2:
            return  # one day says nothing about the others
        yield self.text("Prompts by hour of the day", "bold")
        width = 2 if self.room >= 2 * len(hours) else 1
        yield from self.columns(hours, width)
        labels = {width * hour: f"{hour}:00" for hour in range(0, 24, 6)}
        yield self.text(draw_axis(labels, width * len(hours)), "dim")
        yield ""
        yield self.text("Prompts by day of the week", "bold")
        room = min(self.room - 12, WEEK)
        rows = [
            (name, self.bar(count, max(weekdays), room), format_number(count) if count else "")
            for name, count in zip(WEEKDAYS, weekdays, strict=True)
        ]
        yield self.output.grid(rows, right=[2], widths={1: room})
        yield ""

    def tools(self) -> "Iterator[RenderableType]":
        """Yield the tools that were called most."""
        tools = self.figures.tools
        rows = [
            (
                self.shorten(tool_name(tool.name), self.room - BAR - 36),
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
                self.shorten(name, self.room - BAR - 32),
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
                self.shorten(agent.type, self.room - BAR - 34),
                self.bar(agent.agents if agent.type != SERVICE else 0, most),
                format_number(agent.agents),
                format_number(agent.calls),
                format_tokens(agent.tokens.total_input),
                format_tokens(agent.tokens.output),
            )
            for agent in kinds[:MOST_ROWS]
        ]
        headings = ("Agents", "", "started", "calls", "tokens in", "out")
        yield from self.table(headings, rows, len(kinds))

    def other_counts(self) -> "Iterator[RenderableType]":
        """Yield the remaining counts that are not zero."""
        counts = [(getattr(self.figures, name), *nouns) for name, *nouns in OTHER_COUNTS]
        rows = [
            (format_number(count), singular if count == 1 else plural)
            for count, singular, plural in counts
            if count
        ]
        yield self.text("Events", "bold")
        yield self.output.grid(rows or [("", "")], right=[0])
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
        headings = ("Most changed files", "changes", "added", "removed")
        yield from self.table(headings, rows, len(files))

    def longest(self) -> "Iterator[RenderableType]":
        """Yield the turns and the sessions that took longest."""
        figures, room = self.figures, self.room - 22
        turns = [(turn, turn.words) for turn in figures.longest_turns]
        sessions = [(each, each.title or each.project) for each in figures.longest_sessions]
        for name, entries in (("Longest turns", turns), ("Longest sessions", sessions)):
            rows = [
                (
                    format_hours(entry.working_ms),
                    self.shorten(to_single_line(words), room),
                    self.text(safe(short_id(entry.session)), "dim"),
                )
                for entry, words in entries
                if entry.working_ms
            ]
            if len(rows) > 1:
                yield self.text(name, "bold")
                yield self.output.grid(rows, right=[0], widths={0: 10, 1: room})
                yield ""

    def table(
        self, headings: Sequence[str], rows: "Sequence[Sequence[str | Text]]", count: int
    ) -> "Iterator[RenderableType]":
        """Yield the first rows below their headings, and how many are not shown.

        The first column is named like the panel; a bar stands where a heading is empty.
        """
        if not rows:
            return
        table = self.output.table(*headings, right=[name for name in headings[1:] if name])
        table.columns[0].header = self.text(headings[0], "not dim bold")
        for row in rows:
            table.add_row(*row)
        yield table
        if count > len(rows):
            yield self.text(f"and {format_number(count - len(rows))} more", "dim")
        yield ""

    def bar(self, value: float, most: float, width: int = BAR) -> "Text":
        """Return a bar of the width that all tables have."""
        return self.text(draw_bar(value, most, width, ascii_only=self.ascii_only), CHART)

    def columns(self, counts: Sequence[int], width: int) -> "Iterator[Text]":
        """Yield the lines of a chart."""
        for line in draw_columns(counts, TALL, width, ascii_only=self.ascii_only):
            yield self.text(line, CHART)

    def text(self, words: str, style: str) -> "Text":
        """Return a text in a style, on one line."""
        return make_text(words, style=style, no_wrap=style == CHART)

    def shorten(self, words: str, room: int) -> str:
        """Return a text of the log, made safe and short."""
        short = shorten_to_width(safe(words), max(room, 8))
        return short.replace("…", "~") if self.ascii_only else short
