"""Files of a session to a sign that somebody is writing to them now.

A client says in `sessions/<pid>.json` which session it runs; it may have ended since, or be one
that says nothing, and then only the time of its last line tells. What Plait itself wrote last
is no sign of life.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from plait.edit.entry import Edit
from plait.line.discover import SUFFIX
from plait.line.replace import FileState, state_of
from plait.record.sidecar import running_sessions

REST = 60.0
"""Seconds after its last line in which a session counts as live."""
BILLION = 1_000_000_000


def sign_of_life(
    home: Path, files: Iterable[Path], names: Iterable[str], edits: Sequence[Edit], now: float
) -> str | None:
    """Returns how one can tell that files are being written to, None where nothing says so.

    A client is told by the session that it names: it is one of the names, or part of a path.
    """
    found = [path.parent.resolve() / path.name for path in files]
    parts = [*names, *(part for path in found for part in path.parts)]
    for session in running_sessions(home):
        if any(session in part for part in parts):
            return "a running client has it open"
    logs = (path for path in found if path.suffix == SUFFIX)
    ages = [now - time for path in logs if (time := _written_by_others(path, edits)) is not None]
    recent = [age for age in ages if -REST < age < REST]
    return f"a line was added {max(0, min(recent)):.0f} s ago" if recent else None


def _written_by_others(path: Path, edits: Sequence[Edit]) -> float | None:
    """Returns when somebody else than Plait wrote to a file last, None where nobody has."""
    state = state_of(path)
    for edit in edits:  # the newest first
        steps = [step for step in edit.steps if step.path == path and edit.state == "done"]
        for step in steps:
            if state and step.after and _is_same(step.after, state):
                state = step.before
    return state.modified / BILLION if state else None


def _is_same(one: FileState, other: FileState) -> bool:
    return (one.size, one.modified) == (other.size, other.modified)
