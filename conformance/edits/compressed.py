"""Check sessions whose older turns were compressed."""

from functools import partial
from typing import Any

from conformance.edits.model import Case, Edited, Faults, Operation, Trial
from conformance.edits.operations import messages_of
from conformance.edits.trims import both, calls_in, typed, unasked, unpaired
from conformance.model import Message

NO_NAME = (None, None)


def compressed(case: Case, **wanted: Any) -> Trial | None:
    """Return the trial that compresses a session; None where there is nothing to compress."""
    plan = case.archive.plan.compress(case.file.stem, **wanted)
    wanted.pop("in_place", None)
    return Trial(plan, partial(left, wanted)) if plan.steps else None


def left(wanted: dict[str, Any], edited: Edited) -> Faults:
    """Yield what is wrong with a session that was compressed."""
    before, after = both(edited)
    if before.resumes and not after.resumes:
        yield "it does not resume any more"
    yield from unasked(edited)
    yield from uncounted(edited)
    if unpaired(after.messages) - unpaired(before.messages):
        yield "calls and results are not of each other"
    if wanted.get("calls") == "none" and not wanted["keep_last"] and calls_in(after.messages):
        yield "calls are still sent"
    if wanted["keep_last"] and last_of(after.messages) != last_of(before.messages):
        yield "the newest turn is not what it was"
    again = edited.case.archive.plan.compress(edited.plan.session, **wanted)
    if again.steps:
        yield f"it would be compressed again: {[one.reason for one in again.changes][:3]}"


def uncounted(edited: Edited) -> Faults:
    """Yield where a turn is counted twice, or the session has another title."""
    had, has = edited.plan.before.turns, edited.plan.after.turns
    if has > max(had, sum(any(typed(entry)) for entry in messages_of(edited.case.file))):
        yield f"{had} turns became {has}"
    names = [
        (one.given, one.tag) if one else NO_NAME for one in (edited.case.listed, edited.listed)
    ]
    if names[0] != names[1]:
        yield f"the SDK lists it as {names[1]}, and listed it as {names[0]}"


def last_of(messages: list[Message]) -> list[Message]:
    """Return the last message, none where nothing is sent."""
    return messages[-1:]


def compress(case: Case) -> Trial | None:
    """All but the newest turn, calls told in a line each: a new session."""
    return compressed(case, keep_last=1)


def compress_all(case: Case) -> Trial | None:
    """All turns, without a word of the calls, in place."""
    return compressed(case, keep_last=0, calls="none", in_place=True)


COMPRESSIONS: dict[str, Operation] = {"compress": compress, "compress-all": compress_all}
