"""`plait trace show`: a session's spans as a waterfall in the terminal, or as JSON."""

import click

from plait.archive.traces import traces
from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.show_choice import SPAN, from_end
from plait.cli.text import counted
from plait.cli.trace_rows import Columns, heading, line_of
from plait.cli.usage_prices import prices_with
from plait.errors import UserError
from plait.trace.model import Content, Span
from plait.trace.spans.waterfall import waterfall, without_quiet_hooks


@click.command("show")
@session_argument
@click.option("--turn", metavar="N[-M]", help="Only this turn, or these; -1 is the last.")
@click.option("--all", "show_all", is_flag=True, help="Show hooks that took no time, too.")
@click.option("--thinking", is_flag=True, help="With --json: the model's thinking too.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    turn: str | None,
    show_all: bool,
    thinking: bool,
    as_json: bool,
) -> None:
    """Show SESSION as traces: each turn with what was done within what, and how long it took.

    Nothing is sent and nothing is hidden. The bars are on the scale of their turn; tokens and
    cost of a span include all that is within it.
    """
    found = spans_of(request, session, turn, has_thinking=thinking)
    if as_json:
        request.output.json([span for spans in found for span in spans])
        return
    if not found:
        request.output.note("no turn of this session was answered: there is nothing to trace")
    with request.output.paged():
        for spans in found:
            show_trace(request, spans, show_all=show_all)


def spans_of(
    request: Request, session: str, turn: str | None, *, has_thinking: bool
) -> list[list[Span]]:
    """Returns the traces of the turns that are meant, in the order of time."""
    settings = request.settings
    chosen = request.archive.session(session, settings.directory)
    prices = prices_with(settings.prices)
    content = Content(has_thinking=has_thinking)
    among = request.archive.sessions
    found = list(traces([chosen], content=content, pricing=prices, among=among))
    found.sort(key=lambda spans: (spans[0].start is None, spans[0].start or 0))
    return found if turn is None else of_turns(found, turn)


def of_turns(found: list[list[Span]], text: str) -> list[list[Span]]:
    """Returns the traces of the turns that `3`, `3-5`, `3-` or `-1` means."""
    match = SPAN.fullmatch(text)
    if not match:
        raise UserError(f"'{text}' is not a turn", "say `--turn 3`, `--turn 3-5` or `--turn -1`")
    last = max((spans[0].turn for spans in found), default=0)
    start = from_end(int(match[1]), last)
    end = from_end(int(match[3]), last) if match[3] else last if match[2] else start
    meant = [spans for spans in found if start <= spans[0].turn <= end]
    if not meant:
        raise UserError(f"no answered turn {text} in this session", f"the last is {last}")
    return meant


def show_trace(request: Request, spans: list[Span], *, show_all: bool) -> None:
    """Prints one trace."""
    output = request.output
    shown = spans if show_all else without_quiet_hooks(spans)
    rows = waterfall(shown)
    columns = Columns.fitting(output.width, rows)
    output.print(heading(rows[0], columns))
    for row in rows[1:]:
        output.print(line_of(row, columns))
    hidden = len(spans) - len(shown)
    if hidden:
        which = "it" if hidden == 1 else "them"
        output.print(f"  {counted(hidden, 'quiet hook')} (`--all` shows {which})", style="dim")
    output.print("")
