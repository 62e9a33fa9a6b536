"""`plait trace show`: a session's spans as a waterfall in the terminal, or as JSON."""

from collections.abc import Iterator

from rich.text import Text

from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.cli.selection import parse_range
from plait.errors import UserError
from plait.terminal.text import safe
from plait.trace.model import Content
from plait.trace.spans import (
    WaterfallRow,
    build_waterfall,
    describe_span,
    drop_quiet_hooks,
    first_words,
    format_span_time,
)
from plait.view.formats import (
    format_count,
    format_model,
    format_money,
    format_tokens,
)
from plait.view.text import count_columns, shorten_to_width

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
FULL, MOMENT, EARLY, LATE = "█", "│", "‹", "›"


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
    include its children.
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
            words, gap, least = first_words(span.input), "  ", 8
        else:
            most = room // 2
            rails = row.rails if len(row.rails) <= most else f"…{row.rails[1 - most :]}"
            name = format_model(span.name) if span.kind == "generation" else span.name
            text.append(rails, "dim").append(mark + safe(name), style or COLOURS[span.kind])
            words, gap, least = describe_span(span), " ", 6
        left = room - count_columns(text.plain) - len(gap)
        if words and left > least:
            text.append(gap + shorten_to_width(safe(words), left), (place and style) or "dim")
        text.truncate(room, overflow="ellipsis")
        tokens = format_tokens(row.tokens) if row.tokens else ""
        cost = format_money(row.cost) if row.cost is not None else ""
        figures = (tokens, cost, format_span_time(row.duration))
        text.append(" " * max(room - count_columns(text.plain), 0))
        for figure, size, colour in zip(figures, sizes, ("dim", "dim", ""), strict=True):
            text.append(figure.rjust(size) if size else "", colour)
        yield text.append("  ").append_text(_draw_bar(row, bar)) if place else text


def _draw_bar(row: WaterfallRow, width: int) -> Text:
    start = min(int(row.left * width), width - 1)
    end = max(round(row.right * width), start + 1)
    drawn = MOMENT
    if row.duration:
        drawn = FULL * (end - start)
        drawn = f"{EARLY}{drawn[1:]}" if row.is_early else drawn
        drawn = f"{drawn[:-1]}{LATE}" if row.is_late else drawn
    return Text(" " * start + drawn, STYLES[row.span.level] or COLOURS.get(row.span.kind, ""))
