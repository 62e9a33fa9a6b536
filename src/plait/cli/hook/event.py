"""`plait hook stop` and its like: what Claude Code tells to a job, and Claude Code goes on.

Nothing here may disturb it: the exit code is always 0, a time limit holds, and nothing is
printed unless asked for. What Claude Code waits for is imported and no more.
"""

import os
import sys

from plait.errors import PlaitError
from plait.trace.hook_event import (
    EVENTS,
    is_worker_running,
    read_hook_input,
    start_worker,
    write_job,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

COMMANDS = ("install", "uninstall", "status", "work")
"""What people call, and the worker."""
FOLDER = "trace"
LIMIT = 2.0
"""Seconds after which the hook waits no longer for what it is told."""


def is_event(arguments: "Sequence[str]") -> bool:
    """Return whether Claude Code calls; somebody who wants help is a person.

    An event that this version does not know is one, too, unless a person has typed it: an exit
    code of 2 would stop Claude Code.
    """
    if not arguments or {"-h", "--help"} & set(arguments):
        return False
    name = arguments[0]
    is_foreign = not (name in COMMANDS or name.startswith("-") or os.isatty(0))
    return name in EVENTS or is_foreign


def run_event(arguments: "Sequence[str]") -> "NoReturn":
    """Do what a hook has to do, and ends well whatever happens."""
    is_verbose = bool({"-v", "--verbose"} & set(arguments))
    is_waiting = "--wait" in arguments
    said = ""
    try:
        is_environment = "--from-environment" in arguments
        said = _handle_event(arguments[0], is_waiting, is_environment)
    except BaseException as error:
        said = error.message if isinstance(error, PlaitError) else repr(error)
    if is_verbose:
        sys.stderr.write(f"plait hook {arguments[0]}: {said}\n")
        sys.stderr.flush()
    os._exit(0)  # the interpreter would take its time to clean up


def _handle_event(event: str, is_waiting: bool, is_environment: bool) -> str:
    if event not in EVENTS:
        return "there is no such event"
    if os.isatty(0):
        return "Claude Code calls this with JSON on stdin"
    folder = trace_folder()
    data = read_hook_input(0, None if is_waiting else LIMIT)
    if not data.strip():
        return "nothing on stdin"
    if is_environment:
        named = _find_environment_folder(folder, data)
        if named is None:
            return "tracing is switched off by TRACE_TO_LANGFUSE"
        folder = named
    write_job(folder, event, data)
    if is_waiting:
        from pathlib import Path

        from plait.cli.hook.commands import run_worker

        run_worker(Path(folder))
        return "done"
    if is_worker_running(folder):
        return "a worker is running"
    start_worker(folder, ["hook", "work", "--folder", folder])
    return "a worker was started"


def _find_environment_folder(folder: str, data: bytes) -> str | None:
    """Return the folder of the Langfuse project that the environment names.

    Without a word of it the usual folder; None where the environment switches tracing off.
    """
    from pathlib import Path

    from plait.cli.settings import hook_project, langfuse_environment
    from plait.trace.environment import SWITCH, find_langfuse_project, open_target_folder

    variables = langfuse_environment(hook_project(data))
    if SWITCH not in variables:
        return folder
    project = find_langfuse_project(variables)
    return str(open_target_folder(Path(folder), project)) if project else None


def trace_folder() -> str:
    """Return where traces wait, also where the settings cannot be read."""
    return os.path.join(find_state_folder(), FOLDER)


def find_state_folder() -> str:
    """Return where Plait keeps its state, the quick way where there is one."""
    from plait.cli.state_folder import quick_state_folder

    return quick_state_folder() or _state_folder()


def _state_folder() -> str:
    from plait.cli.settings import platform_folder, state_folder

    try:
        return str(state_folder().absolute())
    except PlaitError:
        return str(platform_folder("state"))
