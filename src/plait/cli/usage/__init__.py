"""`plait usage`: tokens and cost by day, week, month, session, project, model or block."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import click

from plait.archive import Counted, Session, without_collector
from plait.cli.options import (
    Request,
    filter_options,
    fold_option,
    global_options,
    json_option,
    no_index_option,
)
from plait.cli.selection import point_in_time, zone_named
from plait.cli.settings import prices_with
from plait.cli.text import SEPARATOR, counted, now
from plait.cli.usage.table import time_left
from plait.conversation.prices import Prices
from plait.conversation.spending import (
    BLOCK_LENGTH,
    By,
    Spending,
    SpendingRow,
    beyond_log,
    billing_blocks,
    day,
    spending,
    within,
)
from plait.conversation.usage import BilledResponse
from plait.errors import UserError
from plait.view.usage import DECIMALS, block_value, cost_of, money, row_value

T = TypeVar("T")
LITTLE = 50_000_000
"""Bytes of sessions of which the branches are told without being asked for."""
REPORTS = ("daily", "weekly", "monthly", "session", "project", "model", "blocks")
TIMES = ("daily", "weekly", "monthly", "blocks")
NAMES = {"daily": "date", "weekly": "week", "monthly": "month"}
ENOUGH = timedelta(days=2)
"""Whatever the zone, today began less than so long ago."""


class Asked(NamedTuple):
    """What a report is to show, and how."""

    report: str
    zone: tzinfo | None
    time: datetime
    since: datetime | None
    until: datetime | None
    project: str | None
    is_full: bool
    order: str | None
    limit: int | None
    of: str
    form: str
    """How it is written: `text`, `json` or `csv`."""

    @property
    def is_newest_last(self) -> bool:
        """Tells whether the rows go from the oldest to the newest because nobody said how."""
        return self.order is None and self.report in TIMES


@click.command("usage")
@click.argument("report", type=click.Choice(REPORTS), required=False)
@filter_options
@click.option("--timezone", "-z", metavar="ZONE", help="Whose days: Europe/Rome, UTC.")
@click.option(
    "--breakdown", "-b", "is_full", is_flag=True, help="Model by model; agents and branches apart."
)
@click.option("--statusline", is_flag=True, help="One short line: today, this block, the pace.")
@click.option("--prices", "own", metavar="FILE", help="Your own prices, TOML or JSON.")
@click.option("--order", type=click.Choice(["asc", "desc", "cost"]), help="The order of the rows.")
@click.option(
    "-n", "--limit", type=click.IntRange(1), help="Only the newest or dearest so many rows."
)
@click.option("--by", metavar="LIST", help="A cross table: project,model,week.")
@click.option(
    "--of", type=click.Choice(["cost", "tokens"]), default="cost", help="What its cells show."
)
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV: a line for each row or cell.")
@fold_option
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    /,
    report: str | None,
    since: str | None,
    until: str | None,
    timezone: str | None,
    statusline: bool,
    own: str | None,
    by: str | None,
    no_index: bool,
    as_json: bool,
    as_csv: bool,
    **rest: Any,
) -> None:
    """Show tokens and cost: by day, or by week, month, session, project, model, 5-hour block.

    Each response is counted once, over all files, at the prices of its day. What has no price
    is named and left out of the sum.
    """
    zone, time = zone_named(timezone), now()
    start, end = point_in_time(since, time, zone), point_in_time(until, time, zone)
    if as_csv and as_json:
        raise UserError("either CSV or JSON", "leave out `--csv` or `--json`")
    if by is not None and report is not None:
        raise UserError(f"either '{report}' or `--by`", "`plait usage --by project,week`")
    form = "csv" if as_csv else "json" if as_json else "text"
    rest |= {"report": report or "daily", "form": form}
    asked = Asked(zone=zone, time=time, since=start, until=end, **rest)
    given = own or request.settings.prices
    prices = prices_with(Path(given) if given else None)
    if statusline:
        _print_statusline(request, asked.time, zone, prices)
    else:
        with without_collector(), request.answering(no_index=no_index):
            if by is not None:
                _show_cross(request, asked, prices, by)
                return
            show = _show_blocks if asked.report == "blocks" else _show_rows
            show(request, asked, prices)


def _show_cross(request: Request, asked: Asked, prices: Prices, by: str) -> None:
    from plait.cli.usage.cross import cross_value, dimensions_in, print_cross
    from plait.conversation.cross import crossed

    dimensions = dimensions_in(by)
    if len(dimensions) == 1:
        from plait.conversation.cross import REPORTS as NAMED

        _show_rows(request, asked._replace(report=NAMED[dimensions[0]]), prices)
        return
    responses = _chosen(request, _read_all(request), asked)
    if "project" in dimensions:
        responses = _by_project(request, responses)
    table = crossed(responses, dimensions, prices, asked.zone)
    if asked.form == "json":
        request.output.json(cross_value(table))
    elif asked.form == "csv":
        from plait.view.usage_csv import cross_csv

        request.output.text(cross_csv(table))
    else:
        from plait.cli.usage.table import row_names

        names = {str(one): row_names(request, one, table.names(one)) for one in dimensions}
        print_cross(request, table, names, asked.of, asked.limit)


def _show_rows(request: Request, asked: Asked, prices: Prices) -> None:
    found = _read_all(request)
    responses = _chosen(request, found, asked)
    left = _left_behind(request, asked, responses)
    by = cast(By, asked.report)
    told = _by_project(request, responses) if by == "project" else responses
    result = spending(told, by, prices, asked.zone, left or ())
    beyond = _beyond_log(request, found, asked)
    shown = _arranged(result.rows, asked, lambda row: (row.total.cost, row.total.tokens.total))
    cut = Spending(tuple(shown), result.totals)
    if asked.form == "csv":
        _write_rows(request, asked, shown)
        return
    if asked.form == "json":
        value = _listed(request, asked, cut, found, beyond) | _coverage(request, responses)
        request.output.json(value if left is not None else _untold(value))
        return
    from plait.cli.usage.table import print_spending

    hidden = len(result.rows) - len(shown)
    whole = sum(beyond.values())
    covered = _coverage(request, responses) if asked.report == "session" else None
    print_spending(
        request,
        asked.report,
        cut,
        asked.zone,
        is_full=asked.is_full,
        hidden=hidden,
        beyond=whole,
        covered=covered,
        newest_last=asked.is_newest_last,
    )


def _write_rows(request: Request, asked: Asked, rows: Sequence[SpendingRow]) -> None:
    from plait.view.usage_csv import rows_csv

    titles = None
    if asked.report == "session":
        facts = request.archive.facts
        titles = {one.id: facts(one).title for one in request.archive.sessions}
    request.output.text(rows_csv(NAMES.get(asked.report, asked.report), rows, titles))


def _beyond_log(request: Request, found: Counted, asked: Asked) -> dict[str, float]:
    """Returns by session what Claude Code counted beyond the responses in its logs: at the usual
    prices, which are its own.
    """
    if not found.own_costs:
        return {}
    everything = beyond_log(found.responses, found.own_costs, prices_with(None))
    timely = within(everything, asked.since, asked.until)
    members = _members(request, asked)
    return {one.session: one.cost for one in timely if members is None or one.session in members}


def _left_behind(
    request: Request, asked: Asked, responses: Sequence[BilledResponse]
) -> frozenset[str] | None:
    """Returns what was answered on abandoned branches; None where that would take too long.

    The graphs of a gigabyte take several times as long as its figures: they are for those
    who ask for a breakdown. Of little, everything is told.
    """
    held = {one.session for one in responses}
    sessions = [one for one in request.archive.sessions if one.id in held]
    if not asked.is_full and sum(one.bytes for one in sessions) > LITTLE:
        return None
    watch = request.output.watch("following branches")
    return request.archive.abandoned(responses, sessions, watch)


def _untold(value: dict[str, Any]) -> dict[str, Any]:
    for row in (*value["rows"], value["totals"]):
        row["abandoned"] = None
    return value


def _show_blocks(request: Request, asked: Asked, prices: Prices) -> None:
    from plait.conversation.spending import billing_blocks, untimed_row

    responses = _chosen(request, _read_all(request), asked)
    found = billing_blocks(responses, prices, asked.time)
    untimed = untimed_row(responses, prices)
    totals = SpendingRow(None)
    for block in found:
        totals.take(block.row)
    if asked.order == "cost":
        found = [one for one in found if not one.is_gap]
    shown = _arranged(found, asked, lambda one: (one.total.cost, one.total.tokens.total))
    if asked.form == "csv":
        from plait.view.usage_csv import blocks_csv

        request.output.text(blocks_csv(shown))
        return
    if asked.form == "json":
        rows = [block_value(one, asked.time, is_full=asked.is_full) for one in shown]
        whole = row_value(totals, is_full=asked.is_full)
        rest = row_value(untimed, is_full=False)
        request.output.json(_untold({"rows": rows, "totals": whole}) | {"untimed": rest})
        return
    from plait.cli.usage.table import print_blocks

    last = asked.is_newest_last
    print_blocks(request, shown, totals, asked.time, asked.zone, newest_last=last)
    if untimed.total.responses:
        words = counted(untimed.total.responses, "response")
        request.output.note(f"{words} without a time: in no block")


def _by_project(request: Request, responses: Sequence[BilledResponse]) -> Sequence[BilledResponse]:
    from plait.archive import refolded

    return refolded(responses, request.archive.folding)


def _read_all(request: Request) -> Counted:
    request.output.note_unread(request.archive)
    found = request.archive.responses(request.output.watch("reading sessions"))
    request.output.note_losses(request.archive)
    return found


def _chosen(request: Request, found: Counted, asked: Asked) -> Sequence[BilledResponse]:
    responses = within(found.responses, asked.since, asked.until)
    members = _members(request, asked)
    return responses if members is None else [one for one in responses if one.session in members]


def _members(request: Request, asked: Asked) -> set[str] | None:
    """Returns the sessions of the project that was asked for; None for all of them."""
    if asked.project is None:
        return None
    from plait.cli.selection import members_of

    members = {one.id for one in members_of(request, request.archive.sessions, asked.project)}
    if not members:
        raise UserError(
            f"no project is called '{asked.project}'", "`plait ls` lists the projects there are"
        )
    return members


def _arranged(rows: Iterable[T], asked: Asked, cost: Callable[[T], Any]) -> list[T]:
    """Returns the rows in the order asked for; what is no time by its cost, if nothing is said.

    A limit keeps the newest or the largest.
    """
    found = list(rows)
    order = asked.order or ("asc" if asked.report in TIMES else "cost")
    if order == "cost":
        return sorted(found, key=cost, reverse=True)[: asked.limit]
    found = found[-asked.limit :] if asked.limit else found
    return found[::-1] if order == "desc" else found


def _listed(
    request: Request,
    asked: Asked,
    result: Spending,
    found: Counted,
    beyond: Mapping[str, float],
) -> dict[str, Any]:
    sessions = {one.id: one for one in request.archive.sessions}
    rows = []
    for row in result.rows:
        name: dict[str, Any] = {NAMES.get(asked.report, asked.report): row.key}
        if asked.report == "session":
            name |= _session_value(request, sessions.get(row.key or ""), found)
            name["beyond_log_usd"] = round(beyond.get(row.key or "", 0.0), DECIMALS)
        rows.append({**name, **row_value(row, is_full=asked.is_full)})
    totals = row_value(result.totals, is_full=asked.is_full)
    totals["beyond_log_usd"] = round(sum(beyond.values()), DECIMALS)
    return {"rows": rows, "totals": totals}


def _coverage(request: Request, responses: Iterable[BilledResponse]) -> dict[str, int]:
    """Returns how many sessions have responses, of how many; some may share an id."""
    answered = {one.session for one in responses}
    sessions = request.archive.sessions
    held = sum(one.id in answered for one in sessions)
    return {"sessions": held, "all_sessions": len(sessions)}


def _session_value(request: Request, session: Session | None, found: Counted) -> dict[str, Any]:
    if session is None:
        return {}
    return {
        "project": request.archive.folding.project(session.project),
        "folder": session.project,
        "title": request.archive.facts(session).title,
        "path": session.path,
        "kept": session.is_kept,
        "client_cost_usd": found.client_costs.get(session.id),
    }


def _print_statusline(request: Request, now: datetime, zone: tzinfo | None, prices: Prices) -> None:
    since = now - ENOUGH
    found = request.archive.responses(since=since.timestamp()).responses
    recent = within(found, since - BLOCK_LENGTH, None)
    today = day(now.astimezone(zone))
    rows = {row.key: row.total for row in spending(recent, "daily", prices, zone).rows}
    said = [f"today {cost_of(rows[today]).strip() if today in rows else money(0)}"]
    active = next((one for one in billing_blocks(recent, prices, now) if one.is_active), None)
    if active:
        said.append(f"block {cost_of(active.total).strip()}, {time_left(active, now)} left")
        if active.rate:
            said.append(f"{money(active.rate.cost_per_hour)}/h")
    request.output.print(SEPARATOR.join(said))
