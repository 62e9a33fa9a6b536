"""A scope to the settings file that it means, and a plan for it to a question and an answer."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from plait.cli.options import Request
from plait.cli.output import write_bytes
from plait.cli.text import safe
from plait.errors import UserError
from plait.trace.hook.install import SettingsPlan, write_settings

F = TypeVar("F", bound=Callable[..., Any])
SCOPES = ("user", "project", "local")


def settings_file(request: Request, scope: str) -> Path:
    """Returns the settings file of a scope: the user's own, the project's, or yours in it."""
    from plait.cli.settings import claude_home

    if scope == "user":
        return claude_home() / "settings.json"
    name = "settings.json" if scope == "project" else "settings.local.json"
    return request.settings.directory / ".claude" / name


def change_options(function: F) -> F:
    """Adds what commands share that change Claude Code's settings."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the change; write nothing."),
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option(
            "--scope",
            type=click.Choice(SCOPES),
            default="user",
            show_default=True,
            help="Whose settings: yours, the project's, or yours for the project.",
        ),
    ):
        function = option(function)
    return function


def carried_out(request: Request, plan: SettingsPlan, *, is_sure: bool, is_dry: bool) -> bool:
    """Shows a change and writes it once that is wanted; tells whether it was written."""
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
    """Returns where the old settings are kept."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    return request.settings.data / "backups" / f"{stamp}-{path.name}"
