"""`plait hook uninstall`: Claude Code's settings without our hooks."""

import click

from plait.cli.hook_settings import carried_out, change_options, settings_file
from plait.cli.options import Request, global_options
from plait.trace.hook.install import uninstall_plan


@click.command("uninstall")
@change_options
@global_options
@click.pass_obj
def command(request: Request, scope: str, yes: bool, dry_run: bool) -> None:
    """Remove the hooks from Claude Code's settings, and nothing else.

    What waits to be sent stays: `plait trace flush` sends it.
    """
    path = settings_file(request, scope)
    plan = uninstall_plan(path)
    if not plan.is_change:
        request.output.print(f"there are none of our hooks in {path}")
    elif carried_out(request, plan, is_sure=yes, is_dry=dry_run):
        request.output.print(f"the hooks are gone from {path}")
