"""`plait index`: makes the index, brings it up to date, tells how it is, stays with it."""

import time
from typing import Any

import click
import msgspec

from plait.cli.options import Request, global_options, json_option
from plait.cli.output import write_bytes
from plait.errors import PlaitError, UserError
from plait.index.freshness import is_fresh_for
from plait.index.model import IndexReport, ms_since


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Read everything anew.")
@click.option("--status", is_flag=True, help="Tell what the index holds; change nothing.")
@click.option("--watch", "is_watching", is_flag=True, help="Stay and keep it up to date.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request, rebuild: bool, status: bool, is_watching: bool, as_json: bool
) -> None:
    """Bring the index up to date, so that search answers at once.

    It holds nothing that the logs do not: delete it, and it is made anew. Only what has changed
    since the last time is read.
    """
    if rebuild + status + is_watching > 1 and (status or not rebuild):
        raise UserError(
            "`--rebuild`, `--status` and `--watch` are three different things", "say one of them"
        )
    if status:
        _show_status(request, as_json=as_json)
    elif is_watching:
        _keep_watch(request, rebuild=rebuild, as_json=as_json)
    else:
        report = brought_up_to_date(request, rebuild=rebuild)
        _show_report(request, report, as_json=as_json)


def brought_up_to_date(request: Request, *, rebuild: bool = False) -> IndexReport:
    """Brings the index up to date, with a bar on the screen while that takes long."""
    folder, started = request.settings.index, time.perf_counter()
    has_store = request.has_store  # then a look at the roots is not enough
    if not (rebuild or has_store) and is_fresh_for(folder, request.settings.roots):
        return IndexReport(took_ms=ms_since(started))
    with request.output.watched() as watch:
        report = request.indexed.update_index(rebuild=rebuild, watch=watch)
    request.output.note_losses(request.archive)
    return report


def _show_report(request: Request, report: IndexReport, *, as_json: bool) -> None:
    if as_json:
        value: dict[str, Any] = msgspec.to_builtins(report)
        request.output.json({"folder": request.settings.index, **value})
    else:
        _tell(report, as_json=False)


def _in_words(report: IndexReport) -> str:
    if report.is_unchanged:
        return f"up to date, {report.took_ms:.0f} ms"
    from plait.cli.text import counted, size

    parts = [
        f"{counted(report.read, 'session')} read, {size(report.bytes)}" if report.read else "",
        f"{counted(report.grown, 'file')} had grown" if report.grown else "",
        f"{counted(report.forgotten, 'session')} gone" if report.forgotten else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"{said}, {report.took_ms:.0f} ms"


def _show_status(request: Request, *, as_json: bool) -> None:
    from plait.cli.text import counted, number, size

    found = request.indexed.index_status()
    output = request.output
    if as_json:
        output.json(found)
        return
    if not found.exists:
        output.say("there is no index yet: `plait index` or the first search makes it")
        return
    output.print(found.folder)
    held = counted(found.sessions, "session"), counted(found.turns, "turn")
    output.print(f"{', '.join(held)}, {number(found.passages)} passages")
    output.print(f"{size(found.bytes)} of logs in {size(found.size)} on disk")
    changed = counted(found.changed, "file")
    is_fresh = not found.changed
    output.say("up to date" if is_fresh else f"{changed} changed since: `plait index` reads them")


def _keep_watch(request: Request, *, rebuild: bool, as_json: bool) -> None:
    from plait.archive import changes

    report = brought_up_to_date(request, rebuild=rebuild)
    _tell(report, as_json=as_json)
    places = [root.logs for root in request.archive.roots]
    if not as_json:
        request.output.note(f"watching {', '.join(map(str, places))}: stop with Ctrl-C")
    for _ in changes(places):
        try:
            renewed = Request(request.roots, request.colour, request.has_pager)
            report = brought_up_to_date(renewed)
        except PlaitError as error:  # a folder that has gone may come back
            request.output.note(error.message)
            continue
        if not report.is_unchanged:
            _tell(report, as_json=as_json)


def _tell(report: IndexReport, *, as_json: bool) -> None:
    line = msgspec.json.encode(report) if as_json else _in_words(report).encode()
    write_bytes(line + b"\n")
