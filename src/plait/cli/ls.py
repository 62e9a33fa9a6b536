"""`plait ls` and `plait` alone: projects and sessions, with their figures, in aligned columns.

Every session is listed, also one without turns, unless an option selects others.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plait.archive import Archive, Facts
from plait.archive.listing import Figures, read_figures
from plait.cli import shared
from plait.cli.options import Request, argument, command, option
from plait.cli.selection import Filters
from plait.line import list_stray_logs
from plait.record.time import parse_time
from plait.sessions.names import is_in_period, is_in_project
from plait.terminal.output import Output, make_text
from plait.terminal.text import (
    GAP,
    PROGRAM,
    SEPARATOR,
    SHORT_ID,
    format_number,
    local_time,
    now,
    safe_line,
    shell_command,
)
from plait.usage.formats import format_row_cost
from plait.usage.spending import SpendingSum
from plait.view.formats import (
    format_age,
    format_bytes,
    format_count,
    format_count_if_any,
    format_day,
    format_days_until,
    format_log_sizes,
)
from plait.view.text import count_columns, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text

SOON = timedelta(days=7)
INDENT = "  "
DISPENSABLE = {"size": 32, "agents": 28, "entries": 24, "turns": 12, "ended": 12, "cost ": 8}
"""Columns that are dropped, in this order, if the title would be narrower than that."""
COUNTED = ("turns", "cost")
MOST_TITLE = 80
SORTS = ("ended", "started", "size", "entries", *COUNTED, "title")
NEWEST = 8
JSON_NAMES = {"is_live": "live", "is_kept": "kept", "is_incomplete": "incomplete"}
NOT_IN_JSON = ("first_branch", "worktree_of", "source_path")


def print_sessions(
    output: Output,
    groups: Sequence[tuple[str, Sequence[Facts]]],
    figures: Mapping[Path, Figures],
    time: datetime,
    *,
    is_long: bool = False,
    starred: Container[str] = (),
) -> None:
    """Print sessions in aligned columns, each group below its heading."""
    rows = [row for _, members in groups for row in members]
    known = [figures.get(row.path, Figures()) for row in rows]
    ended = [parse_time(row.ended) for row in rows]
    cells = {
        "ended": [format_age(when, time) if when else "" for when in ended],
        "turns": ["" if figure.turns is None else format_number(figure.turns) for figure in known],
        "cost ": [format_row_cost(figure.spent) if figure.spent else "" for figure in known],
        "entries": [format_number(row.entries) if is_long else "" for row in rows],
        "size": [format_bytes(row.bytes) for row in rows],
        "agents": [format_number(figure.agents) if figure.agents else "" for figure in known],
    }
    cells = {name: column for name, column in cells.items() if any(column)}
    indent = INDENT if any(heading for heading, _ in groups) else ""
    margin = len(indent) + SHORT_ID + len(GAP)
    widths = {name: max(map(count_columns, (name, *column))) for name, column in cells.items()}

    def title_width() -> int:
        columns = sum(widths.values()) + len(GAP) * len(widths)
        return min(max(output.width - margin - columns, 1), MOST_TITLE)

    for name, least in DISPENSABLE.items():
        if title_width() < least:
            widths.pop(name, None)
    room = title_width()
    headings = GAP.join(name.rjust(width) for name, width in widths.items())
    line = f"{indent}session {GAP}{'title'[:room].ljust(room)}{GAP}{headings}"
    output.print_lines([make_text(line.rstrip(), style="dim")])
    place = 0
    for heading, members in groups:
        if heading:
            output.print_unwrapped(safe_line(heading), style="bold")
        for row in members:
            name = safe_line(row.session)[:SHORT_ID]
            text = make_text(f"{indent}{name}{' ' * (SHORT_ID - count_columns(name))}{GAP}")
            title = _format_title(row, room, time, is_starred=row.session in starred)
            text.append_text(title).append(" " * max(room - title.cell_len, 0))
            for column, width in widths.items():
                style = "green" if column == "cost " else ""
                text.append(GAP + cells[column][place].rjust(width), style=style)
            text.rstrip()
            place += 1
            output.print_lines([text])
            is_cut = row.title is not None and count_columns(row.title) > room
            details = (
                row.session,
                f"in {row.cwd}" if heading and row.cwd and row.cwd != heading else "",
                row.title if is_cut else "",
                row.first_prompt if row.first_prompt != row.title else "",
                f"version {', '.join(row.versions)}" if row.versions else "",
            )
            for detail in filter(None, details) if is_long else ():
                wrapped = make_text(safe_line(detail), style="dim").wrap(
                    output.console, max(output.width - margin, SHORT_ID)
                )
                for part in wrapped:
                    part.rstrip()
                    output.print_lines([make_text(" " * margin).append_text(part)])


def _format_title(row: Facts, room: int, time: datetime, *, is_starred: bool) -> "Text":
    cell = make_text()
    if is_starred:
        cell.append("★ ", style="yellow")
    if row.is_live:
        cell.append("● ", style="green")
    if is_expiring(row, time) and row.deleted_at:
        cell.append(f"† {format_days_until(row.deleted_at, time)}  ", style="red")
    if row.mark:
        cell.append(f"{row.mark}  ", style="cyan")
    title = shorten_to_width(safe_line(row.title or "(no title)"), max(room - cell.cell_len, 1))
    return cell.append(title, "" if row.title else "dim")


def is_expiring(row: Facts, time: datetime) -> bool:
    """Return whether Claude Code's cleanup will delete a session within a week."""
    return row.deleted_at is not None and row.deleted_at - time < SOON


@command(examples="plait ls\nplait ls shop --since 7d\nplait ls --sort cost -n 10")
def ls_command(
    request: Request,
    filters: Filters,
    projects: tuple[str, ...] = argument(metavar="[PROJECT]..."),
    sort: str = option("--sort", choices=SORTS, default="ended", help="Sort by this."),
    reverse: bool = option("-r", "--reverse", help="Reverse the order."),
    limit: int | None = option("-n", "--limit", least=1, help="Show at most this many sessions."),
    only_live: bool = option("--live", help="Only sessions that are running now."),
    expiring: bool = option(
        "--expiring", help="Only sessions that Claude Code's cleanup will delete within a week."
    ),
    only_kept: bool = option("--kept", help="Only sessions that exist only in the backup."),
    only_starred: bool = option("--starred", help="Only starred sessions."),
    is_long: bool = option("--long", help="Show full ids, first prompts and versions."),
    no_fold: bool = shared.no_fold,
    no_index: bool = shared.no_index,
    as_json: bool = shared.as_json,
) -> None:
    """List projects and sessions, newest first.

    Marks before the title: starred (★), running now (●), about to be deleted by Claude Code's
    cleanup (†), only in the backup (kept).
    """
    request.is_folding, time = not no_fold, now()
    names = projects + ((filters.project,) if filters.project else ())
    start, end = filters.period()
    with request.open_archive(no_index=no_index) as archive:
        rows = [
            row
            for row in _read_rows(archive, request.output, names)
            if is_in_period(row, start, end)
            and (row.is_live or not only_live)
            and (is_expiring(row, time) or not expiring)
            and (row.is_kept or not only_kept)
            and (row.session in request.starred or not only_starred)
        ]
        watch = request.output.progress_for("counting turns")
        if sort not in COUNTED:
            rows = _sort_rows(rows, {}, sort, reverse)[:limit]
        figures = read_figures(archive, rows, request.prices, watch)
    rows = _sort_rows(rows, figures, sort, reverse)[:limit]
    if as_json:
        shown = [field.name for field in fields(Facts) if field.name not in NOT_IN_JSON]
        request.output.json(
            [
                {JSON_NAMES.get(name, name): getattr(row, name) for name in shown}
                | {
                    "project": request.archive.folding.project(row.project),
                    "folder": row.project,
                    "path": row.source_path or row.path,
                    "turns": found.turns,
                    "cost_usd": found.cost_usd,
                    "unpriced": sorted(found.spent.unpriced) if found.spent else [],
                    "starred": row.session in request.starred,
                }
                for row, found in ((row, figures[row.path]) for row in rows)
            ]
        )
        return
    with request.output.paged():
        _print_rows(request, rows, figures, time, is_long=is_long)


def _read_rows(archive: Archive, output: Output, projects: Iterable[str]) -> list[Facts]:
    output.warn_unread(archive)
    rows = archive.list_facts(output.progress_for("reading sessions"))
    output.warn_lost_workers(archive)
    names, project_of = tuple(projects), archive.folding.project
    return [
        row
        for row in rows
        if not names or any(is_in_project(row, name, project_of) for name in names)
    ]


def _sort_rows(
    rows: list[Facts], figures: Mapping[Path, Figures], sort: str, reverse: bool
) -> list[Facts]:
    keys: dict[str, Callable[[Facts], Any]] = {
        "ended": lambda row: row.ended or "",
        "started": lambda row: row.started or "",
        "size": lambda row: row.bytes,
        "entries": lambda row: row.entries,
        "turns": lambda row: figures[row.path].turns or 0,
        "cost": lambda row: figures[row.path].cost_usd or 0.0,
        "title": lambda row: (row.title or "").casefold(),
    }
    return sorted(rows, key=keys[sort], reverse=(sort != "title") != reverse)


def _print_rows(
    request: Request,
    rows: list[Facts],
    figures: Mapping[Path, Figures],
    time: datetime,
    *,
    is_long: bool,
) -> None:
    output, archive = request.output, request.archive
    if not rows:
        if archive.sessions:
            output.print_message("no session matches; `plait ls` lists all sessions")
        else:
            output.print("no sessions")
        _note_stray_logs(request)
        return

    folding = archive.folding
    by_project: dict[str, list[Facts]] = {}
    for row in rows:
        by_project.setdefault(folding.project(row.project), []).append(row)
    groups = [(folding.directory(name) or name, members) for name, members in by_project.items()]
    print_sessions(output, groups, figures, time, is_long=is_long, starred=request.starred)
    spent = SpendingSum()
    for figure in figures.values():
        if figure.spent:
            spent.merge(figure.spent)
    paths = {row.path for row in rows}
    files = [
        file for session in archive.sessions if session.path in paths for file in session.files
    ]
    turns = sum(figure.turns or 0 for figure in figures.values())
    sums = (
        f"{format_count(len(rows), 'session')} in {format_count(len(groups), 'project')}",
        # A resumed session repeats the turns it goes on from, and its row counts them.
        f"{format_count(turns, 'turn')} including copies" if turns else "",
        format_count(sum(row.entries for row in rows), "entry", "entries"),
        format_log_sizes(sum(row.bytes for row in rows), sum(file.size for file in files)),
        format_row_cost(spent).strip() if spent.responses else "",
    )
    output.print("")
    output.print(", ".join(filter(None, sums)), style="dim")
    if any(figure.turns is None for figure in figures.values()):
        output.print_message(
            "turns and agents are not counted; run `plait index` once to see them", "dim"
        )


def print_overview(ctx: click.Context) -> None:
    """Print totals, the newest sessions and what to try next."""
    request = ctx.find_object(Request) or Request()
    archive, output = request.archive, request.output
    if not archive.sessions:
        print_no_sessions(request)
        return
    with request.open_archive(no_index=False):
        rows = _read_rows(archive, output, ())
        _print_totals(output, archive, rows)
        newest = sorted(rows, key=lambda row: row.ended or "", reverse=True)
        figures = read_figures(archive, newest[:NEWEST], request.prices)
        groups = [("", newest[:NEWEST])]
        print_sessions(output, groups, figures, now(), starred=request.starred)
    root_options = request.root_options
    if len(rows) > NEWEST:
        words = shell_command(PROGRAM, "ls", *root_options)
        output.print_unwrapped(f"… and {len(rows) - NEWEST} more: {words}", style="dim")
    output.print("")
    expiring = sum(is_expiring(row, now()) for row in rows)
    if expiring:
        output.print_message(
            f"† {format_count(expiring, 'session')} will be deleted by Claude Code's cleanup"
            " within a week: `plait ls --expiring` lists them, `plait keep` backs them up\n",
            style="red",
        )
    name = newest[0].session[:SHORT_ID]
    if sum(row.session.startswith(name) for row in rows) > 1:
        name = str(newest[0].path)
    output.print("Try", style="bold")
    for arguments, purpose in (
        (("show", name), "read this conversation"),
        (("search", "error"), "search everything that was said, run or printed"),
        (("usage",), "tokens and cost by day"),
        (("serve",), "browse all sessions in your web browser"),
        (("export", "--all", "--format", "html", "-o", "site"), "export all of them as web pages"),
    ):
        output.print_unwrapped(f"  {shell_command(PROGRAM, *arguments, *root_options)}")
        output.print(f"      {purpose}", style="dim")


def _print_totals(output: Output, archive: Archive, rows: list[Facts]) -> None:
    parts = [
        format_count(len(archive.projects), "project"),
        format_count(len(rows), "session"),
        format_count_if_any(sum(row.subagents for row in rows), "agent log"),
        format_count(sum(row.entries for row in rows), "entry", "entries"),
        format_log_sizes(sum(row.bytes for row in rows), sum(file.size for file in archive.files)),
    ]
    output.print(SEPARATOR.join(filter(None, parts)), style="bold")
    first = min((row.started for row in rows if row.started), default=None)
    last = max((row.ended for row in rows if row.ended), default=None)
    if first and last:
        times = [(stamp, local_time(stamp)) for stamp in (first, last)]
        days = [format_day(time) if time else safe_line(stamp[:10]) for stamp, time in times]
        output.print(f"from {days[0]} to {days[1]}", style="dim")
    if kept := sum(row.is_kept for row in rows):
        words = f"{format_count(kept, 'session')} that exist only in the backup: `plait ls --kept`"
        output.print_message(words, style="cyan")
    if live := sum(row.is_live for row in rows):
        output.print(f"● {format_count(live, 'session')} running now", style="green")
    output.print("")


def print_no_sessions(request: Request) -> None:
    """Say that there are no sessions, where they were looked for, and what to do."""
    roots = ", ".join(f"'{root}'" for root in request.settings.roots)
    request.output.print(f"no sessions in {roots}")
    _note_stray_logs(request)
    request.output.print_message(
        "Claude Code writes them there; `plait --root DIR` looks elsewhere", style="dim"
    )
    request.output.print_message("`plait --demo` shows example sessions", style="dim")


def _note_stray_logs(request: Request) -> None:
    count = sum(len(list_stray_logs(root)) for root in request.archive.roots)
    if count:
        logs = f"not read: {format_count(count, 'log')} outside the `projects` folder"
        request.output.print_message(f"{logs}; `plait doctor` lists them")
