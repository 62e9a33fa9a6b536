"""A walk from the leaf to the whole chain: with what parallel calls left aside.

Each result hangs on its own call, so a walk by parents meets one of several; the
others are put back:

    c₁ ── c₂ ── r₂          the walk from a: c₁ r₁ a
     └─── r₁ ── a           the chain:       c₁ c₂ r₁ r₂ a
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from plait.graph.client.load import (
    call_ids,
    has_calls,
    is_boundary,
    is_note,
    is_result,
    result_ids,
)
from plait.graph.client.model import Loaded
from plait.record import Record


@dataclass(slots=True)
class ChainResponse:
    """All entries of a response, with those inside it and what follows their calls."""

    members: list[int]
    followers: set[int] = field(default_factory=set)
    """Results of its calls, and the notes under them and under its entries."""
    strays: set[int] = field(default_factory=set)
    """Those of them that hang elsewhere, or under one that does."""


def with_parallel(loaded: Loaded, walked: list[int]) -> list[int]:
    """Returns the chain with the missed entries of its responses and their results."""
    gathering = Gathering(loaded, walked)
    responses = [gathering.response(members) for members in gathering.overlapping()]
    chain = _results_after_calls(loaded, walked, responses)
    insertion = Insertion(loaded, chain)
    for response in responses:
        insertion.place(response)
    return _answers_first(loaded, insertion.result())


class Gathering:
    """Finds what belongs to the responses of a walk."""

    def __init__(self, loaded: Loaded, walked: list[int]) -> None:
        self.loaded = loaded
        self.records = loaded.records
        self.walked = walked
        self.on_walk = frozenset(walked)
        self.members = loaded.members()
        self.children = loaded.children()
        self.taken: set[int] = set()
        self.harmless: set[int] = set()
        self.owners = owners_of_calls(loaded, self.members)
        self.results = self.results_of_calls()
        answers = (n for n in walked if self.records[n].type == "assistant")
        self.answers = {number for number in answers if self.records[number].message_id}
        self.answered = {call for number in walked for call in result_ids(self.records[number])}

    def overlapping(self) -> list[list[int]]:
        """Returns the entries of each response of the walk, those within another as one with it.

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

    def results_of_calls(self) -> dict[str, list[int]]:
        """Returns the entries that answer each call, in file order."""
        results: dict[str, list[int]] = {}
        for number, record in enumerate(self.records):
            if self.loaded.is_read[number] and record.type == "user":
                for call in result_ids(record):
                    results.setdefault(call, []).append(number)
        return results

    def response(self, members: list[int]) -> ChainResponse:
        """Returns a response with all that follows its calls."""
        response = ChainResponse(members)
        self.harmless.clear()
        # format: without a call only results come along, notes stay where they are
        has_call = any(has_calls(self.records[number]) for number in members)
        self.take_below(response, members, with_notes=has_call)
        near = set(response.followers)
        self.take_below(response, self.strays(response), with_notes=has_call)
        taken = {n for n in response.followers if self.loaded.parents[n] in self.answers}
        response.strays = response.followers - near - taken
        self.taken |= response.followers
        return response

    def take_below(self, response: ChainResponse, starts: list[int], *, with_notes: bool) -> None:
        """Takes the results and notes that hang on some of its entries."""
        members = frozenset(response.members)
        queue = list(starts)
        for current in queue:
            for child in self.children[current]:
                if child in self.taken or child in response.followers or child in members:
                    continue
                if not with_notes and not is_result(self.records[child]):
                    continue
                if self.is_follower(child, current, members):
                    response.followers.add(child)
                    queue.append(child)

    def is_follower(self, child: int, parent: int, members: frozenset[int]) -> bool:
        """Whether an entry under a response or its followers belongs to it."""
        record = self.records[child]
        if is_result(record):
            is_taken = parent in self.on_walk and self.is_claimed(child, members)
            return parent in members and not is_taken
        if not is_note(record) or child in self.on_walk:
            return is_note(record)
        is_aside = record.is_sidechain != self.records[parent].is_sidechain
        return not is_aside and not self.leads_away(child, members)

    def leads_away(self, note: int, members: frozenset[int]) -> bool:
        """Whether a note is the first step of another branch: a prompt or answer below it."""
        if note in self.harmless:
            return False
        queue = [note]
        for current in queue:
            for child in self.children[current]:
                if child in members or self.answers_one_of(child, members):
                    continue
                if not is_note(self.records[child]):
                    return True
                queue.append(child)
        self.harmless.update(queue)  # so a long run of notes is looked through once
        return False

    def is_claimed(self, number: int, members: frozenset[int]) -> bool:
        """Whether a result is for calls of other entries on the walk alone."""
        owners = [(call, self.owners.get(call)) for call in result_ids(self.records[number])]
        return bool(owners) and all(
            one is not None and one not in members and self.may_claim(one, call, number)
            for call, one in owners
        )

    def may_claim(self, owner: int, call: str, number: int) -> bool:
        """Whether a call on the walk takes a result from the entry that it hangs on.

        Its first one; any other stays where it is.
        """
        if self.results[call][0] != number:
            return False
        record = self.records[number]
        is_free = number in self.on_walk or not record.is_sidechain
        is_same = is_same_writer(self.records[owner], record)
        return owner in self.on_walk and (is_free or is_same)

    def answers_one_of(self, number: int, members: frozenset[int]) -> bool:
        """Whether an entry is the result of a call that one of some entries makes."""
        calls = (self.owners.get(call) for call in result_ids(self.records[number]))
        return any(owner in members for owner in calls if owner is not None)

    def strays(self, response: ChainResponse) -> list[int]:
        """Takes results that hang elsewhere, for calls that nothing else answers."""
        answered = self.answered | self.answers_of(response)
        found: list[int] = []
        for member in response.members:
            for call in call_ids(self.records[member]):
                if self.owners.get(call) is None:
                    continue
                for number in self.results.get(call, ()):
                    record = self.records[number]
                    if self.is_at_its_call(number, call, response):
                        continue
                    is_open = call not in answered and is_same_writer(record, self.records[member])
                    is_claimed = self.hangs_on_answer(number) and self.may_claim(
                        member, call, number
                    )
                    if number in self.on_walk or is_open or is_claimed:
                        found.append(number)
                        answered |= set(result_ids(record))
        response.followers.update(found)
        return found

    def hangs_on_answer(self, number: int) -> bool:
        """Whether a result hangs on a response of the walk."""
        return self.loaded.parents[number] in self.answers

    def is_at_its_call(self, number: int, call: str, response: ChainResponse) -> bool:
        """Whether a result hangs on an entry of no response that made the same call."""
        parent = self.loaded.parents[number]
        is_other = parent >= 0 and parent not in response.members
        return is_other and call in call_ids(self.records[parent])

    def answers_of(self, response: ChainResponse) -> set[str]:
        """Returns the calls that its followers answer."""
        return {call for one in response.followers for call in result_ids(self.records[one])}


def owners_of_calls(loaded: Loaded, members: Mapping[str, list[int]]) -> dict[str, int | None]:
    """Returns the last entry that made each call, None where two responses claim it."""
    records = loaded.records
    owners: dict[str, int | None] = {}
    for response, numbers in members.items():
        for number in numbers:
            for call in call_ids(records[number]):
                known = owners.setdefault(call, number)
                is_claimed = known is None or records[known].message_id != response
                owners[call] = None if is_claimed else number
    return owners


def is_same_writer(one: Record, other: Record) -> bool:
    """Whether the main conversation, or the same agent, wrote both."""
    return one.is_sidechain == other.is_sidechain and one.agent_id == other.agent_id


def _results_after_calls(
    loaded: Loaded, walked: list[int], responses: list[ChainResponse]
) -> list[int]:
    place = {number: position for position, number in enumerate(walked)}
    early: set[int] = set()
    for response in responses:
        first = min(place[number] for number in response.members if number in place)
        early.update(n for n in response.followers if place.get(n, first) < first)
    return [number for number in walked if number not in early]


class Insertion:
    """Puts missed entries where the client does: in file order among those of the walk."""

    def __init__(self, loaded: Loaded, chain: list[int]) -> None:
        self.loaded = loaded
        self.chain = chain
        self.place_of = {number: place for place, number in enumerate(chain)}
        self.after: dict[int, list[int]] = {}
        self.placed = set(chain)
        self.strays: set[int] = set()

    def place(self, response: ChainResponse) -> None:
        """Finds a place for what the walk missed of a response."""
        places = [self.place_of[number] for number in response.members if number in self.place_of]
        first, last = min(places), max(places)
        self.strays |= response.strays
        for number in self.missed(sorted({*response.members, *response.followers})):
            start = last if number in response.strays else first
            before = self.chain[self.in_file_order(number, start, last, response.followers)]
            self.after.setdefault(before, []).append(number)

    def in_file_order(self, number: int, place: int, last: int, own: set[int]) -> int:
        """Returns the place up to which only earlier lines stand.

        It lies within the response, or behind it among its results and notes.
        """
        chain, records = self.chain, self.loaded.records
        while place + 1 < len(chain) and chain[place + 1] < number:
            following = chain[place + 1]
            is_passed = is_note(records[following]) or _is_quiet(records[following])
            if place >= last and following not in own and not is_passed:
                break
            place += 1
        return place

    def missed(self, numbers: list[int]) -> list[int]:
        """Returns the entries that no place has been found for, now taken."""
        new = [number for number in numbers if number not in self.placed]
        self.placed.update(new)
        return new

    def in_order(self, missed: list[int]) -> list[int]:
        """Returns missed entries in file order, results from elsewhere behind all answers."""
        answers = [one for one in missed if self.loaded.records[one].type == "assistant"]
        last = max(answers, default=-1)
        return sorted(missed, key=lambda one: (one > last or one in self.strays, one))

    def result(self) -> list[int]:
        """Returns the whole chain."""
        whole: list[int] = []
        for number in self.chain:
            whole.append(number)
            whole.extend(self.in_order(self.after.get(number, [])))
        return whole


def _answers_first(loaded: Loaded, chain: list[int]) -> list[int]:
    """Returns the chain with the entries of a response before the notes between them.

    Only where nothing but notes and results lies between the first and the last of them:

        c₁ r₁ note c₂ r₂        the chain:  c₁ c₂ r₁ note r₂
    """
    places = _places_of_responses(loaded, chain)
    spoken = list(accumulate((not _is_quiet(loaded.records[n]) for n in chain), initial=0))
    found = list(chain)
    for members in places.values():
        first, last = members[0], members[-1]
        is_whole = spoken[last + 1] - spoken[first] == len(members)
        if not is_whole:
            continue
        own = {chain[place] for place in members}
        between = [number for number in chain[first : last + 1] if number not in own]
        if any(loaded.records[number].type != "user" for number in between):
            found[first : last + 1] = [*(chain[place] for place in members), *between]
    return found


def _places_of_responses(loaded: Loaded, chain: list[int]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, number in enumerate(chain):
        record = loaded.records[number]
        if record.type == "assistant" and record.message_id:
            places.setdefault(record.message_id, []).append(place)
    return places


def _is_quiet(record: Record) -> bool:
    """Tells what can lie inside a response: a result, an attachment, a notice that says nothing."""
    if record.type == "system":
        return not is_boundary(record) and record.subtype != "local_command"
    return record.type == "attachment" or is_result(record)
