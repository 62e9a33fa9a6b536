"""`plait hook status`: where our hooks are installed, and whether they can do their work."""

from typing import Any

import click

from plait.cli.hook_event import FOLDER
from plait.cli.hook_settings import SCOPES, settings_file
from plait.cli.options import Request, global_options, json_option
from plait.cli.trace_target import target_in
from plait.errors import PlaitError
from plait.trace.hook.event import EVENTS, LOG, is_worker_there
from plait.trace.hook.install import installed_hooks


@click.command("status")
@json_option
@global_options
@click.pass_obj
def command(request: Request, as_json: bool) -> None:
    """Show where the hooks are installed, where traces go, and whether the worker runs."""
    folder = request.settings.state / FOLDER
    found = {
        "installed": [scope_status(request, scope) for scope in SCOPES],
        "target": target_words(request),
        "content": request.settings.hook_collector.content,
        "is_worker_running": folder.exists() and is_worker_there(folder),
        "log": str(folder / LOG),
    }
    if as_json:
        request.output.json(found)
        return
    show(request, found)


def scope_status(request: Request, scope: str) -> dict[str, Any]:
    """Returns which hooks are in the settings of a scope."""
    path = settings_file(request, scope)
    try:
        events, error = installed_hooks(path), None
    except PlaitError as wrong:
        events, error = {}, wrong.message
    missing = [name for name in EVENTS.values() if name not in events] if events else []
    return {
        "scope": scope,
        "path": str(path),
        "events": list(events),
        "missing": missing,
        "command": next(iter(events.values()), None),
        "error": error,
    }


def target_words(request: Request) -> str | None:
    """Returns where traces go, None where nobody has said so."""
    target = target_in(request.settings.hook_collector)
    return target.url if target else None


def show(request: Request, found: dict[str, Any]) -> None:
    """Prints the status for people."""
    output = request.output
    for one in found["installed"]:
        output.print(f"{one['scope']}: {state_of(one)}")
    output.print(f"target: {found['target'] or 'none yet, see `plait config`'}")
    output.print(f"content: {found['content']}")
    running = "runs" if found["is_worker_running"] else "at rest: the next hook starts it"
    output.print(f"worker: {running}")
    output.print(f"log: {found['log']}")


def state_of(one: dict[str, Any]) -> str:
    """Says whether the hooks are in a settings file."""
    if one["error"]:
        return str(one["error"])
    if not one["events"]:
        return f"not installed in {one['path']}"
    missing = f", {', '.join(one['missing'])} missing" if one["missing"] else ""
    return f"installed in {one['path']}{missing}"
