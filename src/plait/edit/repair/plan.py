"""A session to the plan that mends it: as a new session, or in its place."""

from collections.abc import Iterator
from dataclasses import replace

from plait.edit.check.line_source import lines_of
from plait.edit.check.rules import RULES, Judged, KnownOf
from plait.edit.draft import Draft, draft_of
from plait.edit.drafted import Drafted, as_new, in_place, unchanged
from plait.edit.held import stamp_now
from plait.edit.measure import measures_of
from plait.edit.model import Plan, Subject
from plait.edit.repair.rungs import mend
from plait.graph.client import refusal
from plait.graph.entries import CHAIN_TYPES
from plait.line import FileStamp, Finding, lines

FINE = "nothing to repair"
UNTOUCHED = "nothing is wrong with it"


def needs_repair(subject: Subject, known_of: KnownOf | None = None) -> bool:
    """Tells whether anything of a session can be mended."""
    return _mended(subject, stamp_now(subject.log.path), known_of).is_changed


def repair(subject: Subject, *, is_in_place: bool = False, known_of: KnownOf | None = None) -> Plan:
    """Returns the plan that mends a session; without a step where nothing is to be mended."""
    stamp = stamp_now(subject.log.path)
    draft = _mended(subject, stamp, known_of)
    before = measures_of(subject.log, stamp.size)
    left = _left_over(draft)
    if not draft.is_changed:
        idle = unchanged("repair", subject, stamp, before, untouched=UNTOUCHED, why=FINE)
        return replace(idle, unmended=left)
    drafted = Drafted(subject.log, stamp.size, draft)
    if is_in_place:
        plan = in_place("repair", subject, stamp, drafted, before, untouched=UNTOUCHED)
    else:
        plan = as_new("repair", subject, stamp, drafted, before)
    return replace(plan, unmended=left)


def _mended(subject: Subject, stamp: FileStamp, known_of: KnownOf | None) -> Draft:
    found = draft_of(subject.log, lines(subject.log.path, end=stamp.size))
    found.elsewhere = _known_first(found, known_of)
    mend(found)
    return found


def _known_first(draft: Draft, known_of: KnownOf | None) -> frozenset[str]:
    """Returns the parent of the first record where it lies in another log."""
    first = next((one for one in draft.records if one.uuid and one.type in CHAIN_TYPES), None)
    parent = first.parent_uuid if first else None
    if not parent or not known_of or any(one.uuid == parent for one in draft.records):
        return frozenset()
    return known_of(frozenset({parent}))


def _left_over(draft: Draft) -> tuple[Finding, ...]:
    """Returns what is still wrong with a mended log, by the lines of the one it was."""
    judged = Judged(rule for rule in RULES if rule.binds_all)
    judged.read(lines_of(_bytes_of(draft)))
    path, why_not = draft.log.path, refusal(draft.records, draft.size)
    found = judged.found(draft.elsewhere, None, why_not)
    numbers = [line.number for line in draft.lines if not line.is_gone]
    return tuple(
        Finding(rule.name, one.sentence, path, numbers[one.place.line - 1], one.place.uuid)
        for rule, one in found
    )


def _bytes_of(draft: Draft) -> Iterator[bytes]:
    for line in draft.lines:
        if not line.is_gone:
            yield line.data + b"\n" * line.is_ended
