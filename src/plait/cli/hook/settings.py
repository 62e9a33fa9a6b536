"""`plait hook install`, `uninstall`, `status`: our hooks in Claude Code's settings."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from plait.cli.collector import target_in
from plait.cli.hook.event import FOLDER
from plait.cli.options import Request, global_options, grouped, json_option
from plait.cli.output import write_bytes
from plait.cli.text import counted, safe
from plait.errors import PlaitError, UserError
from plait.line import read_small
from plait.trace.hook.event import EVENTS, LOG, TOLD, is_worker_there
from plait.trace.hook.install import (
    SettingsPlan,
    install_plan,
    installed_hooks,
    other_tracing_hooks,
    uninstall_plan,
    write_settings,
)
from plait.trace.hook.jobs import jobs_aside
from plait.trace.sent import take_over_states

SCOPES = ("user", "project", "local")
_change_options = grouped(
    click.option(
        "--scope",
        type=click.Choice(SCOPES),
        default="user",
        show_default=True,
        help="Whose settings: yours, the project's, or yours for the project.",
    ),
    click.option("-y", "--yes", is_flag=True, help="Do not ask."),
    click.option("--dry-run", is_flag=True, help="Show the change; write nothing."),
)
OTHER_STATE = Path("state") / "cc-langfuse_state.json"


@click.command("install")
@_change_options
@click.option(
    "--pre-compact",
    "is_told",
    is_flag=True,
    help="PreCompact, too: Claude Code tells you and the model of it.",
)
@global_options
@click.pass_obj
def install_command(request: Request, scope: str, yes: bool, dry_run: bool, is_told: bool) -> None:
    """Add the hooks to Claude Code's settings: shown first, with a copy of the old ones kept.

    Hooks of others stay as they are. Where cc-langfuse has sent sessions before, what it has
    sent is not sent again.
    """
    path = _settings_file(request, scope)
    plan = install_plan(path, shlex.join(own_program()), is_told=is_told)
    output = request.output
    if not plan.is_change:
        output.print(f"the hooks are in {path} already")
    elif not _carried_out(request, plan, is_sure=yes, is_dry=dry_run):
        return
    else:
        output.print(f"the hooks are in {path}")
    for other in other_tracing_hooks(path):
        output.note(f"another hook sends traces, too, and stays: {other}")
    _take_over(request)
    _tell_target(request)


def _settings_file(request: Request, scope: str) -> Path:
    from plait.cli.settings import claude_home

    if scope == "user":
        return claude_home() / "settings.json"
    name = "settings.json" if scope == "project" else "settings.local.json"
    return request.settings.directory / ".claude" / name


def _carried_out(request: Request, plan: SettingsPlan, *, is_sure: bool, is_dry: bool) -> bool:
    write_bytes(f"{safe(plan.diff())}\n".encode())
    if is_dry:
        return False
    if not is_sure:
        if not sys.stdin.isatty():
            raise UserError("nobody is there to ask", "add `--yes` to write this change")
        click.confirm("write this?", default=True, abort=True, err=True)
    write_settings(plan, backup_of(request, plan.path))
    return True


def backup_of(request: Request, path: Path) -> Path:
    """Returns where a copy of a file goes that is written anew."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    return request.settings.data / "backups" / f"{stamp}-{path.name}"


def own_program() -> list[str]:
    """Returns what starts this program again, from anywhere."""
    program = Path(sys.argv[0])
    if program.stem == "plait" and program.is_file():
        return [str(program.absolute())]
    return [sys.executable, "-m", "plait"]


def _take_over(request: Request) -> None:
    from plait.cli.settings import claude_home

    data = read_small(claude_home() / OTHER_STATE)
    count = take_over_states(request.settings.state / FOLDER, data) if data else 0
    if count:
        told = counted(count, "session")
        request.output.print(f"what cc-langfuse has sent is not sent again: {told}")


def _tell_target(request: Request) -> None:
    target = target_in(request.settings.hook_collector)
    if target:
        request.output.print(f"traces go to {target.url}")
        return
    from plait.cli.settings import config_file

    request.output.print(f"nobody has said where traces go yet: set it in {config_file()}")
    request.output.print('  otlp_endpoint = "http://localhost:4318"')
    request.output.print("or the two keys of a Langfuse project:")
    request.output.print('  langfuse_public_key = "pk-…"')
    request.output.print('  langfuse_secret_key = "sk-…"')


@click.command("uninstall")
@_change_options
@global_options
@click.pass_obj
def uninstall_command(request: Request, scope: str, yes: bool, dry_run: bool) -> None:
    """Remove the hooks from Claude Code's settings, and nothing else.

    What waits to be sent stays: `plait trace flush` sends it.
    """
    path = _settings_file(request, scope)
    plan = uninstall_plan(path)
    if not plan.is_change:
        request.output.print(f"there are none of our hooks in {path}")
    elif _carried_out(request, plan, is_sure=yes, is_dry=dry_run):
        request.output.print(f"the hooks are gone from {path}")


@click.command("status")
@json_option
@global_options
@click.pass_obj
def status_command(request: Request, as_json: bool) -> None:
    """Show where the hooks are installed, where traces go, and whether the worker runs."""
    folder = request.settings.state / FOLDER
    found = {
        "installed": [_scope_status(request, scope) for scope in SCOPES],
        "target": _target_words(request),
        "content": request.settings.hook_collector.content,
        "is_worker_running": folder.exists() and is_worker_there(folder),
        "aside": [to_builtins(one) for one in jobs_aside(folder)],
        "log": str(folder / LOG),
    }
    if as_json:
        request.output.json(found)
        return
    show(request, found)


def _scope_status(request: Request, scope: str) -> dict[str, Any]:
    path = _settings_file(request, scope)
    try:
        events, error = installed_hooks(path), None
    except PlaitError as wrong:
        events, error = {}, wrong.message
    usual = [name for event, name in EVENTS.items() if event != TOLD]
    missing = [name for name in usual if name not in events] if events else []
    return {
        "scope": scope,
        "path": str(path),
        "events": list(events),
        "missing": missing,
        "command": next(iter(events.values()), None),
        "error": error,
    }


def _target_words(request: Request) -> str | None:
    """Returns where traces go, None where nobody has said so."""
    target = target_in(request.settings.hook_collector)
    return target.url if target else None


def show(request: Request, found: dict[str, Any]) -> None:
    """Prints the status for people."""
    output = request.output
    for one in found["installed"]:
        output.print(f"{one['scope']}: {_state_of(one)}")
    output.say(f"target: {found['target'] or 'none yet, see `plait config`'}")
    output.print(f"content: {found['content']}")
    running = "runs" if found["is_worker_running"] else "at rest: the next hook starts it"
    output.print(f"worker: {running}")
    if found["aside"]:
        last = found["aside"][-1]
        jobs = counted(len(found["aside"]), "job")
        output.print(f"set aside: {jobs}, the last {last['job']}: {last['reason']}")
    output.print(f"log: {found['log']}")


def _state_of(one: dict[str, Any]) -> str:
    if one["error"]:
        return str(one["error"])
    if not one["events"]:
        return f"not installed in {one['path']}"
    missing = f", {', '.join(one['missing'])} missing" if one["missing"] else ""
    return f"installed in {one['path']}{missing}"
