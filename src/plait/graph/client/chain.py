"""A walk from the leaf to the whole chain: with what parallel calls left aside.

Each result hangs on its own call, so a walk by parents meets one of several; the
others are put back:

    c₁ ── c₂ ── r₂          the walk from a: c₁ r₁ a
     └─── r₁ ── a           the chain:       c₁ c₂ r₁ r₂ a
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from plait.graph.client.load import call_ids, has_calls, is_note, is_result, result_ids
from plait.graph.client.model import Loaded
from plait.record import Record


@dataclass(slots=True)
class ChainResponse:
    """All entries of one response, with what follows its calls."""

    members: list[int]
    followers: set[int] = field(default_factory=set)
    """Results of its calls, and the notes under them and under its entries."""


def with_parallel(loaded: Loaded, walked: list[int]) -> list[int]:
    """Returns the chain with the missed entries of its responses and their results."""
    gathering = Gathering(loaded, walked)
    responses = [gathering.response(message_id) for message_id in gathering.message_ids()]
    chain = _results_after_calls(loaded, walked, responses)
    insertion = Insertion(loaded, chain)
    for response in responses:
        insertion.place(response)
    return insertion.result()


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
        self.answered = {call for number in walked for call in result_ids(self.records[number])}

    def message_ids(self) -> list[str]:
        """Returns the responses of the walk in its order."""
        found = (self.records[number] for number in self.walked)
        ids = (record.message_id for record in found if record.type == "assistant")
        return list(dict.fromkeys(message_id for message_id in ids if message_id))

    def results_of_calls(self) -> dict[str, list[int]]:
        """Returns the entries that answer each call, in file order."""
        results: dict[str, list[int]] = {}
        for number, record in enumerate(self.records):
            if self.loaded.is_read[number] and record.type == "user":
                for call in result_ids(record):
                    results.setdefault(call, []).append(number)
        return results

    def response(self, message_id: str) -> ChainResponse:
        """Returns a response with all that follows its calls."""
        members = self.members.get(message_id, [])
        response = ChainResponse(members)
        # format: without a call only results come along, notes stay where they are
        has_call = any(has_calls(self.records[number]) for number in members)
        self.take_below(response, members, with_notes=has_call)
        self.take_below(response, self.strays(response), with_notes=has_call)
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
            return parent in members
        if not is_note(record) or record.is_sidechain != self.records[parent].is_sidechain:
            return False
        return child in self.on_walk or not self.leads_away(child, members)

    def leads_away(self, note: int, members: frozenset[int]) -> bool:
        """Whether a note is the first step of another branch: a prompt or answer below it."""
        if note in self.harmless:
            return False
        queue = [note]
        for current in queue:
            for child in self.children[current]:
                if child in members or is_result(self.records[child]):
                    continue
                if not is_note(self.records[child]):
                    return True
                queue.append(child)
        self.harmless.update(queue)  # so a long run of notes is looked through once
        return False

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
                    is_open = call not in answered and is_same_writer(record, self.records[member])
                    if number in self.on_walk or is_open:
                        found.append(number)
                        answered |= set(result_ids(record))
        response.followers.update(found)
        return found

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
        early.update(
            number
            for number in response.followers
            if place.get(number, first) < first and is_result(loaded.records[number])
        )
    return [number for number in walked if number not in early]


class Insertion:
    """Puts missed entries where the client does: in file order among those of the walk."""

    def __init__(self, loaded: Loaded, chain: list[int]) -> None:
        self.loaded = loaded
        self.chain = chain
        self.place_of = {number: place for place, number in enumerate(chain)}
        self.after: dict[int, list[int]] = {}
        self.placed = set(chain)

    def place(self, response: ChainResponse) -> None:
        """Finds a place for what the walk missed of a response."""
        on_chain = [number for number in response.members if number in self.place_of]
        first = min(on_chain, key=self.place_of.__getitem__)
        records = self.loaded.records
        kept = sorted(number for number in response.followers if number in self.place_of)
        spoken = sorted([*on_chain, *(n for n in kept if is_result(records[n]))])
        everything = sorted([*on_chain, *kept])
        members = frozenset(response.members)
        for number in self.missed(response.members):
            before = _last_before(spoken, number, first)
            self.after.setdefault(before, []).append(number)
        for number in self.missed(sorted(response.followers)):
            before = _last_before(everything, number, first)
            if records[number].type != "user":
                before = self.past_members(before, members)
            self.after.setdefault(before, []).append(number)

    def missed(self, numbers: list[int]) -> list[int]:
        """Returns the entries that no place has been found for, now taken."""
        new = [number for number in numbers if number not in self.placed]
        self.placed.update(new)
        return new

    def past_members(self, number: int, members: frozenset[int]) -> int:
        """Returns the last of the response's entries that follow one without a gap."""
        place = self.place_of[number]
        while place + 1 < len(self.chain) and self.chain[place + 1] in members:
            place += 1
        return self.chain[place]

    def result(self) -> list[int]:
        """Returns the whole chain."""
        whole: list[int] = []
        for number in self.chain:
            whole.append(number)
            whole.extend(sorted(self.after.get(number, ())))
        return whole


def _last_before(ordered: list[int], number: int, first: int) -> int:
    place = bisect_left(ordered, number)
    return ordered[place - 1] if place else first
