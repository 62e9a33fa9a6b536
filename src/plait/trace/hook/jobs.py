"""Jobs on disk to what they ask for, and what the worker does to lines of its log."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IFREG, S_ISREG

import msgspec
from msgspec import Struct

from plait.line import read_regular, read_small
from plait.line.atomic import replace_file
from plait.line.discover import AGENT, SUFFIX
from plait.trace.hook.event import EVENTS, JOBS, LOG

ASIDE, BEGUN = "aside", "begun"
MOST_ASIDE, MOST_REASON, MOST_BEGUN = 50, 300, 5
MOST_LOGGED = 1 << 20
"""Bytes after which the log begins anew; the old one is kept beside it."""


UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What would break a line of the log, or command whoever reads it."""


class HookInput(Struct, frozen=True):
    """What Claude Code tells a hook, as far as it matters here."""

    session_id: str | None = None
    transcript_path: str | None = None
    agent_id: str | None = None
    agent_transcript_path: str | None = None
    trigger: str | None = None
    """Of a compaction: by hand, or because the context was full."""


class Job(Struct, frozen=True):
    """Something to look at."""

    event: str
    session: str
    path: Path
    agent: str | None = None
    trigger: str | None = None
    size: int | None = None
    """How long the log was at the event; None where the hook did not see it."""

    @property
    def is_over(self) -> bool:
        """Tells whether nothing more comes to the last turn that had begun by then.

        A person who compacts by hand has let the model finish; a context that is full says
        nothing: the model goes on right after.
        """
        by_hand = self.event == "pre-compact" and self.trigger == "manual"
        return self.event == "session-end" or by_hand

    @property
    def is_stop(self) -> bool:
        """Tells whether the model has come to rest, as far as Claude Code knows."""
        return self.event == "stop"


def jobs_in(folder: Path) -> list[Path]:
    """Returns the jobs that were left, the oldest first."""
    try:
        found = [
            one for one in (folder / JOBS).iterdir() if one.suffix == ".json" and one.is_file()
        ]
    except FileNotFoundError:
        return []
    return sorted(one for one in found if not one.name.startswith("."))


def _job_at(path: Path) -> Job | None:
    """Returns what a job asks for; None where it cannot be read or names no session's log."""
    event, _, size = path.stem.partition("-")[2].partition("-")[2].partition("@")
    try:
        told = msgspec.json.decode(path.read_bytes(), type=HookInput)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    if event not in EVENTS or not told.session_id or not told.transcript_path:
        return None
    log = Path(told.transcript_path)
    if not _is_log(log):
        return None
    length = int(size) if size.isdecimal() else None
    return Job(event, told.session_id, log, _agent_in(told), told.trigger, length)


def _is_log(path: Path) -> bool:
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        kind = S_IFREG
    except (OSError, ValueError):  # a name that no file can have
        return False
    return S_ISREG(kind) and path.is_absolute() and path.suffix == SUFFIX


def _agent_in(told: HookInput) -> str | None:
    if told.agent_transcript_path:
        return Path(told.agent_transcript_path).stem.removeprefix(AGENT)
    return told.agent_id


class AsideJob(Struct, frozen=True):
    """A job that could not be done: what it was called, and why."""

    job: str
    reason: str


def set_aside(folder: Path, path: Path, reason: str) -> None:
    """Keeps that a job could not be done, and why, so that it holds up no other; the oldest of
    many are forgotten.
    """
    note = msgspec.json.encode(AsideJob(path.name, reason[:MOST_REASON]))
    with suppress(OSError):
        replace_file(folder / ASIDE / path.name, note)
        for old in sorted((folder / ASIDE).glob("*.json"))[:-MOST_ASIDE]:
            old.unlink(missing_ok=True)


def times_begun(folder: Path, path: Path) -> int:
    """Notes that a job is begun, and returns how often it was before: whoever began it then did
    not come to its end.
    """
    place = folder / BEGUN
    name, _, count = (read_small(place) or b"").decode("utf-8", "replace").partition(" ")
    before = int(count) if name == path.name and count.isdecimal() else 0
    with suppress(OSError):
        place.write_text(f"{path.name} {before + 1}", encoding="utf-8")
    return before


def jobs_aside(folder: Path) -> list[AsideJob]:
    """Returns the jobs that could not be done, the oldest first."""
    found: list[AsideJob] = []
    for path in sorted((folder / ASIDE).glob("*.json")):
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            found.append(msgspec.json.decode(read_regular(path), type=AsideJob))
    return found


def take_jobs(folder: Path) -> Iterator[tuple[Path, Job | None]]:
    """Yields jobs one after the other; each is forgotten when the next one is asked for."""
    for path in jobs_in(folder):
        yield path, _job_at(path)
        with suppress(FileNotFoundError):
            path.unlink()


class WorkerLog:
    """Writes lines with their time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG

    def note(self, text: str) -> None:
        """Writes a line; a log that cannot be written is no reason to stop."""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {UNSEEN.sub('�', text)}\n"
        try:
            self._turn_over()
            with self.path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(line)
        except OSError:
            return

    def _turn_over(self) -> None:
        if self.path.exists() and self.path.stat().st_size > MOST_LOGGED:
            self.path.replace(self.path.with_suffix(".log.1"))
