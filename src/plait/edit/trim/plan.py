"""A session to the plan that trims it: as a new session, or in its place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from plait.conversation.prices import Prices
from plait.edit.check.line_source import lines_of
from plait.edit.draft import Draft, draft_of
from plait.edit.drafted import Drafted, as_new, in_place, unchanged
from plait.edit.held import stamp_now
from plait.edit.measure import measures_of, with_break_even
from plait.edit.model import Plan, Subject, Write
from plait.edit.noting import note_what_went, weights_of
from plait.edit.trim.beside import Beside
from plait.edit.trim.carry import Gone, carry
from plait.edit.trim.choose import cuts_of
from plait.edit.trim.lost import lost
from plait.edit.trim.model import Cut, Preset, TrimChoice
from plait.edit.trim.pointers import mend_pointers
from plait.edit.trim.presets import shortfall
from plait.edit.trim.sent import SentLog
from plait.edit.trim.standing import keep_way, way_of
from plait.errors import UserError
from plait.graph.client import Context, context, refusal
from plait.line import lines
from plait.record import Record, entry_of

NOTHING = "nothing to trim"
UNTOUCHED = "nothing of it was asked to go"
CACHE = "the prompt cache is spent: what remains is written to it once more"
SPARED = "what a person said stays, and what only the provider can write is not shortened"
USAGE = "`usage` tells what was sent then, and no longer matches the contents"


Chosen = Callable[[Sequence[Record], int], Iterable[Cut]]
"""Tells what is to go of the records of a log, which has so many bytes."""


def trim(
    subject: Subject,
    choice: TrimChoice,
    *,
    is_in_place: bool = False,
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan that trims a session; without a step where nothing is to go."""

    def chosen(records: Sequence[Record], size: int) -> Iterable[Cut]:
        return cuts_of(records, choice, size)

    plan = without(subject, chosen, is_in_place=is_in_place, prices=prices)
    return replace(plan, notes=(*plan.notes, *_shortfall(plan, choice.preset)))


def _shortfall(plan: Plan, preset: Preset | None) -> Iterable[str]:
    """Says where a preset does not reach what it is for."""
    if preset is None:
        return ()
    written = (step for step in plan.steps if isinstance(step, Write) and step.path == plan.path)
    step = next(written, None)
    found = lines_of(step.content()) if step else lines(plan.path, end=plan.before.bytes)
    entries = (entry_of(line) for line in found)
    records = [entry for entry in entries if isinstance(entry, Record)]
    why = shortfall(SentLog(records, plan.after.bytes), preset)
    return () if why is None else (why,)


def without(
    subject: Subject,
    chosen: Chosen,
    *,
    is_in_place: bool = False,
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan that makes cuts in a session; without a step where there are none."""
    stamp = stamp_now(subject.log.path)
    draft = draft_of(subject.log, lines(subject.log.path, end=stamp.size))
    sent, way = context(draft.records, size=stamp.size), way_of(draft)
    records, weights = draft.records, weights_of(draft.records, stamp.size)
    gone = carry(draft, chosen(records, stamp.size))
    before = measures_of(subject.log, stamp.size, prices)
    if not draft.is_changed:
        return unchanged("trim", subject, stamp, before, untouched=UNTOUCHED, why=NOTHING)
    beside = Beside(subject, draft)
    moved = mend_pointers(draft, gone.pairs, beside.parents)
    keep_way(draft, subject.id, way, moved)
    _refuse_if_empty(draft, sent)
    note_what_went(draft, weights)
    drafted = Drafted(subject.log, stamp.size, draft)
    stays = beside.stays
    if is_in_place:
        plan = in_place(
            "trim", subject, stamp, drafted, before, untouched=UNTOUCHED, stays=stays, prices=prices
        )
        plan = replace(plan, steps=(*plan.steps, *beside.writes(moved)))
    else:
        plan = as_new(
            "trim", subject, stamp, drafted, before, stays=stays, instead=moved, prices=prices
        )
    left = context(draft.records, size=draft.size)
    plan = replace(plan, notes=(*lost(sent, left), *_notes(gone)))
    return with_break_even(plan, records, datetime.now(UTC))


def _refuse_if_empty(draft: Draft, sent: Context) -> None:
    """Raises where the client went on with the session, and would not with what is left."""
    why_not = refusal(draft.records, draft.size) if sent.resumes else None
    if why_not:
        raise UserError(f"refusing to trim: the client would not resume what is left ({why_not})")


def _notes(gone: Gone) -> tuple[str, ...]:
    count = len(gone.spared)
    spared = f"{count:,} {'cut is' if count == 1 else 'cuts are'} not made: {SPARED}"
    return (CACHE, USAGE, *([spared] if gone.spared else ()))
