"""Figures to panels: a heading, a chart or a table, as wide as there is room."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from plait.cli.figures import short, thousands
from plait.cli.stats_text import (
    day_in_words,
    hours_in_words,
    model_names,
    moments_in_words,
    path_tail,
    percent,
    tool_name,
)
from plait.cli.text import clipped, number, safe
from plait.conversation.figures import Figures
from plait.conversation.tally import SERVICE
from plait.view.charts import bar, between_ends, columns, scale, stepped_counts
from plait.view.words import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

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
        yield from self.chart(columns(stretch.counts, TALL, width, ascii_only=self.ascii_only))
        ends = (day_in_words(stretch.first), day_in_words(stretch.last))
        yield self.faint(between_ends(*ends, len(stretch.counts) * width))
        yield ""

    def by_hour(self) -> "Iterator[RenderableType]":
        """Yields prompts by hour of the day and by day of the week."""
        hours, weekdays = self.figures.hours, self.figures.weekdays
        if sum(1 for day in self.figures.days if day.prompts) < 2:
            return  # one day says nothing of the others
        yield self.heading("Prompts by hour of the day")
        width = 2 if self.room >= 2 * len(hours) else 1
        yield from self.chart(columns(hours, TALL, width, ascii_only=self.ascii_only))
        labels = {width * hour: f"{hour}:00" for hour in range(0, 24, 6)}
        yield self.faint(scale(labels, width * len(hours)))
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
            table.add_row(name, self.coloured(line), number(count) if count else "")
        return table

    def tools(self) -> "Iterator[RenderableType]":
        """Yields the tools that were called most."""
        tools = self.figures.tools
        if not tools:
            return
        table = self.table("Tools", "", "calls", "failed", "time", "median")
        for tool in tools[:MOST_TOOLS]:
            table.add_row(
                self.shown(tool_name(tool.name), self.room - BAR - 36),
                self.coloured(self.bar(tool.calls, tools[0].calls)),
                number(tool.calls),
                percent(tool.failed, tool.calls),
                hours_in_words(tool.total_ms),
                moments_in_words(tool.median_ms),
            )
        yield table
        yield from self.more(len(tools) - MOST_TOOLS)

    def models(self) -> "Iterator[RenderableType]":
        """Yields the models that answered."""
        models = self.figures.models
        if not models:
            return
        table = self.table("Models", "", "responses", "tokens in", "out")
        names = model_names([model.model for model in models[:MOST_ROWS]])
        for name, model in zip(names, models, strict=False):
            table.add_row(
                self.shown(name, self.room - BAR - 32),
                self.coloured(self.bar(model.responses, models[0].responses)),
                number(model.responses),
                thousands(model.tokens.total_input),
                thousands(model.tokens.output),
            )
        yield table
        yield from self.more(len(models) - MOST_ROWS)

    def agents(self) -> "Iterator[RenderableType]":
        """Yields the agents by kind."""
        kinds = self.figures.agent_types
        if not kinds:
            return
        table = self.table("Agents", "", "sent", "calls", "tokens in", "out")
        most = max((one.agents for one in kinds if one.type != SERVICE), default=0)
        for one in kinds[:MOST_ROWS]:
            table.add_row(
                self.shown(one.type, self.room - BAR - 34),
                self.coloured(self.bar(one.agents, most) if one.type != SERVICE else ""),
                number(one.agents),
                number(one.calls),
                thousands(one.tokens.total_input),
                thousands(one.tokens.output),
            )
        yield table
        yield from self.more(len(kinds) - MOST_ROWS)

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
        if not files:
            return
        table = self.table("Files changed most", "changes", "added", "removed")
        for one in files[:MOST_ROWS]:
            path = path_tail(safe(one.path), self.room - 27, "~" if self.ascii_only else "…")
            table.add_row(
                path, number(one.changes), f"+{number(one.added)}", f"-{number(one.removed)}"
            )
        yield table
        yield from self.more(len(files) - MOST_ROWS)

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

    def table(self, name: str, *headings: str) -> "Table":
        """Returns an empty table under its name: a bar where the heading is empty, else figures."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column(self.heading(name), no_wrap=True, header_style="not dim")
        for heading in headings:
            table.add_column(heading, no_wrap=True, justify="right" if heading else "left")
        return table

    def bar(self, value: float, most: float) -> str:
        """Returns a bar of the width that all tables have."""
        return bar(value, most, BAR, ascii_only=self.ascii_only)

    def chart(self, lines: list[str]) -> "Iterator[Text]":
        """Yields the lines of a chart in its colour."""
        yield from map(self.coloured, lines)

    def coloured(self, text: str) -> "Text":
        """Returns a part of a chart in its colour."""
        from rich.text import Text

        return Text(text, style=CHART, no_wrap=True)

    def heading(self, words: str) -> "Text":
        """Returns the heading of a panel."""
        from rich.text import Text

        return Text(words, style="bold")

    def faint(self, words: str) -> "Text":
        """Returns words beside a chart."""
        from rich.text import Text

        return Text(words, style="dim")

    def shown(self, words: str, room: int) -> str:
        """Returns words of the log, made safe and short."""
        found = clipped(safe(words), max(room, 8))
        return found.replace("…", "~") if self.ascii_only else found

    def more(self, left: int) -> "Iterator[RenderableType]":
        """Yields how many rows are not shown, and the space below a panel."""
        if left > 0:
            yield self.faint(f"and {number(left)} more")
        yield ""
