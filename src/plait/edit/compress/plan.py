"""A session to the plan that compresses its older turns: as a new session, or in its place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from plait.conversation.model import Called, Told
from plait.conversation.prices import Prices
from plait.edit.amounts import many
from plait.edit.compress.band import band_of
from plait.edit.compress.carry import Telling, carry
from plait.edit.compress.extract import extract
from plait.edit.compress.fates import fates_of
from plait.edit.compress.made import MARK, is_made
from plait.edit.compress.model import CALLS, Band, Calls, Segment, Summariser
from plait.edit.compress.told import told_turn
from plait.edit.draft import Draft, draft_of
from plait.edit.drafted import Drafted, as_new, in_place, unchanged
from plait.edit.held import stamp_now
from plait.edit.measure import active_of, measures_of, with_break_even
from plait.edit.model import Measures, Plan, Subject
from plait.edit.noting import note_what_went, weights_of
from plait.edit.trim.beside import Beside
from plait.errors import UserError
from plait.graph.client import context
from plait.graph.client.weigh import tokens_sent
from plait.line import FileStamp, lines

UNTOUCHED = "newer turns, and what is not sent anyway"
NOTHING = "nothing to compress"
NOT_RESUMED = f"{NOTHING}: nothing in this session can be resumed"
ONLY_CALLS = "(Only tool calls, no words.)"
CALLED = "Tool calls of this turn, without their results:"
SPENT = "the prompt cache is spent: the next prompt writes what is left to it anew"
UNCOUNTED = "what the answers that go have cost is no longer counted: it stood with them"
NO_HELP = "it does not help: these turns are about as short as what would stand for them"


def compress(
    subject: Subject,
    *,
    until: str | None = None,
    keep_last: int | None = None,
    summariser: Summariser = extract,
    calls: Calls = "metadata",
    is_in_place: bool = False,
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan that compresses the turns before one, or all but the newest so many.

    It has no steps where nothing of them would go. The turn is named by a record in it.
    """
    _check(until, keep_last, calls)
    stamp = stamp_now(subject.log.path)
    before = measures_of(subject.log, stamp.size, prices)
    draft = draft_of(subject.log, lines(subject.log.path, end=stamp.size))
    records = draft.records
    active, now = active_of(subject.log, records, stamp.size), context(records, size=stamp.size)
    if active is None or not now.chain:
        return unchanged("compress", subject, stamp, before, untouched=NOTHING, why=NOT_RESUMED)
    band = band_of(records, stamp.size, active, until=until, keep_last=keep_last)
    sent, weights = tokens_sent(now.request), weights_of(records, stamp.size)
    metadata = {"trigger": "manual", "preTokens": before.tokens or sent, MARK: band.turns}
    telling = Telling(_note(band), metadata, calls == "metadata")
    carried = carry(draft, band, lambda one: _words(one, summariser, calls), telling)
    if carried is None:
        why = _why_nothing(band)
        return unchanged("compress", subject, stamp, before, untouched=NOTHING, why=why)
    note_what_went(draft, weights)
    planned = partial(_plan, prices=prices, is_in_place=is_in_place)
    plan = planned(subject, stamp, draft, before, carried.instead)
    return with_break_even(_told(plan, band, sent, draft), records, datetime.now(UTC))


def _check(until: str | None, keep_last: int | None, calls: str) -> None:
    if (until is None) == (keep_last is None):
        raise UserError("either `until` or `keep_last` says which turns are left alone")
    if keep_last is not None and keep_last < 0:
        raise UserError(f"{keep_last} turns cannot be kept")
    if calls not in CALLS:
        raise UserError(f"calls are not kept as '{calls}'", f"it is one of {', '.join(CALLS)}")


def _words(segment: Segment, summariser: Summariser, calls: Calls) -> str | None:
    """Returns what stands for the answers of a turn, None where there were none."""
    is_answered = any(one.type == "assistant" and not is_made(one) for one in segment.records)
    turn = told_turn(segment)
    if not is_answered and not turn.calls:
        return None
    said = summariser(turn).strip() if turn.answers else ""
    told = turn.calls if calls == "metadata" else ()
    listed = "\n".join((CALLED, *(f"- {line}" for line in told))) if told else ""
    return "\n\n".join(part for part in (said, listed) if part) or ONLY_CALLS


def _note(band: Band) -> str:
    going = [part for part in band.segments if any(fate != "stays" for fate in fates_of(part))]
    numbers = [part.number for part in going if part.number]
    turns = f"turns {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "a turn"
    answers, made = _counts(going)
    told = f"{many(answers, 'answer')}, {many(made, 'tool call')}"
    return (
        f"Plait compressed {turns}: {told} with {'its result' if made == 1 else 'their results'}."
    )


def _counts(segments: Sequence[Segment]) -> tuple[int, int]:
    records = [one for part in segments for one in part.records if one.type == "assistant"]
    answers = {one.message_id or one.uuid for one in records if not is_made(one)}
    calls = sum(isinstance(item, Called) for part in segments for item in part.items)
    return len(answers), calls


def _why_nothing(band: Band) -> str:
    if not band.turns:
        return f"{NOTHING}: no turn stands before those that are left alone"
    return f"{NOTHING}: the older turns are compressed already, or hold prompts alone"


def _plan(
    subject: Subject,
    stamp: FileStamp,
    draft: Draft,
    before: Measures,
    instead: Mapping[str, str],
    *,
    prices: Prices | None,
    is_in_place: bool,
) -> Plan:
    beside, drafted = Beside(subject, draft), Drafted(subject.log, stamp.size, draft)
    if not is_in_place:
        kept = partial(as_new, stays=beside.stays, instead=instead, prices=prices)
        return kept("compress", subject, stamp, drafted, before)
    kept = partial(in_place, untouched=UNTOUCHED, stays=beside.stays, prices=prices)
    plan = kept("compress", subject, stamp, drafted, before)
    return replace(plan, steps=(*plan.steps, *beside.writes(instead)))


def _told(plan: Plan, band: Band, sent: int, draft: Draft) -> Plan:
    """Returns the plan with what Claude will no longer know."""
    after = tokens_sent(context(draft.records, size=draft.size).request)
    known, size = plan.before.tokens, plan.after
    if size.tokens is None and known is not None:  # no answer is left that says
        size = replace(size, tokens=_less(known, sent, after))
    is_help = after < sent and (size.tokens or 0) <= (known or size.tokens or 0)
    notes = [*_lost(band), *([] if is_help else [NO_HELP]), SPENT]
    if plan.is_in_place:
        notes.append(UNCOUNTED)
    return replace(plan, after=size, notes=tuple(notes))


def _less(known: int, sent: int, after: int) -> int:
    """Returns what is left of so many tokens where messages that took some take fewer."""
    return known - sent + after if known >= sent else round(known * after / max(sent, 1))


def _lost(band: Band) -> Iterator[str]:
    going = [part for part in band.segments if any(fate != "stays" for fate in fates_of(part))]
    answers, calls = _counts(going)
    yield f"Claude will know {many(answers, 'answer')} of older turns only by a summary"
    if calls:
        yield f"Claude will no longer know the results of {many(calls, 'tool call')}"
    told = [item for part in going for item in part.items if isinstance(item, Told)]
    if files := sum(one.kind in ("document", "skill", "ide") for one in told):
        words = "files, skills and notes that went with prompts"
        yield f"Claude will no longer see {words}: {files}"
