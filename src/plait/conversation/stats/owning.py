"""Conversations, session after session, to what each item adds that no earlier session has.

Sums and rows are made of the same: what counts, and for what, is said here once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from plait.conversation.model import (
    Called,
    Compacted,
    Conversation,
    Folded,
    Item,
    Noted,
    Response,
    Said,
    Told,
    Turn,
)
from plait.conversation.totals import TYPED
from plait.conversation.walk import opened
from plait.graph.model import LineKind
from plait.record.time import sortable, stamp_of

FOR_EVER = "~"
NOTHING_COPIED: Mapping[str, str] = {}
NOTHING: Mapping[str, int] = {}
BEGUN: Mapping[LineKind, str] = {
    "agent": "agents",
    "service": "service_agents",
    "branch": "rewinds",
}
"""What a conversation counts as, besides what stands in it."""


class Ownership:
    """Knows which records were met before, and which lie between two moments.

    A session that was resumed or forked in another file carries copies of records of the
    earlier one: whoever comes first owns them. A copy under another id is the record that it
    says it was copied from, and that one what it was copied from itself.
    """

    def __init__(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        mark_of: Callable[[str], int] = hash,
    ) -> None:
        self._since, self._until = stamp_of(since), stamp_of(until) or FOR_EVER
        self._mark_of = mark_of
        self.met: set[int] = set()
        """The marks of all records so far."""
        self._renamed: set[int] = set()
        """Those of records that were copied under other ids."""
        self._own: set[str] = set()
        self._origins: dict[str, str] = {}
        self.begin()

    def begin(self, copied: Mapping[str, str] = NOTHING_COPIED) -> None:
        """Begins another session, in which some records were copied from others."""
        self._own.clear()
        self._renamed.update(map(self._mark_of, copied))
        self._origins.update({uuid: self._origin(origin) for uuid, origin in copied.items()})
        self.first: str | None = None
        """Of what the session at hand owns."""
        self.last: str | None = None
        self.earliest: str | None = None
        """Of all that stands in it."""
        self.latest: str | None = None

    def are_new(self, marks: Iterable[int]) -> bool:
        """Tells whether no session so far has anything of another, under whatever id."""
        return self.met.isdisjoint(marks) and self._renamed.isdisjoint(marks)

    @property
    def is_any(self) -> bool:
        """Tells whether the session at hand owns anything."""
        return bool(self._own)

    def owns(self, item: Item) -> bool:
        """Tells whether the session at hand is the first with the record of an item."""
        key = self._origin(item.uuid) if item.uuid else _loose_key(item)
        if key is None or not (key in self._own or self._is_first(key, item.time)):
            return False
        self._own.add(key)
        return True

    def has(self, response: Response) -> bool:
        """Tells whether the session at hand owns the records of a response."""
        return any(self._origin(uuid) in self._own for uuid in response.uuids)

    def _origin(self, uuid: str) -> str:
        return self._origins.get(uuid, uuid)

    def is_in_time(self, time: str | None) -> bool:
        """Tells whether something lies between the moments; what has no time does."""
        stamp = sortable(time)
        if stamp is None:
            return True
        self.earliest = min(self.earliest or stamp, stamp)
        self.latest = max(self.latest or stamp, stamp)
        return self._since <= stamp < self._until

    def _is_first(self, key: str, time: str | None) -> bool:
        """Tells whether something lies in time and was not met before; from now on it was."""
        if not self.is_in_time(time):
            return False
        mark = self._mark_of(key)  # takes a third of the room; two that clash are not to be met
        if mark in self.met:
            return False
        self.met.add(mark)
        if stamp := sortable(time):
            self.first = min(self.first or stamp, stamp)
            self.last = max(self.last or stamp, stamp)
        return True


def _loose_key(item: Item) -> str | None:
    return f"{item.time} {item.text}" if isinstance(item, Told) else None


class CountedItem(NamedTuple):
    """An item of a conversation, and what it adds."""

    turn: Turn
    item: Item
    is_own: bool
    """Whether no session before has it."""
    begins: bool
    """Whether it is the first in its conversation that counts."""
    adds: Mapping[str, int]
    """By the name of the figure."""


def counted_items(
    conversation: Conversation, agents: str | None, ownership: Ownership
) -> Iterator[CountedItem]:
    """Yields all that stands in a conversation, of a kind of agents or of the person."""
    begun = False
    for turn in conversation.turns:
        for item in _items_in(turn):
            if not ownership.owns(item):
                yield CountedItem(turn, item, False, False, NOTHING)
                continue
            adds = _added_by(item, conversation, is_of_person=agents is None)
            if not begun and (name := BEGUN.get(conversation.kind)):
                adds = {name: 1, **adds}
            yield CountedItem(turn, item, True, not begun, adds)
            begun = True


def counted_errors(
    conversation: Conversation, ownership: Ownership
) -> Iterator[tuple[int, Response]]:
    """Yields the errors that stand in the place of an answer, once all items were gone through."""
    for number, response in enumerate(conversation.responses):
        if response.is_error and ownership.has(response):
            yield number, response


def counted_responses(
    conversation: Conversation, ownership: Ownership
) -> Iterator[tuple[int, Response]]:
    """Yields the responses of models, copies too: whoever adds them up counts each once."""
    for number, response in enumerate(conversation.responses):
        if not response.is_synthetic and ownership.is_in_time(response.started):
            yield number, response


def counted_turns(conversation: Conversation, ownership: Ownership) -> Iterator[tuple[Turn, Told]]:
    """Yields the turns whose prompt is the session's own, once all items were gone through."""
    for turn in conversation.turns:
        if turn.opener and ownership.owns(turn.opener):
            yield turn, turn.opener


def _items_in(turn: Turn) -> Iterator[Item]:
    for item in turn.items:
        if isinstance(item, Folded):
            yield item
            yield from opened((item,))
        else:
            yield item


def _added_by(item: Item, conversation: Conversation, *, is_of_person: bool) -> Mapping[str, int]:
    match item:
        case Called(is_intermediate=False, outcome=outcome):
            return {"calls": 1, outcome: 1} if outcome in ("failed", "rejected") else CALL
        case Told():
            return _added_by_told(item, is_of_person=is_of_person)
        case Said(is_intermediate=False) if not conversation.responses[item.response].is_synthetic:
            return {"words_said": len(item.text.split())}
        case Compacted():
            return COMPACTION
        case Folded(reason="retracted" | "resent"):
            return RETRACTION
        case Noted(subtype="api_error"):
            return RETRY
        case _:
            return NOTHING


CALL = {"calls": 1}
COMPACTION = {"compactions": 1}
RETRACTION = {"retracted": 1}
RETRY = {"api_retries": 1}
INTERRUPTION = {"interruptions": 1}
OF_PERSON: Mapping[str, Mapping[str, int]] = {
    "command": {"commands": 1},
    "bash": {"shell_lines": 1},
}


def _added_by_told(told: Told, *, is_of_person: bool) -> Mapping[str, int]:
    if told.kind == "interruption":
        return INTERRUPTION
    if not is_of_person:
        return NOTHING
    if told.is_typed and told.kind in TYPED:
        queued = {"queued": 1} if told.kind == "queued" else NOTHING
        return {"prompts": 1, **queued, "words_typed": len(told.text.split())}
    return OF_PERSON.get(told.kind, NOTHING)
