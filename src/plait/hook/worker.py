"""The worker of the hooks: sends the traces of the jobs that hooks have left."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path

from plait.errors import PlaitError
from plait.line import read_small
from plait.settings import (
    find_claude_folder,
    find_trace_target,
    load_prices,
    load_redactor,
    load_settings,
)
from plait.trace.environment import read_target_file
from plait.trace.jobs import WorkerLog, iter_jobs
from plait.trace.model import Content
from plait.trace.state import STATE_FILE, import_states

CC_LANGFUSE_STATE = Path("state") / "cc-langfuse_state.json"


def run_worker(folder: Path, **limits: float) -> None:
    """Process the jobs that hooks have left; errors go to the worker's log."""
    from plait.archive import HookLimits, HookOptions, HookWorker
    from plait.trace.delivery import langfuse_target

    log = WorkerLog(folder)
    try:
        with suppress(OSError):
            os.chdir(folder)  # the project's own folder may be deleted meanwhile
        settings = load_settings()
        langfuse = read_target_file(folder)
        target = (
            langfuse_target(*langfuse) if langfuse else find_trace_target(settings.hook_collector)
        )
        data = read_small(find_claude_folder() / CC_LANGFUSE_STATE) if langfuse else None
        if data and not (folder / STATE_FILE).exists():
            import_states(folder, data)
        if target is None:
            dropped = sum(1 for _ in iter_jobs(folder))
            log.write(f"no target for traces: {dropped} jobs dropped")
            return
        content, prices = settings.hook_collector.content, load_prices(settings.prices)
        if content in ("redacted", "strict"):
            redactor = partial(load_redactor, None, strict=content == "strict")
            options = HookOptions(Content(), redactor, prices)
        else:
            options = HookOptions(Content(has_content=content == "all"), None, prices)
        HookWorker(folder, target, options, HookLimits(**limits)).run()
    except PlaitError as error:
        log.write("; ".join((error.message, *error.hints)))
