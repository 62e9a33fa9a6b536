"""`plait hook install`: our hooks into Claude Code's settings."""

import shlex
import sys
from pathlib import Path

import click

from plait.cli.hook_event import FOLDER
from plait.cli.hook_settings import carried_out, change_options, settings_file
from plait.cli.options import Request, global_options
from plait.cli.text import counted
from plait.cli.trace_target import target_in
from plait.line import read_small
from plait.trace.hook.install import install_plan, other_tracing_hooks
from plait.trace.sent import take_over_states

OTHER_STATE = Path("state") / "cc-langfuse_state.json"


@click.command("install")
@change_options
@global_options
@click.pass_obj
def command(request: Request, scope: str, yes: bool, dry_run: bool) -> None:
    """Add the hooks to Claude Code's settings: shown first, with a copy of the old ones kept.

    Hooks of others stay as they are. Where cc-langfuse has sent sessions before, what it has
    sent is not sent again.
    """
    path = settings_file(request, scope)
    plan = install_plan(path, own_command())
    output = request.output
    if not plan.is_change:
        output.print(f"the hooks are in {path} already")
    elif not carried_out(request, plan, is_sure=yes, is_dry=dry_run):
        return
    else:
        output.print(f"the hooks are in {path}")
    for other in other_tracing_hooks(path):
        output.note(f"another hook sends traces, too, and stays: {other}")
    take_over(request)
    tell_target(request)


def own_command() -> str:
    """Returns how this Plait is called, wherever the shell of a hook looks for commands."""
    program = Path(sys.argv[0])
    if program.stem == "plait" and program.is_file():
        return shlex.quote(str(program.absolute()))
    return f"{shlex.quote(sys.executable)} -m plait"


def take_over(request: Request) -> None:
    """Takes over what another tool has sent."""
    from plait.cli.settings import claude_home

    data = read_small(claude_home() / OTHER_STATE)
    count = take_over_states(request.settings.state / FOLDER, data) if data else 0
    if count:
        told = counted(count, "session")
        request.output.print(f"what cc-langfuse has sent is not sent again: {told}")


def tell_target(request: Request) -> None:
    """Says where traces will go, or how to say so."""
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
