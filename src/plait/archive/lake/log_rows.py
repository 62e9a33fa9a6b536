"""Sessions that are open to rows of themselves, of their log files and of the lines in those."""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version

from plait.archive.families import began
from plait.archive.lake.graph_rows import Lists, empty
from plait.archive.lake.reading import OpenUnit
from plait.lake.schema import LOGS, RAW, VERSION
from plait.record.time import moment, stamp_of


def session_row(read: OpenUnit, has_own: Sequence[bool], at: int) -> Lists:
    """Returns the row of a session."""
    unit, session, facts = read.unit, read.unit.sessions[at], read.facts[at]
    logs = [read.logs[file.path] for file in session.files]
    kinds = read.dag_lines[at]
    row = {
        "person": unit.labels.person,
        "team": unit.labels.team,
        "title": facts.title,
        "directory": facts.cwd,
        "git_branch": facts.git_branch,
        "started": facts.started,
        "ended": facts.ended,
        "version": facts.version,
        "log_bytes": sum(one.size for one in logs),
        "log_lines": sum(len(one.lines) for one in logs),
        "agents": len(session.agents),
        "dag_lines": kinds.total(),
        "branches": kinds["branch"],
        "has_own": has_own[at],
        "began": began(session, read.alone[at].records_of),
        "family": read.shown(unit.family),
        "fingerprint": unit.fingerprint,
        "profile": unit.profile,
        "schema": VERSION,
        "plait": _version(),
    }
    return {name: [value] for name, value in row.items()}


@cache
def _version() -> str:
    return version("plait")


def log_rows(read: OpenUnit, at: int) -> Lists:
    """Returns the account of each log file of a session."""
    found = empty(LOGS)
    for file in read.unit.sessions[at].files:
        held = read.logs[file.path]
        found["file"].append(read.shown(held.name))
        found["kind"].append(file.kind)
        found["agent"].append(file.agent and read.shown(file.agent))
        found["log_bytes"].append(held.size)
        found["modified"].append(stamp_of(moment(file.modified)))
        found["lines"].append(len(held.lines))
        found["records"].append(len(held.log.records))
        found["blank"].append(held.blank)
        found["broken"].append(len(held.broken))
        found["recovered"].append(len(held.log.recovered))
    return found


def raw_rows(read: OpenUnit, at: int) -> Lists:
    """Returns the lines of a session's files as they are."""
    found = empty(RAW)
    for file in read.unit.sessions[at].files:
        held = read.logs[file.path]
        count = len(held.lines)
        found["file"] += [read.shown(held.name)] * count
        found["line"] += range(1, count + 1)
        found["ended"] += [True] * count
        found["data"] += read.shown_lines(file.path)
        if not held.is_ended:
            found["ended"][-1] = False
    return found
