"""`plait keep status`: the store and the sessions to what is kept, and what will be lost when."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
import msgspec

from plait.cli.keep.install import WORDS, installed_ways
from plait.cli.options import Request, global_options, json_option
from plait.cli.text import clipped, counted, now, number, safe_line, size

if TYPE_CHECKING:
    from plait.archive.keeping import AtRisk, KeepStatus

SOON = timedelta(days=7)
MOST_SHOWN = 10


@click.command("status")
@json_option
@global_options
@click.pass_obj
def command(request: Request, as_json: bool) -> None:
    """Show what is kept, what is not, and what the cleanup will delete when."""
    with request.answering(no_index=False) as archive:
        status = archive.keep.status()
    if as_json:
        ways = {"ratio": status.ratio, "automatic": installed_ways(request)}
        request.output.json({**msgspec.to_builtins(status), **ways})
        return
    _print_status(request, status)
    _print_missing(request)
    _print_ways(request)


def _print_missing(request: Request) -> None:
    if not any(root.logs.exists() for root in request.archive.roots):
        told = "no folder of Claude Code's sessions is there: `--root DIR` names one"
        request.output.print(told)


def _print_ways(request: Request) -> None:
    ways = installed_ways(request)
    for way in ways:
        request.output.print(f"kept by themselves {WORDS[way]}")
    if not ways:
        told = "nothing keeps them by itself: `plait keep --install` does"
        request.output.print(told, style="dim")


def _print_status(request: Request, status: "KeepStatus") -> None:
    output = request.output
    output.unbroken(safe_line(status.folder), style="dim")
    gone = f", {number(status.gone)} of them no longer at their source" if status.gone else ""
    if not status.kept:
        yet = " yet" if status.unkept else ""
        output.print(f"nothing is kept{yet}{' of these' * bool(status.elsewhere)}", style="bold")
    else:
        output.print(f"{counted(status.kept, 'session')} kept{gone}", style="bold")
    if status.ratio:
        room = f"{size(status.bytes)} in {size(status.stored_bytes)} on disk"
        output.print(f"{room}, {status.ratio:.1f} to 1")
    if status.elsewhere:
        output.print(f"{counted(status.elsewhere, 'session')} kept from other folders, too")
    if status.incomplete:
        output.print(f"{counted(status.incomplete, 'session')} put together from what was left")
    if not status.unkept:
        _print_all_kept(request, status)
        return
    output.print(f"{counted(status.unkept, 'session')} not kept as they are now")
    _print_risks(request, status)
    output.print("")
    output.say("`plait keep` keeps them", style="bold")


def _print_all_kept(request: Request, status: "KeepStatus") -> None:
    if not status.kept:
        request.output.print("there are no sessions to keep")
    elif status.kept == status.gone:
        told = "no sessions are at their source: `plait restore SESSION` puts one back"
        request.output.print(told)
    else:
        request.output.print("nothing will be lost: all sessions are kept", style="green")


def _print_risks(request: Request, status: "KeepStatus") -> None:
    output, today = request.output, now().astimezone().date()
    if not status.at_risk:
        return
    soon = [one for one in status.at_risk if one.deleted_on - today <= SOON]
    output.print("")
    if soon:
        lost = counted(len(soon), "session")
        output.print(f"{lost} will be lost within a week:", style="bold red")
    else:
        first = status.at_risk[0].deleted_on
        output.print(f"the cleanup deletes the first of them on {first}:")
    shown = (soon or status.at_risk)[:MOST_SHOWN]
    for one in shown:
        output.print(_risk_line(one, output.width, is_due=one.deleted_on <= today))
    rest = len(soon or status.at_risk) - len(shown)
    if rest:
        output.print(f"  and {number(rest)} more", style="dim")


def _risk_line(one: "AtRisk", width: int, *, is_due: bool) -> Any:
    from rich.text import Text

    day = "at the next start" if is_due else str(one.deleted_on)
    older = "  (older state kept)" if one.is_older_kept else ""
    title = safe_line(one.title or "(no title)")
    line = f"  {day:<17}  {safe_line(one.session[:8])}  {title}{older}"
    return Text(clipped(line, width))
