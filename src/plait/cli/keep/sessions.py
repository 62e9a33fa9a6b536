"""`plait keep`: sessions at their source to what was kept of them, or would be."""

from typing import TYPE_CHECKING, Any

from plait.cli.options import Request
from plait.cli.selection import members_of, required
from plait.cli.text import counted, safe_line, size
from plait.errors import SourceError, UserError

if TYPE_CHECKING:
    from plait.archive import Session
    from plait.keep import KeepPlan, KeepReport

MOST_SHOWN = 12


def keep(
    request: Request,
    names: tuple[str, ...],
    is_all: bool,
    project: str | None,
    backups: bool,
    is_dry: bool,
    as_json: bool,
) -> None:
    """Keeps the sessions that were asked for, or shows what that would do."""
    if is_all and (names or project):
        raise UserError("say either `--all` or which sessions")
    chosen = _chosen(request, names, project)
    if is_dry:
        plan = request.archive.keep.plan(chosen, backups=backups)
        if as_json:
            request.output.json(_planned(plan))
        else:
            _print_plan(request, plan)
        return
    with request.output.watched("keeping sessions") as watch:
        report = request.archive.keep.run(
            chosen,
            backups=backups,
            report=(lambda now: watch(now.bytes, now.of_bytes)) if watch else None,
        )
    if as_json:
        request.output.json(_done(report))
    else:
        _print_report(request, report)
    if report.unread:
        first = report.unread[0]
        files = counted(len(report.unread), "file")
        raise SourceError(f"{files} could not be kept: '{first.path}': {first.why}")


def _chosen(
    request: Request, names: tuple[str, ...], project: str | None
) -> "list[Session] | None":
    if names:
        return [request.session(name) for name in names]
    if project is None:
        return None
    here = [one for one in request.archive.sessions if not one.is_kept]
    return required(members_of(request, here, project))


def _planned(plan: "KeepPlan") -> dict[str, Any]:
    return {
        "dry_run": True,
        "sessions": [one.session for one in plan.sessions],
        "files": len(plan.files),
        "new": len(plan.new),
        "grown": len(plan.grown),
        "changed": len(plan.changed),
        "unchanged": plan.unchanged,
        "bytes": plan.bytes,
    }


def _print_plan(request: Request, plan: "KeepPlan") -> None:
    output = request.output
    if not plan.sessions:
        output.print(f"nothing to keep: {_known(plan.unchanged)}")
        return
    for one in plan.sessions[:MOST_SHOWN]:
        total = sum(file.stamp.size for file in one.files)
        files = counted(len(one.files), "file")
        output.unbroken(f"  {safe_line(one.session)}  {files}, {size(total)}")
    if len(plan.sessions) > MOST_SHOWN:
        output.print(f"  and {len(plan.sessions) - MOST_SHOWN} more")
    kinds = {"new": plan.new, "grown": plan.grown, "changed": plan.changed}
    told = ", ".join(f"{len(files)} {name}" for name, files in kinds.items() if files)
    sessions = counted(len(plan.sessions), "session")
    output.print(f"{sessions} to keep: {told}, {size(plan.bytes)} to read", style="bold")
    output.print("nothing was written: without `--dry-run` it is done", style="dim")


def _known(unchanged: int) -> str:
    return f"{counted(unchanged, 'file')} kept already" if unchanged else "there are no sessions"


def _done(report: "KeepReport") -> dict[str, Any]:
    return {
        "dry_run": False,
        "sessions": report.sessions,
        "files": report.files,
        "unchanged": report.unchanged,
        "bytes": report.bytes,
        "new_bytes": report.new_bytes,
        "stored_bytes": report.stored_bytes,
        "unread": [{"path": one.path, "why": one.why} for one in report.unread],
    }


def _print_report(request: Request, report: "KeepReport") -> None:
    output = request.output
    if not report.files:
        output.print(f"nothing new: {_known(report.unchanged)}")
        return
    sessions = counted(len(report.sessions), "session")
    files = counted(report.files, "file")
    output.print(
        f"kept {sessions}, {files}, {size(report.bytes)}: "
        f"{size(report.new_bytes)} of it new, in {size(report.stored_bytes)} on disk",
        style="bold green",
    )
