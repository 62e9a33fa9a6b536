"""A draft that some records went from to one in which nothing points to them.

What hung on a record that went hangs on the nearest one above it that stays. Of parallel calls the
conversation goes on below the result that came last; where that goes it does below the one before:

    U ── T₁ ── R₁              R₁ came last, A hangs on it. T₁ and R₁ go:
     └── T₂ ── R₂              on U, A would leave T₂ and R₂ aside, so it hangs on R₂
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plait.edit.check.facts import pointers_of
from plait.edit.draft import Draft, DraftLine, encode_text, with_field
from plait.edit.trim.pairs import Pairs, answered_by, call_of, heads_in
from plait.record import Record
from plait.record.codec import mapping
from plait.record.strings import is_pointer_field, string_at, strings
from plait.record.types.kinds import FileHistoryDelta, FileHistorySnapshot

MOVED = "what it named has gone: now it names the nearest record above"
UNLISTED = "what a compaction keeps is listed without what has gone"
NOWHERE = "all that it names has gone"
BACKUPS = (FileHistorySnapshot, FileHistoryDelta)
ID = re.compile(rb'"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"')
OWN, ORIGIN = b"uuid", b"messageUuid"


def mend_pointers(
    draft: Draft, pairs: Pairs, beside: Mapping[str, str | None] = {}
) -> dict[str, str | None]:
    """Points to the nearest record above instead, and returns which that is for each.

    Records of other logs that go are known by their parents.
    """
    above = Above(draft, pairs, beside)
    moved = {uuid: above.kept(uuid) for uuid in above.parents}
    for line, record in list(draft.spoken) if moved else ():
        if any(uuid in moved for uuid in _named(record)):
            _mend(draft, line, record, above, moved)
    return moved


def _mend(
    draft: Draft, line: DraftLine, record: Record, above: "Above", moved: Mapping[str, str | None]
) -> None:
    if isinstance(record, BACKUPS) and any(
        uuid in moved and moved[uuid] is None for _, uuid in pointers_of(record)
    ):
        draft.drop(line, NOWHERE)
        return
    parent = record.parent_uuid
    if parent in moved and (call := above.maker_of(record, moved.get(parent or ""))):
        draft.rewrite(line, with_field(record, "parentUuid", call), MOVED)
    if metadata := _compaction_after(record, above):
        draft.rewrite(line, with_field(record, "compactMetadata", metadata), UNLISTED)
    if parent in moved and moved[parent or ""] == record.uuid:
        moved = {**moved, parent or "": None}  # it hung on what hung on it
    data = pointing_elsewhere(line.data, moved)
    if data != line.data:
        draft.rewrite(line, data, MOVED)


def _named(record: Record) -> Iterator[str]:
    yield from (target for _, target in pointers_of(record))
    yield from (one.decode() for one in ID.findall(record.raw))


def pointing_elsewhere(data: bytes, moved: Mapping[str, str | None]) -> bytes:
    """Returns a line that names other records wherever it names some that went."""
    parts, end = list[bytes](), 0
    for spot in strings(data):
        if spot.is_words or not is_pointer_field(spot) or _is_own(spot.field, spot.depth):
            continue
        uuid = string_at(data, spot)
        if uuid in moved:
            kept = moved[uuid]
            parts += [data[end : spot.start], encode_text(kept) if kept else b"null"]
            end = spot.stop
    return b"".join((*parts, data[end:]))


def _is_own(field: bytes, depth: int) -> bool:
    return (field == OWN and depth == 1) or field == ORIGIN


def _compaction_after(record: Record, above: "Above") -> dict[str, Any] | None:
    """Returns the facts of a compaction without records that went, None where it kept none."""
    metadata = record.fields.get("compactMetadata")
    if not isinstance(metadata, dict):
        return None
    found = dict(metadata)
    messages = mapping(metadata.get("preservedMessages"))
    for key in ("uuids", "allUuids"):
        if isinstance(messages.get(key), list):
            left = [one for one in messages[key] if one not in above.parents]
            messages = {**messages, key: left}
    segment = _segment_after(mapping(metadata.get("preservedSegment")), above)
    for key, value, is_left in (
        ("preservedMessages", messages, bool(messages.get("uuids"))),
        ("preservedSegment", segment, bool(segment)),
    ):
        if key in found:
            found[key] = value
            if not is_left:
                del found[key]
    return found if found != metadata else None


def _segment_after(segment: Mapping[str, Any], above: "Above") -> Mapping[str, Any]:
    """Returns a stretch of the old chain by those of its records that stay; empty for none."""
    head, tail = segment.get("headUuid"), segment.get("tailUuid")
    if not isinstance(head, str) or not isinstance(tail, str):
        return segment
    left = [one for one in above.way(tail, head) if one not in above.parents]
    return {**segment, "headUuid": left[-1], "tailUuid": left[0]} if left else {}


class Above:
    """What stood above each record that went."""

    def __init__(self, draft: Draft, pairs: Pairs, beside: Mapping[str, str | None]) -> None:
        there = {record.uuid for record in draft.records}
        self.parents = {uuid: parent for uuid, parent in beside.items() if uuid not in there}
        """Of the records that went."""
        self.all_parents = dict(beside)
        self._beside: dict[str, str] = {}
        self._answers: set[str] = set()
        self._responses: dict[str, str] = {}
        """The response that each call is part of."""
        self._groups: dict[str, _Group] = {}
        went: list[Record] = []
        for line in draft.lines:
            record = line.entry
            if isinstance(record, Record) and record.uuid:
                self.all_parents[record.uuid] = record.parent_uuid
                if record.type == "assistant":
                    self._answers.add(record.uuid)
                if line.is_gone and record.uuid not in there:
                    self.parents[record.uuid] = record.parent_uuid
                    went.append(record)
        if went:
            self._responses = _responses_of_calls(draft, pairs)
            self._gather(draft)
            for record in went:
                if other := self._last_before(record):
                    self._beside[str(record.uuid)] = other

    def _gather(self, draft: Draft) -> None:
        """Gathers what stays of each response: its blocks and the results of its calls."""
        names = frozenset(self._responses.values())
        for record in draft.records:
            if record.type == "assistant" and (name := _name_of(record)) in names:
                self._groups.setdefault(name, _Group()).answers.append(record)
            for name in self._answered(record):
                self._groups.setdefault(name, _Group()).results.append(record)

    def _answered(self, record: Record) -> set[str]:
        """Returns the responses whose calls a record answers."""
        if record.type != "user":
            return set()
        answered = (answered_by(head) for head in heads_in(record))
        return {self._responses[call] for call in answered if call and call in self._responses}

    def _last_before(self, gone: Record) -> str | None:
        """Returns what came last of the response that a result answers, its results first."""
        for name in self._answered(gone):
            group = self._groups.get(name, _Group())
            for found in (group.results, group.answers):
                for one in reversed(found):
                    if one.line < gone.line and not self._is_below(one, gone):
                        return one.uuid
        return None

    def _is_below(self, one: Record, other: Record) -> bool:
        """Whether a record hangs on another one, be it through news, notes and results."""
        current, seen = one.uuid, {""}
        while current and current not in seen:
            if current == other.uuid:
                return True
            seen.add(current)
            current = self.all_parents.get(current)
            if current in self._answers:
                return False
        return False

    def maker_of(self, record: Record, parent: str | None) -> str | None:
        """Returns the call that a result hangs on where it would hang outside of its response."""
        for name in self._answered(record):
            group = self._groups[name]
            if any(one.uuid == parent for one in (*group.answers, *group.results)):
                return None
            calls = {answered_by(head) for head in heads_in(record)}
            makers = [one for one in group.answers if calls & {*_calls_in(one)}]
            if makers:
                return makers[-1].uuid
        return None

    def way(self, uuid: str, until: str | None) -> list[str]:
        """Returns a record and those that it hung on, up to one of them."""
        found: dict[str, None] = {}
        current: str | None = uuid
        while current is not None and current not in found:
            found[current] = None
            current = None if current == until else self.all_parents.get(current)
        return list(found)

    def kept(self, uuid: str | None) -> str | None:
        """Returns the nearest record above one that went, itself where it stays."""
        seen: set[str] = set()
        while uuid is not None and uuid in self.parents and uuid not in seen:
            seen.add(uuid)
            uuid = self._beside.get(uuid) or self.parents[uuid]
        return None if uuid in self.parents else uuid


@dataclass(slots=True)
class _Group:
    """What stays of a response."""

    answers: list[Record] = field(default_factory=list)
    results: list[Record] = field(default_factory=list)


def _name_of(record: Record) -> str:
    return record.message_id or record.uuid or ""


def _calls_in(record: Record) -> Iterator[str | None]:
    return (call_of(head) for head in heads_in(record))


def _responses_of_calls(draft: Draft, pairs: Pairs) -> dict[str, str]:
    """Returns the response that each call is part of, those that went among them."""
    named: dict[int, str] = {}
    for line in draft.lines:
        if isinstance(line.entry, Record):
            named[line.number or 0] = _name_of(line.entry)
    return {call: named[places[-1].line] for call, places in pairs.calls.items()}
