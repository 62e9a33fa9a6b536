"""What is kept of sessions to what is still needed: a log that is gone is not sent again.

Claude Code deletes logs after a month. What another tool has sent names no log, and stays.
"""

import math
import time
from pathlib import Path

from plait.record.time import moment
from plait.trace.journal import Journal
from plait.trace.state import SessionState, forget, states


def prune(folder: Path, seconds: float) -> None:
    """Forgets sessions whose logs are gone and that nothing was noted of for so long."""
    known = states(folder)
    gone = [session for session, state in known.items() if is_gone(state, seconds)]
    if gone:
        forget(folder, gone)
    for session in gone:
        Journal(folder, session).remove()
    kept = {Journal(folder, session).name for session in known}
    for path in (folder / "sessions").glob("*.*"):  # what no state names any more
        if path.stem not in kept and is_older(path, seconds):
            path.unlink(missing_ok=True)


def is_gone(state: SessionState, seconds: float) -> bool:
    """Tells whether nothing more can come of a session."""
    if not state.path or Path(state.path).exists():
        return False
    return seconds_since(state.updated) >= seconds


def seconds_since(stamp: str) -> float:
    """Returns how long ago something was noted; for ever where that is not known."""
    time_ = moment(stamp)
    return math.inf if time_ is None else time.time() - time_.timestamp()


def is_older(path: Path, seconds: float) -> bool:
    """Tells whether a file was last written so long ago; one that is gone is not."""
    try:
        return time.time() - path.stat().st_mtime >= seconds
    except OSError:
        return False
