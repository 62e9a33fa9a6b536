"""`plait` alone: what is there, and what to try next."""

import sys
from datetime import datetime
from pathlib import Path
from shlex import quote
from shutil import which

import click

from plait.archive import Archive, Facts
from plait.cli.ls import is_expiring, project_table, survey
from plait.cli.options import Request
from plait.cli.output import Output
from plait.cli.text import counted, now, size

NEWEST = 8


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
    rows = survey(archive, output, ())
    print_totals(output, archive, rows)
    print_newest(output, rows)
    print_expiring(output, rows)
    roots = (gallery,) if is_gallery and gallery else request.roots
    print_next_steps(output, rows, roots)


def say_where_plait_looked(request: Request) -> None:
    """Says that there is nothing, where that was looked for, and what to do."""
    output = request.output
    looked = ", ".join(f"'{root}'" for root in request.settings.roots)
    output.print(f"no sessions in {looked}")
    output.print(
        "Claude Code writes them there; point elsewhere with `plait --root DIR`", style="dim"
    )


def print_totals(output: Output, archive: Archive, rows: list[Facts]) -> None:
    """Prints how much there is."""
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
    live = [row for row in rows if row.is_live]
    if live:
        output.print(f"● {counted(len(live), 'session')} running now", style="green")
    output.print("")


def print_newest(output: Output, rows: list[Facts]) -> None:
    """Prints the newest sessions."""
    newest = sorted(rows, key=lambda row: row.ended or "", reverse=True)[:NEWEST]
    output.print(project_table(output, newest, now(), is_long=False))
    if len(rows) > NEWEST:
        output.print(f"… and {len(rows) - NEWEST} more: `plait ls`", style="dim")
    output.print("")


def print_expiring(output: Output, rows: list[Facts]) -> None:
    """Warns of sessions that the client's cleanup will soon delete."""
    time: datetime = now()
    soon = [row for row in rows if is_expiring(row, time)]
    if soon:
        output.print(
            f"† {counted(len(soon), 'session')} will be deleted by Claude Code's cleanup"
            " within a week: `plait ls --expiring`\n",
            style="red",
        )


def print_next_steps(output: Output, rows: list[Facts], roots: tuple[str, ...]) -> None:
    """Prints a few things to try, with real names."""
    newest = unique_name(max(rows, key=lambda row: row.ended or ""), rows)
    plait = name_of_command()
    root = "".join(f" --root {quote(root)}" for root in roots)
    output.print("Try", style="bold")
    steps = {
        f"{plait} show {newest}{root}": "a conversation, to read",
        f"{plait} log {newest}{root}": "the same session as the graph it is",
        f"{plait} usage{root}": "tokens and cost by day",
        f"{plait} export --all --format html -o site{root}": "all of it as pages",
        f"{plait} doctor{root}": "every line accounted for, and what is odd",
    }
    for command, what in steps.items():
        output.console.print(f"  {command}", soft_wrap=True)
        output.print(f"      {what}", style="dim")


def name_of_command() -> str:
    """Returns what to type: the path it was called by, where the shell would not find it."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "plait" and not which("plait") else "plait"


def unique_name(row: Facts, rows: list[Facts]) -> str:
    """Returns the short id of a session, or its file where another has the same."""
    short = row.session[:8]
    is_alone = sum(other.session.startswith(short) for other in rows) == 1
    return short if is_alone else quote(str(row.path))
