"""Sessions to what was sent of them, on disk, and back; several processes may write it.

    state.json            {"<session>": {"last_line": 12, "turn_count": 3, "updated": …}}
    sessions/*.sent       the ids of the spans that went out
    sessions/*.progress   how far the log was read: enough to go on without reading it again
    sessions/*.stopped    the agents that said they are done

Other tools that trace transcripts keep the first three fields of a state; Plait can take theirs
over. The last turn that was sent is read once more each time: commands, hooks and agents may
still add to it. Claude Code deletes logs after a month: what is kept of a log that is gone goes
too. What another tool has sent names no log, and stays.
"""

import math
import re
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from plait.errors import SourceError
from plait.line.atomic import held, replace_file
from plait.line.split import read_slice
from plait.record.time import moment

STATE_FILE = "state.json"
STATE_LOCK = "state.lock"
WAIT = 10.0
MARK = 64
ID_BYTES = 8
PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,80}")


class SessionState(Struct, frozen=True):
    """How far one session has been sent."""

    last_line: int = 0
    """The last line, from 1, of the last turn that was complete."""
    turn_count: int = 0
    updated: str = ""
    path: str = ""
    """Its log; "" where another tool has noted it."""
    size: int = 0
    """The bytes of the log that were looked at."""
    is_open: bool = False
    """True where a turn has begun that was not complete yet."""
    error: str = ""
    """What went wrong when it was last looked at."""


def states(folder: Path) -> dict[str, SessionState]:
    """Returns all sessions that are known; none where there is no file."""
    try:
        return states_in((folder / STATE_FILE).read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot read '{folder / STATE_FILE}': {reason}") from error


def states_in(data: bytes) -> dict[str, SessionState]:
    """Returns the sessions that a file of this form names; what has another form is left out."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return {}
    read = ((session, _state_in(value)) for session, value in found.items())
    return {session: state for session, state in read if state}


def _state_in(value: object) -> SessionState | None:
    try:
        return msgspec.convert(value, SessionState, strict=False)
    except msgspec.ValidationError:
        return None


def note_state(folder: Path, session: str, state: SessionState) -> None:
    """Keeps how far a session has been sent, and leaves the others as they are."""
    _note_states(folder, {session: state})


def _note_states(folder: Path, new: Mapping[str, SessionState]) -> None:
    _change_states(folder, lambda found: {**found, **new})


def _forget_states(folder: Path, gone: Collection[str]) -> None:
    _change_states(
        folder, lambda found: {name: one for name, one in found.items() if name not in gone}
    )


def _change_states(
    folder: Path, to: Callable[[dict[str, SessionState]], dict[str, SessionState]]
) -> None:
    with held(folder / STATE_LOCK, WAIT) as is_ours:
        if not is_ours:
            raise SourceError(f"another process is writing '{folder / STATE_FILE}'")
        data = msgspec.json.format(msgspec.json.encode(to(states(folder))), indent=2)
        replace_file(folder / STATE_FILE, data + b"\n")


def take_over_states(folder: Path, data: bytes) -> int:
    """Takes over what another tool has sent, and returns of how many sessions."""
    known = states(folder)
    new = {session: state for session, state in states_in(data).items() if session not in known}
    if new:
        _note_states(folder, new)
    return len(new)


def timestamp() -> str:
    """Returns the time as the state has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Progress(Struct, array_like=True):
    """Where the last turn that was sent begins, and what stands before it."""

    path: str
    read: int
    """The number of the last line that has been looked at."""
    line: int
    """The number of the line that it begins with."""
    offset: int
    mark: bytes
    """The bytes before that."""
    number: int
    """The number of the turn."""
    sent: list[str]
    """The spans of it that were sent, by their ids."""
    agents: dict[str, int]
    """The agents' files that have been sent, with their sizes."""
    held: list[str]
    """The agents' files that are not complete yet."""
    bends: bytes
    """What must be known to tell whether the log goes on straight."""
    telling: list[tuple[str, int, int]] | None = None
    """The lines that taught a redactor something: their file, offset and length. None where
    there was no redactor.
    """


def mark_at(path: Path, offset: int) -> bytes:
    """Returns the bytes before an offset, by which a file is known again."""
    start = max(offset - MARK, 0)
    return read_slice(path, start, offset - start)


def goes_on_from(progress: Progress, path: Path) -> bool:
    """Tells whether a log is still the one that was read, be it longer."""
    try:
        is_long_enough = path.stat().st_size >= progress.offset
        return (
            progress.path == str(path)
            and is_long_enough
            and mark_at(path, progress.offset) == progress.mark
        )
    except (OSError, SourceError):
        return False


class SentSession:
    """What is kept of one session."""

    def __init__(self, folder: Path, session: str) -> None:
        self.folder = folder / "sessions"
        self.name = file_name(session)

    def of(self, session: str) -> "SentSession":
        """Returns what is kept of another session."""
        return SentSession(self.folder.parent, session)

    def exists(self) -> bool:
        """Tells whether anything of it was sent."""
        return self._place("sent").exists()

    def progress(self) -> Progress | None:
        """Returns how far its log was read; None where that is not known."""
        try:
            data = self._place("progress").read_bytes()
            return msgspec.msgpack.decode(data, type=Progress)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, progress: Progress | None) -> None:
        """Keeps how far its log was read."""
        place = self._place("progress")
        if progress is None:
            place.unlink(missing_ok=True)
        else:
            replace_file(place, msgspec.msgpack.encode(progress))

    def stopped(self) -> set[str]:
        """Returns the agents that said they are done."""
        try:
            return set(self._place("stopped").read_text(encoding="utf-8").split("\n")) - {""}
        except (OSError, UnicodeDecodeError):
            return set()

    def note_stopped(self, agent: str) -> None:
        """Notes that an agent is done."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._place("stopped").open("a", encoding="utf-8") as file:
            file.write(f"\n{agent}\n")

    def sent(self) -> set[str]:
        """Returns the ids of all spans that were sent."""
        try:
            data = self._place("sent").read_bytes()
        except FileNotFoundError:
            return set()
        ends = range(ID_BYTES, len(data) + 1, ID_BYTES)  # one that was cut is none
        return {data[end - ID_BYTES : end].hex() for end in ends}

    def add(self, ids: list[str]) -> None:
        """Notes spans as sent."""
        if not ids:
            return
        place = self._place("sent")
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with place.open("ab") as file:
            file.truncate(file.tell() // ID_BYTES * ID_BYTES)  # a crash may have cut one
            file.write(bytes.fromhex("".join(ids)))

    def remove(self) -> None:
        """Keeps nothing of it any more."""
        for what in ("progress", "stopped", "sent"):
            self._place(what).unlink(missing_ok=True)

    def _place(self, what: str) -> Path:
        return self.folder / f"{self.name}.{what}"


def file_name(session: str) -> str:
    """Returns the name of a session's files: its id, or what stands for an odd one."""
    if PLAIN.fullmatch(session):
        return session
    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def prune(folder: Path, seconds: float) -> None:
    """Forgets sessions whose logs are gone and that nothing was noted of for so long."""
    known = states(folder)
    gone = [session for session, state in known.items() if _is_gone(state, seconds)]
    if gone:
        _forget_states(folder, gone)
    for session in gone:
        SentSession(folder, session).remove()
    kept = {SentSession(folder, session).name for session in known}
    for path in (folder / "sessions").glob("*.*"):  # what no state names any more
        if path.stem not in kept and is_older(path, seconds):
            path.unlink(missing_ok=True)


def _is_gone(state: SessionState, seconds: float) -> bool:
    if not state.path or Path(state.path).exists():
        return False
    return _seconds_since(state.updated) >= seconds


def _seconds_since(stamp: str) -> float:
    time_ = moment(stamp)
    return math.inf if time_ is None else time.time() - time_.timestamp()


def is_older(path: Path, seconds: float) -> bool:
    """Tells whether a file was last written so long ago; one that is gone is not."""
    try:
        return time.time() - path.stat().st_mtime >= seconds
    except OSError:
        return False
