"""Rows of a waterfall to lines of a terminal: name, tokens, cost, time and a bar."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from plait.cli.text import clipped, columns, safe
from plait.trace.model import Span
from plait.trace.spans.waterfall import WaterfallRow
from plait.view.amounts import money_in_words, tokens_in_words
from plait.view.words import one_line

SECOND, MILLISECOND = 1_000_000_000, 1_000_000
NARROW, WIDE = 60, 110
MARKS = {"ERROR": "✗ ", "WARNING": "! ", "DEFAULT": ""}
STYLES = {"ERROR": "red", "WARNING": "yellow", "DEFAULT": ""}
COLOURS = {
    "generation": "blue",
    "tool": "green",
    "agent": "magenta",
    "workflow": "magenta",
    "compaction": "cyan",
    "hook": "bright_black",
    "event": "bright_black",
}
TELLING = (
    "subject",
    "description",
    "command",
    "file_path",
    "pattern",
    "query",
    "url",
    "skill",
    "prompt",
    "path",
    "notebook_path",
    "name",
)
"""The inputs of a tool that say in a few words what a call is for, the best first."""
FULL, MOMENT, EARLY, LATE = "█", "│", "‹", "›"
DATE = re.compile(r"-20\d{6}$")
PATHS = ("file_path", "path", "notebook_path")


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each column of a waterfall is; one that has no room is 0."""

    name: int
    tokens: int
    cost: int
    time: int
    bar: int

    @classmethod
    def fitting(cls, width: int, rows: list[WaterfallRow]) -> "Columns":
        """Returns columns for a screen; narrow ones do without tokens and cost."""
        has_cost = any(row.cost is not None for row in rows)
        tokens = 6 if width >= NARROW else 0
        cost = 9 if width >= NARROW and has_cost else 0
        time = 8
        bar = width // 5 if width < WIDE else width // 4
        return cls(width - tokens - cost - time - bar - 2, tokens, cost, time, bar)


def heading(row: WaterfallRow, columns_: Columns) -> Text:
    """Returns the line of a turn: its number, its prompt, how long it took, how it ended."""
    span = row.span
    text = Text().append(MARKS[span.level], STYLES[span.level])
    text.append(safe(span.name), "bold")
    ending = f", {span.status}" if span.status else ""
    text.append(f"{' abandoned' if span.is_abandoned else ''}{safe(ending)}", STYLES[span.level])
    words = asked(span)
    room = columns_.name - columns(text.plain) - 2
    if words and room > 8:
        text.append(f"  {clipped(words, room)}", "dim")
    text.truncate(columns_.name, overflow="ellipsis")
    return with_figures(text, row, columns_)


def line_of(row: WaterfallRow, columns_: Columns) -> Text:
    """Returns the line of a span within a turn."""
    span = row.span
    most = columns_.name // 2
    rails = row.rails if len(row.rails) <= most else f"…{row.rails[1 - most :]}"
    text = Text().append(rails, "dim")
    text.append(
        MARKS[span.level] + safe(short_name(span)), STYLES[span.level] or COLOURS[span.kind]
    )
    room = columns_.name - columns(text.plain) - 1
    words = purpose(span)
    if words and room > 6:
        text.append(f" {clipped(words, room)}", STYLES[span.level] or "dim")
    text.truncate(columns_.name, overflow="ellipsis")
    return with_figures(text, row, columns_).append("  ").append_text(bar(row, columns_.bar))


def with_figures(text: Text, row: WaterfallRow, columns_: Columns) -> Text:
    """Returns a line with its figures, each in its column."""
    text.append(" " * max(columns_.name - columns(text.plain), 0))
    if columns_.tokens:
        text.append(
            f"{tokens_in_words(row.tokens) if row.tokens else '':>{columns_.tokens}}", "dim"
        )
    if columns_.cost:
        cost = money_in_words(row.cost) if row.cost is not None else ""
        text.append(f"{cost:>{columns_.cost}}", "dim")
    text.append(f"{lasting(row.duration):>{columns_.time}}")
    return text


def lasting(duration: int | None) -> str:
    """Writes how long a span took, "" where nobody knows or it is a moment."""
    if not duration:
        return ""
    if duration < SECOND:
        return f"{max(duration // MILLISECOND, 1)} ms"
    if duration < 10 * SECOND:
        return f"{duration / SECOND:.1f} s"
    minutes, seconds = divmod(duration // SECOND, 60)
    if not minutes:
        return f"{seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {seconds:02}s"


def bar(row: WaterfallRow, width: int) -> Text:
    """Returns the bar of a span, marked where it goes on beyond the turn."""
    start = min(int(row.left * width), width - 1)
    end = max(round(row.right * width), start + 1)
    style = STYLES[row.span.level] or COLOURS.get(row.span.kind, "")
    if not row.duration:
        drawn = MOMENT
    else:
        drawn = FULL * (end - start)
        drawn = f"{EARLY}{drawn[1:]}" if row.is_early else drawn
        drawn = f"{drawn[:-1]}{LATE}" if row.is_late else drawn
    return Text(" " * start + drawn, style)


def short_name(span: Span) -> str:
    """Returns what a span is called, models without what all of theirs share and their date."""
    if span.kind != "generation":
        return span.name
    return DATE.sub("", span.name.removeprefix("claude-"))


def asked(span: Span) -> str:
    """Returns what a turn or an agent was asked."""
    said = span.input
    text = said.get("content", "") if isinstance(said, Mapping) else ""
    return safe(one_line(text)) if isinstance(text, str) else ""


def purpose(span: Span) -> str:
    """Returns in a few words what went wrong in a span, and what it is about."""
    parts = [safe(one_line(span.status)), about(span)]
    return " · ".join(part for part in parts if part)


def about(span: Span) -> str:
    """Returns in a few words what a span is about."""
    match span.kind:
        case "tool":
            return safe(one_line(telling(span.input)))
        case "agent":
            return safe(one_line(str(span.metadata.get("description") or ""))) or asked(span)
        case "generation":
            return "" if span.status else said_in(span)
        case "compaction":
            return compacted(span.metadata)
        case "hook":
            return safe(one_line(str(span.metadata.get("command") or "")))
        case _:
            return asked(span)


def said_in(span: Span) -> str:
    """Returns how the words of a response begin."""
    text = span.output.get("content", "") if isinstance(span.output, Mapping) else ""
    return safe(one_line(text)) if isinstance(text, str) else ""


def telling(given: Any) -> str:
    """Returns the input of a tool that says best what a call is for."""
    if not isinstance(given, Mapping):
        return ""
    for name in TELLING:
        value = given.get(name)
        if isinstance(value, str) and value:
            return "/".join(value.rsplit("/", 2)[-2:]) if name in PATHS else value
    return ""


def compacted(metadata: Mapping[str, Any]) -> str:
    """Returns what a compaction made of the context."""
    before, after = metadata.get("pre_tokens"), metadata.get("post_tokens")
    if not isinstance(before, int):
        return ""
    left = f" to {tokens_in_words(after)}" if isinstance(after, int) else ""
    return f"{tokens_in_words(before)}{left} tokens"
