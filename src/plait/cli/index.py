"""`plait index`: builds, updates, describes and watches the index."""

import time
from dataclasses import replace
from typing import Any

import msgspec

from plait.archive import watch_changes
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.errors import PlaitError, UserError
from plait.index.freshness import is_fresh_for_roots
from plait.index.model import IndexReport, elapsed_ms
from plait.terminal.output import write_bytes
from plait.view.formats import format_bytes, format_count


@command(examples="plait index\nplait index --status")
def index_command(
    request: Request,
    rebuild: bool = option("--rebuild", help="Read everything again."),
    status: bool = option("--status", help="Show what the index contains."),
    is_watching: bool = option(
        "--watch", help="Keep running and update the index as sessions grow."
    ),
    as_json: bool = shared.as_json,
) -> None:
    """Build or update the index that makes search instant.

    It contains nothing that is not in the logs, and can be deleted at any time. Only changes since
    the last update are read.
    """
    if rebuild + status + is_watching > 1 and (status or not rebuild):
        raise UserError("use only one of `--rebuild`, `--status` and `--watch`")
    output = request.output
    if status:
        found = request.indexed_archive.index_status()
        if as_json:
            output.json(found)
        elif not found.exists:
            output.print_message("no index yet; `plait index` or the first search builds it")
        else:
            sessions = format_count(found.sessions, "session")
            output.print(found.folder)
            output.print(
                f"{sessions}, {format_count(found.turns, 'turn')}, {found.passages:,} passages"
            )
            output.print(
                f"{format_bytes(found.bytes)} of logs indexed in {format_bytes(found.size)} on disk"
            )
            changed = (
                f"{format_count(found.changed, 'file')} changed since; `plait index` updates it"
            )
            output.print_message(changed if found.changed else "up to date")
        return
    report = update_index(request, rebuild=rebuild)
    if not is_watching and as_json:
        value: dict[str, Any] = msgspec.to_builtins(report)
        output.json({"folder": request.settings.index, **value})
        return
    _print_report(report, as_json=as_json)
    if not is_watching:
        return
    places = [root.logs for root in request.archive.roots]
    if not as_json:
        output.note(f"watching {', '.join(map(str, places))}: stop with Ctrl-C")
    for _ in watch_changes(places):
        try:
            report = update_index(replace(request))
        except PlaitError as error:  # a folder that has gone may come back
            output.note(error.message)
            continue
        if not report.is_unchanged:
            _print_report(report, as_json=as_json)


def update_index(request: Request, *, rebuild: bool = False) -> IndexReport:
    """Update the index, with a progress bar while it takes long."""
    folder, started = request.settings.index, time.perf_counter()
    # With a backup, the roots alone do not show what has changed.
    if not (rebuild or request.has_store) and is_fresh_for_roots(folder, request.settings.roots):
        return IndexReport(took_ms=elapsed_ms(started))
    with request.output.byte_progress() as watch:
        report = request.indexed_archive.update_index(rebuild=rebuild, watch=watch)
    request.output.warn_lost_workers(request.archive)
    return report


def _format_report(report: IndexReport) -> str:
    if report.is_unchanged:
        return f"up to date, {report.took_ms:.0f} ms"
    parts = []
    if report.read:
        parts.append(f"{format_count(report.read, 'session')} read, {format_bytes(report.bytes)}")
    if report.grown:
        parts.append(f"{format_count(report.grown, 'file')} with new lines")
    if report.forgotten:
        parts.append(f"{format_count(report.forgotten, 'session')} removed")
    return f"{', '.join(parts)}, {report.took_ms:.0f} ms"


def _print_report(report: IndexReport, *, as_json: bool) -> None:
    line = msgspec.json.encode(report) if as_json else _format_report(report).encode()
    write_bytes(line + b"\n")
