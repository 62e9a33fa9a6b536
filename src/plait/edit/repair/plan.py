"""A session to the plan that mends it: as a new session, or in its place."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from plait.edit.check.line_source import lines_of
from plait.edit.check.rules import RULES, Judged, KnownOf
from plait.edit.clone import ids_of, read_of, writes_of
from plait.edit.copying import NEW_IDS, SHOWN, joined
from plait.edit.held import stamp_now
from plait.edit.ids import Ids
from plait.edit.measure import LARGE, large_measures, measures, measures_of
from plait.edit.model import Change, Difference, Fate, Measures, Plan, Subject, Write
from plait.edit.repair.draft import Draft, DraftLine, draft_of
from plait.edit.repair.rungs import mend
from plait.edit.side_files import side_files
from plait.graph.client import refusal
from plait.graph.entries import CHAIN_TYPES
from plait.line import FileStamp, Finding, Line, LogFile, lines, mode_of
from plait.line.discover import SUFFIX
from plait.record import Record, entry_of

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
        return _unchanged(subject, stamp, before, left)
    mended = Mended(subject.log, stamp.size, draft)
    return (_in_place if is_in_place else _as_new)(subject, stamp, mended, before, left)


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


def _unchanged(
    subject: Subject, stamp: FileStamp, before: Measures, left: tuple[Finding, ...]
) -> Plan:
    return Plan(
        operation="repair",
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=(),
        before=before,
        after=before,
        changes=(Change("kept", before.lines, UNTOUCHED),) if before.lines else (),
        read=((subject.log.path, stamp),),
        unmended=left,
        notes=(FINE,),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of one line of the log, and what is added behind it."""

    data: bytes | None
    added: tuple[bytes, ...]
    is_ended: bool


class Mended:
    """A mended log: the lines that change are held, all others are read again when asked for."""

    def __init__(self, log: LogFile, size: int, draft: Draft) -> None:
        self.log = log
        self.size = size
        self.outcomes: dict[int, Outcome] = {}
        self.changed = [line for line in draft.lines if line.reasons]
        self.kept = sum(not line.reasons for line in draft.lines)
        self._hold(draft)

    def _hold(self, draft: Draft) -> None:
        last: DraftLine | None = None
        added: list[bytes] = []
        for line in (*draft.lines, None):
            if line is not None and line.number is None:
                added.append(line.data)
                continue
            if last is not None and last.number and (last.reasons or added):
                data = None if last.is_gone else last.data
                self.outcomes[last.number] = Outcome(data, tuple(added), last.is_ended)
            last, added = line, []

    def lines(self, ids: Ids | None = None) -> Iterator[bytes]:
        """Yields the lines with their ends, under new ids where these are given."""
        for line in lines(self.log.path, end=self.size):
            outcome = self.outcomes.get(line.number) or Outcome(line.data, (), line.is_ended)
            if outcome.data is not None:
                yield _named(outcome.data, ids) + b"\n" * outcome.is_ended
            for data in outcome.added:
                yield _named(data, ids) + b"\n"

    def pieces(self, ids: Ids | None = None) -> Iterator[bytes]:
        """Yields the bytes of the mended log, as it is written."""
        return joined(self.lines(ids))

    def measures(self, ids: Ids | None = None) -> Measures:
        """Returns how large the session is that results."""
        sizes = [len(one) for one in self.lines(ids)]
        if sum(sizes) >= LARGE:
            return large_measures(lines_of(self.pieces()), sum(sizes))
        entries = (entry_of(line) for line in lines_of(self.pieces()))
        records = [entry for entry in entries if isinstance(entry, Record)]
        return measures(self.log, records, lines=len(sizes), size=sum(sizes))

    def changes(self, untouched: Fate, reason: str) -> tuple[Change, ...]:
        """Returns how lines fare, and why."""
        found: Counter[tuple[Fate, str]] = Counter()
        for line in self.changed:
            found[_fate(line), "; ".join(dict.fromkeys(line.reasons))] += 1
        changes = [Change(fate, count, why) for (fate, why), count in found.items()]
        return (*([Change(untouched, self.kept, reason)] if self.kept else ()), *changes)

    def differences(self) -> tuple[Difference, ...]:
        """Returns a few lines before and after, of each kind some."""
        shown: Counter[str] = Counter()
        found: list[Difference] = []
        for line in self.changed:
            why = "; ".join(dict.fromkeys(line.reasons))
            shown[why] += 1
            if shown[why] <= SHOWN:
                entry = line.entry
                uuid = entry.uuid if isinstance(entry, Record) else None
                after = None if line.is_gone else line.data
                found.append(Difference(line.number, uuid, line.was, after, why))
        return tuple(found)


def _named(data: bytes, ids: Ids | None) -> bytes:
    return ids.line(Line(0, 0, data, True)) if ids else data


def _fate(line: DraftLine) -> Fate:
    if line.number is None:
        return "added"
    return "dropped" if line.is_gone else "rewritten"


def _in_place(
    subject: Subject,
    stamp: FileStamp,
    mended: Mended,
    before: Measures,
    left: tuple[Finding, ...],
) -> Plan:
    path = subject.log.path
    return Plan(
        operation="repair",
        source=subject,
        session=subject.id,
        path=path,
        steps=(Write(path, mended.pieces, stamp),),
        before=before,
        after=mended.measures(),
        changes=mended.changes("kept", UNTOUCHED),
        differences=mended.differences(),
        read=((path, stamp),),
        unmended=left,
    )


def _as_new(
    subject: Subject,
    stamp: FileStamp,
    mended: Mended,
    before: Measures,
    left: tuple[Finding, ...],
) -> Plan:
    log, session = subject.log, str(uuid4())
    ids = ids_of(subject, session)
    ids.learn_all(lines_of(mended.pieces()))
    beside = side_files(subject, session)
    path = log.path.with_name(session + SUFFIX)
    write = Write(path, partial(mended.pieces, ids), mode=mode_of(log.path))
    return Plan(
        operation="repair",
        source=subject,
        session=session,
        path=path,
        steps=(write, *writes_of(beside, ids)),
        before=before,
        after=mended.measures(ids),
        changes=mended.changes("rewritten", NEW_IDS),
        differences=mended.differences(),
        read=((log.path, stamp), *read_of(beside)),
        unmended=left,
    )
