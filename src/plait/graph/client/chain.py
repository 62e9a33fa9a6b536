"""The chain of messages that the client builds from a leaf, and the one that the SDK returns.

Each result follows its own call, so walking up by parents meets one of several parallel results;
the others are added again:

    c₁ ── c₂ ── r₂          walked up from a:  c₁ r₁ a
     └─── r₁ ── a           the chain:         c₁ c₂ r₁ r₂ a

Which attachments the client takes into its chain was found by testing it with each field left out,
empty, or of another kind.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, TypeAlias

from plait.graph.client.entries import (
    RECORD_ACCESSORS,
    LoadedEntries,
    get_call_ids,
    get_result_ids,
    has_calls,
    is_boundary,
    is_note,
    is_result,
)
from plait.graph.leaf import CHAIN_TYPES, MISSING, ROOT, Entries, list_ancestors
from plait.record import Record
from plait.record.codec import BYTE_ORDER_MARK

GONE = frozenset({"companion_intro"})
"""Kinds that older clients wrote and newer ones drop."""


def is_accepted_attachment(record: Record) -> bool:
    """Return whether the client takes an attachment into its chain."""
    head = record.envelope.attachment
    kind = head.type if head else None
    if not kind or kind in GONE:
        return False
    has_form = FORMS.get(kind)
    return has_form is None or has_form(record.fields["attachment"])


def _is_hook_with_words(fields: dict[str, Any]) -> bool:
    """Return whether a successful hook produced any text."""
    content = fields.get("content")
    printed = (str(fields.get(name) or "").strip() for name in ("stdout", "stderr"))
    return isinstance(content, str) and bool(content or any(printed))


def _has(kind: type, name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda fields: isinstance(fields.get(name), kind)


FORMS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "file": _has(dict, "content"),
    "hook_additional_context": _has(list, "content"),
    "hook_success": _is_hook_with_words,
    "invoked_skills": _has(list, "skills"),
    "task_reminder": _has(list, "content"),
    "todo_reminder": _has(list, "content"),
}
"""Kinds that are dropped if their content is missing or of another form."""


def add_parallel_entries(loaded: LoadedEntries, walked: list[int]) -> list[int]:
    """Return the chain with the missed entries of its responses, their results and notes.

    Recovered entries are placed in file order between the first entry of their response and the
    end of the run of its parts, results and notes on the walk.
    """
    recovery = ParallelRecovery(loaded, walked)
    spans: list[Span] = []
    for start, number in enumerate(walked):
        if span := recovery.find_missed(start, number):
            if spans and span.start < spans[-1].end:
                spans[-1].join(span)
            else:
                spans.append(span)
    chain: list[int] = []
    done = 0
    for span in spans:
        chain += walked[done : span.start + 1]
        missed = sorted(span.missed, key=recovery.get_rank)
        placed = 0
        for number in walked[span.start + 1 : span.end]:
            while placed < len(missed) and recovery.get_rank(missed[placed])[0] < number:
                chain.append(missed[placed])
                placed += 1
            chain += [number, *span.behind.get(number, ())]
        chain += missed[placed:]
        done = span.end
    return chain + walked[done:]


@dataclass(slots=True)
class Span:
    """A stretch of the walk, and the entries to insert into it."""

    start: int
    end: int
    missed: list[int]
    behind: dict[int, list[int]]
    """By the note of the walk that they are attached to."""

    def join(self, other: "Span") -> None:
        """Take in another one that overlaps."""
        self.end = max(self.end, other.end)
        self.missed += other.missed
        for number, behind in other.behind.items():
            self.behind.setdefault(number, []).extend(behind)


class ParallelRecovery:
    """Finds what a walk missed of its responses, one after the other."""

    def __init__(self, loaded: LoadedEntries, walked: list[int]) -> None:
        self.loaded, self.records, self.walked = loaded, loaded.records, walked
        self.members = loaded.members()
        self.owners = find_call_owners(loaded, self.members)
        self.children = loaded.children()
        self.seen = set(walked)
        self.place_of = {number: place for place, number in enumerate(walked)}
        self.answered = {call for number in walked for call in get_result_ids(self.records[number])}
        self.done: set[str] = set()
        self.ranks: dict[int, float] = {}
        """Positions of results that are attached elsewhere: after the answers, whatever the file says."""
        self.results: dict[int, list[int]] = {}
        """By the answer that they are attached to, or whose calls they answer."""
        for number, record in enumerate(self.records):
            if loaded.is_read[number] and is_result(record):
                for answer in dict.fromkeys(self.list_claimed(number, record)):
                    self.results.setdefault(answer, []).append(number)

    def list_claimed(self, number: int, record: Record) -> Iterator[int]:
        """Yield the entries that a result can be put back with."""
        parent = self.loaded.parents[number]
        calls = get_result_ids(record)
        if parent >= 0:
            yield parent
            if calls and set(get_call_ids(self.records[parent])).issuperset(calls):
                return
        source = self.loaded.readable(record.source_tool_assistant_uuid)
        for answer in (source, *(self.owners.get(call) for call in calls)):
            if answer is not None and is_same_writer(record, self.records[answer]):
                yield answer

    def get_rank(self, number: int) -> tuple[float, int]:
        """Return what the entries that are put back are ordered by."""
        return self.ranks.get(number, number), number

    def find_missed(self, start: int, number: int) -> Span | None:
        """Return what is missing of the response that begins at a place of the walk."""
        record = self.records[number]
        response = record.message_id if record.type == "assistant" else None
        if not response or response in self.done:
            return None
        self.done.add(response)
        members = self.members[response]
        missed = [member for member in members if member not in self.seen]
        missed += self.find_results(members)
        self.seen.update(missed)
        places = (self.place_of[member] for member in members if member in self.place_of)
        end = max(start, *places) + 1
        while end < len(self.walked) and self.is_within(self.walked[end], response):
            end += 1
        behind: dict[int, list[int]] = {}
        if any(has_calls(self.records[member]) for member in members):
            results = (result for member in members for result in self.results.get(member, ()))
            for parent in dict.fromkeys([*members, *filter(self.seen.__contains__, results)]):
                missed += self.take_notes(parent)
            for note in self.walked[start + 1 : end]:
                if is_note(self.records[note]) and (notes := self.take_notes(note)):
                    behind[note] = notes
        return Span(start, end, missed, behind) if missed or behind else None

    def find_results(self, members: list[int]) -> list[int]:
        """Return the missed results of some answers: those below them, then those elsewhere.

        Of those elsewhere, only results for calls that nothing else answers.
        """
        group = frozenset(members)
        of_group = (result for member in members for result in self.results.get(member, ()))
        missed = [result for result in dict.fromkeys(of_group) if result not in self.seen]
        found = [result for result in missed if self.loaded.parents[result] in group]
        answered = self.answered.union(*(get_result_ids(self.records[n]) for n in found))
        behind = max(members) + 0.5
        for number in sorted(result for result in missed if result not in set(found)):
            calls = get_result_ids(self.records[number])
            if any(call not in answered and self.owners.get(call) in group for call in calls):
                answered.update(calls)
                self.ranks[number] = max(number, behind)
                found.append(number)
        return found

    def is_within(self, number: int, response: str) -> bool:
        """Return whether an entry can be inside a response."""
        record = self.records[number]
        is_part = record.type == "assistant" and record.message_id == response
        return is_part or is_result(record) or is_note(record)

    def take_notes(self, parent: int) -> list[int]:
        """Return the notes below an entry that lead to nothing else, and mark them as seen."""
        found: list[int] = []
        for child in self.children[parent]:
            notes = self.list_run(child, parent)
            self.seen.update(notes)
            found += notes
            if parent in self.ranks:
                self.ranks.update({n: max(n, self.ranks[parent]) for n in notes})
        return found

    def list_run(self, first: int, parent: int) -> list[int]:
        """Return a run of notes, each below the one before; empty if it forks or leads to a message."""
        side = self.records[parent].envelope.is_sidechain
        found: dict[int, None] = {}
        below = [first]
        while below:
            number = below[0]
            record = self.records[number]
            is_other = record.envelope.is_sidechain is not side or not is_note(record)
            if len(below) > 1 or is_other or number in self.seen or number in found:
                return []
            found[number] = None
            below = [child for child in self.children[number] if child not in self.seen]
        return [*found]


def find_call_owners(
    loaded: LoadedEntries, members: Mapping[str, list[int]]
) -> dict[str, int | None]:
    """Return the last entry that made each call; None if two responses contain it."""
    records = loaded.records
    owners: dict[str, int | None] = {}
    for response, numbers in members.items():
        for number in numbers:
            for call in get_call_ids(records[number]):
                known = owners.setdefault(call, number)
                is_claimed = known is None or records[known].message_id != response
                owners[call] = None if is_claimed else number
    return owners


def is_same_writer(record: Record, other: Record) -> bool:
    """Return whether two entries are both of the main conversation, or of the same agent."""
    return record.is_sidechain == other.is_sidechain and record.agent_id == other.agent_id


@dataclass(slots=True)
class ResponseRange:
    """The positions of a response on a chain."""

    first: int
    last: int
    parts: int = 1
    is_fenced: bool = False
    """Whether a prompt or another answer is between its parts."""
    is_split: bool = False
    """Whether a note is between its parts, and nothing else but results."""
    early: list[int] = field(default_factory=list)
    """Results that come before it, with the notes that follow them."""


def regroup_responses(records: list[Record], chain: list[int]) -> list[int]:
    """Return the chain with each response in one piece, followed by its results.

    Nothing moves past a prompt, nor an answer past another one:

        c₁ r₁ note c₂ r₂        becomes:  c₁ c₂ r₁ note r₂
        r₁ note c₁              becomes:  c₁ r₁ note
    """
    names: list[str | int | None] = []
    for number in chain:
        # what names the response of each answer: without an id, the answer itself
        record = records[number]
        if record.type != "assistant":
            names.append(None)
        elif record.message_id or record.request_id is not None:
            names.append(record.message_id or None)
        else:
            names.append(id(record))
    kinds = [_get_kind(records[number]) for number in chain]
    ranges: dict[str | int, ResponseRange] = {}
    owners: dict[str, str | int | None] = {}
    for place, name in enumerate(names):
        if name is None:
            continue
        if name in ranges:
            ranges[name].last = place
            ranges[name].parts += 1
        else:
            ranges[name] = ResponseRange(place, place)
        for call in get_call_ids(records[chain[place]]):
            owners[call] = name if owners.setdefault(call, name) == name else None
    # how many of each kind come before every place
    before = {
        kind: [*accumulate((other == kind for other in kinds), initial=0)] for kind in set(kinds)
    }

    def count(kind: Kind, start: int, end: int) -> int:
        return before[kind][end] - before[kind][start] if kind in before else 0

    for held in ranges.values():
        answers = count("answer", held.first, held.last + 1)
        held.is_fenced = answers > held.parts or count("other", held.first, held.last) > 0
        held.is_split = not held.is_fenced and count("note", held.first, held.last) > 0
    moved: set[int] = set()
    for place, kind in enumerate(kinds):
        calls = get_result_ids(records[chain[place]]) if kind == "result" else []
        makers = {owners.get(call) for call in calls}
        maker = makers.pop() if len(makers) == 1 else None
        owner = ranges[maker] if maker is not None else None
        if owner is None or owner.is_fenced or place >= owner.first:
            continue
        if count("other", place, owner.first):
            continue
        end = place + 1
        while end < owner.first and kinds[end] == "note":
            end += 1
        owner.early += range(place, end)
        moved.update(range(place, end))
    found: list[int] = []
    done = set(moved)
    for place, name in enumerate(names):
        owner = ranges[name] if name is not None else None
        if place in done:
            continue
        if owner is None or owner.first != place or not (owner.is_split or owner.early):
            found.append(place)
            continue
        within = [other for other in range(place, owner.last + 1) if other not in moved]
        rest = [other for other in within if owner.is_split and names[other] != name]
        done.update(rest)
        found += [other for other in within if other not in done]
        found += [*owner.early, *rest]
        done.update(within)
    return [chain[place] for place in found]


Kind: TypeAlias = Literal["answer", "result", "note", "other"]


def _get_kind(record: Record) -> Kind:
    """Return what an entry is to the responses around it; `other` separates them."""
    if record.type == "assistant":
        return "answer"
    if get_result_ids(record):
        return "result"
    if record.type == "user":
        envelope = record.envelope
        is_companion = record.fields.get("turnCompanion") is True or envelope.source_tool_use_id
        return "note" if is_companion else "other"
    is_note = not is_boundary(record) and record.subtype != "local_command"
    return "note" if is_note or record.type == "attachment" else "other"


TYPES = CHAIN_TYPES | {"progress"}
SPEAKERS = ("user", "assistant")

Line: TypeAlias = tuple[int, Record]
"""An entry's number, and its record on one particular line."""


def build_sdk_chain(records: Iterable[Record]) -> list[Record]:
    """Return the user and assistant records of the SDK's chain."""
    loaded: LoadedEntries = Entries(RECORD_ACCESSORS)
    lines: list[Line] = []
    for record in records:
        # format: the SDK cannot read a line that begins with a byte order mark
        if (
            record.type not in TYPES
            or record.uuid is None
            or record.raw.startswith(BYTE_ORDER_MARK)
        ):
            continue
        number = loaded.index.setdefault(record.uuid, len(loaded.records))
        if number == len(loaded.records):
            loaded.records.append(record)
        loaded.records[number] = record
        lines.append((number, record))
    loaded.is_read = [True] * len(loaded.records)
    loaded.parents = [_get_parent(loaded, record) for record in loaded.records]
    # The last line that leads up to a message; one of the main conversation if there is any
    places = {number: place for place, (number, _) in enumerate(lines)}
    named = {record.parent_uuid for _, record in lines}
    looked_at: set[int] = set()
    leaves: list[Line] = []
    for number, record in lines:
        if record.uuid in named:
            continue
        while record.type not in SPEAKERS:
            number = _get_parent(loaded, record)
            if number < 0 or number in looked_at:
                break
            looked_at.add(number)
            record = loaded.records[number]
        else:
            leaves.append((number, record))
    main = [leaf for leaf in leaves if _is_main(leaf[1])]
    leaf = max(main or leaves, key=lambda leaf: places[leaf[0]], default=None)
    if leaf is None:
        return []
    number, record = leaf
    # format: a leaf whose uuid is repeated is read from its first line
    loaded.records[number], loaded.parents[number] = record, _get_parent(loaded, record)
    chain = list(list_ancestors(loaded, number))[::-1]
    recovery = Recovery(loaded, chain)
    anchors = recovery.anchors()
    after = {anchor: recovery.missed(message_id) for message_id, anchor in anchors.items()}
    result = [entry for number in chain for entry in (number, *after.get(number, ()))]
    return [record for number in result if _is_visible(record := loaded.records[number])]


def _get_parent(loaded: LoadedEntries, record: Record) -> int:
    return loaded.index.get(record.parent_uuid, MISSING) if record.parent_uuid else ROOT


def _is_main(record: Record) -> bool:
    return not (record.is_sidechain or record.team_name or record.is_meta)


def _is_visible(record: Record) -> bool:
    return record.type in SPEAKERS and _is_main(record)


class Recovery:
    """Finds the missing entries of one response after another."""

    def __init__(self, loaded: LoadedEntries, chain: list[int]) -> None:
        self.records = loaded.records
        self.parents = loaded.parents
        self.chain = chain
        self.seen = set(chain)
        self.members = loaded.members()
        self.owners = find_call_owners(loaded, self.members)
        found: dict[int, list[int]] = {}
        for number, record in enumerate(self.records):
            if is_result(record) and record.parent_uuid:
                source = loaded.index.get(record.source_tool_assistant_uuid or "")
                claimed = [source, *(self.owners.get(call) for call in get_result_ids(record))]
                near = [
                    number
                    for number in claimed
                    if number is not None and is_same_writer(record, self.records[number])
                ]
                for answer in [self.parents[number], *near]:
                    found.setdefault(answer, []).append(number)
        self.results = found
        self.answered = {call for number in chain for call in get_result_ids(self.records[number])}

    def anchors(self) -> dict[str, int]:
        """Return the last entry of each response on the chain, in the order of the chain."""
        anchors: dict[str, int] = {}
        for number in self.chain:
            record = self.records[number]
            if record.type == "assistant" and record.message_id:
                anchors[record.message_id] = number
        return anchors

    def missed(self, message_id: str) -> list[int]:
        """Return what the chain lacks of a response: its entries, then its results."""
        group = self.members[message_id]
        siblings = [number for number in group if number not in self.seen]
        members = frozenset(group)
        of_group = (number for member in group for number in self.results.get(member, ()))
        missed = [number for number in dict.fromkeys(of_group) if number not in self.seen]
        results = [number for number in missed if self.parents[number] in members]
        answered = {call for number in results for call in get_result_ids(self.records[number])}
        # results that are attached elsewhere count only for calls still open
        for number in sorted(number for number in missed if self.parents[number] not in members):
            calls = get_result_ids(self.records[number])
            if any(self.is_open(call, answered, members) for call in calls):
                answered.update(calls)
                results.append(number)
        found = [*self.by_time(siblings), *self.by_time(results)]
        self.seen.update(found)
        return found

    def is_open(self, call: str, answered: set[str], members: frozenset[int]) -> bool:
        """Return whether a call of some responses has no result yet."""
        return (
            call not in answered and call not in self.answered and self.owners.get(call) in members
        )

    def by_time(self, numbers: list[int]) -> list[int]:
        """Return entries in the order of their timestamps."""
        return sorted(numbers, key=lambda number: self.records[number].timestamp or "")
