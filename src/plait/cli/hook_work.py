"""`plait hook work`: the worker that hooks start, with the settings in force."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.errors import PlaitError

if TYPE_CHECKING:
    from plait.archive.hook.worker import Manner
    from plait.conversation.totals import Pricing


@click.command("work", hidden=True)
@click.option("--folder", type=Path, required=True, help="Where the jobs are.")
@click.option("--idle", type=float, help="Seconds after which a silent turn is complete.")
@click.option("--life", type=float, help="Seconds to try a target that fails.")
def command(folder: Path, idle: float | None, life: float | None) -> None:
    """Do what hooks have left to do. Hooks start this; nobody else needs to."""
    if hasattr(os, "nice"):
        os.nice(5)
    work(folder, **{name: one for name, one in (("idle", idle), ("life", life)) if one is not None})


def work(folder: Path, **limits: float) -> None:
    """Does what hooks have left to do; what goes wrong stands in the log."""
    from plait.trace.hook.jobs import WorkerLog

    try:
        with suppress(OSError):
            os.chdir(folder)  # the project's folder may go
        work_with_settings(folder, limits)
    except PlaitError as error:
        WorkerLog(folder).note("; ".join((error.message, *error.hints)))


def work_with_settings(folder: Path, limits: dict[str, float]) -> None:
    """Lets a worker do all jobs; where nobody has said where traces go, none is done."""
    from plait.archive.hook.worker import Limits, Worker
    from plait.cli.settings import load_settings
    from plait.cli.trace_target import target_in
    from plait.cli.usage_prices import prices_with
    from plait.trace.hook.jobs import WorkerLog, take_jobs

    settings = load_settings()
    target = target_in(settings.hook_collector)
    if target is None:
        dropped = sum(1 for _ in take_jobs(folder))
        WorkerLog(folder).note(f"nobody has said where traces go: {dropped} jobs dropped")
        return
    manner = manner_of(settings.hook_collector.content, prices_with(settings.prices))
    Worker(folder, target, manner, Limits(**limits)).run()


def manner_of(content: str, prices: "Pricing") -> "Manner":
    """Returns what of a session goes out."""
    from plait.archive.hook.worker import Manner
    from plait.cli.export import redactor_of
    from plait.trace.model import Content

    if content == "redacted":
        return Manner(Content(), lambda: redactor_of(None), prices)
    return Manner(Content(has_content=content == "all"), None, prices)
