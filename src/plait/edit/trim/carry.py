"""Cuts to a draft without what they name, and without all that is nothing without it.

    U ── T₁ ── T₂ ── R₁ … R₂ ── A      T₁ goes: so does R₁, and what hung on them hangs on
    U ── T₂ ── R₂ ── A                 the nearest record above that stays

A call takes its result with it, and a result its call; with them go their news, their hooks and
the client's notices. A record whose blocks all go goes; of another one only the block goes. The
thoughts of one response go together: the API takes all of them, or none.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from plait.edit.draft import Draft, DraftLine
from plait.edit.trim.agents import agents_within
from plait.edit.trim.bills import keep_bills
from plait.edit.trim.mentions import without_mentions
from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import (
    Pairs,
    Place,
    accompanies,
    answered_by,
    blocks_in,
    call_of,
    heads_in,
)
from plait.edit.trim.shorter import after, shorter_view, text_block
from plait.edit.trim.spared import allowed
from plait.edit.trim.splice import GONE, spliced
from plait.graph.client.load import is_thinking
from plait.record import Record
from plait.record.prompt import is_human_prompt

WITH_CALL = "goes with a call that goes"
UNLISTED = "lists calls, without those that go"
REMOVED = "[{kind} removed]"
"""What a prompt says that was nothing but a picture."""
VIEW = "toolUseResult"
OF_RESULT = (VIEW, "sourceToolAssistantUUID", "mcpMeta", "toolDenialKind", "permissionDecision")
"""What a line says of the result in it."""


@dataclass(slots=True)
class Gone:
    """What was cut, and what that brought about."""

    calls: dict[str, str] = field(default_factory=dict)
    """Calls that went, each with the reason."""
    cuts: list[Cut] = field(default_factory=list)
    """Those that were made."""
    spared: list[Cut] = field(default_factory=list)
    """Those that were not, since they would take what a person said."""
    pairs: Pairs = field(default_factory=lambda: Pairs(()))
    """The calls of the log as it was."""


def carry(draft: Draft, cuts: Iterable[Cut]) -> Gone:
    """Makes cuts in a draft with all that follows, but for pointers, and returns what went."""
    wanted = list(cuts)
    pairs = Pairs(draft.spoken)
    records = {line.number or 0: record for line, record in draft.spoken}
    made = list(allowed(wanted, records, pairs))
    are_made = set(made)
    spared = [cut for cut in wanted if cut not in are_made]
    gone = Gone(cuts=made, spared=spared, pairs=pairs)
    change = _Change(draft, records, gone)
    change.decide()
    change.make()
    keep_bills(draft)
    return gone


class _Change:
    """What becomes of each block and of each line, before any of it is done."""

    def __init__(self, draft: Draft, records: Mapping[int, Record], gone: Gone) -> None:
        self.draft = draft
        self.records = records
        self.pairs = gone.pairs
        self.gone = gone
        self.blocks: dict[int, dict[int, list[Cut]]] = {}
        """Cuts by line, and by block within it."""
        self.lines: dict[int, str] = {}
        """Lines that go, each with the reason."""

    def decide(self) -> None:
        """Decides what goes with what."""
        for cut in self.gone.cuts:
            record = self.records[cut.line]
            count = len(heads_in(record))
            for at in range(count) if cut.block is None else (cut.block,):
                self._enter(record, cut, Place(cut.line, at))
            if cut.block is None and not count:
                self.lines[cut.line] = cut.reason
        for call, reason in self.gone.calls.items():
            for place in self.pairs.places(call):
                self._cut(place, Cut(*place, None, reason))
        if self.gone.calls:
            found = agents_within(self.draft, self.records, self.pairs, self.gone.calls.keys())
            self.lines.update(dict.fromkeys(found, WITH_CALL))

    def _enter(self, record: Record, cut: Cut, place: Place) -> None:
        """Takes a cut in, and what goes with it."""
        head = heads_in(record)[place.block]
        call = call_of(head) or answered_by(head)
        if call and cut.to is None and cut.inner is None:
            self.gone.calls.setdefault(call, cut.reason)
        elif is_thinking({"type": head.type}):
            for one in self.pairs.thoughts.get(record.message_id or "", [place]):
                self._cut(one, Cut(*one, None, cut.reason))
        else:
            self._cut(place, cut)

    def _cut(self, place: Place, cut: Cut) -> None:
        self.blocks.setdefault(place.line, {}).setdefault(place.block, []).append(cut)

    def make(self) -> None:
        """Changes the draft."""
        calls = self.gone.calls.keys()
        for line, record in list(self.draft.spoken):
            number = line.number or 0
            if number in self.lines:
                self.draft.drop(line, self.lines[number])
            elif number in self.blocks:
                self._cut_blocks(line, record, self.blocks[number])
            elif calls:
                self._follow(line, record, calls)

    def _follow(self, line: DraftLine, record: Record, calls: Set[str]) -> None:
        """Lets a line go that is there for a call that goes, or say what it says without it."""
        data = None if accompanies(record, calls) else without_mentions(record, calls)
        if data is None:
            self.draft.drop(line, WITH_CALL)
        elif data != record.raw:
            self.draft.rewrite(line, data, UNLISTED)

    def _cut_blocks(self, line: DraftLine, record: Record, cuts: dict[int, list[Cut]]) -> None:
        blocks = blocks_in(record)
        left = [after(one, cuts[at]) if at in cuts else one for at, one in enumerate(blocks)]
        reason = next(iter(cuts.values()))[0].reason
        if all(one is GONE for one in left) and is_human_prompt(record):
            left[-1] = text_block(REMOVED.format(kind=heads_in(record)[-1].type))
        changed = {at: now for at, now in enumerate(left) if now != blocks[at]}
        if all(one is GONE for one in left):
            self.draft.drop(line, reason)
        elif changed:
            fields = _fields_after(record, blocks, changed)
            self.draft.rewrite(line, spliced(record, changed, fields), reason)


def _fields_after(
    record: Record, blocks: list[Any], changed: Mapping[int, object]
) -> dict[str, object]:
    """Returns what else a line says otherwise once some of its blocks are others."""
    heads = heads_in(record)
    results = [at for at, head in enumerate(heads) if answered_by(head)]
    if not results:
        return {}
    if all(changed.get(at) is GONE for at in results):
        said = {name: GONE for name in OF_RESULT if name in record.fields}
        return {**said, "isMeta": True} if record.type == "user" else said
    view = record.fields.get(VIEW)
    for at in results:
        now = changed.get(at)
        if view is not None and isinstance(now, dict):
            view = shorter_view(view, blocks[at], now)
    return {VIEW: view} if view != record.fields.get(VIEW) else {}
