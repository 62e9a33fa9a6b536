"""Sessions to one edit of each kind, with what must be true of what it leaves.

An operation is a function and a row in the table at the end: that is all a new one needs. What is
true of all of them is asked elsewhere: the plan violates no rule, client and SDK read what is left
as Plait does, and undo brings back every file.
"""

from conformance.edits.ids import old_ids, with_old_ids
from conformance.edits.model import Case, Edited, Faults, Operation, Trial
from conformance.model import Resumed


def clone(case: Case) -> Trial:
    """All of a session once more: the client says of both the same, but for ids."""
    return Trial(case.archive.plan.clone(case.file.stem), says_the_same)


def says_the_same(edited: Edited) -> Faults:
    """Yields in what the client reads a session otherwise than before the edit, ids apart."""
    olds = old_ids(edited.file, edited.case.file.stem)
    yield from differences(edited.case.before.client, edited.after.client, olds)


def differences(before: Resumed, after: Resumed, olds: dict[str, str]) -> Faults:
    """Yields in what two readings of the client differ, ids apart."""
    if before.resumes != after.resumes:
        yield f"it {'resumes' if after.resumes else 'does not resume'} now"
    if with_old_ids(after.chain, olds) != list(before.chain):
        yield "the client takes another chain than before"
    for what in ("messages", "request"):
        said = with_old_ids(getattr(after, what), olds)
        if said != with_old_ids(getattr(before, what), {}):
            yield f"the client sends another {what} than before"


OPERATIONS: dict[str, Operation] = {
    "clone": clone,
}

MAY_DECLINE = frozenset[str]()
"""What some sessions give no way to do: it then says so, and does nothing."""
