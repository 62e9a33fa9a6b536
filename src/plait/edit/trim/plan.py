"""A session to the plan that trims it: as a new session, or in its place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from plait.edit.draft import Draft, draft_of
from plait.edit.drafted import Drafted, as_new, in_place
from plait.edit.held import stamp_now
from plait.edit.measure import measures_of
from plait.edit.model import Change, Measures, Plan, Subject
from plait.edit.trim.beside import Beside
from plait.edit.trim.carry import Gone, carry
from plait.edit.trim.choose import cuts_of
from plait.edit.trim.model import Cut, TrimChoice
from plait.edit.trim.pointers import mend_pointers
from plait.edit.trim.standing import keep_standing, leaf_in
from plait.errors import UserError
from plait.graph.client import Context, context, refusal
from plait.graph.client.weigh import tokens_sent
from plait.line import FileStamp, lines
from plait.record import Record

NOTHING = "nothing to trim"
UNTOUCHED = "nothing of it was asked to go"
CACHE = "the prompt cache is spent: what remains is written to it once more"
USAGE = "`usage` tells what was sent then, and no longer matches the contents"


Chosen = Callable[[Sequence[Record], Context], Iterable[Cut]]
"""Tells what is to go of some records, of which the client sends so much."""


def trim(subject: Subject, choice: TrimChoice, *, is_in_place: bool = False) -> Plan:
    """Returns the plan that trims a session; without a step where nothing is to go."""

    def chosen(records: Sequence[Record], sent: Context) -> Iterable[Cut]:
        return cuts_of(records, choice, sent)

    return without(subject, chosen, is_in_place=is_in_place)


def without(subject: Subject, chosen: Chosen, *, is_in_place: bool = False) -> Plan:
    """Returns the plan that makes cuts in a session; without a step where there are none."""
    stamp = stamp_now(subject.log.path)
    draft = draft_of(subject.log, lines(subject.log.path, end=stamp.size))
    sent, leaf = context(draft.records, size=stamp.size), leaf_in(draft)
    gone = carry(draft, chosen(draft.records, sent))
    before = measures_of(subject.log, stamp.size)
    if not draft.is_changed:
        return _unchanged(subject, stamp, before)
    beside = Beside(subject, draft)
    moved = mend_pointers(draft, gone.pairs, beside.parents)
    keep_standing(draft, subject.id, leaf, moved)
    _refuse_if_empty(draft, sent)
    drafted = Drafted(subject.log, stamp.size, draft)
    stays = beside.stays
    if is_in_place:
        plan = in_place("trim", subject, stamp, drafted, before, untouched=UNTOUCHED, stays=stays)
        plan = replace(plan, steps=(*plan.steps, *beside.writes(moved)))
    else:
        plan = as_new("trim", subject, stamp, drafted, before, stays=stays, instead=moved)
    return replace(plan, after=_measured(plan, sent, draft), notes=_notes(gone))


def _refuse_if_empty(draft: Draft, sent: Context) -> None:
    """Raises where the client went on with the session, and would not with what is left."""
    why_not = refusal(draft.records, draft.size) if sent.resumes else None
    if why_not:
        raise UserError(f"refusing to trim: the client would not resume what is left ({why_not})")


def _measured(plan: Plan, sent: Context, draft: Draft) -> Measures:
    """Returns how large the result is: what is sent is estimated, since nobody has sent it yet."""
    if plan.before.tokens is None:
        return plan.after
    saved = tokens_sent(sent.request) - tokens_sent(context(draft.records, size=draft.size).request)
    return replace(plan.after, tokens=max(0, plan.before.tokens - saved))


def _notes(gone: Gone) -> tuple[str, ...]:
    spared = f"{len(gone.spared)} cuts are not made: they would take what a person said"
    return (CACHE, USAGE, *([spared] if gone.spared else ()))


def _unchanged(subject: Subject, stamp: FileStamp, before: Measures) -> Plan:
    return Plan(
        operation="trim",
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=(),
        before=before,
        after=before,
        changes=(Change("kept", before.lines, UNTOUCHED),) if before.lines else (),
        read=((subject.log.path, stamp),),
        notes=(NOTHING,),
    )
