"""Files of a session to a sign that somebody is writing to them now.

A client says in `sessions/<pid>.json` which session it runs; it may have ended since, or be one
that says nothing, and then only the time of its last line tells. What Plait itself wrote last
is no sign of life.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from plait.edit.entry import Edit
from plait.line.discover import SUFFIX
from plait.line.replace import FileState, state_of
from plait.record.sidecar import running_sessions

REST = 60.0
"""Seconds after its last line in which a session counts as live."""
LONGEST = 3600.0
"""Seconds that an edit takes at most from its name to its last byte."""
BILLION = 1_000_000_000


def sign_of_life(
    home: Path, files: Iterable[Path], names: Iterable[str], edits: Iterable[Edit], now: float
) -> str | None:
    """Returns how one can tell that files are being written to, None where nothing says so.

    Edits come with the newest first. A client is told by the session that it names: it is one
    of the names, or part of a path.
    """
    found = [path.parent.resolve() / path.name for path in files]
    parts = [*names, *(part for path in found for part in path.parts)]
    for session in running_sessions(home):
        if any(session in part for part in parts):
            return "a running client has it open"
    logs = [path for path in found if path.suffix == SUFFIX]
    if not any(_is_recent(state_of(path), now) for path in logs):
        return None
    known = [edit for edit in _since(edits, now - LONGEST) if edit.state == "done"]
    states = [state for path in logs if _is_recent(state := _left_by_others(path, known), now)]
    if not states:
        return None
    last = max(state.modified for state in states if state)
    return f"a line was added {max(0, now - last / BILLION):.0f} s ago"


def _is_recent(state: FileState | None, now: float) -> bool:
    return state is not None and abs(now - state.modified / BILLION) < REST


def _since(edits: Iterable[Edit], moment: float) -> Iterable[Edit]:
    return takewhile(lambda edit: edit.when.timestamp() > moment, edits)


def _left_by_others(path: Path, edits: Sequence[Edit]) -> FileState | None:
    """Returns a file as it was before Plait wrote to it last, None where nobody else has."""
    state = state_of(path)
    for step in (step for edit in edits for step in edit.steps if step.path == path):
        if state and step.after and _is_same(step.after, state):
            state = step.before
    return state


def _is_same(one: FileState, other: FileState) -> bool:
    return (one.size, one.modified) == (other.size, other.modified)
