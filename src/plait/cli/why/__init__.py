"""`plait why`: a session to what it cost, request for request, and what was paid for twice."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from plait.archive import WhyRequest, WhyTotals
from plait.cli.options import (
    Request,
    global_options,
    json_option,
    no_index_option,
    session_argument,
)
from plait.cli.text import clipped, counted, number, safe_line, thousands
from plait.errors import UserError
from plait.view.amounts import money_in_words
from plait.view.causes import (
    NAMES,
    REASONS,
    jumps_in,
    reason_in_words,
    rounded,
    unknown_in_words,
)
from plait.view.forms import CACHE_READ, INPUT, OUTPUT, minute_of

if TYPE_CHECKING:
    from plait.archive import Why

MOST_CARRIED = 10
SHORTEST_RECORD = 7
"""Letters of an id that tell it from the number of a turn."""


@click.command("why")
@session_argument
@click.option(
    "--turn",
    metavar="TURN",
    help="Only the requests of this turn: its number, or a response of it.",
)
@click.option("--all", "is_all", is_flag=True, help="Every request, not only the dear ones.")
@click.option("--counts", is_flag=True, help="With --json: figures alone, no text of the session.")
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    turn: str | None,
    is_all: bool,
    counts: bool,
    no_index: bool,
    as_json: bool,
) -> None:
    """Show why SESSION cost what it did: what was sent, what of it again, for which reason.

    What a request writes to the cache is new, or had been there before: after a pause, in
    another process, by another model. Then it is paid for again.
    """
    found = request.session(session)
    with request.answering(no_index=no_index) as archive:
        told = archive.why(found, request.prices, turn=_turn(turn))
    if turn is not None and not told.requests:
        raise UserError(f"turn {turn} has no request", "`plait show` numbers the turns")
    if as_json:
        request.output.json(_as_object(told, counts=counts))
        return
    with request.output.paged():
        request.output.heading(request.archive.facts(found))
        _print_why(request, told, is_all=is_all, is_turn=turn is not None)


def _turn(name: str | None) -> int | str | None:
    """Returns what names a turn: up to six digits are its number, all else names a response."""
    if name is not None and name.isascii() and name.isdigit() and len(name) < SHORTEST_RECORD:
        return int(name)
    return name


def _as_object(told: "Why", *, counts: bool) -> dict[str, Any]:
    found: dict[str, Any] = rounded(to_builtins(told))
    if counts:
        for one in found["carried"]:
            del one["words"]
    return found


def _print_why(request: Request, told: "Why", *, is_all: bool, is_turn: bool) -> None:
    output = request.output
    if not told.requests:
        output.print("no request says what it took")
        return
    _print_totals(request, told.totals)
    shown = told.requests if is_all or is_turn else jumps_in(told.requests)
    if shown:
        output.print("")
        _print_requests(request, shown)
        rest = len(told.requests) - len(shown)
        if rest:
            more = f"{counted(rest, 'request')} cost no more than usual: `--all` shows them"
            output.print(more, style="dim")
    if told.carried:
        _print_carried(request, told, told.requests[0].turn if is_turn else None)
    if told.next and told.next.tokens is not None:
        output.print("")
        output.print(_next_in_words(told), style="bold")


def _print_totals(request: Request, totals: WhyTotals) -> None:
    output = request.output
    sums = f"{counted(totals.requests, 'request')}, {money_in_words(totals.cost_usd)}"
    output.print(f"{sums}: {_split(totals)}", style="bold")
    if totals.unpriced:
        output.print(f"{counted(totals.unpriced, 'request')} without a price", style="yellow")
    if totals.unknown:
        output.print(unknown_in_words(totals.unknown), style="yellow")
    if not totals.again:
        output.print("nothing was paid for again" + (", as far as is known" * bool(totals.unknown)))
        return
    share = totals.again_cost_usd / totals.input_cost_usd if totals.input_cost_usd else 0.0
    again = f"{money_in_words(totals.again_cost_usd)} paid again, {share:.0%} of what was sent:"
    output.print(again)
    table = output.table(
        "why", "requests", "tokens", "cost", "", right=("requests", "tokens", "cost")
    )
    for name, one in sorted(totals.causes.items(), key=lambda pair: -pair[1].again_cost_usd):
        cost, cause = money_in_words(one.again_cost_usd), NAMES[name]
        table.add_row(cause, number(one.requests), thousands(one.again), cost, REASONS[name])
    output.print(table)


def _split(totals: WhyTotals) -> str:
    parts = (
        (CACHE_READ, totals.read),
        ("new", totals.new),
        ("written again", totals.again),
        (INPUT, totals.uncached),
        (OUTPUT, totals.output),
    )
    return ", ".join(f"{thousands(count)} {name}" for name, count in parts if count)


def _print_requests(request: Request, requests: tuple[WhyRequest, ...]) -> None:
    output = request.output
    names = ("turn", "time", "sent", "again", "cost", "why")
    table = output.table(*names, right=("turn", "sent", "again", "cost"))
    for one in requests:
        turn = str(one.turn) if one.turn else ""
        sent = one.read + one.new + one.again + one.uncached
        cost = "?" if one.cost_usd is None else money_in_words(one.cost_usd)
        again = thousands(one.again) if one.again else ""
        table.add_row(turn, _time(one.time), thousands(sent), again, cost, reason_in_words(one))
    output.print(table)


def _time(time: datetime | None) -> str:
    return minute_of(time.astimezone()) if time else ""


def _print_carried(request: Request, told: "Why", turn: int | None) -> None:
    output = request.output
    output.print("")
    when, cost = (f" after turn {turn}", "had cost by then") if turn else ("", "has cost")
    words = f"the largest things in the context{when}, and what carrying them {cost}"
    output.print(words, style="bold")
    names = ("tokens", "cost", "since", "kind", "what")
    table = output.table(*names, right=("tokens", "cost", "since"))
    for one in told.carried[:MOST_CARRIED]:
        cost = "?" if one.cost_usd is None else money_in_words(one.cost_usd)
        since = f"turn {one.turn}" if one.turn else "the start"
        kind = one.kind.removesuffix("s")
        words = clipped(safe_line(one.words), max(output.width - 50, 20))
        table.add_row(thousands(one.tokens), cost, since, kind, words)
    output.print(table)


def _next_in_words(told: "Why") -> str:
    ahead = told.next
    if ahead is None or ahead.tokens is None:
        return ""
    sent = f"the next prompt sends {thousands(ahead.tokens)} tokens"
    if ahead.warm_usd is None or ahead.cold_usd is None:
        return sent
    warm, cold = money_in_words(ahead.warm_usd), money_in_words(ahead.cold_usd)
    when = _time(ahead.cold_at)
    if ahead.is_warm:
        return f"{sent}: {warm} until {when}, then {cold}"
    return f"{sent}: {cold}, for the cache is cold" + (f" since {when}" if when else "")
