"""A band to the draft of its log: prompts behind a compaction, a summary in each answer's place.

    U₁ A₁ U₂ T₂ R₂ A₂ U₃ A₃      ▸      I ┆ C U₁ S₁ U₂ S₂ U₃ A₃

I says in the log what was done, and is never sent; the compaction goes on from it. C says it to
Claude. A band that was compressed already stands behind such a compaction: nothing of it changes,
and what follows it joins it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plait.edit.compress import made
from plait.edit.compress.fates import Fate, beside, fates_of
from plait.edit.compress.model import Band, Segment
from plait.edit.compress.told import is_answer
from plait.edit.draft import Draft, with_field, with_pointers
from plait.edit.switch import pointer_to
from plait.edit.trim.agents import agents_within
from plait.edit.trim.pairs import Pairs
from plait.graph.client import stands_at
from plait.graph.client.load import call_ids, result_ids
from plait.record import Record, record_of
from plait.record.codec import encode, mapping
from plait.record.record import content_blocks
from plait.record.strings import with_parent
from plait.write.lines import last_prompt, summary

GONE = "answers, calls and results of older turns: a summary stands for them"
BESIDE = "progress, notices and agents that went with an answer"
SUMMED = "what stands for the answers of a turn"
OPENED = "the compaction, and what is said of it"
LINKED = "it follows what stands in the place of what it followed"
MOVED = "it stands behind the new compaction"
WORDS = "a person's words, without the result beside them that went"
RELEASED = "what a compaction kept stands behind the new one"
SUMMARY = "what was compressed, in a line"
STRAY = "summaries of other sessions, which would name this one now that it is short"
POINTED = "where the session goes on"
RESULT_FIELDS = ("toolUseResult", "sourceToolAssistantUUID")

Words = Callable[[Segment], str | None]
"""Says what stands for the answers of a turn, None where nothing does."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What the log says of a compaction that is made."""

    note: str
    metadata: Mapping[str, Any]
    tells_calls: bool


@dataclass(slots=True)
class Carried:
    """What a band becomes, record by record in the new order."""

    tip: str | None
    """The record that the next one follows."""
    place: int
    """The line behind which the next one stands."""
    start: int
    """The line behind which everything stands."""
    parents: dict[str, str] = field(default_factory=dict)
    """What records that stay hang on."""
    instead: dict[str, str] = field(default_factory=dict)
    """What stands in the place of records that go."""
    only_words: set[str] = field(default_factory=set)
    moved: dict[str, bytes] = field(default_factory=dict)
    """Records that stand too early, with their lines as they become."""
    added: list[tuple[int, str, str]] = field(default_factory=list)
    """What is made or moved, each with the line that it stands behind, and why."""
    made: dict[str, bytes] = field(default_factory=dict)
    """The lines of what is made."""

    def add(self, fields: Mapping[str, Any], reason: str) -> None:
        """Adds a record that is made."""
        self.tip = str(fields["uuid"])
        self.made[self.tip] = encode(fields)
        self.added.append((self.place, self.tip, reason))

    def keep(self, record: Record, parent: str | None) -> None:
        """Keeps a record, hanging on another one where that is told."""
        uuid = record.uuid or ""
        if parent:
            self.parents[uuid] = self.instead.get(parent, parent)
        self.pass_by(record)
        if record.line < self.start:
            self.moved[uuid] = b""
            self.added.append((self.place, uuid, MOVED))
        self.tip = uuid

    def pass_by(self, record: Record) -> None:
        """Notes how far the log has been gone through."""
        self.place = max(self.place, record.line)


def carry(draft: Draft, band: Band, words: Words, telling: Telling) -> Carried | None:
    """Changes a draft so that its band is compressed; None where nothing of it would go."""
    fates = [fate for part in band.segments for fate in fates_of(part)]
    if not band.turns or all(fate == "stays" for fate in fates):
        return None
    chain = list(band.records)
    start = _start(draft, band, chain[0])
    carried = Carried(band.boundary.uuid if band.boundary else None, start, start)
    if not made.is_made_boundary(band.boundary):
        _open(carried, chain[0], telling, _words_before(band, words))
        if not band.boundary and not band.has_past:
            _keep_beginnings(draft, carried, chain)
    for segment in band.segments:
        _carry_turn(carried, segment, None if segment.is_head else words(segment))
    _carry_tail(carried, band)
    _let_go(draft, carried, {one.uuid or "" for one in chain})
    _change(draft, carried)
    if carried.moved and band.boundary:
        _release(draft, band.boundary)
    _name(draft, carried, telling)
    _insert(draft, carried)
    _point(draft, carried)
    return carried


def _start(draft: Draft, band: Band, first: Record) -> int:
    """Returns the line behind which the compaction stands: before all of the session."""
    if band.boundary:
        return band.boundary.line
    if band.has_past:
        return first.line - 1
    own = (one.line for one in draft.records if one.session_id == first.session_id)
    return min(own) - 1


def _words_before(band: Band, words: Words) -> str | None:
    """Returns what was said before the first prompt: an answer there would begin a turn."""
    return next((words(one) for one in band.segments if one.is_head), None)


def _open(carried: Carried, first: Record, telling: Telling, before: str | None) -> None:
    """Puts the compaction before all that Claude sees."""
    note = made.note(first, carried.tip, telling.note)
    boundary = made.boundary(first, note["uuid"], telling.metadata)
    text = made.opening_words(before, tells_calls=telling.tells_calls)
    for fields in (note, boundary, made.opening(first, boundary["uuid"], text)):
        carried.add(fields, OPENED)


def _keep_beginnings(draft: Draft, carried: Carried, chain: list[Record]) -> None:
    """Lets other prompts that began the session leave where the one does that goes on."""
    on_chain = {one.uuid for one in chain}
    for record in draft.records:
        is_prompt = record.type == "user" and not record.is_meta and not result_ids(record)
        is_root = record.parent_uuid is None and not record.is_sidechain
        is_own = record.session_id == chain[0].session_id and record.uuid not in on_chain
        if record.uuid and is_prompt and is_root and is_own:
            carried.parents[record.uuid] = carried.tip or ""


def _carry_turn(carried: Carried, segment: Segment, words: str | None) -> None:
    """Keeps what was asked; the summary stands where the last answer stood."""
    gone: list[Record] = []
    fates = fates_of(segment)
    last = _last_answer(segment, fates) if words else -1
    for place, (record, fate) in enumerate(zip(segment.records, fates, strict=True)):
        if fate == "goes":
            gone.append(record)
            carried.pass_by(record)
        else:
            carried.only_words.update([record.uuid or ""] if fate == "words" else [])
            carried.keep(record, carried.tip)
        if words and place == last and carried.tip:
            times = [one.timestamp for one in gone if one.time]
            time = times[-1] if times else record.timestamp
            carried.add(made.answer(record, carried.tip, time, words), SUMMED)
    carried.instead |= {one.uuid or "": carried.tip or "" for one in gone}


def _last_answer(segment: Segment, fates: list[Fate]) -> int:
    """Returns the place of the last record that a summary stands for, of those that go."""
    answers = {item.uuid for item in segment.items if is_answer(item)}
    places = [n for n, fate in enumerate(fates) if fate != "stays"]
    return max((n for n in places if segment.records[n].uuid in answers), default=-1)


def _carry_tail(carried: Carried, band: Band) -> None:
    """Keeps the newer turns as they are, but for late results of calls that went."""
    gone = {call for part in band.segments for one in part.records for call in call_ids(one)}
    parent = carried.tip
    for record in band.tail:
        answered = result_ids(record)
        if answered and gone.issuperset(answered):
            carried.instead[record.uuid or ""] = carried.tip or ""
            continue
        carried.keep(record, parent or band.linked.get(record.uuid or ""))
        parent = None


def _let_go(draft: Draft, carried: Carried, chain: set[str]) -> None:
    gone = set(carried.instead)
    also = beside(draft.records, chain, gone) | _agents(draft, gone)
    for line, record in list(draft.spoken):
        uuid = record.uuid or ""
        if uuid in also:
            above = record.parent_uuid or ""
            carried.instead[uuid] = carried.instead.get(above, above) or carried.tip or ""
        if uuid in also or uuid in gone:
            draft.drop(line, BESIDE if uuid in also else GONE)


def _agents(draft: Draft, gone: set[str]) -> set[str]:
    """Returns the records of agents within the log that were sent out by what goes."""
    records = {line.number or 0: record for line, record in draft.spoken}
    calls = {call for one in records.values() if one.uuid in gone for call in call_ids(one)}
    lines = agents_within(draft, records, Pairs(draft.spoken), calls)
    return {records[number].uuid or "" for number in lines} - {""}


def _change(draft: Draft, carried: Carried) -> None:
    """Gives what stays its new parents, and takes what stands too early from its place."""
    for line, record in list(draft.spoken):
        uuid = record.uuid or ""
        data, parent = with_pointers(record, carried.instead), carried.parents.get(uuid)
        if parent and parent != record.parent_uuid:
            data = with_parent(data, parent)
        if uuid in carried.only_words:
            data = _without_results(record_of(data))
        if uuid in carried.moved:
            carried.moved[uuid] = data
            draft.drop(line, MOVED)
        elif data != record.raw:
            draft.rewrite(line, data, WORDS if uuid in carried.only_words else LINKED)


def _without_results(record: Record) -> bytes:
    kept = [one for one in content_blocks(record) if one["type"] != "tool_result"]
    fields = {key: value for key, value in record.fields.items() if key not in RESULT_FIELDS}
    fields["message"] = {**mapping(fields.get("message")), "content": kept}
    return encode(fields)


def _release(draft: Draft, boundary: Record) -> None:
    """Lets an older compaction keep nothing: what it kept stands behind the new one."""
    facts = mapping(boundary.fields.get("compactMetadata"))
    rest = {key: value for key, value in facts.items() if not key.startswith("preserved")}
    for line, record in list(draft.spoken):
        if record.uuid == boundary.uuid:
            draft.rewrite(line, with_field(record, "compactMetadata", rest), RELEASED)


def _name(draft: Draft, carried: Carried, telling: Telling) -> None:
    """Adds a line that sums up what went, where a later one names the session.

    Whoever lists sessions looks at the last lines of a log; of summaries there the last is taken
    for the title, unless a better one stands there too. Those of other sessions must not come
    into sight where the log has become short.
    """
    made = [uuid for _, uuid, why in carried.added if why == SUMMED]
    titles = [one.line for one in draft.records if _is_title(one)]
    if made and titles and titles[-1] > carried.start:
        carried.made[SUMMARY] = summary(telling.note, made[-1])
        carried.added.insert(0, (carried.start, SUMMARY, SUMMARY))
    known = {one.uuid for one in draft.records}
    for line, record in list(draft.spoken):
        is_stray = record.type == "summary" and record.envelope.leaf_uuid not in known
        if is_stray and not titles:
            draft.drop(line, STRAY)


def _is_title(record: Record) -> bool:
    said = record.envelope
    return bool(said.custom_title or said.ai_title or said.last_prompt)


def _insert(draft: Draft, carried: Carried) -> None:
    by_number = {line.number: line for line in draft.lines if line.number}
    lines = carried.made | carried.moved
    for place, uuid, reason in reversed(carried.added):  # each is put next to the line it follows
        draft.insert(by_number.get(place), [lines[uuid]], reason)


def _point(draft: Draft, carried: Carried) -> None:
    """Adds where the session goes on, if the client would not find it there by itself."""
    leaf, size = carried.tip or "", draft.size
    if not stands_at(draft.records, size, leaf):
        session = draft.log.session or ""
        pointer = pointer_to(session, draft.records, size, leaf)
        draft.append(pointer or last_prompt(session, leaf, is_explicit=True), POINTED)
