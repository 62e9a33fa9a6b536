"""`plait why` and `plait waste`: what a session cost request by request, and avoidable spending."""

from datetime import datetime
from typing import Any

from msgspec import to_builtins

from plait.archive import Why, WhyTotals, gc_paused
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.cli.selection import Filters
from plait.errors import UserError
from plait.insights.why import (
    CAUSE_NAMES,
    CAUSE_REASONS,
    WASTE_TIPS,
    WASTE_TITLES,
    find_jumps,
    format_reason,
    format_saving,
    format_saving_share,
    format_unknown,
    round_floats,
)
from plait.terminal.text import SEPARATOR, format_number, safe_line, shell_command, short_id
from plait.view.formats import (
    CACHE_READ,
    INPUT,
    OUTPUT,
    format_count,
    format_minute,
    format_money,
    format_tokens,
)
from plait.view.text import shorten_to_width

MOST_CARRIED = 10
MOST_EVIDENCE = 3
SHORTEST_RECORD_ID = 7
"""Number of digits from which a number is a record id, not a turn."""


@command(examples="plait why latest\nplait why 3f2a --turn 12")
def why_command(
    request: Request,
    session: str = shared.session,
    turn: str | None = option(
        "--turn",
        "--at",
        metavar="TURN",
        help="Only the requests of this turn: a number or a response id.",
    ),
    is_all: bool = option("--all", help="Show every request, not just expensive ones."),
    no_index: bool = shared.no_index,
    as_json: bool = shared.as_json,
) -> None:
    """Explain what SESSION cost: what was sent, what was sent again, and why.

    Tokens that a request writes to the cache are either new, or were cached before and are paid
    for again: after a pause, in another process, with another model.
    """
    output, source = request.output, request.session(session)
    name: int | str | None = turn
    if turn is not None and turn.isascii() and turn.isdigit() and len(turn) < SHORTEST_RECORD_ID:
        name = int(turn)
    with request.open_archive(no_index=no_index) as archive:
        why = archive.why(source, request.prices, turn=name)
    if turn is not None and not why.requests:
        raise UserError(f"turn {turn} has no request", "`plait show` shows the turn numbers")
    if as_json:
        output.json(round_floats(to_builtins(why)))
        return
    with output.paged():
        output.print_heading(request.archive.facts(source))
        if why.requests:
            _print_why(request, why, is_all=is_all, is_turn=turn is not None)
        else:
            output.print("no token usage recorded in this session")


def _print_why(request: Request, why: Why, *, is_all: bool, is_turn: bool) -> None:
    output = request.output
    _print_totals(request, why.totals)
    shown = why.requests if is_all or is_turn else find_jumps(why.requests)
    if shown:
        output.print("")
        right = ("turn", "sent", "again", "cost")
        table = output.table("turn", "time", "sent", "again", "cost", "why", right=right)
        for sent in shown:
            table.add_row(
                str(sent.turn) if sent.turn else "",
                _format_time(sent.time),
                format_tokens(sent.read + sent.new + sent.again + sent.uncached),
                format_tokens(sent.again) if sent.again else "",
                "?" if sent.cost_usd is None else format_money(sent.cost_usd),
                format_reason(sent),
            )
        output.print(table)
        if rest := len(why.requests) - len(shown):
            more = f"{format_count(rest, 'request')} had normal costs; `--all` shows them"
            output.print(more, style="dim")
    if why.carried:
        turn = why.requests[0].turn if is_turn else None
        when, cost = (f" after turn {turn}", "by then") if turn else ("", "so far")
        output.print("")
        heading = f"largest items in the context{when}, with their cost {cost}"
        output.print(heading, style="bold")
        headings = ("tokens", "cost", "since", "kind", "what")
        table = output.table(*headings, right=headings[:3])
        for item in why.carried[:MOST_CARRIED]:
            table.add_row(
                format_tokens(item.tokens),
                "?" if item.cost_usd is None else format_money(item.cost_usd),
                f"turn {item.turn}" if item.turn else "the start",
                item.kind.removesuffix("s"),
                shorten_to_width(safe_line(item.words), max(output.width - 50, 20)),
            )
        output.print(table)
    upcoming = why.next
    if upcoming and upcoming.tokens is not None:
        words = f"the next prompt sends {format_tokens(upcoming.tokens)} tokens"
        if upcoming.warm_usd is not None and upcoming.cold_usd is not None:
            warm, cold = format_money(upcoming.warm_usd), format_money(upcoming.cold_usd)
            when = _format_time(upcoming.cold_at)
            if upcoming.is_warm:
                words += f": {warm} until {when}, then {cold}"
            else:
                words += f": {cold}, the cache expired" + (f" at {when}" if when else "")
        output.print("")
        output.print(words, style="bold")


def _print_totals(request: Request, totals: WhyTotals) -> None:
    output = request.output
    figures = (
        (CACHE_READ, totals.read),
        ("new", totals.new),
        ("written again", totals.again),
        (INPUT, totals.uncached),
        (OUTPUT, totals.output),
    )
    split = ", ".join(f"{format_tokens(count)} {name}" for name, count in figures if count)
    total = f"{format_count(totals.requests, 'request')}, {format_money(totals.cost_usd)}"
    output.print(f"{total}: {split}", style="bold")
    if totals.unpriced:
        output.print(f"{format_count(totals.unpriced, 'request')} without a price", style="yellow")
    if totals.unknown:
        output.print(format_unknown(totals.unknown), style="yellow")
    if not totals.again:
        known = ", as far as is known" if totals.unknown else ""
        output.print(f"nothing was cached twice{known}")
        return
    share = totals.again_cost_usd / totals.input_cost_usd if totals.input_cost_usd else 0.0
    output.print(
        f"{format_money(totals.again_cost_usd)} spent on writing the cache again, {share:.0%} of the input cost:"
    )
    right = ("requests", "tokens", "cost")
    table = output.table("why", "requests", "tokens", "cost", "", right=right)
    for name, cause in sorted(totals.causes.items(), key=lambda pair: -pair[1].again_cost_usd):
        table.add_row(
            CAUSE_NAMES[name],
            format_number(cause.requests),
            format_tokens(cause.again),
            format_money(cause.again_cost_usd),
            CAUSE_REASONS[name],
        )
    output.print(table)


def _format_time(time: datetime | None) -> str:
    return format_minute(time.astimezone()) if time else ""


@command(examples="plait waste\nplait waste --since 30d")
def waste_command(
    request: Request,
    filters: Filters,
    is_all: bool = option("--all", help="Show all examples, not just three."),
    no_index: bool = shared.no_index,
    as_json: bool = shared.as_json,
) -> None:
    """Find avoidable spending, by reason, most expensive first.

    Each finding shows examples, advice and a range of costs: from certain waste to possible
    savings. Nothing is counted twice.
    """
    output = request.output
    start, end = filters.period()
    sessions = None
    if filters.project is not None:
        sessions = filters.require_project(request)
    with gc_paused(), request.open_archive(no_index=no_index) as archive:
        waste = archive.waste(sessions, request.prices, start, end)
        titles = {}
        if not as_json:
            shown = {e.session for finding in waste.findings for e in finding.evidence}
            for session in request.archive.sessions:
                if session.id in shown:
                    titles[session.id] = request.archive.facts(session).title or "(no title)"
    output.warn_lost_workers(request.archive)
    if as_json:
        value: dict[str, Any] = round_floats(to_builtins(waste))
        for finding in value["findings"]:
            for evidence in finding["evidence"]:
                session_id, response = evidence["session"], evidence["response"]
                evidence["open"] = _why_command(request, session_id, response)
        output.json(value)
        return
    if not waste.findings:
        output.print("no avoidable spending found")
        return
    with output.paged():
        share = format_saving_share(waste.least_usd, waste.total_usd, waste.input_usd)
        share = f", {share} of the input cost" if share else ""
        total = f"{format_saving(waste.least_usd, waste.total_usd)} could have been saved{share}"
        output.print(f"{total} ({format_count(waste.sessions, 'session')})", style="bold")
        for finding in waste.findings:
            output.print("")
            title = f"{WASTE_TITLES[finding.kind]}, {format_number(finding.count)} ×"
            saving = format_saving(finding.least_usd, finding.cost_usd)
            output.print(f"{saving}  {title}", style="bold")
            entrypoints = sorted(finding.entrypoints.items(), key=lambda pair: -pair[1])
            if len(entrypoints) > 1:
                costs = (f"{safe_line(name)} {format_money(cost)}" for name, cost in entrypoints)
                output.print(f"  {SEPARATOR.join(costs)}", style="dim")
            output.print(f"  {WASTE_TIPS[finding.kind]}", style="green")
            for evidence in finding.evidence if is_all else finding.evidence[:MOST_EVIDENCE]:
                parts = (
                    format_money(evidence.cost_usd),
                    short_id(evidence.session),
                    _format_time(evidence.time),
                    safe_line(evidence.about or titles.get(evidence.session, "")),
                )
                line = f"  {'  '.join(filter(None, parts))}"
                output.print(shorten_to_width(line, output.width))
        first = waste.findings[0].evidence[0]
        output.print("")
        output.print("show the first example (`--json` has the command for each):", style="dim")
        words = _why_command(request, short_id(first.session), first.response)
        output.print_unwrapped(f"  {words}")


def _why_command(request: Request, session: str, response: str) -> str:
    """Return the command that shows one request."""
    return shell_command("plait", "why", session, "--turn", response, *request.root_options)
