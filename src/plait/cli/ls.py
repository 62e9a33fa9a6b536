"""`plait ls`: projects and their sessions to a table or a list."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from plait.archive import Archive, Facts
from plait.archive.sessions import is_of_project
from plait.cli.from_index import index_of, no_index_option
from plait.cli.options import Request, filter_options, global_options, json_option, point_in_time
from plait.cli.output import Output
from plait.cli.text import ago, clipped, counted, now, number, safe, size, until
from plait.record.time import moment

if TYPE_CHECKING:
    from rich.text import Text

SOON = timedelta(days=7)
LONGEST_TITLE = 100
SORTS = ("ended", "started", "size", "entries", "title")


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
    is_long: bool,
    no_index: bool,
    as_json: bool,
) -> None:
    """List projects and sessions, the newest first.

    A mark before the title says that a session is live (●), or will soon be deleted by the
    client's cleanup (†).
    """
    time = now()
    names = projects + ((project,) if project else ())
    start, end = point_in_time(since, time), point_in_time(until, time)
    with index_of(request, no_index=no_index):
        found = survey(request.archive, request.output, names)
    rows = [
        row
        for row in found
        if is_within(row, start, end)
        and (row.is_live or not only_live)
        and (is_expiring(row, time) or not expiring)
    ]
    rows = ordered(rows, sort, reverse)[:limit]
    if as_json:
        request.output.json([listed(row) for row in rows])
        return
    with request.output.paged():
        print_rows(request, rows, time, is_long=is_long)


def survey(archive: Archive, output: Output, projects: tuple[str, ...]) -> list[Facts]:
    """Returns the facts of the sessions of some projects, or of all."""
    if archive.discovery.unread:
        places = counted(len(archive.discovery.unread), "place")
        output.note(f"{places} could not be read: `plait doctor` names them")
    rows = [archive.facts(one) for one in output.progress(archive.sessions, "reading sessions")]
    return [row for row in rows if not projects or any(is_in(row, name) for name in projects)]


def is_in(row: Facts, project: str) -> bool:
    """Tells whether a session is of a project: by its folder's name or its directory."""
    directory = (row.cwd or "").casefold()
    return is_of_project(row.project, project) or project.casefold() in directory


def is_within(row: Facts, start: datetime | None, end: datetime | None) -> bool:
    """Tells whether a session was held in a span of time."""
    began, ended = moment(row.started), moment(row.ended)
    if start and not (ended and ended >= start):
        return False
    return not end or bool(began and began < end)


def is_expiring(row: Facts, time: datetime) -> bool:
    """Tells whether the cleanup will soon delete a session."""
    return row.deleted_at is not None and row.deleted_at - time < SOON


def ordered(rows: list[Facts], sort: str, reverse: bool) -> list[Facts]:
    """Returns the rows in the order asked for: times, sizes and counts from the top down."""
    keys: dict[str, Any] = {
        "ended": lambda row: row.ended or "",
        "started": lambda row: row.started or "",
        "size": lambda row: row.bytes,
        "entries": lambda row: row.entries,
        "title": lambda row: (row.title or "").casefold(),
    }
    return sorted(rows, key=keys[sort], reverse=(sort != "title") != reverse)


def listed(row: Facts) -> dict[str, Any]:
    """Returns a session as `--json` lists it."""
    return {
        "session": row.session,
        "project": row.project,
        "path": str(row.path),
        "title": row.title,
        "title_from": row.title_from,
        "first_prompt": row.first_prompt,
        "started": row.started,
        "ended": row.ended,
        "entries": row.entries,
        "bytes": row.bytes,
        "versions": row.versions,
        "subagents": row.subagents,
        "cwd": row.cwd,
        "git_branch": row.git_branch,
        "live": row.is_live,
        "deleted_at": row.deleted_at,
    }


def print_rows(request: Request, rows: list[Facts], time: datetime, *, is_long: bool) -> None:
    """Prints the sessions, project by project."""
    output = request.output
    if not rows:
        output.print("no sessions")
        return
    for project, members in by_project(rows).items():
        heading = next((row.cwd for row in members if row.cwd), project)
        output.console.print(safe(heading), style="bold", soft_wrap=True)
        output.print(project_table(output, members, time, is_long=is_long))
        output.print("")
    total = sum(row.bytes for row in rows)
    output.print(
        f"{counted(len(rows), 'session')} in {counted(len(by_project(rows)), 'project')}, "
        f"{counted(sum(row.entries for row in rows), 'entry', 'entries')}, {size(total)}",
        style="dim",
    )


def by_project(rows: list[Facts]) -> dict[str, list[Facts]]:
    """Groups sessions by project, in the order in which the projects come up."""
    groups: dict[str, list[Facts]] = {}
    for row in rows:
        groups.setdefault(row.project, []).append(row)
    return groups


def project_table(output: Output, rows: list[Facts], time: datetime, *, is_long: bool) -> Any:
    """Returns the table of one project's sessions."""
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
            row.session if is_long else row.session[:8],
            title_cell(row, time, is_long=is_long),
            ago(ended, time) if ended else "",
            number(row.entries),
            size(row.bytes),
            str(row.subagents or ""),
        )
    return table


def title_cell(row: Facts, time: datetime, *, is_long: bool) -> "Text":
    """Returns a session's title with its marks."""
    from rich.text import Text

    cell = Text(overflow="fold")
    if row.is_live:
        cell.append("● ", style="green")
    if is_expiring(row, time) and row.deleted_at:
        cell.append(f"† {until(row.deleted_at, time)}  ", style="red")
    title = safe(row.title or "(no title)")
    cell.append(title if is_long else clipped(title, LONGEST_TITLE), "" if row.title else "dim")
    if is_long:
        if row.first_prompt and row.first_prompt != row.title:
            cell.append(f"\n{safe(row.first_prompt)}", style="dim")
        if row.versions:
            cell.append(f"\nversion {', '.join(row.versions)}", style="dim")
    return cell
