"""The hook itself: leaves a job on disk, and starts the worker that will process it.

It saves its input and, if no worker runs, starts one in the background. Little is imported here,
because Claude Code waits.
"""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

Folder = str | os.PathLike[str]

EVENTS = {
    "stop": "Stop",
    "session-end": "SessionEnd",
    "subagent-stop": "SubagentStop",
    "pre-compact": "PreCompact",
}
"""The names of hooks on the command line and in Claude Code."""
SHOWN_EVENT = "pre-compact"
"""Claude Code shows this hook on the screen and to the model, so it is only installed on request."""
JOBS_FOLDER = "jobs"
WORKER_LOCK = "worker.lock"
WORKER_LOG = "hook.log"
PATH_KEY = b'"transcript_path"'
MAX_INPUT_BYTES = 16 << 20
"""How much of the input is read."""
CHUNK_BYTES = 1 << 16
NICE = 5
"""The niceness of the worker: interactive programs go first."""


def read_hook_input(handle: int, seconds: float | None = None) -> bytes:
    """Read the hook's input from stdin; after a timeout, whatever has arrived."""
    until = time.monotonic() + seconds if seconds is not None else None
    parts: list[bytes] = []
    while sum(map(len, parts)) < MAX_INPUT_BYTES and _is_readable(handle, until):
        part = os.read(handle, CHUNK_BYTES)
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def _is_readable(handle: int, until: float | None) -> bool:
    if until is None or os.name == "nt":
        return True
    import select

    return bool(select.select([handle], [], [], max(0.0, until - time.monotonic()))[0])


def write_job(folder: Folder, event: str, data: bytes) -> str:
    """Write a job atomically, so that nobody reads half of it."""
    jobs = os.path.join(folder, JOBS_FOLDER)
    os.makedirs(folder, exist_ok=True, mode=0o700)
    os.makedirs(jobs, exist_ok=True, mode=0o700)
    name = f"{time.time_ns():020}-{os.getpid()}-{event}{_format_log_size(data)}.json"
    waiting, place = os.path.join(jobs, f".{name}"), os.path.join(jobs, name)
    handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.rename(waiting, place)
    except OSError:
        if os.path.exists(waiting):
            os.unlink(waiting)
        raise
    return place


def _format_log_size(data: bytes) -> str:
    """Return the present size of the log for a job's name: it may be read much later, after the
    session was resumed.
    """
    value = data.partition(PATH_KEY)[2].partition(b'"')[2]
    end = value.find(b'"')
    path = value[:end]
    try:
        if b"\\" in path:  # loading json is only paid for here
            import json

            path = os.fsencode(json.loads(data)["transcript_path"])
        return f"@{os.stat(path).st_size}" if path else ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def is_worker_running(folder: Folder) -> bool:
    """Return whether a worker runs: it will see every job left before this call."""
    if os.name == "nt":  # pragma: no cover
        from pathlib import Path

        from plait.line.output import lock_file

        with lock_file(Path(folder) / WORKER_LOCK) as is_ours:
            return not is_ours
    import fcntl

    handle = os.open(os.path.join(folder, WORKER_LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)  # and the lock is released
    return False


def start_worker(folder: Folder, arguments: "Sequence[str]") -> None:
    """Start a worker that outlives this process; its output goes to the log."""
    command = [sys.executable, "-P", "-m", "plait", *arguments]
    log = os.open(os.path.join(folder, WORKER_LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if os.name == "nt":  # pragma: no cover
            import subprocess

            flags = 0x00000008 | 0x08000000  # detached, no window
            subprocess.Popen(  # noqa: S603  our own interpreter
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, creationflags=flags
            )
        elif os.fork() == 0:
            try:  # the child turns into the worker
                os.setsid()
                os.nice(NICE)
                nothing = os.open(os.devnull, os.O_RDONLY)
                for stream, handle in ((0, nothing), (1, log), (2, log)):
                    os.dup2(handle, stream)
                os.execv(command[0], command)  # noqa: S606  our own interpreter
            finally:
                os._exit(1)
    finally:
        os.close(log)
