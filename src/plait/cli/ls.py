"""`plait ls` and `plait` alone: projects and their sessions to a table or a list."""

import sys
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import click

from plait.archive import Archive, Facts
from plait.cli.options import (
    Request,
    filter_options,
    global_options,
    json_option,
    no_index_option,
)
from plait.cli.output import Output
from plait.cli.selection import is_in, is_within, point_in_time
from plait.cli.text import ago, clipped, counted, now, number, safe_line, size, to_type
from plait.line import logs_beside
from plait.record.time import moment
from plait.view.amounts import until

if TYPE_CHECKING:
    from rich.text import Text

SOON = timedelta(days=7)
LONGEST_TITLE = 100
SORTS = ("ended", "started", "size", "entries", "title")
NEWEST = 8
RENAMED = {"is_live": "live", "is_kept": "kept", "is_incomplete": "incomplete"}


@click.command("ls")
@click.argument("projects", metavar="[PROJECT]...", nargs=-1)
@filter_options
@click.option("--sort", type=click.Choice(SORTS), default="ended", help="What decides the order.")
@click.option("-r", "--reverse", is_flag=True, help="Turn the order round.")
@click.option("-n", "--limit", type=click.IntRange(1), help="At most so many sessions.")
@click.option("--live", "only_live", is_flag=True, help="Only sessions that are running now.")
@click.option(
    "--expiring", is_flag=True, help="Only sessions the cleanup will delete within a week."
)
@click.option("--kept", "only_kept", is_flag=True, help="Only sessions that are only kept.")
@click.option("--long", "is_long", is_flag=True, help="Whole ids, first prompts and versions.")
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    projects: tuple[str, ...],
    project: str | None,
    since: str | None,
    until: str | None,
    sort: str,
    reverse: bool,
    limit: int | None,
    only_live: bool,
    expiring: bool,
    only_kept: bool,
    is_long: bool,
    no_index: bool,
    as_json: bool,
) -> None:
    """List projects and sessions, the newest first.

    A mark before the title says that a session is live (●), or will soon be deleted by the
    client's cleanup (†), or is no longer at its source (kept).
    """
    time = now()
    names = projects + ((project,) if project else ())
    start, end = point_in_time(since, time), point_in_time(until, time)
    with request.answering(no_index=no_index) as archive:
        found = _survey(archive, request.output, names)
    rows = [
        row
        for row in found
        if is_within(row, start, end)
        and (row.is_live or not only_live)
        and (_is_expiring(row, time) or not expiring)
        and (row.is_kept or not only_kept)
    ]
    rows = _ordered(rows, sort, reverse)[:limit]
    if as_json:
        request.output.json([_listed(row) for row in rows])
        return
    with request.output.paged():
        _print_rows(request, rows, time, is_long=is_long)


def _survey(archive: Archive, output: Output, projects: tuple[str, ...]) -> list[Facts]:
    output.note_unread(archive)
    rows = archive.all_facts(output.watch("reading sessions"))
    output.note_losses(archive)
    return [row for row in rows if not projects or any(is_in(row, name) for name in projects)]


def _is_expiring(row: Facts, time: datetime) -> bool:
    return row.deleted_at is not None and row.deleted_at - time < SOON


def _ordered(rows: list[Facts], sort: str, reverse: bool) -> list[Facts]:
    keys: dict[str, Any] = {
        "ended": lambda row: row.ended or "",
        "started": lambda row: row.started or "",
        "size": lambda row: row.bytes,
        "entries": lambda row: row.entries,
        "title": lambda row: (row.title or "").casefold(),
    }
    return sorted(rows, key=keys[sort], reverse=(sort != "title") != reverse)


def _listed(row: Facts) -> dict[str, Any]:
    names = (one.name for one in fields(row))
    return {RENAMED.get(name, name): getattr(row, name) for name in names}


def _print_rows(request: Request, rows: list[Facts], time: datetime, *, is_long: bool) -> None:
    output = request.output
    if not rows:
        output.print("no sessions")
        _say_what_is_not_read(request)
        return
    for project, members in _by_project(rows).items():
        heading = next((row.cwd for row in members if row.cwd), project)
        output.unbroken(safe_line(heading), style="bold")
        output.print(_project_table(output, members, time, is_long=is_long))
        output.print("")
    total = sum(row.bytes for row in rows)
    output.print(
        f"{counted(len(rows), 'session')} in {counted(len(_by_project(rows)), 'project')}, "
        f"{counted(sum(row.entries for row in rows), 'entry', 'entries')}, {size(total)}",
        style="dim",
    )


def _by_project(rows: list[Facts]) -> dict[str, list[Facts]]:
    groups: dict[str, list[Facts]] = {}
    for row in rows:
        groups.setdefault(row.project, []).append(row)
    return groups


def _project_table(output: Output, rows: list[Facts], time: datetime, *, is_long: bool) -> Any:
    table = output.table(
        "session",
        "title",
        "ended",
        "entries",
        "size",
        "agents",
        right=("ended", "entries", "size", "agents"),
        wide="title",
    )
    for row in rows:
        ended = moment(row.ended)
        table.add_row(
            safe_line(row.session if is_long else row.session[:8]),
            _title_cell(row, time, is_long=is_long),
            ago(ended, time) if ended else "",
            number(row.entries),
            size(row.bytes),
            str(row.subagents or ""),
        )
    return table


def _title_cell(row: Facts, time: datetime, *, is_long: bool) -> "Text":
    from rich.text import Text

    cell = Text(overflow="fold")
    if row.is_live:
        cell.append("● ", style="green")
    if _is_expiring(row, time) and row.deleted_at:
        cell.append(f"† {until(row.deleted_at, time)}  ", style="red")
    if row.mark:
        cell.append(f"{row.mark}  ", style="cyan")
    title = safe_line(row.title or "(no title)")
    cell.append(title if is_long else clipped(title, LONGEST_TITLE), "" if row.title else "dim")
    if is_long:
        if row.first_prompt and row.first_prompt != row.title:
            cell.append(f"\n{safe_line(row.first_prompt)}", style="dim")
        if row.versions:
            cell.append(f"\nversion {safe_line(', '.join(row.versions))}", style="dim")
    return cell


def show_overview(ctx: click.Context, gallery: str | None) -> None:
    """Prints the overview of the archive, or of the gallery where there are no sessions."""
    request = ctx.find_object(Request) or Request()
    archive, is_gallery = request.archive, False
    if not archive.sessions and gallery:
        archive, is_gallery = Archive([gallery]), True
    output = request.output
    if not archive.sessions:
        say_where_plait_looked(request)
        return
    if is_gallery:
        output.print("No sessions of yours were found: this is the examples gallery.\n")
    rows = _survey(archive, output, ())
    _print_totals(output, archive, rows)
    _print_newest(output, rows)
    _print_expiring(output, rows)
    roots = (gallery,) if is_gallery and gallery else request.roots
    _print_next_steps(output, rows, roots)


def say_where_plait_looked(request: Request) -> None:
    """Says that there is nothing, where that was looked for, and what to do."""
    output = request.output
    looked = ", ".join(f"'{root}'" for root in request.settings.roots)
    output.print(f"no sessions in {looked}")
    _say_what_is_not_read(request)
    output.print(
        "Claude Code writes them there; point elsewhere with `plait --root DIR`", style="dim"
    )


def _say_what_is_not_read(request: Request) -> None:
    beside = sum(len(logs_beside(root)) for root in request.archive.roots)
    if beside:
        logs = f"{counted(beside, 'log')} outside the folder 'projects' not read"
        request.output.print(f"{logs}: `plait doctor` says where")


def _print_totals(output: Output, archive: Archive, rows: list[Facts]) -> None:
    total = sum(file.size for file in archive.files)
    agents = sum(row.subagents for row in rows)
    parts = [
        counted(len(archive.projects), "project"),
        counted(len(rows), "session"),
        counted(agents, "sub-agent") if agents else "",
        counted(sum(row.entries for row in rows), "entry", "entries"),
        size(total),
    ]
    output.print(" · ".join(part for part in parts if part), style="bold")
    first = min((row.started for row in rows if row.started), default=None)
    last = max((row.ended for row in rows if row.ended), default=None)
    if first and last:
        output.print(f"from {first[:10]} to {last[:10]}", style="dim")
    if kept := sum(row.is_kept for row in rows):
        output.print(f"{counted(kept, 'session')} only kept: `plait ls --kept`", style="cyan")
    live = [row for row in rows if row.is_live]
    if live:
        output.print(f"● {counted(len(live), 'session')} running now", style="green")
    output.print("")


def _print_newest(output: Output, rows: list[Facts]) -> None:
    newest = sorted(rows, key=lambda row: row.ended or "", reverse=True)[:NEWEST]
    output.print(_project_table(output, newest, now(), is_long=False))
    if len(rows) > NEWEST:
        output.print(f"… and {len(rows) - NEWEST} more: `plait ls`", style="dim")
    output.print("")


def _print_expiring(output: Output, rows: list[Facts]) -> None:
    time: datetime = now()
    soon = [row for row in rows if _is_expiring(row, time)]
    if soon:
        output.print(
            f"† {counted(len(soon), 'session')} will be deleted by Claude Code's cleanup"
            " within a week: `plait ls --expiring` lists them, `plait keep` keeps them\n",
            style="red",
        )


def _print_next_steps(output: Output, rows: list[Facts], roots: tuple[str, ...]) -> None:
    newest = _unique_name(max(rows, key=lambda row: row.ended or ""), rows)
    plait = _name_of_command()
    root = "".join(f" --root {to_type(root)}" for root in roots)
    output.print("Try", style="bold")
    steps = {
        f"{plait} show {newest}{root}": "a conversation, to read",
        f"{plait} log {newest}{root}": "the same session as the graph it is",
        f"{plait} usage{root}": "tokens and cost by day",
        f"{plait} export --all --format html -o site{root}": "all of it as pages",
        f"{plait} doctor{root}": "every line accounted for, and what is odd",
    }
    for command, what in steps.items():
        output.unbroken(f"  {command}")
        output.print(f"      {what}", style="dim")


def _name_of_command() -> str:
    """Returns what to type: the path it was called by, where the shell would not find it."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "plait" and not which("plait") else "plait"


def _unique_name(row: Facts, rows: list[Facts]) -> str:
    short = row.session[:8]
    is_alone = sum(other.session.startswith(short) for other in rows) == 1
    return to_type(short if is_alone else str(row.path))
