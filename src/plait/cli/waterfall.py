"""`plait trace show`: a session's spans as a waterfall in the terminal, or as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.cli.selection import parse_range
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
    join_dotted,
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
DESCRIPTIVE_INPUTS = """subject description command file_path pattern query url skill prompt path
    notebook_path name""".split()
"""Inputs of a tool that describe a call best, in order."""
FULL, MOMENT, EARLY, LATE = "█", "│", "‹", "›"
PATHS = ("file_path", "path", "notebook_path")


@command(examples="plait trace show latest\nplait trace show 3f2a --turn 12")
def show_command(
    request: Request,
    session: str = shared.session,
    turn: str | None = option(
        "--turn", "--at", metavar="N[-M]", help="Only this turn or range; -1 is the last."
    ),
    show_all: bool = option("--all", help="Also show hooks that took no time."),
    thinking: bool = option("--thinking", help="With --json: include thinking."),
    as_json: bool = shared.as_json,
) -> None:
    """Show SESSION as traces: the nested steps of each turn, and how long they took.

    Nothing is sent or redacted. Bars are scaled to their turn; tokens and cost of a span
    include what is below it.
    """
    content = Content(has_thinking=thinking)
    source = request.session(session)
    found = list(request.archive.traces(source, content=content, pricing=request.prices))
    found.sort(key=lambda spans: (spans[0].start is None, spans[0].start or 0))
    if turn is not None:
        last = max((spans[0].turn for spans in found), default=0)
        numbers = parse_range(turn, last, "--turn")
        found = [spans for spans in found if spans[0].turn in numbers]
        if not found:
            raise UserError(f"no answered turn {turn} in this session", f"the last is {last}")
    if as_json:
        request.output.json([span for spans in found for span in spans])
        return
    output = request.output
    if not found:
        output.note("nothing to trace: no turn of this session was answered")
    with output.paged():
        for spans in found:
            shown = spans if show_all else drop_quiet_hooks(spans)
            for line in _iter_lines(build_waterfall(shown), output.width):
                output.print(line)
            if hidden := len(spans) - len(shown):
                which = "it" if hidden == 1 else "them"
                words = f"  {format_count(hidden, 'quiet hook')} (`--all` shows {which})"
                output.print(words, style="dim")
            output.print("")


def _iter_lines(rows: list[WaterfallRow], width: int) -> Iterator[Text]:
    """Yield a line for each span of a turn; narrow screens do without tokens and cost."""
    has_cost = width >= NARROW and any(row.cost is not None for row in rows)
    bar = width // 5 if width < WIDE else width // 4
    sizes = (6 if width >= NARROW else 0, 9 if has_cost else 0, 8)
    room = width - sum(sizes) - bar - 2
    for place, row in enumerate(rows):
        span, style = row.span, STYLES[row.span.level]
        text, mark = Text(), MARKS[span.level]
        if place == 0:
            ending = f", {span.status}" if span.status else ""
            text.append(mark, style).append(safe(span.name), "bold")
            text.append(f"{' abandoned' if span.is_abandoned else ''}{safe(ending)}", style)
            words, gap, least = _first_words(span.input), "  ", 8
        else:
            most = room // 2
            rails = row.rails if len(row.rails) <= most else f"…{row.rails[1 - most :]}"
            name = format_model(span.name) if span.kind == "generation" else span.name
            text.append(rails, "dim").append(mark + safe(name), style or COLOURS[span.kind])
            words, gap, least = _describe_span(span), " ", 6
        left = room - count_columns(text.plain) - len(gap)
        if words and left > least:
            text.append(gap + shorten_to_width(words, left), (place and style) or "dim")
        text.truncate(room, overflow="ellipsis")
        tokens = format_tokens(row.tokens) if row.tokens else ""
        cost = format_money(row.cost) if row.cost is not None else ""
        figures = (tokens, cost, format_span_time(row.duration))
        text.append(" " * max(room - count_columns(text.plain), 0))
        for figure, size, colour in zip(figures, sizes, ("dim", "dim", ""), strict=True):
            text.append(figure.rjust(size) if size else "", colour)
        yield text.append("  ").append_text(_draw_bar(row, bar)) if place else text


def format_span_time(duration: int | None) -> str:
    """Format the duration of a span; empty if unknown or momentary."""
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


def _draw_bar(row: WaterfallRow, width: int) -> Text:
    start = min(int(row.left * width), width - 1)
    end = max(round(row.right * width), start + 1)
    drawn = MOMENT
    if row.duration:
        drawn = FULL * (end - start)
        drawn = f"{EARLY}{drawn[1:]}" if row.is_early else drawn
        drawn = f"{drawn[:-1]}{LATE}" if row.is_late else drawn
    return Text(" " * start + drawn, STYLES[row.span.level] or COLOURS.get(row.span.kind, ""))


def _first_words(content: Any) -> str:
    """Return the beginning of a span's input or output text."""
    text = content.get("content", "") if isinstance(content, Mapping) else ""
    return safe(to_single_line(text)) if isinstance(text, str) else ""


def _describe_span(span: Span) -> str:
    """Return the status and subject of a span."""
    status, about = safe(to_single_line(span.status)), ""
    metadata = span.metadata
    match span.kind:
        case "tool":
            given: Any = span.input if isinstance(span.input, Mapping) else {}
            for name in DESCRIPTIVE_INPUTS:
                about = given.get(name)
                if isinstance(about, str) and about:
                    about = "/".join(about.rsplit("/", 2)[-2:]) if name in PATHS else about
                    break
            else:
                about = ""
        case "agent":
            about = str(metadata.get("description") or "") or _first_words(span.input)
        case "generation":
            about = "" if status else _first_words(span.output)
        case "compaction":
            before, after = metadata.get("pre_tokens"), metadata.get("post_tokens")
            if isinstance(before, int):
                left = format_thousands(after if isinstance(after, int) else None)
                about = f"{format_thousands(before)}{f' to {left}' if left else ''} tokens"
        case "hook":
            about = str(metadata.get("command") or "")
        case _:
            about = _first_words(span.input)
    return join_dotted(status, safe(to_single_line(about)))
