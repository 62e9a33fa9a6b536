"""The chain of messages that the client builds from a leaf, and the one that the SDK returns.

Each result hangs on its own call, so walking up by parents meets one of several parallel results;
the others are put back:

    c₁ ── c₂ ── r₂          walked up from a:  c₁ r₁ a
     └─── r₁ ── a           the chain:         c₁ c₂ r₁ r₂ a

Which attachments the client takes into its chain was learnt by asking it with each field left
out, empty, or of another kind.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeAlias

from plait.graph.chain import CHAIN_TYPES, MISSING, ROOT, Entries, list_ancestors
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
from plait.record import Record
from plait.record.codec import BYTE_ORDER_MARK

GONE = frozenset({"companion_intro"})
"""Kinds that the client once wrote and now drops."""


def is_accepted_attachment(record: Record) -> bool:
    """Return whether the client takes an attachment into its chain."""
    head = record.envelope.attachment
    kind = head.type if head else None
    if not kind or kind in GONE:
        return False
    has_form = FORMS.get(kind)
    return has_form is None or has_form(record.fields["attachment"])


def _is_hook_with_words(fields: dict[str, Any]) -> bool:
    """Return whether a hook that ran well left any words."""
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
"""Kinds that are dropped where what they carry is not there, or of another form."""


@dataclass(slots=True)
class ChainResponse:
    """All entries of a response, with those inside it and what follows their calls."""

    members: list[int]
    followers: set[int] = field(default_factory=set)
    """Results of its calls, and the notes under them and under its entries."""
    strays: set[int] = field(default_factory=set)
    """Those of them that hang elsewhere, or under one that does."""


def add_parallel_entries(loaded: LoadedEntries, walked: list[int]) -> list[int]:
    """Return the chain with the missed entries of its responses and their results."""
    gathering = Gathering(loaded, walked)
    responses = [gathering.response(members) for members in gathering.overlapping()]
    # results that the walk met before their calls find their place again behind them
    walk_place = {number: place for place, number in enumerate(walked)}
    early: set[int] = set()
    for response in responses:
        first = min(walk_place[number] for number in response.members if number in walk_place)
        for number in sorted(response.followers):
            moves = is_result(loaded.records[number]) or loaded.parents[number] in early
            if moves and walk_place.get(number, first) < first:
                early.add(number)
    chain = [number for number in walked if number not in early]
    insertion = Insertion(loaded, chain)
    for response in responses:
        insertion.place(response)
    return _answers_first(loaded, insertion.result())


class Gathering:
    """Finds what belongs to the responses of a walk."""

    def __init__(self, loaded: LoadedEntries, walked: list[int]) -> None:
        self.loaded = loaded
        self.records = loaded.records
        self.walked = walked
        self.on_walk = frozenset(walked)
        self.members = loaded.members()
        self.children = loaded.children()
        self.used: set[int] = set()
        self.harmless: set[int] = set()
        self.owners = find_call_owners(loaded, self.members)
        results: dict[str, list[int]] = {}
        for number, record in enumerate(self.records):
            if self.loaded.is_read[number] and record.type == "user":
                for call in get_result_ids(record):
                    results.setdefault(call, []).append(number)
        self.results = results
        answers = (n for n in walked if self.records[n].type == "assistant")
        self.answers = {number for number in answers if self.records[number].message_id}
        self.answered = {call for number in walked for call in get_result_ids(self.records[number])}

    def overlapping(self) -> list[list[int]]:
        """Return the entries of each response of the walk, those within another as one with it.

        A prompt between them, and they are two.
        """
        prompts = 0
        spans: dict[str, tuple[int, int, int]] = {}
        for place, number in enumerate(self.walked):
            record = self.records[number]
            if record.type == "assistant" and record.message_id:
                first, _, asked = spans.get(record.message_id, (place, place, prompts))
                spans[record.message_id] = first, place, asked
            elif record.type == "user" and not is_result(record):
                prompts += 1
        found: list[list[int]] = []
        end, turn = -1, -1
        for message_id, (_, last, asked) in spans.items():
            if last > end or asked != turn:
                found.append([])
                end, turn = last, asked
            found[-1].extend(self.members.get(message_id, []))
        # format: a walk can pass an entry that a compaction left behind, and it alone
        met = (members for members in found if not self.on_walk.isdisjoint(members))
        return [sorted(members) for members in met]

    def response(self, members: list[int]) -> ChainResponse:
        """Return a response with all that follows its calls."""
        response = ChainResponse(members)
        self.harmless.clear()
        # format: without a call only results come along, notes stay where they are
        has_call = any(has_calls(self.records[number]) for number in members)
        self.take_below(response, members, with_notes=has_call)
        near = set(response.followers)
        self.take_below(response, self.strays(response), with_notes=has_call)
        claimed = {n for n in response.followers if self.loaded.parents[n] in self.answers}
        response.strays = response.followers - near - claimed
        self.used |= response.followers
        return response

    def take_below(self, response: ChainResponse, starts: list[int], *, with_notes: bool) -> None:
        """Take the results and notes that hang on some of its entries."""
        members = frozenset(response.members)
        queue = list(starts)
        for current in queue:
            for child in self.children[current]:
                if child in self.used or child in response.followers or child in members:
                    continue
                if not with_notes and not is_result(self.records[child]):
                    continue
                if self.is_follower(child, current, members):
                    response.followers.add(child)
                    queue.append(child)

    def is_follower(self, child: int, parent: int, members: frozenset[int]) -> bool:
        """Return whether an entry under a response or its followers belongs to it."""
        record = self.records[child]
        if is_result(record):
            is_claimed = parent in self.on_walk and self.is_claimed(child, members)
            return parent in members and not is_claimed
        if not is_note(record) or child in self.on_walk:
            return is_note(record)
        is_other_chain = record.is_sidechain != self.records[parent].is_sidechain
        return not is_other_chain and not self.leads_away(child, members)

    def leads_away(self, note: int, members: frozenset[int]) -> bool:
        """Return whether a note is the first step of another branch: a prompt or answer below it."""
        if note in self.harmless:
            return False
        queue = [note]
        for current in queue:
            for child in self.children[current]:
                if child in members or self.answers_any(child, members):
                    continue
                if not is_note(self.records[child]):
                    return True
                queue.append(child)
        self.harmless.update(queue)  # so a long run of notes is looked through once
        return False

    def is_claimed(self, number: int, members: frozenset[int]) -> bool:
        """Return whether a result is for calls of other entries on the walk alone."""
        owners = [(call, self.owners.get(call)) for call in get_result_ids(self.records[number])]
        return bool(owners) and all(
            owner is not None and owner not in members and self.may_claim(owner, call, number)
            for call, owner in owners
        )

    def may_claim(self, owner: int, call: str, number: int) -> bool:
        """Return whether a call on the walk takes a result from the entry that it hangs on.

        Its first one; any other stays where it is.
        """
        if self.results[call][0] != number:
            return False
        record = self.records[number]
        is_free = number in self.on_walk or not record.is_sidechain
        is_same = is_same_writer(self.records[owner], record)
        if owner in self.on_walk:
            return is_free or is_same
        response = self.members.get(self.records[owner].message_id or "", ())
        return is_same and not self.on_walk.isdisjoint(response)

    def answers_any(self, number: int, members: frozenset[int]) -> bool:
        """Return whether an entry is the result of a call that one of some entries makes."""
        return any(
            self.owners.get(call) in members and self.results[call][0] == number
            for call in get_result_ids(self.records[number])
        )

    def strays(self, response: ChainResponse) -> list[int]:
        """Take results that hang elsewhere, for calls that nothing else answers."""
        answered = self.answered | {
            call
            for follower in response.followers
            for call in get_result_ids(self.records[follower])
        }
        found: list[int] = []
        for member in response.members:
            for call in get_call_ids(self.records[member]):
                if self.owners.get(call) is None:
                    continue
                for number in self.results.get(call, ()):
                    record = self.records[number]
                    parent = self.loaded.parents[number]
                    is_other = parent >= 0 and parent not in response.members
                    if is_other and call in get_call_ids(self.records[parent]):
                        continue
                    is_open = call not in answered and is_same_writer(record, self.records[member])
                    is_claimed = (self.loaded.parents[number] in self.answers) and self.may_claim(
                        member, call, number
                    )
                    is_walked = number in self.on_walk and is_same_writer(
                        record, self.records[member]
                    )
                    if is_walked or is_open or is_claimed:
                        found.append(number)
                        answered |= set(get_result_ids(record))
        response.followers.update(found)
        return found


def find_call_owners(
    loaded: LoadedEntries, members: Mapping[str, list[int]]
) -> dict[str, int | None]:
    """Return the last entry that made each call, None where two responses claim it."""
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
    """Return whether the main conversation, or the same agent, wrote both."""
    return record.is_sidechain == other.is_sidechain and record.agent_id == other.agent_id


class Insertion:
    """Puts missed entries where the client does: in file order among those of the walk."""

    def __init__(self, loaded: LoadedEntries, chain: list[int]) -> None:
        self.loaded = loaded
        self.chain = chain
        self.place_of = {number: place for place, number in enumerate(chain)}
        self.after: dict[int, list[int]] = {}
        self.placed = set(chain)
        self.strays: set[int] = set()

    def place(self, response: ChainResponse) -> None:
        """Find a place for what the walk missed of a response."""
        places = [self.place_of[number] for number in response.members if number in self.place_of]
        first, last = min(places), max(places)
        self.strays |= response.strays
        for number in sorted({*response.members, *response.followers} - self.placed):
            self.placed.add(number)
            start = last if number in response.strays else first
            place = start
            chain, records = self.chain, self.loaded.records
            while place + 1 < len(chain) and chain[place + 1] < number:
                following = chain[place + 1]
                is_passed = is_note(records[following]) or _is_quiet(records[following])
                if place >= last and following not in response.followers and not is_passed:
                    break
                place += 1
            before = self.chain[place]
            self.after.setdefault(before, []).append(number)

    def result(self) -> list[int]:
        """Return the whole chain."""
        records, result = self.loaded.records, list[int]()
        for number in self.chain:
            result.append(number)
            missed = self.after.get(number, [])
            # in file order, results from elsewhere behind all answers
            last = max((n for n in missed if records[n].type == "assistant"), default=-1)
            ranked = sorted((n > last or n in self.strays, n) for n in missed)
            result += [missed_number for _, missed_number in ranked]
        return result


def _answers_first(loaded: LoadedEntries, chain: list[int]) -> list[int]:
    """Return the chain with the entries of a response before the notes between them.

    Only where nothing but notes and results lies between the first and the last of them:

        c₁ r₁ note c₂ r₂        the chain:  c₁ c₂ r₁ note r₂
    """
    places: dict[str, list[int]] = {}
    for place, number in enumerate(chain):
        record = loaded.records[number]
        if record.type == "assistant" and record.message_id:
            places.setdefault(record.message_id, []).append(place)
    spoken = list(accumulate((not _is_quiet(loaded.records[n]) for n in chain), initial=0))
    found = list(chain)
    for members in places.values():
        first, last = members[0], members[-1]
        is_together = spoken[last + 1] - spoken[first] == len(members)
        if not is_together:
            continue
        own = {chain[place] for place in members}
        between = [number for number in chain[first : last + 1] if number not in own]
        if any(loaded.records[number].type != "user" for number in between):
            found[first : last + 1] = [*(chain[place] for place in members), *between]
    return found


def _is_quiet(record: Record) -> bool:
    """Return whether a record can lie inside a response: a result, an attachment, an empty notice."""
    if record.type == "system":
        return not is_boundary(record) and record.subtype != "local_command"
    return record.type == "attachment" or is_result(record)


TYPES = CHAIN_TYPES | {"progress"}
SPEAKERS = ("user", "assistant")

Line: TypeAlias = tuple[int, Record]
"""An entry's number, and its record as it stands on one line."""


def build_sdk_chain(records: Iterable[Record]) -> list[Record]:
    """Return the user and assistant records of the SDK's chain."""
    loaded, lines = _load_entries(records)
    leaf = _best_leaf(loaded, lines)
    if leaf is None:
        return []
    number, record = leaf
    # format: a leaf whose uuid comes again is read from its first line
    loaded.records[number], loaded.parents[number] = record, _get_parent(loaded, record)
    chain = list(list_ancestors(loaded, number))[::-1]
    recovery = Recovery(loaded, chain)
    anchors = recovery.anchors()
    after = {anchor: recovery.missed(message_id) for message_id, anchor in anchors.items()}
    result = [entry for number in chain for entry in (number, *after.get(number, ()))]
    return [record for number in result if _is_visible(record := loaded.records[number])]


def _load_entries(records: Iterable[Record]) -> tuple[LoadedEntries, list[Line]]:
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
    return loaded, lines


def _get_parent(loaded: LoadedEntries, record: Record) -> int:
    return loaded.index.get(record.parent_uuid, MISSING) if record.parent_uuid else ROOT


def _best_leaf(loaded: LoadedEntries, lines: list[Line]) -> Line | None:
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
    return max(main or leaves, key=lambda leaf: places[leaf[0]], default=None)


def _is_main(record: Record) -> bool:
    return not (record.is_sidechain or record.team_name or record.is_meta)


def _is_visible(record: Record) -> bool:
    return record.type in SPEAKERS and _is_main(record)


class Recovery:
    """Finds the missed entries of one response after another."""

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
        # results that hang elsewhere count only for calls still open
        for number in sorted(number for number in missed if self.parents[number] not in members):
            calls = get_result_ids(self.records[number])
            if any(self.is_open(call, answered, members) for call in calls):
                answered.update(calls)
                results.append(number)
        found = [*self.by_time(siblings), *self.by_time(results)]
        self.seen.update(found)
        return found

    def is_open(self, call: str, answered: set[str], members: frozenset[int]) -> bool:
        """Return whether a call of some answers has no result yet."""
        return (
            call not in answered and call not in self.answered and self.owners.get(call) in members
        )

    def by_time(self, numbers: list[int]) -> list[int]:
        """Return entries in the order of their timestamps."""
        return sorted(numbers, key=lambda number: self.records[number].timestamp or "")
