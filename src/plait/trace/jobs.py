"""Jobs that hooks leave for the worker: files, attempts, failures; and the worker's log."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IFREG, S_ISREG

import msgspec
from msgspec import Struct

from plait.line import read_regular, read_small
from plait.line.discovery import AGENT_PREFIX, LOG_SUFFIX
from plait.line.output import replace_file
from plait.trace.hook_event import EVENTS, JOBS_FOLDER, WORKER_LOG

FAILED_FOLDER, ATTEMPTS_FILE = "aside", "begun"
MAX_FAILED, MAX_REASON, MAX_ATTEMPTS = 50, 300, 5
MAX_LOG_BYTES = 1 << 20
"""When the log is larger than this, a new one begins; the old one is kept beside it."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that would break a line of the log, or control the terminal of its reader."""


class HookInput(Struct, frozen=True):
    """The fields of a hook's input that are used."""

    session_id: str | None = None
    transcript_path: str | None = None
    agent_id: str | None = None
    agent_transcript_path: str | None = None
    trigger: str | None = None
    """Of a compaction: `manual`, or `auto` because the context was full."""


class Job(Struct, frozen=True):
    """A session to inspect, and why."""

    event: str
    session: str
    path: Path
    agent: str | None = None
    trigger: str | None = None
    size: int | None = None
    """The size of the log at the event; None if the hook did not see the log."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more follows in the last turn that had begun at the event.

        Before a manual compaction the model has finished; an automatic one says nothing: the model
        continues right after.
        """
        by_hand = self.event == "pre-compact" and self.trigger == "manual"
        return self.event == "session-end" or by_hand

    @property
    def is_stop(self) -> bool:
        """Whether the model has finished, as far as Claude Code knows."""
        return self.event == "stop"


def list_jobs(folder: Path) -> list[Path]:
    """Return the jobs that were left, the oldest first."""
    try:
        jobs = [
            path
            for path in (folder / JOBS_FOLDER).iterdir()
            if path.suffix == ".json" and path.is_file() and not path.name.startswith(".")
        ]
    except FileNotFoundError:
        return []
    return sorted(jobs)


def _read_job(path: Path) -> Job | None:
    """Read a job; None if it cannot be read or names no log of a session."""
    event, _, size = path.stem.partition("-")[2].partition("-")[2].partition("@")
    try:
        hook_input = msgspec.json.decode(path.read_bytes(), type=HookInput)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    if event not in EVENTS or not hook_input.session_id or not hook_input.transcript_path:
        return None
    log = Path(hook_input.transcript_path)
    if not _is_log(log):
        return None
    agent = hook_input.agent_id
    if hook_input.agent_transcript_path:
        agent = Path(hook_input.agent_transcript_path).stem.removeprefix(AGENT_PREFIX)
    length = int(size) if size.isdecimal() else None
    return Job(event, hook_input.session_id, log, agent, hook_input.trigger, length)


def _is_log(path: Path) -> bool:
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        kind = S_IFREG
    except (OSError, ValueError):  # a name that no file can have
        return False
    return S_ISREG(kind) and path.is_absolute() and path.suffix == LOG_SUFFIX


class FailedJob(Struct, frozen=True):
    """A job that could not be done, and why."""

    job: str
    reason: str


def record_failed_job(folder: Path, path: Path, reason: str) -> None:
    """Save why a job could not be done, so that it does not block others; old records are deleted."""
    note = msgspec.json.encode(FailedJob(path.name, reason[:MAX_REASON]))
    with suppress(OSError):
        replace_file(folder / FAILED_FOLDER / path.name, note)
        for old in sorted((folder / FAILED_FOLDER).glob("*.json"))[:-MAX_FAILED]:
            old.unlink(missing_ok=True)


def count_attempt(folder: Path, path: Path) -> int:
    """Note that a job is started, and return how often it was before.

    Earlier attempts did not finish.
    """
    file = folder / ATTEMPTS_FILE
    name, _, count = (read_small(file) or b"").decode("utf-8", "replace").partition(" ")
    before = int(count) if name == path.name and count.isdecimal() else 0
    with suppress(OSError):
        file.write_text(f"{path.name} {before + 1}", encoding="utf-8")
    return before


def list_failed_jobs(folder: Path) -> list[FailedJob]:
    """Return the jobs that could not be done, the oldest first."""
    jobs: list[FailedJob] = []
    for path in sorted((folder / FAILED_FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            jobs.append(msgspec.json.decode(read_regular(path), type=FailedJob))
    return jobs


def iter_jobs(folder: Path) -> Iterator[tuple[Path, Job | None]]:
    """Yield the jobs; each is deleted when the next one is requested."""
    for path in list_jobs(folder):
        yield path, _read_job(path)
        with suppress(FileNotFoundError):
            path.unlink()


class WorkerLog:
    """The worker's log: lines with their time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / WORKER_LOG

    def write(self, text: str) -> None:
        """Write a line; a log that cannot be written is no reason to stop."""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {CONTROL.sub('�', text)}\n"
        try:
            if self.path.exists() and self.path.stat().st_size > MAX_LOG_BYTES:
                self.path.replace(self.path.with_suffix(".log.1"))
            with self.path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(line)
        except OSError:
            return
