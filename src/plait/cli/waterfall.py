"""`plait trace show`: a session's spans as a waterfall in the terminal, or as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from rich.text import Text

from plait.cli.options import Request, command, json_option, session_argument
from plait.cli.selection import parse_turn_range
from plait.cli.text import safe
from plait.errors import UserError
from plait.trace.model import Content, Span
from plait.trace.spans import WaterfallRow, build_waterfall, drop_quiet_hooks
from plait.view.formats import (
    format_count,
    format_model,
    format_money,
    format_thousands,
    format_tokens,
)
from plait.view.summaries import to_single_line
from plait.view.text import count_columns, shorten_to_width

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
TELLING_INPUTS = """subject description command file_path pattern query url skill prompt path
    notebook_path name""".split()
"""The inputs of a tool that say in a few words what a call is for, the best first."""
FULL, MOMENT, EARLY, LATE = "█", "│", "‹", "›"
PATHS = ("file_path", "path", "notebook_path")


@command(
    "show",
    session_argument,
    click.option(
        "--turn", "--at", "turn", metavar="N[-M]", help="Only this turn or range; -1 is the last."
    ),
    click.option("--all", "show_all", is_flag=True, help="Also show hooks that took no time."),
    click.option("--thinking", is_flag=True, help="With --json: include thinking."),
    json_option,
)
def show_command(
    request: Request,
    session: str,
    turn: str | None,
    show_all: bool,
    thinking: bool,
    as_json: bool,
) -> None:
    """Show SESSION as traces: the nested steps of each turn, and how long they took.

    Nothing is sent or redacted. Bars are to the scale of their turn; tokens and cost of a span
    include what is below it.
    """
    found = _spans_of(request, session, turn, has_thinking=thinking)
    if as_json:
        request.output.json([span for spans in found for span in spans])
        return
    if not found:
        request.output.note("nothing to trace: no turn of this session was answered")
    with request.output.paged():
        for spans in found:
            _show_trace(request, spans, show_all=show_all)


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
        """Return columns for a screen; narrow ones do without tokens and cost."""
        has_cost = any(row.cost is not None for row in rows)
        tokens = 6 if width >= NARROW else 0
        cost = 9 if width >= NARROW and has_cost else 0
        time = 8
        bar = width // 5 if width < WIDE else width // 4
        return cls(width - tokens - cost - time - bar - 2, tokens, cost, time, bar)


def _trace_heading(row: WaterfallRow, columns_: Columns) -> Text:
    span = row.span
    text = Text().append(MARKS[span.level], STYLES[span.level])
    text.append(safe(span.name), "bold")
    ending = f", {span.status}" if span.status else ""
    text.append(f"{' abandoned' if span.is_abandoned else ''}{safe(ending)}", STYLES[span.level])
    words = _words_in(span.input)
    room = columns_.name - count_columns(text.plain) - 2
    if words and room > 8:
        text.append(f"  {shorten_to_width(words, room)}", "dim")
    text.truncate(columns_.name, overflow="ellipsis")
    return _with_figures(text, row, columns_)


def _span_line(row: WaterfallRow, columns_: Columns) -> Text:
    span = row.span
    most = columns_.name // 2
    rails = row.rails if len(row.rails) <= most else f"…{row.rails[1 - most :]}"
    text = Text().append(rails, "dim")
    text.append(
        MARKS[span.level] + safe(_short_name(span)), STYLES[span.level] or COLOURS[span.kind]
    )
    room = columns_.name - count_columns(text.plain) - 1
    words = _purpose(span)
    if words and room > 6:
        text.append(f" {shorten_to_width(words, room)}", STYLES[span.level] or "dim")
    text.truncate(columns_.name, overflow="ellipsis")
    return _with_figures(text, row, columns_).append("  ").append_text(_bar(row, columns_.bar))


def _with_figures(text: Text, row: WaterfallRow, columns_: Columns) -> Text:
    text.append(" " * max(columns_.name - count_columns(text.plain), 0))
    if columns_.tokens:
        text.append(f"{format_tokens(row.tokens) if row.tokens else '':>{columns_.tokens}}", "dim")
    if columns_.cost:
        cost = format_money(row.cost) if row.cost is not None else ""
        text.append(f"{cost:>{columns_.cost}}", "dim")
    text.append(f"{format_span_time(row.duration):>{columns_.time}}")
    return text


def format_span_time(duration: int | None) -> str:
    """Write how long a span took, "" where nobody knows or it is a moment."""
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


def _bar(row: WaterfallRow, width: int) -> Text:
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


def _short_name(span: Span) -> str:
    if span.kind != "generation":
        return span.name
    return format_model(span.name)


def _words_in(content: Any) -> str:
    """Return how the words begin that went in or came out of a span."""
    text = content.get("content", "") if isinstance(content, Mapping) else ""
    return safe(to_single_line(text)) if isinstance(text, str) else ""


def _purpose(span: Span) -> str:
    parts = [safe(to_single_line(span.status)), _about(span)]
    return " · ".join(part for part in parts if part)


def _about(span: Span) -> str:
    match span.kind:
        case "tool":
            return safe(to_single_line(_best_input(span.input)))
        case "agent":
            return safe(to_single_line(str(span.metadata.get("description") or ""))) or _words_in(
                span.input
            )
        case "generation":
            return "" if span.status else _words_in(span.output)
        case "compaction":
            return _compacted(span.metadata)
        case "hook":
            return safe(to_single_line(str(span.metadata.get("command") or "")))
        case _:
            return _words_in(span.input)


def _best_input(given: Any) -> str:
    if not isinstance(given, Mapping):
        return ""
    for name in TELLING_INPUTS:
        value = given.get(name)
        if isinstance(value, str) and value:
            return "/".join(value.rsplit("/", 2)[-2:]) if name in PATHS else value
    return ""


def _compacted(metadata: Mapping[str, Any]) -> str:
    before, after = metadata.get("pre_tokens"), metadata.get("post_tokens")
    if not isinstance(before, int):
        return ""
    left = format_thousands(after if isinstance(after, int) else None)
    return f"{format_thousands(before)}{f' to {left}' if left else ''} tokens"


def _spans_of(
    request: Request, session: str, turn: str | None, *, has_thinking: bool
) -> list[list[Span]]:
    content, chosen = Content(has_thinking=has_thinking), request.session(session)
    found = list(request.archive.traces(chosen, content=content, pricing=request.prices))
    found.sort(key=lambda spans: (spans[0].start is None, spans[0].start or 0))
    return found if turn is None else _of_turns(found, turn)


def _of_turns(found: list[list[Span]], text: str) -> list[list[Span]]:
    last = max((spans[0].turn for spans in found), default=0)
    numbers = parse_turn_range(text, last)
    meant = [spans for spans in found if spans[0].turn in numbers]
    if not meant:
        raise UserError(f"no answered turn {text} in this session", f"the last is {last}")
    return meant


def _show_trace(request: Request, spans: list[Span], *, show_all: bool) -> None:
    output = request.output
    shown = spans if show_all else drop_quiet_hooks(spans)
    rows = build_waterfall(shown)
    columns = Columns.fitting(output.width, rows)
    output.print(_trace_heading(rows[0], columns))
    for row in rows[1:]:
        output.print(_span_line(row, columns))
    hidden = len(spans) - len(shown)
    if hidden:
        which = "it" if hidden == 1 else "them"
        output.print(f"  {format_count(hidden, 'quiet hook')} (`--all` shows {which})", style="dim")
    output.print("")
