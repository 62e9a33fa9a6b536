"""Cuts to a draft without what they name, and without all that is nothing without it.

    U ── T₁ ── T₂ ── R₁ … R₂ ── A      T₁ goes: so does R₁, and what hung on them hangs on
    U ── T₂ ── R₂ ── A                 the nearest record above that stays

A call takes its result with it, and a result its call; with them go their news, their hooks and
the client's notices. A record whose blocks all go goes; of another one only the block goes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plait.edit.draft import Draft, DraftLine
from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import Pairs, accompanies, answered_by, blocks_in, call_of
from plait.edit.trim.pointers import mend_pointers
from plait.edit.trim.shorter import shortened
from plait.edit.trim.spared import allowed
from plait.edit.trim.splice import GONE, spliced
from plait.record import Record

WITH_CALL = "goes with a call that goes"
OF_RESULT = ("toolUseResult", "sourceToolAssistantUUID", "mcpMeta", "toolDenialKind")
"""What a line says of the result in it."""


@dataclass(slots=True)
class Gone:
    """What was cut, and what that brought about."""

    calls: set[str] = field(default_factory=set)
    cuts: list[Cut] = field(default_factory=list)
    """Those that were made."""
    spared: int = 0
    """Cuts that were not made, since they would take what a person said."""
    uuids: dict[str, str | None] = field(default_factory=dict)
    """Records that went, each with the nearest one above it that stays."""


def carry(draft: Draft, cuts: Iterable[Cut]) -> Gone:
    """Makes cuts in a draft, with all that follows, and returns what went."""
    wanted = list(cuts)
    pairs = Pairs(draft.spoken)
    records = {line.number or 0: record for line, record in draft.spoken}
    gone = Gone(cuts=list(allowed(wanted, records, pairs)))
    gone.spared = len(wanted) - len(gone.cuts)
    change = _Change(draft, pairs, gone)
    change.decide(records)
    change.make()
    gone.uuids = mend_pointers(draft)
    return gone


class _Change:
    """What becomes of each block and of each line, before any of it is done."""

    def __init__(self, draft: Draft, pairs: Pairs, gone: Gone) -> None:
        self.draft = draft
        self.pairs = pairs
        self.gone = gone
        self.blocks: dict[int, dict[int, Cut]] = {}
        """Cuts by line, and by block within it."""
        self.lines: dict[int, str] = {}
        """Lines that go, each with the reason."""

    def decide(self, records: dict[int, Record]) -> None:
        """Decides what goes with what."""
        for cut in self.gone.cuts:
            self._enter(cut, records[cut.line])
        for call, reason in self._calls_that_go(records).items():
            self.gone.calls.add(call)
            for line, place in self.pairs.places(call):
                cut = Cut(line, place, None, reason)
                self.blocks.setdefault(line, {})[place] = cut

    def _enter(self, cut: Cut, record: Record) -> None:
        if cut.block is None:
            places = range(len(blocks_in(record)))
            if not places:
                self.lines[cut.line] = cut.reason
        else:
            places = range(cut.block, cut.block + 1)
        for place in places:
            self.blocks.setdefault(cut.line, {})[place] = cut

    def _calls_that_go(self, records: dict[int, Record]) -> dict[str, str]:
        found: dict[str, str] = {}
        for line, cuts in self.blocks.items():
            blocks = blocks_in(records[line])
            for place, cut in cuts.items():
                call = call_of(blocks[place]) or answered_by(blocks[place])
                if call and cut.to is None and cut.inner is None:
                    found.setdefault(call, cut.reason)
        return found

    def make(self) -> None:
        """Changes the draft."""
        for line, record in list(self.draft.spoken):
            number = line.number or 0
            if number in self.lines:
                self.draft.drop(line, self.lines[number])
            elif number in self.blocks:
                self._cut_blocks(line, record, self.blocks[number])
            elif self.gone.calls and accompanies(record, self.gone.calls):
                self.draft.drop(line, WITH_CALL)

    def _cut_blocks(self, line: DraftLine, record: Record, cuts: dict[int, Cut]) -> None:
        blocks = blocks_in(record)
        left = {place: _left_of(blocks[place], cut) for place, cut in cuts.items()}
        reason = next(iter(cuts.values())).reason
        if len(left) == len(blocks) and all(value is GONE for value in left.values()):
            self.draft.drop(line, reason)
            return
        changed = {at: value for at, value in left.items() if value != blocks[at]}
        if changed:
            kept = [left.get(at, block) for at, block in enumerate(blocks)]
            fields = _fields_after(record, blocks, kept, cuts)
            self.draft.rewrite(line, spliced(record, changed, fields), reason)


def _left_of(block: Any, cut: Cut) -> object:
    return GONE if cut.to is None and cut.inner is None else shortened(block, cut)


def _fields_after(
    record: Record, blocks: list[Any], kept: list[object], cuts: dict[int, Cut]
) -> dict[str, object]:
    """Returns what else a line says otherwise once its blocks are cut."""
    had = any(answered_by(block) for block in blocks)
    if not had:
        return {}
    if any(answered_by(block) for block in kept if block is not GONE):
        return {}
    return {name: GONE for name in OF_RESULT if name in record.fields}
