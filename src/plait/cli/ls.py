"""`plait ls` and `plait` alone: projects and their sessions to a table or a list."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.archive import Archive, Facts
from plait.cli.listing import Figures, Listing, figures_of, is_expiring, together
from plait.cli.options import (
    Request,
    filter_options,
    fold_option,
    global_options,
    json_option,
    no_index_option,
)
from plait.cli.output import Output
from plait.cli.selection import is_in, is_within, point_in_time
from plait.cli.settings import own_command
from plait.cli.text import OWN, counted, local, now, safe_line, size, to_type
from plait.line import logs_beside
from plait.view.amounts import some
from plait.view.forms import day_of

if TYPE_CHECKING:
    from plait.archive import Folding

COUNTED = ("turns", "cost")
SORTS = ("ended", "started", "size", "entries", *COUNTED, "title")
NEWEST = 8
NOT_COUNTED = "turns are not counted in so many logs: `plait index` once, and they are there"
RENAMED = {"is_live": "live", "is_kept": "kept", "is_incomplete": "incomplete"}
UNLISTED = ("first_branch", "worktree_of")


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
@click.option("--starred", "only_starred", is_flag=True, help="Only sessions that are starred.")
@click.option("--long", "is_long", is_flag=True, help="Whole ids, first prompts and versions.")
@fold_option
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
    only_starred: bool,
    is_long: bool,
    no_index: bool,
    as_json: bool,
) -> None:
    """List projects and sessions, the newest first.

    A mark before the title says that a session is starred (★) or live (●), or will soon be
    deleted by the client's cleanup (†), or is no longer at its source (kept).
    """
    time = now()
    names = projects + ((project,) if project else ())
    start, end = point_in_time(since, time), point_in_time(until, time)
    starred = request.starred
    with request.answering(no_index=no_index) as archive:
        rows = [
            row
            for row in _survey(archive, request.output, names)
            if is_within(row, start, end)
            and (row.is_live or not only_live)
            and (is_expiring(row, time) or not expiring)
            and (row.is_kept or not only_kept)
            and (row.session in starred or not only_starred)
        ]
        if sort not in COUNTED:
            rows = _ordered(rows, {}, sort, reverse)[:limit]
        figures = figures_of(archive, request, rows)
    rows = _ordered(rows, figures, sort, reverse)[:limit]
    if as_json:
        listed = [_listed(row, figures[row.path], archive.folding) for row in rows]
        request.output.json([one | {"starred": one["session"] in starred} for one in listed])
        return
    with request.output.paged():
        _print_rows(request, rows, figures, time, is_long=is_long)


def _survey(archive: Archive, output: Output, projects: tuple[str, ...]) -> list[Facts]:
    output.note_unread(archive)
    rows = archive.all_facts(output.watch("reading sessions"))
    output.note_losses(archive)
    of = archive.folding.project
    return [row for row in rows if not projects or any(is_in(row, name, of) for name in projects)]


def _ordered(
    rows: list[Facts], figures: Mapping[Path, Figures], sort: str, reverse: bool
) -> list[Facts]:
    keys: dict[str, Any] = {
        "ended": lambda row: row.ended or "",
        "started": lambda row: row.started or "",
        "size": lambda row: row.bytes,
        "entries": lambda row: row.entries,
        "turns": lambda row: figures[row.path].turns or 0,
        "cost": lambda row: figures[row.path].cost_usd or 0.0,
        "title": lambda row: (row.title or "").casefold(),
    }
    return sorted(rows, key=keys[sort], reverse=(sort != "title") != reverse)


def _listed(row: Facts, figures: Figures, folding: "Folding") -> dict[str, Any]:
    names = (one.name for one in fields(row) if one.name not in UNLISTED)
    listed = {RENAMED.get(name, name): getattr(row, name) for name in names}
    return listed | {
        "project": folding.project(row.project),
        "folder": row.project,
        "turns": figures.turns,
        "cost_usd": figures.cost_usd,
        "unpriced": sorted(figures.spent.unpriced) if figures.spent else [],
    }


def _print_rows(
    request: Request,
    rows: list[Facts],
    figures: Mapping[Path, Figures],
    time: datetime,
    *,
    is_long: bool,
) -> None:
    output = request.output
    if not rows:
        _say_that_none_is(request)
        _say_what_is_not_read(request)
        return
    folding = request.archive.folding
    members = _by_project(rows, folding)
    groups = [(folding.directory(name) or name, held) for name, held in members.items()]
    Listing(output, time, figures, is_long, request.starred).print(groups)
    output.print("")
    output.print(_sums_of(request, rows, len(groups), figures), style="dim")
    if any(one.turns is None for one in figures.values()):
        output.say(NOT_COUNTED, style="dim")


def _say_that_none_is(request: Request) -> None:
    if request.archive.sessions:
        request.output.say("no session matches: `plait ls` lists all that there are")
    else:
        request.output.print("no sessions")


def _sums_of(
    request: Request, rows: list[Facts], projects: int, figures: Mapping[Path, Figures]
) -> str:
    from plait.view.usage import cost_of

    spent = together(figures.values())
    listed = {row.path for row in rows}
    files = [file for one in request.archive.sessions if one.path in listed for file in one.files]
    parts = (
        f"{counted(len(rows), 'session')} in {counted(projects, 'project')}",
        some(sum(one.turns or 0 for one in figures.values()), "turn"),
        counted(sum(row.entries for row in rows), "entry", "entries"),
        size(sum(file.size for file in files)),
        cost_of(spent).strip() if spent.responses else "",
    )
    return ", ".join(filter(None, parts))


def _by_project(rows: list[Facts], folding: "Folding") -> dict[str, list[Facts]]:
    groups: dict[str, list[Facts]] = {}
    for row in rows:
        groups.setdefault(folding.project(row.project), []).append(row)
    return groups


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
    with request.answering(no_index=is_gallery):
        rows = _survey(archive, output, ())
        _print_totals(output, archive, rows)
        roots = (gallery,) if is_gallery and gallery else request.roots
        _print_newest(request, archive, rows, roots)
        _print_expiring(output, rows)
    _print_next_steps(output, rows, roots)


def say_where_plait_looked(request: Request) -> None:
    """Says that there is nothing, where that was looked for, and what to do."""
    output = request.output
    looked = ", ".join(f"'{root}'" for root in request.settings.roots)
    output.print(f"no sessions in {looked}")
    _say_what_is_not_read(request)
    output.say(
        "Claude Code writes them there; point elsewhere with `plait --root DIR`", style="dim"
    )


def _say_what_is_not_read(request: Request) -> None:
    beside = sum(len(logs_beside(root)) for root in request.archive.roots)
    if beside:
        logs = f"{counted(beside, 'log')} outside the folder 'projects' not read"
        request.output.say(f"{logs}: `plait doctor` says where")


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
        output.print(f"from {_day(first)} to {_day(last)}", style="dim")
    if kept := sum(row.is_kept for row in rows):
        output.say(f"{counted(kept, 'session')} only kept: `plait ls --kept`", style="cyan")
    live = [row for row in rows if row.is_live]
    if live:
        output.print(f"● {counted(len(live), 'session')} running now", style="green")
    output.print("")


def _day(stamp: str) -> str:
    time = local(stamp)
    return day_of(time) if time else safe_line(stamp[:10])


def _print_newest(
    request: Request, archive: Archive, rows: list[Facts], roots: tuple[str, ...]
) -> None:
    newest = sorted(rows, key=lambda row: row.ended or "", reverse=True)[:NEWEST]
    figures = figures_of(archive, request, newest)
    Listing(request.output, now(), figures, starred=request.starred).print([("", newest)])
    if len(rows) > NEWEST:
        command = to_type(OWN, "ls", *(word for root in roots for word in ("--root", root)))
        request.output.unbroken(f"… and {len(rows) - NEWEST} more: {command}", style="dim")
    request.output.print("")


def _print_expiring(output: Output, rows: list[Facts]) -> None:
    time: datetime = now()
    soon = [row for row in rows if is_expiring(row, time)]
    if soon:
        output.say(
            f"† {counted(len(soon), 'session')} will be deleted by Claude Code's cleanup"
            " within a week: `plait ls --expiring` lists them, `plait keep` keeps them\n",
            style="red",
        )


def _print_next_steps(output: Output, rows: list[Facts], roots: tuple[str, ...]) -> None:
    newest = _unique_name(max(rows, key=lambda row: row.ended or ""), rows)
    plait = own_command()
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


def _unique_name(row: Facts, rows: list[Facts]) -> str:
    short = row.session[:8]
    is_alone = sum(other.session.startswith(short) for other in rows) == 1
    return to_type(short if is_alone else str(row.path))
