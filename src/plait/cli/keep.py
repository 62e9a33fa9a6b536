"""`plait keep`, its subcommands and `plait restore`: the backup of sessions.

What follows the name of a subcommand is that command, imported when it is called; anything else
names sessions to back up.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import msgspec

from plait.automation import list_installed_ways, list_root_options
from plait.cli import shared
from plait.cli.app import load_command
from plait.cli.automation import WAYS, change_automation
from plait.cli.options import GroupedHelp, Request, argument, command, option
from plait.cli.registry import subcommands
from plait.cli.selection import require_sessions, sessions_in_project
from plait.errors import SourceError, UserError
from plait.keep.backups import KeepStatus
from plait.keep.timers import BACKUP_TASK
from plait.record.time import parse_time
from plait.store import KeepPlan, KeptSession, Merged
from plait.store.model import Report, Unread
from plait.terminal.output import Output, select_fields
from plait.terminal.text import SHORT_ID, format_number, now, safe_line, shell_command
from plait.view.formats import format_bytes, format_count, format_day
from plait.view.text import shorten_to_width

SUBCOMMANDS = subcommands("keep")
MOST_LISTED = 12
MOST_AT_RISK = 10
MOST_RESCUED = 20
SOON = timedelta(days=7)
CLEANUP = timedelta(days=30)
"""The age at which Claude Code deletes sessions by default."""
BLOCK_ID_LENGTH = 16
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class KeepCommand(GroupedHelp):
    """Backs up sessions, or gives way to a subcommand."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the subcommand that is named, else of this command."""
        with_value = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        is_value = False
        for place, word in enumerate(args):
            if word == "--":
                break
            if not is_value and not word.startswith("-"):  # the first name
                if word not in SUBCOMMANDS:
                    break
                subcommand = load_command(SUBCOMMANDS[args.pop(place)])
                return subcommand.make_context(f"{info_name} {word}", args, parent, **extra)
            is_value = word in with_value and not is_value
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands and the examples."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in SUBCOMMANDS.items()])
        super().format_epilog(ctx, formatter)


@command(cls=KeepCommand, examples="plait keep\nplait keep status\nplait keep --install")
def keep_command(
    request: Request,
    names: tuple[str, ...] = shared.sessions,
    project: str | None = shared.project,
    backups: bool = option("--file-history", help="Also back up Claude Code's file backups."),
    is_dry: bool = shared.is_dry,
    install: str | None = shared.install(
        BACKUP_TASK.ways, "Back up automatically: at the end of each session, or every hour."
    ),
    uninstall: str | None = shared.uninstall(
        BACKUP_TASK.ways, "Stop automatic backups; the backup stays."
    ),
    is_sure: bool = option("-y", "--yes", help="Install without asking for confirmation."),
    background: bool = option(
        "--background", hidden=True, help="Run silently in the background; used by the hook."
    ),
    as_json: bool = shared.as_json,
) -> None:
    """Back up sessions to a store that survives Claude Code's cleanup.

    Sessions are stored compressed, with everything that belongs to them; only changes since the
    last backup are added. Backed-up sessions can still be listed, read and searched after they are
    deleted, and `plait restore` brings them back.
    """
    if install or uninstall:
        if names or project or backups or (install and uninstall):
            raise UserError(
                "`--install` and `--uninstall` apply to all sessions", "use either on its own"
            )
        change_automation(
            request,
            BACKUP_TASK,
            install=install,
            uninstall=uninstall,
            arguments=lambda: ["keep", *list_root_options(request.settings)],
            action="backed up",
            is_sure=is_sure,
            is_dry=is_dry,
            as_json=as_json,
        )
        return
    if background:
        from plait.hook.event import keep_in_background

        keep_in_background(sys.argv[2:])
    sessions = [request.session(name) for name in names] or None
    if sessions is None and project is not None:
        at_source = [session for session in request.archive.sessions if not session.is_kept]
        sessions = require_sessions(sessions_in_project(request, at_source, project))
    if is_dry:
        _print_plan(request, request.archive.keep.plan(sessions, backups=backups), as_json=as_json)
        return
    output = request.output
    with _progress(output, "backing up sessions") as watch:
        report = request.archive.keep.run(sessions, backups=backups, report=watch)
    if as_json:
        figures = ("unchanged", "bytes", "new_bytes", "stored_bytes", "unread")
        output.json({"dry_run": False, **select_fields(report, "sessions", "files", *figures)})
    elif report.files:
        count = format_count(len(report.sessions), "session")
        output.print(
            f"backed up {count}, {format_count(report.files, 'file')}, "
            f"{format_bytes(report.bytes)}: {format_bytes(report.new_bytes)} new, "
            f"{format_bytes(report.stored_bytes)} on disk",
            style="bold green",
        )
    else:
        output.print(f"nothing new: {_format_unchanged(report.unchanged)}")
    if report.unread:
        raise SourceError(f"{_format_unread(report.unread)}; not backed up")


def _format_unread(unread: Sequence[Unread]) -> str:
    """Name the first of the files and folders that could not be read, and count them."""
    count = format_count(len(unread), "file or folder", "files and folders")
    return f"{count} could not be read: '{unread[0].path}': {unread[0].why}"


@contextmanager
def _progress(output: Output, label: str) -> "Iterator[Report | None]":
    """Yield a function that shows how far the store is, for a terminal."""
    with output.byte_progress(label) as watch:
        yield (lambda progress: watch(progress.bytes, progress.of_bytes)) if watch else None


def _format_unchanged(count: int) -> str:
    return f"{format_count(count, 'file')} already backed up" if count else "there are no sessions"


def _print_plan(request: Request, plan: KeepPlan, *, as_json: bool) -> None:
    output = request.output
    if plan.unread:
        output.note(_format_unread(plan.unread))
    kinds = {"new": plan.new, "grown": plan.grown, "changed": plan.changed}
    if as_json:
        output.json(
            {
                "dry_run": True,
                "sessions": [session.session for session in plan.sessions],
                "files": len(plan.files),
                **{kind: len(files) for kind, files in kinds.items()},
                "unchanged": plan.unchanged,
                "bytes": plan.bytes,
            }
        )
        return
    if not plan.sessions:
        output.print(f"nothing to back up: {_format_unchanged(plan.unchanged)}")
        return
    lines = []
    for session in plan.sessions:
        size = format_bytes(sum(file.stamp.size for file in session.files))
        files = format_count(len(session.files), "file")
        lines.append(f"  {safe_line(session.session)}  {files}, {size}")
    output.print_first(lines, MOST_LISTED)
    counts = ", ".join(f"{len(files)} {kind}" for kind, files in kinds.items() if files)
    count, files = (
        format_count(len(plan.sessions), "session"),
        format_count(len(plan.files), "file"),
    )
    words = f"{count} to back up: {files} ({counts}), {format_bytes(plan.bytes)} to read"
    output.print(words, style="bold")
    output.print("nothing was written; leave out `--dry-run` to back them up", style="dim")


@command(examples="plait keep status")
def status_command(request: Request, as_json: bool = shared.as_json) -> None:
    """Show what is backed up, what is not, what the cleanup will delete, and when."""
    output = request.output
    with request.open_archive(no_index=False) as archive:
        status = archive.keep.status()
    ways = list_installed_ways(BACKUP_TASK)
    if as_json:
        output.json({**msgspec.to_builtins(status), "ratio": status.ratio, "automatic": ways})
        return
    output.print_unwrapped(safe_line(status.folder), style="dim")
    if status.kept:
        gone = f", {format_number(status.gone)} of them deleted since" if status.gone else ""
        output.print(f"{format_count(status.kept, 'session')} backed up{gone}", style="bold")
    else:
        these = " of these" if status.elsewhere else ""
        yet = " yet" if status.unkept else ""
        output.print(f"no backup{these}{yet}", style="bold")
    if status.ratio:
        size = f"{format_bytes(status.bytes)} stored in {format_bytes(status.stored_bytes)} on disk"
        output.print(f"{size}, {status.ratio:.1f} to 1")
    if status.elsewhere:
        output.print(f"{format_count(status.elsewhere, 'session')} backed up from other folders")
    if status.incomplete:
        output.print(f"{format_count(status.incomplete, 'session')} partly reconstructed")
    if status.unkept:
        output.print(f"{format_count(status.unkept, 'session')} not backed up")
        _print_at_risk(request, status)
        output.print("")
        output.print_message("`plait keep` backs them up", style="bold")
    elif not status.kept:
        output.print("there are no sessions to back up")
    elif status.kept == status.gone:
        output.print(
            "all of these sessions have been deleted: `plait restore SESSION` restores one"
        )
    else:
        output.print("everything is backed up", style="green")
    if not any(root.logs.exists() for root in request.archive.roots):
        output.print("Claude Code's session folder was not found: specify it with `--root DIR`")
    for way in ways:
        output.print(f"backed up automatically {WAYS[way]}")
    if not ways:
        output.print("automatic backup is off: `plait keep --install` turns it on", style="dim")


def _print_at_risk(request: Request, status: KeepStatus) -> None:
    output, today = request.output, now().astimezone().date()
    if not status.at_risk:
        return
    output.print("")
    soon = [session for session in status.at_risk if session.deleted_on - today <= SOON]
    if soon:
        count = format_count(len(soon), "session")
        output.print(f"{count} will be deleted within a week:", style="bold red")
    else:
        output.print(f"the first of them will be deleted on {status.at_risk[0].deleted_on}:")
    sessions = soon or status.at_risk
    for session in sessions[:MOST_AT_RISK]:
        is_due = session.deleted_on <= today
        day = "at the next start" if is_due else str(session.deleted_on)
        title = safe_line(session.title or "(no title)")
        older = "  (older version backed up)" if session.is_older_kept else ""
        line = f"  {day:<17}  {safe_line(session.session[:SHORT_ID])}  {title}{older}"
        output.print(shorten_to_width(line, output.width))
    if len(sessions) > MOST_AT_RISK:
        output.print(f"  and {format_number(len(sessions) - MOST_AT_RISK)} more", style="dim")


@command(examples="plait keep verify")
def verify_command(request: Request, as_json: bool = shared.as_json) -> int:
    """Read the entire backup and list what is damaged.

    The exit code is 1 if there is damage. Undamaged sessions can still be restored.
    """
    output = request.output
    with _progress(output, "reading the backup") as watch:
        damages = request.archive.keep.verify(report=watch)
    if as_json:
        rows = [
            select_fields(damage, "block", "where", "why", "sessions")
            | {"files": [file.path for file in damage.files]}
            for damage in damages
        ]
        output.json({"damaged": rows})
    elif damages:
        for damage in damages:
            block = f"block {damage.block[:BLOCK_ID_LENGTH]} in " if damage.block else ""
            words = f"{block}{safe_line(damage.where)}: {safe_line(damage.why)}"
            output.print(words, style="bold red")
            for file in damage.files:
                output.print_unwrapped(f"  {safe_line(file.session)}  {safe_line(file.path)}")
        sessions = {name for damage in damages for name in damage.sessions}
        output.print(
            f"{format_count(len(damages), 'damaged place')} in "
            f"{format_count(len(sessions), 'session')}: "
            "`plait keep` repairs those that still exist",
            style="bold",
        )
    else:
        size = request.archive.keep.store.size()
        count = f"{format_count(size.sessions, 'session')}, {format_count(size.files, 'file')}"
        output.print(f"no damage: {count}", style="green")
    return 1 if damages else 0


@command(examples="plait keep forget 3f2a\nplait keep forget --max-size 5GB --yes")
def forget_command(
    request: Request,
    names: tuple[str, ...] = shared.sessions,
    max_age: float | None = option(
        "--max-age",
        type=float,
        metavar="DAYS",
        help="Delete sessions that have not been written to for this many days.",
    ),
    max_size: str | None = option(
        "--max-size",
        metavar="SIZE",
        help="Delete the oldest sessions until the backup is no larger than this, for example 5GB.",
    ),
    is_sure: bool = option("--yes", help="Delete the sessions; otherwise only list them."),
    as_json: bool = shared.as_json,
) -> None:
    """Delete sessions from the backup, by name, age or total size.

    Claude Code's own logs are not touched. Sessions that exist only in the backup are
    lost for good.
    """
    keep = request.archive.keep
    if bool(names) is (max_age is not None or max_size is not None):
        raise UserError(
            "name sessions or give a limit",
            "`plait keep forget SESSION`, `plait keep forget --max-age 365`",
        )
    if names:
        found: tuple[KeptSession, ...] = tuple(keep.kept(request.session(name)) for name in names)
    else:
        most = None
        if max_size is not None:
            match = SIZE.fullmatch(max_size.strip())
            if match is None:
                raise UserError(f"'{max_size}' is not a size", "use 500MB, 5GB or a byte count")
            most = int(float(match[1]) * UNITS[match[2].lower()])
        found = keep.select_expired(max_days=max_age, max_bytes=most)
    freed = keep.store.forget(keep.with_earlier_places(found)) if is_sure else None
    total, output = sum(session.size for session in found), request.output
    if as_json:
        output.json(
            {
                "forgotten": is_sure,
                "sessions": [session.session for session in found],
                "bytes": total,
                "freed_bytes": freed.stored_bytes if freed else None,
            }
        )
        return
    if not found:
        output.print("nothing to delete")
        return
    only_here = list(request.archive.inventory.deleted.kept.values())
    lines = []
    for session in found:
        lost = "  only in the backup: lost for good" if session in only_here else ""
        lines.append(f"  {safe_line(session.session)}  {format_bytes(session.size)}{lost}")
    output.print_first(lines, MOST_LISTED)
    count = f"{format_count(len(found), 'session')}, {format_bytes(total)}"
    if freed:
        size = format_bytes(max(0, freed.stored_bytes))
        output.print(f"deleted: {count}, {size} freed on disk", style="bold")
    else:
        output.print(f"{count} to delete", style="bold")
        output.print("nothing was deleted; add `--yes` to delete them", style="dim")


@command(examples="plait keep rescue --dry-run")
def rescue_command(
    request: Request, is_dry: bool = shared.is_dry, as_json: bool = shared.as_json
) -> None:
    """Reconstruct deleted sessions from the traces they left, marked as incomplete.

    Sources are prompts in `history.jsonl`, backups in `file-history`, scripts in `session-env`,
    lists of sessions, and Git commits. The answers are lost.
    """
    output = request.output
    with output.byte_progress("searching for deleted sessions"):
        rescued = request.archive.keep.rescue(is_dry=is_dry)
    if as_json:
        output.json({"dry_run": is_dry, **rescued.to_json()})
        return
    for session in rescued.sessions[-MOST_RESCUED:]:
        day = format_day(session.ended.astimezone()) if session.ended else "(no time)"
        title = session.title or session.listed.title or session.first_prompt or "(no prompt)"
        line = f"{day}  {safe_line(session.session[:SHORT_ID])}  {safe_line(title)}"
        output.print_unwrapped(shorten_to_width(line, output.width))
        remains = {
            "prompt": session.prompts,
            "backup": session.backups,
            "commit": session.commits,
            "script": session.scripts,
        }
        counts = [format_count(len(found), name) for name, found in remains.items() if found]
        place = f" in {safe_line(session.directory)}" if session.directory else ""
        guess = ", assumed to be one session" if session.is_guess else ""
        details = f"{', '.join(counts) or 'an entry in a list'}{place}{guess}"
        output.print(f"            {details}", style="dim")
    count = len(rescued.sessions)
    if count > MOST_RESCUED:
        output.print(f"  and {count - MOST_RESCUED} older ones")
    if rescued.unchanged:
        output.print(f"{format_count(rescued.unchanged, 'session')} already reconstructed")
    if rescued.bare:
        output.print(f"{format_count(rescued.bare, 'session')} left nothing but an id or commands")
    if rescued.unread:
        output.note(f"{format_count(rescued.unread, 'line')} of `history.jsonl` cannot be read")
    sessions = format_count(count, "session")
    if not count:
        output.print("no other deleted session can be reconstructed")
    elif is_dry:
        output.print(f"{sessions} can be reconstructed", style="bold")
        output.print("nothing was written; leave out `--dry-run` to reconstruct them", style="dim")
    else:
        output.print(f"{sessions} reconstructed, marked as incomplete", style="bold green")


@command(examples="plait keep pack sessions.plait\nplait keep pack sessions.plait 3f2a")
def pack_command(
    request: Request,
    file: str = argument(),
    names: tuple[str, ...] = shared.sessions,
    as_json: bool = shared.as_json,
) -> None:
    """Write the backup of all or some sessions to one FILE for another machine."""
    output, path = request.output, Path(file)
    sessions = [request.session(name) for name in names] or None
    packed = request.archive.keep.pack(path, sessions)
    if as_json:
        output.json({"file": file, **_merged_to_json(packed)})
        return
    size = format_bytes(path.stat().st_size)
    output.print(f"packed {_format_merged(packed)}, {size} in the file", style="bold green")
    line = shell_command("plait", "keep", "unpack", path.name)
    output.print_unwrapped(f"  on the other machine   {line}")


@command(examples="plait keep unpack sessions.plait")
def unpack_command(
    request: Request, file: str = argument(), as_json: bool = shared.as_json
) -> None:
    """Merge a FILE packed on another machine into the backup.

    Sessions that are already in the backup stay unchanged; merging a file again has no effect.
    """
    merged = request.archive.keep.unpack(Path(file))
    if as_json:
        request.output.json({"file": file, **_merged_to_json(merged)})
    elif merged.files:
        request.output.print(f"merged {_format_merged(merged)}", style="bold green")
    else:
        request.output.print(f"nothing new in '{safe_line(file)}'")


def _merged_to_json(merged: Merged) -> dict[str, Any]:
    return select_fields(merged, "sessions", "files", "bytes", "stored_bytes")


def _format_merged(merged: Merged) -> str:
    sessions = format_count(len(merged.sessions), "session")
    return f"{sessions}, {format_count(merged.files, 'file')}, {format_bytes(merged.bytes)}"


@command(examples="plait restore 3f2a --touch")
def restore_command(
    request: Request,
    session: str = shared.session,
    to: str | None = option("--to", metavar="DIR", help="Restore into this folder instead."),
    overwrite: bool = option("--overwrite", help="Overwrite files that differ."),
    touch: bool = option(
        "--touch", help="Set the log's modification time to now, so that the cleanup skips it."
    ),
    as_json: bool = shared.as_json,
) -> None:
    """Restore SESSION from the backup to its original path, with bytes, times and modes.

    Restores everything that was backed up with the session. Identical files that already exist are not
    touched.
    """
    source, output = request.session(session), request.output
    with _progress(output, "restoring the session") as watch:
        restored = request.archive.keep.restore(
            source, to, overwrite=overwrite, is_fresh=touch, report=watch
        )
    if as_json:
        output.json(
            {
                "session": source.id,
                **select_fields(restored, "path", "sha256", "files", "same"),
                "damaged": [select_fields(part, "block", "why") for part in restored.damaged],
            }
        )
    else:
        if restored.files:
            files = format_count(len(restored.files), "file")
            output.print(f"restored {files}", style="bold green")
        else:
            files = format_count(len(restored.same), "file")
            output.print(f"nothing to do: {files} already there")
        output.print_unwrapped(f"  path    {safe_line(str(restored.path))}")
        output.print_unwrapped(f"  sha256  {restored.sha256}")
        written = None
        with suppress(OSError):
            written = parse_time(Path(restored.path).stat().st_mtime)
        if to is None and not touch and written and now() - written >= CLEANUP:
            line = shell_command("plait", "restore", source.id[:SHORT_ID], "--touch")
            output.note(
                "the log's old modification time was restored, so Claude Code's cleanup may delete it again; "
                f"`{line}` sets it to now"
            )
    if restored.damaged:
        count = format_count(len(restored.damaged), "file")
        raise SourceError(
            f"{count} could not be restored: {restored.damaged[0].why}",
            "`plait keep verify` lists what is damaged",
        )
