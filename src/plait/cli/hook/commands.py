"""`plait hook`: the commands there are, and the worker that hooks start."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.cli.app import LazyGroup
from plait.errors import PlaitError
from plait.trace.hook.event import EVENTS

if TYPE_CHECKING:
    from plait.archive import HookManner
    from plait.conversation.totals import Pricing

SUBCOMMANDS = {
    "install": (
        "plait.cli.hook.settings:install_command",
        "Add the hooks to Claude Code's settings.",
    ),
    "uninstall": ("plait.cli.hook.settings:uninstall_command", "Remove them again."),
    "status": (
        "plait.cli.hook.settings:status_command",
        "Show where they are installed, and what they do.",
    ),
}
HIDDEN = {"work": ("plait.cli.hook.commands:work_command", "Do what hooks have left.")}
MEANINGS = {
    "stop": "The model has come to rest.",
    "session-end": "The session has ended.",
    "subagent-stop": "An agent is done.",
    "pre-compact": "The conversation is about to be compacted.",
}


@click.command("work", hidden=True)
@click.option("--folder", type=Path, required=True, help="Where the jobs are.")
@click.option("--idle", type=float, help="Seconds after which a silent turn is complete.")
@click.option("--life", type=float, help="Seconds to try a target that fails.")
def work_command(folder: Path, idle: float | None, life: float | None) -> None:
    """Do what hooks have left to do. Hooks start this; nobody else needs to."""
    work(folder, **{name: one for name, one in (("idle", idle), ("life", life)) if one is not None})


def work(folder: Path, **limits: float) -> None:
    """Does what hooks have left to do; what goes wrong stands in the log."""
    from plait.trace.hook.jobs import WorkerLog

    try:
        with suppress(OSError):
            os.chdir(folder)  # the project's folder may go
        _work_with_settings(folder, limits)
    except PlaitError as error:
        WorkerLog(folder).note("; ".join((error.message, *error.hints)))


def _work_with_settings(folder: Path, limits: dict[str, float]) -> None:
    from plait.archive import HookLimits, HookWorker
    from plait.cli.collector import target_in
    from plait.cli.settings import load_settings, prices_with
    from plait.trace.hook.jobs import WorkerLog, take_jobs

    settings = load_settings()
    target = target_in(settings.hook_collector)
    if target is None:
        dropped = sum(1 for _ in take_jobs(folder))
        WorkerLog(folder).note(f"nobody has said where traces go: {dropped} jobs dropped")
        return
    manner = _manner_of(settings.hook_collector.content, prices_with(settings.prices))
    HookWorker(folder, target, manner, HookLimits(**limits)).run()


def _manner_of(content: str, prices: "Pricing") -> "HookManner":
    from plait.archive import HookManner
    from plait.cli.redact import redactor_with
    from plait.trace.model import Content

    if content in ("redacted", "strict"):
        is_strict = content == "strict"
        return HookManner(Content(), lambda: redactor_with(None, strict=is_strict), prices)
    return HookManner(Content(has_content=content == "all"), None, prices)


class HookGroup(LazyGroup):
    """What people call, and what Claude Code does."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*SUBCOMMANDS, *EVENTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in EVENTS:
            return _event_command(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in SUBCOMMANDS.items()])
        with formatter.section("Called by Claude Code"):
            formatter.write_dl([(name, MEANINGS[name]) for name in EVENTS])


@click.group("hook", cls=HookGroup, table=SUBCOMMANDS | HIDDEN)
def command() -> None:
    """Send traces as you work: Claude Code calls Plait whenever a turn ends.

    Sent is what is new and complete, to the target that `config.toml` names. Claude Code is
    never held up: the hook leaves a job and ends, and a process in the background does it.
    """


def _event_command(name: str) -> click.Command:
    def run(verbose: bool, wait: bool) -> None:
        from plait.cli.hook.event import run_event

        flags = ["--verbose"] * verbose + ["--wait"] * wait
        run_event([name, *flags])

    options = [
        click.Option(["-v", "--verbose"], is_flag=True, help="Say on stderr what was done."),
        click.Option(["--wait"], is_flag=True, help="Do the work here, and wait for it."),
    ]
    help_ = f"Take in what Claude Code says on stdin at {EVENTS[name]}. The exit code is always 0."
    return click.Command(name, callback=run, params=list(options), help=help_)
