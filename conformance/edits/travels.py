"""Sessions to themselves in another place: what the client says of them is the same there."""

import re
from dataclasses import replace

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
    """Makes a session one that was held on the desk where it lies."""
    cwd = b'"cwd":"%s"' % str(case.desk.directory).encode()
    case.file.write_bytes(CWD.sub(lambda _: cwd, case.file.read_bytes()))
    make_old(case.file)


def moved(edited: Edited) -> Faults:
    """Yields in what a session is read otherwise where it lies now, and what was left behind."""
    yield from differences(edited.case.before.client, edited.after.client, {})
    if list(edited.case.desk.project.glob("*.jsonl")):
        yield "logs were left behind"
    if str(edited.case.desk.directory).encode() + b'"' in edited.file.read_bytes():
        yield "the old directory is still named"


TRAVELS: dict[str, Operation] = {"move": move}
