"""Installing what runs automatically: the change is shown, confirmed and made."""

import sys
from collections.abc import Callable, Sequence

import click

from plait.automation import InstallPlan, plan_installation, plan_removal
from plait.cli import shared
from plait.cli.options import OptionGroup, Request, option
from plait.errors import PlaitError, UserError
from plait.keep.timers import Task
from plait.terminal.output import write_bytes
from plait.terminal.text import safe

WAYS = {
    "hook": "at the end of each Claude Code session (hook)",
    "systemd": "every hour (systemd timer)",
    "cron": "every hour (cron job)",
}
SCOPES = ("user", "project", "local")


class InstallOptions(OptionGroup):
    """Which settings of Claude Code to change, and whether to ask."""

    scope: str = option(
        "--scope",
        choices=SCOPES,
        default="user",
        show_default=True,
        help="Install for yourself in all projects, or in this project for everyone or only yourself.",
    )
    is_sure: bool = shared.is_sure
    is_dry: bool = shared.is_dry

    def confirm(self, request: Request, plan: InstallPlan) -> bool:
        """Show the changes, ask, and make them; return whether they were made."""
        return confirm_and_install(
            request, plan, is_sure=self.is_sure, is_dry=self.is_dry, is_quiet=False
        )


def change_automation(
    request: Request,
    task: Task,
    *,
    install: str | None,
    uninstall: str | None,
    arguments: Callable[[], Sequence[str]],
    action: str,
    is_sure: bool,
    is_dry: bool,
    as_json: bool,
) -> None:
    """Install one way of running a task automatically, or uninstall one or all; report it.

    `action` is what happens to sessions then: "backed up".
    """
    output, plans = request.output, []
    if install and uninstall:
        raise UserError("use either `--install` or `--uninstall`, not both")
    if install:
        plans.append(plan_installation(install, task, arguments()))
    for way in task.ways if uninstall else ():
        if uninstall not in (way, "all"):
            continue
        try:
            plans.append(plan_removal(way, task))
        except PlaitError as error:
            if uninstall != "all":
                raise
            output.note(f"{way}: {error.message}")
    values, done = [], []
    for plan in plans:
        is_written = confirm_and_install(
            request, plan, is_sure=is_sure, is_dry=is_dry, is_quiet=as_json
        )
        done += [plan.way] if is_written else []
        values.append(
            {
                "way": plan.way,
                "changes": plan.is_change,
                "written": is_written,
                "files": [str(file.path) for file in plan.files if file.is_change],
                "plan": plan.diff() if plan.is_change else "",
            }
        )
    if as_json:
        output.json(values)
    elif not any(plan.is_change for plan in plans):
        already = f"sessions are already {action} {WAYS[install]}" if install else None
        output.print(already or "nothing is installed")
    for way in () if as_json else done:
        if install:
            output.print(f"sessions will be {action} {WAYS[way]}", style="bold green")
        else:
            output.print(f"sessions are no longer {action} {WAYS[way]}")


def confirm_and_install(
    request: Request, plan: InstallPlan, *, is_sure: bool, is_dry: bool, is_quiet: bool
) -> bool:
    """Show the changes, ask, and make them; return whether they were made."""
    if not plan.is_change:
        return False
    if not is_quiet:
        write_bytes(f"{safe(plan.diff())}\n".encode())
    if is_dry:
        return False
    if not is_sure:
        if is_quiet or not sys.stdin.isatty():
            raise UserError(
                "cannot ask for confirmation without a terminal", "add `--yes` to apply the change"
            )
        click.confirm("Apply this change?", default=True, abort=True, err=True)
    plan.apply(request.settings.data / "backups")
    return True
