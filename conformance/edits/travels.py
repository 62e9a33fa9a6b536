"""Move sessions elsewhere: the client reads them as before."""

import re
from dataclasses import replace
from pathlib import Path

from conformance.edits.model import Case, Edited, Faults, Operation, Trial
from conformance.edits.operations import differences
from conformance.sandbox import make_old

ELSEWHERE = "another place"
CWD = re.compile(rb'"cwd":"(?:[^"\\]|\\.)*"')


def move(case: Case) -> Trial:
    """The whole project to another directory: the client goes on there as it did here."""
    desk = replace(case.desk, name=ELSEWHERE)
    desk.directory.mkdir(exist_ok=True)
    at_home(case)
    [plan] = case.archive.plan.move(str(case.desk.directory), desk.directory)
    return Trial(plan, moved, desk, desk.project / case.file.name)


def at_home(case: Case) -> None:
    """Make a session one that was held on the desk where it lies."""
    cwd = b'"cwd":"%s"' % str(case.desk.directory).encode()
    case.file.write_bytes(CWD.sub(lambda _: cwd, case.file.read_bytes()))
    make_old(case.file)


def moved(edited: Edited) -> Faults:
    """Yield in what a session is read otherwise where it lies now, and what was left behind."""
    yield from differences(edited.case.before.client, edited.after.client, {})
    if list(edited.case.desk.project.glob("*.jsonl")):
        yield "logs were left behind"
    if str(edited.case.desk.directory).encode() + b'"' in edited.file.read_bytes():
        yield "the old directory is still named"


def port(case: Case) -> Trial:
    """Through a file to another directory: the client goes on there as it did here."""
    desk = replace(case.desk, name=ELSEWHERE)
    desk.directory.mkdir(exist_ok=True)
    at_home(case)
    kept = case.desk.config.parent / f"{case.file.stem}.zip"
    kept.unlink(missing_ok=True)
    case.archive.plan.pack(case.file.stem, kept).write()
    for path in (case.file, *files_of(case)):
        path.unlink()
    plan = case.archive.plan.port(kept, desk.directory)
    return Trial(plan, ported, desk, desk.project / case.file.name)


def files_of(case: Case) -> list[Path]:
    """Return the files beside a session's log: it is as if it had never been here."""
    found = case.desk.config.rglob(f"*{case.file.stem}*/**/*")
    return [path for path in found if path.is_file()]


def ported(edited: Edited) -> Faults:
    """Yield in what a session is read otherwise where it was brought."""
    yield from differences(edited.case.before.client, edited.after.client, {})
    if str(edited.case.desk.directory).encode() + b'"' in edited.file.read_bytes():
        yield "the old directory is still named"


TRAVELS: dict[str, Operation] = {"move": move, "port": port}
