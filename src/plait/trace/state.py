"""What was sent of each session, on disk; several processes may write it.

    state.json            {"<session>": {"last_line": 12, "turn_count": 3, "updated": …}}
    sessions/*.sent       the ids of the spans that were sent
    sessions/*.progress   how far the log was read: enough to continue without reading it again
    sessions/*.stopped    the agents that reported that they are done

Other tools that trace transcripts keep the first three fields of a state; Plait can import theirs.
The last turn that was sent is read once more each time: commands, hooks and agents may still add to
it. Claude Code deletes logs after a month: the state of a deleted log is deleted too. What another
tool has sent names no log, and stays.
"""

import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from plait.errors import SourceError
from plait.line.files import make_read_error, read_slice
from plait.line.output import lock_file, replace_file
from plait.record.time import parse_time

STATE_FILE = "state.json"
STATE_LOCK = "state.lock"
LOCK_SECONDS = 10.0
MARK_BYTES = 64
ID_BYTES = 8
PLAIN_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,80}")


class SessionState(Struct, frozen=True):
    """How far one session has been sent."""

    last_line: int = 0
    """The last line, from 1, of the last turn that was complete."""
    turn_count: int = 0
    updated: str = ""
    path: str = ""
    """Its log; empty if another tool noted it."""
    size: int = 0
    """The bytes of the log that were looked at."""
    is_open: bool = False
    """Whether a turn has begun that was not complete yet."""
    error: str = ""
    """What went wrong when it was last looked at."""


def read_states(folder: Path) -> dict[str, SessionState]:
    """Return the states of all known sessions; none if there is no file."""
    try:
        return parse_states((folder / STATE_FILE).read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise make_read_error(folder / STATE_FILE, error) from error


def parse_states(data: bytes) -> dict[str, SessionState]:
    """Return the states in a file; entries of another form are skipped."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return {}
    states = {}
    for session, value in found.items():
        with suppress(msgspec.ValidationError):
            states[session] = msgspec.convert(value, SessionState, strict=False)
    return states


def save_state(folder: Path, session: str, state: SessionState) -> None:
    """Save how far a session has been sent."""
    _update_states(folder, {session: state})


def _update_states(
    folder: Path, new: Mapping[str, SessionState], removed: Collection[str] = ()
) -> None:
    with lock_file(folder / STATE_LOCK, LOCK_SECONDS) as is_ours:
        if not is_ours:
            raise SourceError(f"another process is writing '{folder / STATE_FILE}'")
        states = {**read_states(folder), **new}
        kept = {session: state for session, state in states.items() if session not in removed}
        data = msgspec.json.format(msgspec.json.encode(kept), indent=2)
        replace_file(folder / STATE_FILE, data + b"\n")


def import_states(folder: Path, data: bytes) -> int:
    """Take over what another tool has sent; return for how many sessions."""
    known = read_states(folder)
    new = {session: state for session, state in parse_states(data).items() if session not in known}
    if new:
        _update_states(folder, new)
    return len(new)


class Progress(Struct, array_like=True):
    """Where the last turn that was sent begins, and what must be known to continue from there."""

    path: str
    read: int
    """The number of the last line that was read."""
    line: int
    """The number of the first line of the turn."""
    offset: int
    mark: bytes
    """The bytes before that offset, which show whether it is still the same log."""
    number: int
    """The number of the turn."""
    sent: list[str]
    """Its spans that were sent, by id."""
    agents: dict[str, int]
    """The agents' files that have been sent, with their sizes."""
    unfinished: list[str]
    """The files of agents that have not stopped yet."""
    checkpoint: bytes
    """The state of branch detection, to tell whether the log continues in a line."""
    lesson_lines: list[tuple[str, int, int]] | None = None
    """The lines that taught a redactor something: their file, offset and length. None without a
    redactor.
    """


def read_mark(path: Path, offset: int) -> bytes:
    """Return the bytes before an offset, which identify the file."""
    start = max(offset - MARK_BYTES, 0)
    return read_slice(path, start, offset - start)


def is_same_log(progress: Progress, path: Path) -> bool:
    """Return whether a log is the one that was read, apart from what was added."""
    try:
        is_long_enough = path.stat().st_size >= progress.offset
        return (
            progress.path == str(path)
            and is_long_enough
            and read_mark(path, progress.offset) == progress.mark
        )
    except (OSError, SourceError):
        return False


class SessionJournal:
    """What is saved about one session."""

    def __init__(self, folder: Path, session: str) -> None:
        self.folder = folder / "sessions"
        # The name of its files: its id, or a digest of an unusual id.
        digest = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        self.name = session if PLAIN_NAME.fullmatch(session) else digest

    def for_session(self, session: str) -> "SessionJournal":
        """Return the journal of another session."""
        return SessionJournal(self.folder.parent, session)

    def exists(self) -> bool:
        """Return whether anything of it was sent."""
        return self._path("sent").exists()

    def read_progress(self) -> Progress | None:
        """Return how far the log was read; None if that is not known."""
        try:
            data = self._path("progress").read_bytes()
            return msgspec.msgpack.decode(data, type=Progress)
        except (OSError, msgspec.MsgspecError):
            return None

    def save_progress(self, progress: Progress | None) -> None:
        """Save how far the log was read."""
        place = self._path("progress")
        if progress is None:
            place.unlink(missing_ok=True)
        else:
            replace_file(place, msgspec.msgpack.encode(progress))

    def read_stopped(self) -> set[str]:
        """Return the agents that reported that they have stopped."""
        try:
            return set(self._path("stopped").read_text(encoding="utf-8").split("\n")) - {""}
        except (OSError, UnicodeDecodeError):
            return set()

    def add_stopped(self, agent: str) -> None:
        """Note that an agent has stopped."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._path("stopped").open("a", encoding="utf-8") as file:
            file.write(f"\n{agent}\n")

    def read_sent(self) -> set[str]:
        """Return the ids of all spans that were sent."""
        try:
            data = self._path("sent").read_bytes()
        except FileNotFoundError:
            return set()
        ends = range(ID_BYTES, len(data) + 1, ID_BYTES)  # a truncated one is none
        return {data[end - ID_BYTES : end].hex() for end in ends}

    def add_sent(self, ids: list[str]) -> None:
        """Note that spans were sent."""
        if not ids:
            return
        place = self._path("sent")
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with place.open("ab") as file:
            file.truncate(file.tell() // ID_BYTES * ID_BYTES)  # a crash may have truncated one
            file.write(bytes.fromhex("".join(ids)))

    def remove(self) -> None:
        """Delete the journal."""
        for what in ("progress", "stopped", "sent"):
            self._path(what).unlink(missing_ok=True)

    def _path(self, what: str) -> Path:
        return self.folder / f"{self.name}.{what}"


def prune_states(folder: Path, seconds: float) -> None:
    """Delete the states of sessions whose logs are gone and that have not changed for so long."""
    known = read_states(folder)
    gone = [session for session, state in known.items() if _is_gone(state, seconds)]
    if gone:
        _update_states(folder, {}, removed=gone)
    for session in gone:
        SessionJournal(folder, session).remove()
    kept = {SessionJournal(folder, session).name for session in known}
    for path in (folder / "sessions").glob("*.*"):  # what no state names any more
        if path.stem not in kept and is_older(path, seconds):
            path.unlink(missing_ok=True)


def _is_gone(state: SessionState, seconds: float) -> bool:
    if not state.path or Path(state.path).exists():
        return False
    updated = parse_time(state.updated)
    return updated is None or time.time() - updated.timestamp() >= seconds


def is_older(path: Path, seconds: float) -> bool:
    """Return whether a file was last written so long ago; False if it is gone."""
    try:
        return time.time() - path.stat().st_mtime >= seconds
    except OSError:
        return False
