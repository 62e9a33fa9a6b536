"""A drafted log to the plan that writes it: as a new session, or in its place."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from plait.conversation.prices import Prices
from plait.edit.check.line_source import lines_of
from plait.edit.clone import ids_of, read_of, writes_of
from plait.edit.copying import NEW_IDS, SHOWN, joined
from plait.edit.draft import Draft, DraftLine
from plait.edit.held import stamp_now
from plait.edit.ids import Ids
from plait.edit.measure import LARGE, large_measures, measures
from plait.edit.model import (
    Change,
    Difference,
    Fate,
    Measures,
    Operation,
    Plan,
    Remove,
    Subject,
    Write,
)
from plait.edit.side_files import SideFile, side_files
from plait.line import FileStamp, Line, LogFile, lines, mode_of
from plait.line.discover import SUFFIX
from plait.record import Record, client_records

Stays = Callable[[SideFile], bool]
"""Tells of a file beside the log whether the session still has it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of one line of the log, and what is added behind it."""

    data: bytes | None
    added: tuple[bytes, ...]
    is_ended: bool


class Drafted:
    """A log as drafted: lines that change are held, all others are read again when asked for."""

    def __init__(self, log: LogFile, size: int, draft: Draft) -> None:
        self.log = log
        self.size = size
        self.outcomes: dict[int, Outcome] = {}
        self.head: tuple[bytes, ...] = ()
        """What is added before all other lines."""
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
            if last is None:
                self.head = tuple(added)
            last, added = line, []

    def lines(self, ids: Ids | None = None) -> Iterator[bytes]:
        """Yields the lines with their ends, under new ids where these are given."""
        for data in self.head:
            yield _named(data, ids) + b"\n"
        for line in lines(self.log.path, end=self.size):
            outcome = self.outcomes.get(line.number) or Outcome(line.data, (), line.is_ended)
            if outcome.data is not None:
                yield _named(outcome.data, ids) + b"\n" * outcome.is_ended
            for data in outcome.added:
                yield _named(data, ids) + b"\n"

    def pieces(self, ids: Ids | None = None) -> Iterator[bytes]:
        """Yields the bytes of the log, as it is written."""
        return joined(self.lines(ids))

    def measures(self, ids: Ids | None = None, prices: Prices | None = None) -> Measures:
        """Returns how large the session is that results."""
        sizes = [len(one) for one in self.lines(ids)]
        if sum(sizes) >= LARGE:
            return large_measures(lines_of(self.pieces()), sum(sizes), prices)
        records = list(client_records(lines_of(self.pieces())))
        return measures(self.log, records, lines=len(sizes), size=sum(sizes), prices=prices)

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


def in_place(
    operation: Operation,
    subject: Subject,
    stamp: FileStamp,
    drafted: Drafted,
    before: Measures,
    *,
    untouched: str,
    stays: Stays | None = None,
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan that writes a drafted log in the place of the one it was."""
    path = subject.log.path
    gone = [one.source for one in side_files(subject, subject.id) if stays and not stays(one)]
    return Plan(
        operation=operation,
        source=subject,
        session=subject.id,
        path=path,
        steps=(
            Write(path, drafted.pieces, stamp),
            *(Remove(one, stamp_now(one)) for one in gone),
        ),
        before=before,
        after=drafted.measures(prices=prices),
        changes=drafted.changes("kept", untouched),
        differences=drafted.differences(),
        read=((path, stamp),),
    )


def as_new(
    operation: Operation,
    subject: Subject,
    stamp: FileStamp,
    drafted: Drafted,
    before: Measures,
    *,
    stays: Stays | None = None,
    instead: Mapping[str, str | None] = {},
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan that writes a drafted log as a new session, and leaves the old one alone.

    What files beside it name that is not drafted is replaced by what is to be named instead.
    """
    log, session = subject.log, str(uuid4())
    ids = ids_of(subject, session)
    ids.learn_all(lines_of(drafted.pieces()))
    for gone, other in instead.items():
        if other:
            ids.put_instead(gone, other)
    beside = tuple(one for one in side_files(subject, session) if not stays or stays(one))
    path = log.path.with_name(session + SUFFIX)
    write = Write(path, partial(drafted.pieces, ids), mode=mode_of(log.path))
    return Plan(
        operation=operation,
        source=subject,
        session=session,
        path=path,
        steps=(write, *writes_of(beside, ids)),
        before=before,
        after=drafted.measures(ids, prices),
        changes=drafted.changes("rewritten", NEW_IDS),
        differences=drafted.differences(),
        read=((log.path, stamp), *read_of(beside)),
    )


def unchanged(
    operation: Operation,
    subject: Subject,
    stamp: FileStamp,
    before: Measures,
    *,
    untouched: str,
    why: str,
) -> Plan:
    """Returns the plan of an edit that finds nothing to do, and says why."""
    return Plan(
        operation=operation,
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=(),
        before=before,
        after=before,
        changes=(Change("kept", before.lines, untouched),) if before.lines else (),
        read=((subject.log.path, stamp),),
        notes=(why,),
    )
