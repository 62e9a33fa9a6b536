"""Links after cuts: pointers to removed records, the chain that resume needs, side files.

Children of a removed record move to its nearest remaining ancestor. The conversation continues
after the last result of parallel calls; if that is removed, it continues after the one before:

    U ── T₁ ── R₁              R₁ came last and A follows it. T₁ and R₁ are removed: attaching
     └── T₂ ── R₂              A to U would bypass T₂ and R₂, so it follows R₂

Some records are sent although they are not on the chain of parents: parallel calls, notes after
their results, a missing parent. What the client would lose that way is put back on the chain. Side
files (outputs, agents' logs, file backups) that only removed records referred to are removed too; a
file that nothing referred to before stays.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from plait.edit.branches import build_pointer
from plait.edit.check import iter_pointers
from plait.edit.cuts import CallPairs, get_answered_id, get_call_id, list_block_heads
from plait.edit.draft import ID, Draft, redirect_pointers, replace_field
from plait.graph.client import build_chain, resumes_at
from plait.graph.client.entries import load_session
from plait.graph.leaf import choose_leaf
from plait.record import Record
from plait.record.codec import as_mapping
from plait.record.types import FileHistoryDelta, FileHistorySnapshot

MOVED = "pointed to a removed record: now points to the nearest earlier one"
UNLISTED = "the list of preserved messages no longer contains the removed ones"
NOWHERE = "pointed only to removed records"
BACKUPS = (FileHistorySnapshot, FileHistoryDelta)


def mend_pointers(
    draft: Draft, pairs: CallPairs, side_parents: Mapping[str, str | None] = {}
) -> dict[str, str | None]:
    """Redirect pointers to the nearest remaining ancestor; return the replacement of each removed
    record.

    Removed records of other logs are given by their parents.
    """
    above = Ancestors(draft, pairs, side_parents)
    moved = {uuid: above.nearest_kept(uuid) for uuid in above.parents}
    for line, record in list(draft.record_lines) if moved else ():
        targets = [target for _, target in iter_pointers(record)]
        ids = (item.decode() for item in ID.findall(record.raw))
        if not any(uuid in moved for uuid in (*targets, *ids)):
            continue
        if isinstance(record, BACKUPS) and any(moved.get(uuid, uuid) is None for uuid in targets):
            draft.drop(line, NOWHERE)
            continue
        instead, parent = moved, record.parent_uuid
        if parent in moved and (call := above.call_record_of(record, moved.get(parent or ""))):
            draft.rewrite(line, replace_field(record, "parentUuid", call), MOVED)
        if metadata := _filter_compaction(record, above):
            draft.rewrite(line, replace_field(record, "compactMetadata", metadata), UNLISTED)
        if parent in moved and moved[parent or ""] == record.uuid:
            instead = {**moved, parent or "": None}  # its child moves to its own parent
        data = redirect_pointers(line.data, instead)
        if data != line.data:
            draft.rewrite(line, data, MOVED)
    return moved


def _filter_compaction(record: Record, above: "Ancestors") -> dict[str, Any] | None:
    """Return the metadata of a compaction without removed records; None if it preserved none."""
    metadata = record.fields.get("compactMetadata")
    if not isinstance(metadata, dict):
        return None
    found = dict(metadata)
    messages = as_mapping(metadata.get("preservedMessages"))
    for key in ("uuids", "allUuids"):
        if isinstance(messages.get(key), list):
            left = [message for message in messages[key] if message not in above.parents]
            messages = {**messages, key: left}
    segment = as_mapping(metadata.get("preservedSegment"))
    head, tail = segment.get("headUuid"), segment.get("tailUuid")
    if isinstance(head, str) and isinstance(tail, str):
        up = list_ancestors(above.all_parents, tail, head)
        left = [uuid for uuid in up if uuid not in above.parents]
        segment = {**segment, "headUuid": left[-1], "tailUuid": left[0]} if left else {}
    for key, value, is_left in (
        ("preservedMessages", messages, bool(messages.get("uuids"))),
        ("preservedSegment", segment, bool(segment)),
    ):
        if key in found:
            found[key] = value
            if not is_left:
                del found[key]
    return found if found != metadata else None


class Ancestors:
    """The ancestors of each removed record."""

    def __init__(
        self, draft: Draft, pairs: CallPairs, side_parents: Mapping[str, str | None]
    ) -> None:
        there = {record.uuid for record in draft.records}
        self.parents = {uuid: parent for uuid, parent in side_parents.items() if uuid not in there}
        """Parents of the removed records."""
        self.all_parents = dict(side_parents)
        self._side_parents: dict[str, str] = {}
        self._answers: set[str] = set()
        self._responses: dict[str, str] = {}
        """The response that each call belongs to."""
        self._answers_left: dict[str, list[Record]] = defaultdict(list)
        self._results_left: dict[str, list[Record]] = defaultdict(list)
        """What remains of each response, and of the results of its calls."""
        went: list[Record] = []
        for line in draft.lines:
            record = line.entry
            if isinstance(record, Record) and record.uuid:
                self.all_parents[record.uuid] = record.parent_uuid
                if record.type == "assistant":
                    self._answers.add(record.uuid)
                if line.is_dropped and record.uuid not in there:
                    self.parents[record.uuid] = record.parent_uuid
                    went.append(record)
        if went:
            named: dict[int, str] = {}
            for line in draft.lines:
                if isinstance(line.entry, Record):
                    named[line.number or 0] = _get_response_name(line.entry)
            self._responses = {call: named[places[-1].line] for call, places in pairs.calls.items()}
            names = frozenset(self._responses.values())
            for record in draft.records:
                if record.type == "assistant" and (name := _get_response_name(record)) in names:
                    self._answers_left[name].append(record)
                for name in self._find_answered_responses(record):
                    self._results_left[name].append(record)
            for record in went:
                if other := self._find_last_before(record):
                    self._side_parents[str(record.uuid)] = other

    def _find_answered_responses(self, record: Record) -> set[str]:
        """Return the responses whose calls a record answers."""
        if record.type != "user":
            return set()
        answered = (get_answered_id(head) for head in list_block_heads(record))
        return {self._responses[call] for call in answered if call and call in self._responses}

    def _find_last_before(self, gone: Record) -> str | None:
        """Return the last record of the response that a result answers, preferring its results."""
        for name in self._find_answered_responses(gone):
            for found in (self._results_left[name], self._answers_left[name]):
                for record in reversed(found):
                    if record.line < gone.line and not self._is_below(record, gone):
                        return record.uuid
        return None

    def _is_below(self, record: Record, other: Record) -> bool:
        """Return whether a record descends from another one, also through progress, notes and
        results.
        """
        current, seen = record.uuid, {""}
        while current and current not in seen:
            if current == other.uuid:
                return True
            seen.add(current)
            current = self.all_parents.get(current)
            if current in self._answers:
                return False
        return False

    def call_record_of(self, record: Record, parent: str | None) -> str | None:
        """Return the call of a result that would otherwise be attached outside its response."""
        for name in self._find_answered_responses(record):
            answers = self._answers_left[name]
            if any(record.uuid == parent for record in (*answers, *self._results_left[name])):
                return None
            calls = {get_answered_id(head) for head in list_block_heads(record)}
            makers = [
                record
                for record in answers
                if calls & {*(get_call_id(head) for head in list_block_heads(record))}
            ]
            if makers:
                return makers[-1].uuid
        return None

    def nearest_kept(self, uuid: str | None) -> str | None:
        """Return the nearest remaining ancestor of a removed record; the record itself if it
        remains.
        """
        seen: set[str] = set()
        while uuid is not None and uuid in self.parents and uuid not in seen:
            seen.add(uuid)
            uuid = self._side_parents.get(uuid) or self.parents[uuid]
        return None if uuid in self.parents else uuid


def _get_response_name(record: Record) -> str:
    return record.message_id or record.uuid or ""


def list_ancestors(
    parents: Mapping[str, str | None], uuid: str, until: str | None = None
) -> list[str]:
    """Return a record and its ancestors, up to a given one."""
    found: dict[str, None] = {}
    current: str | None = uuid
    while current is not None and current not in found:
        found[current] = None
        current = None if current == until else parents.get(current)
    return list(found)


POINTED = "where the session continues: its last record was removed, and another branch ends later"
ON_THE_WAY = "attached to the previous message, so that both are sent"
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class ResumeChain:
    """Where the client resumes, and the chain up to there."""

    leaf: str | None = None
    chain: tuple[str, ...] = ()


def find_resume_chain(draft: Draft) -> ResumeChain:
    """Return where the client resumes; empty if it does not."""
    loaded, _ = load_session(draft.records, draft.size)
    number = None if loaded.is_cleared else choose_leaf(loaded)
    if number is None:
        return ResumeChain()
    uuids = (loaded.records[place].uuid for place in build_chain(loaded, number))
    return ResumeChain(loaded.records[number].uuid, tuple(uuid for uuid in uuids if uuid))


def restore_resume_chain(
    draft: Draft, session: str, was: ResumeChain, moved: Mapping[str, str | None]
) -> None:
    """Make the client resume where it did, through everything that remains of that chain."""
    wanted = [uuid for uuid in was.chain if uuid not in moved]
    if not wanted:
        return
    if not frozenset(was.chain).issuperset(find_resume_chain(draft).chain):
        end = wanted[-1] if was.leaf is None or was.leaf in moved else was.leaf
        records, size = draft.records, draft.size
        if not resumes_at(records, size, end) and (
            line := build_pointer(session, records, size, end)
        ):
            draft.append(line, POINTED)
    for is_last in (False,) * (ROUNDS - 1) + (True,):
        there = frozenset(find_resume_chain(draft).chain)
        if there.issuperset(wanted):
            return
        # The ends of each missing stretch are attached; in the last round all of its records.
        parents = {
            uuid: before
            for before, uuid in pairwise(wanted)
            if (before in there) != (uuid in there) or (is_last and uuid not in there)
        }
        lines = {record.uuid: (line, record) for line, record in draft.record_lines if record.uuid}
        now = {uuid: record.parent_uuid for uuid, (_, record) in lines.items()}
        for uuid, parent in parents.items():
            draft_line, record = lines[uuid]
            if now[uuid] != parent and uuid not in list_ancestors(now, parent):
                now[uuid] = parent
                draft.rewrite(draft_line, replace_field(record, "parentUuid", parent), ON_THE_WAY)
