"""A log to the ones beside it that it was copied from or goes on from."""

from collections.abc import Iterable
from pathlib import Path

from plait.errors import SourceError
from plait.line.discover import SUFFIX
from plait.record import Record
from plait.record.read import read, read_if_there
from plait.trace.journal import Journal


def sent_by_kin(path: Path, records: Iterable[Record], journal: Journal) -> set[str]:
    """Returns what was sent as part of sessions that begin with the same record: a fork is
    a copy of all that was said, under another name.
    """
    first = next((record.uuid for record in records if record.uuid), None)
    found: set[str] = set()
    for log in sorted(path.parent.glob(f"*{SUFFIX}")) if first else ():
        if log != path and (other := journal.of(log.stem)).exists():
            found |= other.sent() if begins_with(log, first) else set()
    return found


def begins_with(log: Path, uuid: str | None) -> bool:
    """Tells whether the first record of a log is a certain one."""
    return next((one.uuid for one in read_if_there(log) if one.uuid), None) == uuid


def previous_session(path: Path, session: str) -> tuple[str, Path] | None:
    """Returns the session that a log goes on from, if its own log lies beside: its first line
    names another session than the rest.
    """
    try:
        first = next(read(path), None)
    except SourceError:
        return None
    named = first.session_id if first else None
    log = log_beside(path, named) if named and named != session else None
    return (named, log) if named and log else None


def log_beside(path: Path, session: str) -> Path | None:
    """Returns the log of a session that lies beside another; None where there is none."""
    try:
        log = path.with_name(f"{session}{SUFFIX}")
        return log if log != path and log.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
