"""What Claude Code tells a hook to a job on disk, and a worker that looks after it.

The hook itself does next to nothing: it writes down what it was told and, where no worker
runs, starts one that goes on without it. Little is imported here, because Claude Code waits.
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
"""What each hook is called on the command line, and by Claude Code."""
TOLD = "pre-compact"
"""The one that Claude Code tells of on the screen, and to the model: it must be asked for."""
JOBS = "jobs"
LOCK = "worker.lock"
LOG = "hook.log"
PATH = b'"transcript_path"'
MOST = 16 << 20
"""Bytes that are taken from Claude Code."""
CHUNK = 1 << 16
NICE = 5
"""Steps by which the worker stands back for what people wait for."""


def hook_input(handle: int, seconds: float | None = None) -> bytes:
    """Returns what Claude Code writes on the hook's stdin; what has come when time is up."""
    until = time.monotonic() + seconds if seconds is not None else None
    parts: list[bytes] = []
    while sum(map(len, parts)) < MOST and _has_come(handle, until):
        part = os.read(handle, CHUNK)
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def _has_come(handle: int, until: float | None) -> bool:
    if until is None or os.name == "nt":
        return True
    import select

    return bool(select.select([handle], [], [], max(0.0, until - time.monotonic()))[0])


def leave_job(folder: Folder, event: str, data: bytes) -> str:
    """Writes down what is to be done; whoever lists the jobs sees it whole or not at all."""
    jobs = os.path.join(folder, JOBS)
    os.makedirs(folder, exist_ok=True, mode=0o700)
    os.makedirs(jobs, exist_ok=True, mode=0o700)
    name = f"{time.time_ns():020}-{os.getpid()}-{event}{_size_told(data)}.json"
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


def _size_told(data: bytes) -> str:
    """Returns how long the log is now, as a job's name has it: it may be read much later, when
    somebody has resumed the session.
    """
    value = data.partition(PATH)[2].partition(b'"')[2]
    end = value.find(b'"')
    path = value[:end]
    if b"\\" in path:
        path = _unescaped(data)
    try:
        return f"@{os.stat(path).st_size}" if path else ""
    except (OSError, ValueError):
        return ""


def _unescaped(data: bytes) -> bytes:
    import json

    try:
        return os.fsencode(json.loads(data)["transcript_path"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return b""


def is_worker_there(folder: Folder) -> bool:
    """Tells whether a worker runs: it sees every job that was left before this was asked."""
    if os.name == "nt":  # pragma: no cover
        return _is_held(folder)
    import fcntl

    handle = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)  # and the lock is given back
    return False


def _is_held(folder: Folder) -> bool:  # pragma: no cover
    from pathlib import Path

    from plait.line.atomic import held

    with held(Path(folder) / LOCK) as is_ours:
        return not is_ours


def start_worker(folder: Folder, arguments: "Sequence[str]") -> None:
    """Starts a worker that outlives whoever started it; what it prints goes to the log."""
    command = [sys.executable, "-P", "-m", "plait", *arguments]
    log = os.open(os.path.join(folder, LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if os.name == "nt":  # pragma: no cover
            _start_detached(command, log)
        elif os.fork() == 0:
            _become(command, log)
    finally:
        os.close(log)


def _become(command: list[str], log: int) -> None:
    """Turns this process into the worker; never returns."""
    try:
        os.setsid()
        os.nice(NICE)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, handle in ((0, nothing), (1, log), (2, log)):
            os.dup2(handle, stream)
        os.execv(command[0], command)  # noqa: S606  our own interpreter
    finally:
        os._exit(1)


def _start_detached(command: "Sequence[str]", log: int) -> None:  # pragma: no cover
    import subprocess

    flags = 0x00000008 | 0x08000000  # detached, no window
    subprocess.Popen(  # noqa: S603  our own interpreter
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, creationflags=flags
    )
