"""What Claude Code tells a hook to a job on disk, and a worker that looks after it.

The hook itself does next to nothing: it writes down what it was told and, where no worker
runs, starts one that goes on without it. Little is imported here, because Claude Code waits.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from plait.line.atomic import held

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


def hook_input(handle: int) -> bytes:
    """Returns what Claude Code writes on the hook's stdin."""
    parts: list[bytes] = []
    while sum(map(len, parts)) < MOST and (part := os.read(handle, CHUNK)):
        parts.append(part)
    return b"".join(parts)


def leave_job(folder: Path, event: str, data: bytes) -> Path:
    """Writes down what is to be done; whoever lists the jobs sees it whole or not at all."""
    jobs = folder / JOBS
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    jobs.mkdir(exist_ok=True, mode=0o700)
    name = f"{time.time_ns():020}-{os.getpid()}-{event}{_size_told(data)}.json"
    waiting = jobs / f".{name}"
    handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123  of the handle, whose mode is set
            file.write(data)
        return waiting.rename(jobs / name)
    except OSError:
        waiting.unlink(missing_ok=True)
        raise


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
        return f"@{os.stat(path).st_size}" if path else ""  # noqa: PTH116  of bytes
    except (OSError, ValueError):
        return ""


def _unescaped(data: bytes) -> bytes:
    import json

    try:
        return os.fsencode(json.loads(data)["transcript_path"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return b""


def is_worker_there(folder: Path) -> bool:
    """Tells whether a worker runs: it sees every job that was left before this was asked."""
    with held(folder / LOCK) as is_ours:
        return not is_ours


def start_worker(folder: Path, arguments: Sequence[str]) -> None:
    """Starts a worker that outlives whoever started it; what it prints goes to the log."""
    command = [sys.executable, "-P", "-m", "plait", *arguments]
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
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
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, handle in ((0, nothing), (1, log), (2, log)):
            os.dup2(handle, stream)
        os.execv(command[0], command)  # noqa: S606  our own interpreter
    finally:
        os._exit(1)


def _start_detached(command: Sequence[str], log: int) -> None:  # pragma: no cover
    import subprocess

    flags = 0x00000008 | 0x08000000  # detached, no window
    subprocess.Popen(  # noqa: S603  our own interpreter
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, creationflags=flags
    )
