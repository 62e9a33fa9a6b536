"""The conversations of a session to rows: its turns, its calls, the files that they touched."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from plait.conversation.changes import CHANGING, of_call
from plait.conversation.model import Called, Conversation, Result, Turn
from plait.conversation.stats.model import UNNAMED
from plait.conversation.stats.owning import (
    CountedItem,
    Ownership,
    counted_errors,
    counted_items,
    counted_responses,
    counted_turns,
)
from plait.conversation.stats.session import answer_of
from plait.conversation.stats.statistics import ResponseCounts
from plait.record.time import between

Row: TypeAlias = tuple[Any, ...]
ADDED = (
    "responses prompts queued retracted commands shell_lines interruptions compactions "
    "api_errors api_retries calls failed rejected words_typed words_said"
).split()
"""The columns of turns that are figures, in their order."""


class Standing(NamedTuple):
    """Where a record stands."""

    branch: str
    turn: int
    agents: str | None


class TurnRows:
    """Takes the conversations of one session, and makes rows of them."""

    def __init__(self, ownership: Ownership, answers: ResponseCounts) -> None:
        self._ownership, self._answers = ownership, answers
        self.turns: list[Row] = []
        self.calls: list[Row] = []
        self.files: list[Row] = []
        self.standings: dict[str, Standing] = {}
        """Of all records, by uuid."""

    def add(self, conversation: Conversation, agents: str | None) -> None:
        """Takes in a conversation, of a kind of agents or of the person."""
        told = _TurnFigures()
        last = _last_call(conversation) if conversation.kind == "branch" else None
        for one in counted_items(conversation, agents, self._ownership):
            told.take(one)
            self._stand(one, Standing(conversation.id, one.turn.number, agents))
            if isinstance(one.item, Called) and not one.item.is_intermediate:
                head = (conversation.id, conversation.kind, agents, one.turn.number)
                self._add_call(one, one.item, head, is_last=one.item is last)
                told.note_edit(one.turn, one.item)
        self._add_responses(conversation, agents, told)
        own = {turn.number for turn, _ in counted_turns(conversation, self._ownership)}
        self.turns += _turn_rows(conversation, agents, told, own if agents is None else set())

    def _add_responses(
        self, conversation: Conversation, agents: str | None, told: "_TurnFigures"
    ) -> None:
        turns = {number: turn.number for turn in conversation.turns for number in turn.responses}
        first = next((turn.number for turn in conversation.turns), 0)
        for number, _ in counted_errors(conversation, self._ownership):
            told.add(turns.get(number, first), "api_errors")
        for number, response in counted_responses(conversation, self._ownership):
            if self._answers.add(answer_of(response, agents)):
                told.add(turns.get(number, first), "responses")

    def _stand(self, one: CountedItem, standing: Standing) -> None:
        if one.item.uuid:
            self.standings.setdefault(one.item.uuid, standing)

    def _add_call(self, one: CountedItem, called: Called, head: Row, *, is_last: bool) -> None:
        took, size = called.took_ms, _size_of(called.result)
        self.calls.append(
            (
                *(*head, called.uuid, called.call, called.name or UNNAMED, called.time),
                *(called.outcome, took, size, is_last, one.is_own),
            )
        )
        touch = of_call(called, one.turn.number)
        if touch:
            patch = touch.patch
            counts = one.is_own and touch.outcome == "ok"
            lines = (patch.added, patch.removed) if patch else (None, None)
            self.files.append(
                (
                    *(head[0], touch.turn, touch.uuid, touch.path, touch.action, touch.time),
                    *(touch.outcome, *lines, counts),
                )
            )


class _TurnFigures:
    """What was counted in the turns of a conversation, by their numbers."""

    def __init__(self) -> None:
        self.adds: dict[int, Counter[str]] = {}
        self.begins: int | None = None
        """The first turn with something that counts."""
        self.edits: dict[int, float | None] = {}

    def take(self, one: CountedItem) -> None:
        if one.adds:
            self.adds.setdefault(one.turn.number, Counter()).update(one.adds)
        if one.begins:
            self.begins = one.turn.number

    def add(self, turn: int, name: str) -> None:
        self.adds.setdefault(turn, Counter())[name] += 1

    def note_edit(self, turn: Turn, called: Called) -> None:
        if turn.number in self.edits or called.outcome != "ok":
            return
        touch = of_call(called, turn.number)
        if touch and touch.action in CHANGING:
            self.edits[turn.number] = between(turn.started, called.answered_at or called.time)


def _turn_rows(
    conversation: Conversation, agents: str | None, told: _TurnFigures, own: set[int]
) -> Iterator[Row]:
    for turn in conversation.turns:
        adds, opener = told.adds.get(turn.number, Counter()), turn.opener
        yield (
            *(conversation.id, conversation.kind, agents, turn.number),
            *((opener.uuid, opener.kind, opener.is_typed) if opener else (None, None, False)),
            *(turn.started, turn.working_ms, turn.asking_ms, turn.waited_ms),
            *(told.edits.get(turn.number), turn.is_interrupted, turn.number == told.begins),
            *(adds[name] for name in ADDED),
            turn.number in own,
        )


def _last_call(conversation: Conversation) -> Called | None:
    """Returns the call after which a branch was left, None where its last turn has none."""
    turns = conversation.turns
    return next(reversed(turns[-1].calls), None) if turns else None


def _size_of(result: Result | None) -> int | None:
    if result is None:
        return None
    if result.persisted and result.persisted.size is not None:
        return result.persisted.size
    text = result.text
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
