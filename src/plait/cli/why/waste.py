"""`plait waste`: an archive to what was paid for and need not have been, the dearest first."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from plait.archive import without_collector
from plait.cli.options import (
    Request,
    filter_options,
    global_options,
    json_option,
    no_index_option,
)
from plait.cli.selection import members_of, point_in_time
from plait.cli.text import SEPARATOR, clipped, counted, now, number, safe_line, short, to_type
from plait.errors import UserError
from plait.view.amounts import money_in_words
from plait.view.causes import WASTE, rounded, saving_in_words
from plait.view.forms import minute_of

if TYPE_CHECKING:
    from plait.archive import Evidence, Session, Waste, WasteFinding

MOST_SHOWN = 3


@click.command("waste")
@filter_options
@click.option("--counts", is_flag=True, help="With --json: figures alone, no text of a session.")
@click.option("--all", "is_all", is_flag=True, help="All evidence that is kept, not only three.")
@no_index_option
@json_option
@global_options
@click.pass_obj
def waste_command(
    request: Request,
    project: str | None,
    since: str | None,
    until: str | None,
    counts: bool,
    is_all: bool,
    no_index: bool,
    as_json: bool,
) -> None:
    """Show what was paid for and need not have been: by reason, the dearest first.

    Each finding has a range, from what was surely in vain to all of it, where it was, and what
    to do about it. Nothing is counted twice.
    """
    time = now()
    start, end = point_in_time(since, time, None), point_in_time(until, time, None)
    sessions = _members(request, project)
    with without_collector(), request.answering(no_index=no_index) as archive:
        found = archive.waste(sessions, request.prices, start, end)
        titles = {} if as_json else _titles(request, found)
    request.output.note_losses(request.archive)
    if as_json:
        request.output.json(_as_object(request, found, counts=counts))
        return
    with request.output.paged():
        _print_waste(request, found, titles, is_all=is_all)


def _members(request: Request, project: str | None) -> "list[Session] | None":
    if project is None:
        return None
    found = members_of(request, request.archive.sessions, project)
    if not found:
        raise UserError(f"no project is called '{project}'", "`plait ls` lists the projects")
    return found


def _titles(request: Request, found: "Waste") -> dict[str, str]:
    wanted = {one.session for finding in found.findings for one in finding.evidence}
    sessions = (one for one in request.archive.sessions if one.id in wanted)
    return {one.id: request.archive.facts(one).title or "(no title)" for one in sessions}


def _as_object(request: Request, found: "Waste", *, counts: bool) -> dict[str, Any]:
    told: dict[str, Any] = rounded(to_builtins(found))
    for finding in told["findings"]:
        for one in finding["evidence"]:
            if counts:
                del one["about"]
            else:
                one["open"] = _opening(request, one["session"], one["response"])
    return told


def _opening(request: Request, session: str, response: str) -> str:
    """Returns what shows the request of a thing that was lost, to be typed."""
    return to_type("plait", "why", session, "--turn", response, *request.root_options)


def _print_waste(request: Request, found: "Waste", titles: dict[str, str], *, is_all: bool) -> None:
    output = request.output
    if not found.findings:
        output.print("nothing was paid for in vain, as far as the logs tell")
        return
    share = f", {found.share_of_input:.0%} of what was sent" if found.share_of_input else ""
    total = f"{saving_in_words(found.least_usd, found.total_usd)} could have been saved{share}"
    output.print(f"{total} ({counted(found.sessions, 'session')})", style="bold")
    for finding in found.findings:
        _print_finding(request, finding, titles, is_all=is_all)
    first = found.findings[0].evidence[0]
    opening = _opening(request, short(first.session), first.response)
    output.print("")
    output.print("this shows the first of them, and `--json` has the command for each", style="dim")
    output.unbroken(f"  {opening}")


def _print_finding(
    request: Request, finding: "WasteFinding", titles: dict[str, str], *, is_all: bool
) -> None:
    output = request.output
    output.print("")
    what = f"{WASTE[finding.kind]}, {number(finding.count)} ×"
    output.print(f"{saving_in_words(finding.least_usd, finding.cost_usd)}  {what}", style="bold")
    ways = sorted(finding.entrypoints.items(), key=lambda pair: -pair[1])
    if len(ways) > 1:
        told = (f"{safe_line(name)} {money_in_words(cost)}" for name, cost in ways)
        output.print(f"  {SEPARATOR.join(told)}", style="dim")
    output.print(f"  {finding.advice}", style="green")
    for one in finding.evidence if is_all else finding.evidence[:MOST_SHOWN]:
        output.print(clipped(f"  {_evidence(one, titles)}", output.width))


def _evidence(one: "Evidence", titles: dict[str, str]) -> str:
    time = minute_of(one.time.astimezone()) if one.time else ""
    what = safe_line(one.about or titles.get(one.session, ""))
    return "  ".join(
        part for part in (money_in_words(one.cost_usd), short(one.session), time, what) if part
    )
