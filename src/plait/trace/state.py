"""How far each session has been sent to a file, and back; several processes may write it.

    {"<session>": {"last_line": 12, "turn_count": 3, "updated": "2026-11-15T10:00:00Z", …}}

Other tools that trace transcripts keep the first three; Plait can take theirs over.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from plait.errors import SourceError
from plait.line.lock import held
from plait.line.replace import replace_file

NAME = "state.json"
LOCK = "state.lock"
WAIT = 10.0


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
        return states_in((folder / NAME).read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot read '{folder / NAME}': {reason}") from error


def states_in(data: bytes) -> dict[str, SessionState]:
    """Returns the sessions that a file of this form names; what has another form is left out."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
    read = ((session, state_in(value)) for session, value in found.items())
    return {session: state for session, state in read if state}


def state_in(value: object) -> SessionState | None:
    """Returns what is noted of one session."""
    try:
        return msgspec.convert(value, SessionState, strict=False)
    except msgspec.ValidationError:
        return None


def note(folder: Path, session: str, state: SessionState) -> None:
    """Keeps how far a session has been sent, and leaves the others as they are."""
    note_all(folder, {session: state})


def note_all(folder: Path, new: Mapping[str, SessionState]) -> None:
    """Keeps how far some sessions have been sent."""
    change(folder, lambda found: {**found, **new})


def forget(folder: Path, gone: Collection[str]) -> None:
    """Keeps nothing of some sessions any more."""
    change(folder, lambda found: {name: one for name, one in found.items() if name not in gone})


def change(folder: Path, to: Callable[[dict[str, SessionState]], dict[str, SessionState]]) -> None:
    """Writes all sessions anew, as they are now and with a change."""
    with held(folder / LOCK, WAIT) as is_ours:
        if not is_ours:
            raise SourceError(f"another process is writing '{folder / NAME}'")
        data = msgspec.json.format(msgspec.json.encode(to(states(folder))), indent=2)
        replace_file(folder / NAME, data + b"\n")


def taken_over(folder: Path, data: bytes) -> int:
    """Takes over what another tool has sent, and returns of how many sessions."""
    known = states(folder)
    new = {session: state for session, state in states_in(data).items() if session not in known}
    if new:
        note_all(folder, new)
    return len(new)


def now() -> str:
    """Returns the time as the state has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
