"""What hooks of Claude Code call, `plait hook stop` and `plait keep --background`: start and exit.

Claude Code waits for this: the exit code is always 0, there is a time limit, nothing is printed
unless asked for, and next to nothing is imported.
"""

import os
import sys

from plait.errors import PlaitError
from plait.trace.hook_event import (
    EVENTS,
    WORKER_LOG,
    is_worker_running,
    read_hook_input,
    start_worker,
    write_job,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

COMMANDS = ("work",)
"""What is no event: the worker."""
FOLDER, KEEP_FOLDER = "trace", "keep"
"""Folders of the state folder."""
LIMIT = 2.0
"""The longest wait for Claude Code's message on stdin, in seconds."""
STATE_SETTING = b"state_dir"
BACKGROUND = "--background"
MAX_KEEP_LOG = 1 << 18
"""Bytes of the log of `plait keep`; a longer one is started again."""


def is_event(arguments: "Sequence[str]") -> bool:
    """Return whether Claude Code calls this, and not a person.

    That includes events that this version does not know: an exit code of 2 would stop Claude Code.
    """
    if not arguments or {"-h", "--help"} & set(arguments):
        return False
    name = arguments[0]
    is_foreign = not (name in COMMANDS or name.startswith("-") or os.isatty(0))
    return name in EVENTS or is_foreign


def run_event(arguments: "Sequence[str]") -> "NoReturn":
    """Handle an event of Claude Code, and exit with 0 whatever happens."""
    is_verbose = bool({"-v", "--verbose"} & set(arguments))
    is_waiting = "--wait" in arguments
    outcome = ""
    try:
        is_environment = "--from-environment" in arguments
        outcome = _handle_event(arguments[0], is_waiting, is_environment)
    except BaseException as error:
        outcome = error.message if isinstance(error, PlaitError) else repr(error)
    if is_verbose:
        sys.stderr.write(f"plait hook {arguments[0]}: {outcome}\n")
        sys.stderr.flush()
    os._exit(0)  # normal interpreter shutdown takes too long


def _handle_event(event: str, is_waiting: bool, is_environment: bool) -> str:
    if event not in EVENTS:
        return "no such event"
    if os.isatty(0):
        return "Claude Code calls this with JSON on stdin"
    folder = find_trace_folder()
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

        from plait.hook.worker import run_worker

        run_worker(Path(folder))
        return "done"
    if is_worker_running(folder):
        return "a worker is running"
    start_worker(folder, ["hook", "work", "--folder", folder])
    return "a worker was started"


def _find_environment_folder(folder: str, data: bytes) -> str | None:
    """Return the folder for the Langfuse project that the environment names.

    The usual folder if it names none; None if it switches tracing off.
    """
    from pathlib import Path

    from plait.settings import find_hook_project, read_langfuse_environment
    from plait.trace.environment import SWITCH, find_langfuse_project, open_target_folder

    variables = read_langfuse_environment(find_hook_project(data))
    if SWITCH not in variables:
        return folder
    project = find_langfuse_project(variables)
    return str(open_target_folder(Path(folder), project)) if project else None


def find_trace_folder() -> str:
    """Return where traces wait, also if the settings cannot be read."""
    return os.path.join(find_state_folder(), FOLDER)


def find_state_folder() -> str:
    """Return where Plait keeps its state, without loading the settings if possible."""
    folder = read_quick_state_folder()
    if folder:
        return folder
    from plait.settings import find_platform_folder, read_state_folder

    try:
        return str(read_state_folder().absolute())
    except PlaitError:
        return str(find_platform_folder("state"))


def read_quick_state_folder() -> str | None:
    """Return the state folder from the environment alone; None if only the settings can tell.

    It is the folder that `plait.settings` finds; a test compares both.
    """
    env = os.environ
    home = env.get("HOME")
    folder = env.get("PLAIT_STATE_DIR")
    if folder:
        folder = _expand_user(folder, home)
        return folder and os.path.join(os.getcwd(), folder)
    if not sys.platform.startswith("linux") or not home:
        return None
    config = env.get("PLAIT_CONFIG")
    config = _expand_user(config, home) if config else _xdg_path("CONFIG", ".config", "config.toml")
    if config is None:
        return None
    try:
        with open(config, "rb") as file:
            if STATE_SETTING in file.read():
                return None
    except FileNotFoundError:
        pass
    except OSError:
        return None
    return os.path.join(os.getcwd(), _xdg_path("STATE", ".local/state"))


def _xdg_path(kind: str, default: str, *names: str) -> str:
    base = os.environ.get(f"XDG_{kind}_HOME", "")
    return os.path.join(
        base if base.strip() else f"{os.environ['HOME']}/{default}", "plait", *names
    )


def _expand_user(path: str, home: str | None) -> str | None:
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return None if path.startswith("~") else path


def is_background_keep(arguments: "Sequence[str]") -> bool:
    """Return whether the hook calls `plait keep`; `--help` is asked for by a person."""
    return BACKGROUND in arguments and not {"-h", "--help"} & set(arguments)


def keep_in_background(arguments: "Sequence[str]") -> "NoReturn":
    """Start `plait keep` as a process of its own, with its output in a log, and exit with 0."""
    try:
        folder = os.path.join(find_state_folder(), KEEP_FOLDER)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        log = os.path.join(folder, WORKER_LOG)
        if os.path.exists(log) and os.path.getsize(log) > MAX_KEEP_LOG:
            os.unlink(log)
        start_worker(folder, ["keep", *(word for word in arguments if word != BACKGROUND)])
    finally:
        os._exit(0)
