"""Figures to panels: a heading, a chart or a table, as wide as there is room."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TYPE_CHECKING

from plait.cli.text import clipped, number, path_tail, safe, short, thousands
from plait.conversation.stats.model import Figures
from plait.conversation.stats.statistics import SERVICE
from plait.record.time import moment
from plait.view.amounts import hours_in_words, moments_in_words
from plait.view.charts import bar, between_ends, scale, stepped_counts
from plait.view.charts import columns as charts_columns
from plait.view.forms import day_of, told_apart
from plait.view.words import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

MILLION, BILLION = 1_000_000, 1_000_000_000
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TALL = 3
MOST_ROWS = 8
MOST_TOOLS = 12
BAR = 8
WEEK = 36
CHART = "cyan"
ALONG_THE_WAY = (
    ("words_typed", "word typed", "words typed"),
    ("words_said", "word said by the model", "words said by the model"),
    ("commands", "slash command", "slash commands"),
    ("shell_lines", "shell line typed after !", "shell lines typed after !"),
    ("queued", "prompt typed while it worked", "prompts typed while it worked"),
    ("retracted", "prompt taken back or sent again", "prompts taken back or sent again"),
    ("interruptions", "interruption by you", "interruptions by you"),
    ("rejected", "call you said no to", "calls you said no to"),
    ("rewinds", "rewind to an earlier point", "rewinds to an earlier point"),
    ("compactions", "compaction of the context", "compactions of the context"),
    ("api_errors", "API error", "API errors"),
    ("api_retries", "API request tried again", "API requests tried again"),
)


def short_count(count: int) -> str:
    """Writes a number; a very large one shorter."""
    if count < MILLION:
        return number(count)
    return f"{count / BILLION:.1f} B" if count >= BILLION else f"{count / MILLION:.1f} M"


def _percent(part: int, whole: int) -> str:
    if not part or not whole:
        return ""
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 else "<1 %"


def local_day(stamp: str | None, zone: tzinfo | None) -> date | None:
    """Returns the day of a time of the log, in a zone or in this machine's."""
    time = moment(stamp)
    try:
        return time.astimezone(zone).date() if time else None
    except (OverflowError, OSError, ValueError):  # a year that no clock knows
        return None


def tool_name(name: str) -> str:
    """Returns what a tool is called, one of a server with the server's name."""
    server, parted, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}: {tool}" if name.startswith("mcp__") and parted else name


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of a page; one with nothing to show is left out."""

    figures: Figures
    room: int
    ascii_only: bool

    def left(self) -> "Iterator[RenderableType]":
        """Yields when it was and with which tools."""
        yield from self.over_time()
        yield from self.by_hour()
        yield from self.tools()
        yield from self.agents()

    def right(self) -> "Iterator[RenderableType]":
        """Yields what happened, with which models, to which files, for how long."""
        yield from self.along_the_way()
        yield from self.models()
        yield from self.files()
        yield from self.longest()

    def over_time(self) -> "Iterator[RenderableType]":
        """Yields prompts by day, week or month."""
        days = {date.fromisoformat(one.day): one.prompts for one in self.figures.days}
        stretch = stepped_counts({day: count for day, count in days.items() if count}, self.room)
        if stretch is None or len(stretch.counts) < 2:
            return
        width = max(min(self.room // len(stretch.counts), 3), 1)
        yield self.heading(f"Prompts by {stretch.span}")
        yield from map(
            self.chart, charts_columns(stretch.counts, TALL, width, ascii_only=self.ascii_only)
        )
        ends = (day_of(stretch.first), day_of(stretch.last))
        yield self.text(between_ends(*ends, len(stretch.counts) * width), "dim")
        yield ""

    def by_hour(self) -> "Iterator[RenderableType]":
        """Yields prompts by hour of the day and by day of the week."""
        hours, weekdays = self.figures.hours, self.figures.weekdays
        if sum(1 for day in self.figures.days if day.prompts) < 2:
            return  # one day says nothing of the others
        yield self.heading("Prompts by hour of the day")
        width = 2 if self.room >= 2 * len(hours) else 1
        yield from map(self.chart, charts_columns(hours, TALL, width, ascii_only=self.ascii_only))
        labels = {width * hour: f"{hour}:00" for hour in range(0, 24, 6)}
        yield self.text(scale(labels, width * len(hours)), "dim")
        yield ""
        yield self.heading("Prompts by day of the week")
        yield self.week(weekdays)
        yield ""

    def week(self, counts: Sequence[int]) -> "Table":
        """Returns a bar for each day of the week."""
        from rich.table import Table

        room = min(self.room - 12, WEEK)
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column()
        table.add_column(width=room)
        table.add_column(justify="right")
        for name, count in zip(WEEKDAYS, counts, strict=True):
            line = bar(count, max(counts), room, ascii_only=self.ascii_only)
            table.add_row(name, self.chart(line), number(count) if count else "")
        return table

    def tools(self) -> "Iterator[RenderableType]":
        """Yields the tools that were called most."""
        tools = self.figures.tools
        rows = [
            (
                self.shown(tool_name(tool.name), self.room - BAR - 36),
                self.bar(tool.calls, tools[0].calls),
                number(tool.calls),
                _percent(tool.failed, tool.calls),
                hours_in_words(tool.total_ms),
                moments_in_words(tool.median_ms),
            )
            for tool in tools[:MOST_TOOLS]
        ]
        headings = ("Tools", "", "calls", "failed", "time", "median")
        yield from self.table(headings, rows, len(tools))

    def models(self) -> "Iterator[RenderableType]":
        """Yields the models that answered."""
        models = self.figures.models
        names = told_apart(model.model for model in models[:MOST_ROWS]).values()
        rows = [
            (
                self.shown(name, self.room - BAR - 32),
                self.bar(model.responses, models[0].responses),
                number(model.responses),
                thousands(model.tokens.total_input),
                thousands(model.tokens.output),
            )
            for name, model in zip(names, models, strict=False)
        ]
        headings = ("Models", "", "responses", "tokens in", "out")
        yield from self.table(headings, rows, len(models))

    def agents(self) -> "Iterator[RenderableType]":
        """Yields the agents by kind."""
        kinds = self.figures.agent_types
        most = max((one.agents for one in kinds if one.type != SERVICE), default=0)
        rows = [
            (
                self.shown(one.type, self.room - BAR - 34),
                self.bar(one.agents if one.type != SERVICE else 0, most),
                number(one.agents),
                number(one.calls),
                thousands(one.tokens.total_input),
                thousands(one.tokens.output),
            )
            for one in kinds[:MOST_ROWS]
        ]
        headings = ("Agents", "", "sent", "calls", "tokens in", "out")
        yield from self.table(headings, rows, len(kinds))

    def along_the_way(self) -> "Iterator[RenderableType]":
        """Yields what happened besides, as far as it did."""
        from rich.table import Table

        figures = self.figures
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(justify="right")
        table.add_column()
        for name, one, several in ALONG_THE_WAY:
            if count := getattr(figures, name):
                table.add_row(number(count), one if count == 1 else several)
        yield self.heading("Along the way")
        yield table
        yield ""

    def files(self) -> "Iterator[RenderableType]":
        """Yields the files that were changed most."""
        files = [one for one in self.figures.files if one.changes]
        rows = [
            (
                path_tail(safe(one.path), self.room - 27, "~" if self.ascii_only else "…"),
                number(one.changes),
                f"+{number(one.added)}",
                f"-{number(one.removed)}",
            )
            for one in files[:MOST_ROWS]
        ]
        headings = ("Files changed most", "changes", "added", "removed")
        yield from self.table(headings, rows, len(files))

    def longest(self) -> "Iterator[RenderableType]":
        """Yields the turns and the sessions that took longest."""
        turns = [
            (one.session, one.working_ms, one_line(one.words))
            for one in self.figures.longest_turns
            if one.working_ms
        ]
        sessions = [
            (one.session, one.working_ms, one_line(one.title or one.project))
            for one in self.figures.longest_sessions
            if one.working_ms
        ]
        for name, rows in (("Longest turns", turns), ("Longest sessions", sessions)):
            if len(rows) > 1:
                yield self.heading(name)
                yield self.list_of(rows)
                yield ""

    def list_of(self, rows: Sequence[tuple[str, float, str]]) -> "Table":
        """Returns a table of how long something took, what it was, and in which session."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(justify="right", no_wrap=True, width=10)
        table.add_column(no_wrap=True, width=self.room - 22)
        table.add_column(no_wrap=True, style="dim")
        for session, took, words in rows:
            table.add_row(
                hours_in_words(took), self.shown(words, self.room - 22), safe(short(session))
            )
        return table

    def table(
        self, headings: Sequence[str], rows: "Sequence[Sequence[str | Text]]", count: int
    ) -> "Iterator[RenderableType]":
        """Yields the first rows below their headings, and how many are not shown.

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
            yield self.text(f"and {number(count - len(rows))} more", "dim")
        yield ""

    def bar(self, value: float, most: float) -> "Text":
        """Returns a bar of the width that all tables have."""
        return self.chart(bar(value, most, BAR, ascii_only=self.ascii_only))

    def chart(self, line: str) -> "Text":
        """Returns a part of a chart in its colour."""
        return self.text(line, CHART)

    def heading(self, words: str) -> "Text":
        """Returns the heading of a panel."""
        return self.text(words, "bold")

    def text(self, words: str, style: str) -> "Text":
        """Returns words in a style, on one line."""
        from rich.text import Text

        return Text(words, style=style, no_wrap=style == CHART)

    def shown(self, words: str, room: int) -> str:
        """Returns words of the log, made safe and short."""
        found = clipped(safe(words), max(room, 8))
        return found.replace("…", "~") if self.ascii_only else found
