"""A conversation to steps: a prompt, an answer with its calls and their results, a compaction.

Formats of others tell a conversation in steps. What a step is, and what stands in none of them,
is decided here, once. Every item is held by one step or counted among what is left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plait.conversation.changes import compactions_of
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Folded,
    Item,
    Left,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
)
from plait.conversation.results import key_of
from plait.conversation.walk import TYPED
from plait.record.time import LENGTH, moment, stamp_of
from plait.view.passages.stream import Manner, told_items

OF_MODEL = (Said, Thought, Called, Shown)
AGAIN, FOLDED = "again", "folded"
CLIENT = "claude-code"
BY_PEOPLE: frozenset[ToldKind] = TYPED | {"teammate", "peer"}
"""What somebody said in the user's place; all else there is the client's."""
OF_TOLD = "kind name arguments output errors status context is_only_queued".split()
Block: TypeAlias = Said | Thought | Called | Shown


@dataclass
class Step:
    """What stands together, in reading order."""

    turn: int
    items: list[Item]
    fold: Folded | None = None
    """The fold that it stands in, None for what is read in order."""
    summary: Told | None = None
    """What a compaction left of the conversation."""
    answers: list[Answered] = field(default_factory=list)
    """The results of its calls, where they stand by themselves in the log."""

    @property
    def first(self) -> Item:
        """What it begins with."""
        return self.items[0]

    @property
    def response(self) -> int | None:
        """The answer that it is, None where it is none."""
        return self.first.response if isinstance(self.first, OF_MODEL) else None

    @property
    def held(self) -> list[Item]:
        """All that it holds."""
        return [*self.items, *([self.summary] if self.summary else ()), *self.answers]

    def words(self, kind: type[Said] | type[Thought]) -> str:
        """Returns what the model said or thought in it."""
        return "\n\n".join(one.text for one in self.items if isinstance(one, kind) and one.text)

    @property
    def calls(self) -> list[Called]:
        """The calls in it, in their order."""
        return [one for one in self.items if isinstance(one, Called)]


@dataclass
class Steps:
    """The steps of a conversation."""

    conversation: Conversation
    steps: list[Step] = field(default_factory=list)
    leaving: list[tuple[Left, Step | None]] = field(default_factory=list)
    """Where other conversations leave, each with the step before."""
    at: dict[str, Step] = field(default_factory=dict)
    """By record: the step that holds it, else the one that it follows."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Items that no step holds, by their kind; what was written twice, by itself."""

    @property
    def inline(self) -> list[Step]:
        """The steps that are read in order."""
        return [one for one in self.steps if one.fold is None]

    @property
    def held(self) -> int:
        """How many items its steps hold."""
        return sum(len(step.held) for step in self.steps)

    def records(self, step: Step) -> list[str]:
        """Returns the records that a step is made of: their uuids, else where they stand."""
        return list(dict.fromkeys(self.record(item) for item in step.held))

    def record(self, item: Item) -> str:
        """Returns the uuid of the record that an item comes from, else its file and line."""
        files = self.conversation.files
        name = files[item.file] if item.file < len(files) else f"{item.file}"
        return item.uuid or f"{name}:{item.line}"


def steps_of(conversation: Conversation, manner: Manner) -> Steps:
    """Returns the steps of a conversation, as much of it as is told."""
    making = _Making(Steps(conversation), manner)
    making.take_summaries()
    for turn in conversation.turns:
        making.take(turn.number, turn.items)
    return making.made


def items_of(items: Iterable[Item]) -> Iterator[Item]:
    """Yields all items, what is folded in the place of its fold, all but where others leave."""
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
        elif isinstance(item, Folded):
            waiting.append(iter(item.items))
        elif not isinstance(item, Left):
            yield item


def words_told(told: Told) -> str:
    """Returns what was said in the user's place; a command as it was typed."""
    typed = f"{told.name or ''} {told.arguments or ''}".strip() if told.kind == "command" else ""
    return typed or told.text


def kind_of(item: Item) -> str:
    """Returns what an item is counted as where no step holds it."""
    if getattr(item, "is_intermediate", False):
        return AGAIN
    return f"{item.__struct_config__.tag}"


def known_time(stamp: str | None) -> str | None:
    """Returns a time as everybody reads it, None for what is none."""
    found = stamp_of(moment(stamp))
    return found if len(found) == LENGTH else None


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those values that say something."""
    return {name: value for name, value in values.items() if value or _is_zero(value)}


def _is_zero(value: object) -> bool:
    return value == 0 and value is not False


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values that are there, be they empty."""
    return {name: value for name, value in values.items() if value is not None}


@dataclass
class _Making:
    made: Steps
    manner: Manner
    answers: dict[tuple[int, int], Step] = field(default_factory=dict)
    """By response and by fold."""
    calls: dict[tuple[str, str | None], Step] = field(default_factory=dict)
    summaries: dict[str | None, str] = field(default_factory=dict)
    """By compaction: the record of its summary."""
    wanted: dict[str, Step] = field(default_factory=dict)
    last: Step | None = None

    def take_summaries(self) -> None:
        found = compactions_of(self.made.conversation)
        self.summaries = {one.uuid: one.summary_uuid for one in found if one.summary_uuid}

    def take(self, turn: int, items: Sequence[Item]) -> None:
        stack: list[tuple[Iterator[tuple[Item, bool]], Folded | None]] = [(self._told(items), None)]
        while stack:
            found = next(stack[-1][0], None)
            if found is None:
                stack.pop()
                continue
            item, is_told = found
            if isinstance(item, Folded) and is_told:
                stack.append((self._told(item.items), item))
            else:
                self._take_item(turn, item, stack[-1][1], is_told=is_told)

    def _told(self, items: Sequence[Item]) -> Iterator[tuple[Item, bool]]:
        told = {id(one) for one in told_items(items, self.manner)}
        return ((item, id(item) in told) for item in items)

    def _take_item(self, turn: int, item: Item, fold: Folded | None, *, is_told: bool) -> None:
        if isinstance(item, Left):
            self.made.leaving.append((item, self.last))
        elif isinstance(item, Told) and item.uuid in self.wanted:
            self.wanted.pop(item.uuid).summary = item
        elif not is_told or getattr(item, "is_intermediate", False):
            self.made.left_out.update(kind_of(one) for one in items_of((item,)))
        else:
            step = self._step(turn, item, fold)
            if item.uuid:
                self.made.at.setdefault(item.uuid, step)
        if item.uuid and self.last:
            self.made.at.setdefault(item.uuid, self.last)

    def _step(self, turn: int, item: Item, fold: Folded | None) -> Step:
        if isinstance(item, OF_MODEL):
            return self._of_model(turn, item, fold)
        if isinstance(item, Answered) and item.standing == "own" and key_of(item) in self.calls:
            step = self.calls[key_of(item)]
            step.answers.append(item)
            return step
        step = self._new(turn, item, fold)
        if isinstance(item, Compacted) and item.uuid in self.summaries:
            self.wanted[self.summaries[item.uuid]] = step
        return step

    def _of_model(self, turn: int, item: Block, fold: Folded | None) -> Step:
        key = item.response, id(fold) if fold else 0
        step = self.answers.get(key)
        if step is None:
            step = self.answers[key] = self._new(turn, item, fold)
        else:
            step.items.append(item)
        if isinstance(item, Called):
            self.calls.setdefault(key_of(item), step)
        return step

    def _new(self, turn: int, item: Item, fold: Folded | None) -> Step:
        step = Step(turn, [item], fold)
        self.made.steps.append(step)
        if fold is None:
            self.last = step
        return step
