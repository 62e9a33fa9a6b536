"""A conversation to passages: what a reader sees at a depth, agents nested where they went out.

The order is the story's: a result stands with its call unless something that is shown was
said in between.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeAlias

from plait.conversation.changes import compactions_of
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Conversations,
    Folded,
    Item,
    Left,
    Noted,
    Said,
    Shown,
    Spot,
    Thought,
    Told,
    Turn,
)
from plait.conversation.pair import Placed, key_of, story
from plait.conversation.walk import Depth, visible
from plait.view.costs import SessionFigures
from plait.view.passages.calls import CallTeller, IsKept, WholeOf, enclosed, enclosure_words
from plait.view.passages.entries import (
    folded_remark,
    hidden_opener,
    landmark,
    leaving,
    model_words,
    note_parts,
    noted_remark,
    told_passages,
)
from plait.view.passages.model import AnyPassage, Remark, TurnHead


class Nest(NamedTuple):
    """A place where an agent's own conversation is read."""

    line: str
    level: int


class Unfold(NamedTuple):
    """A place where folded records are read."""

    conversation: Conversation
    items: Sequence[Item]
    level: int


Step: TypeAlias = AnyPassage | Nest | Unfold


@dataclass(frozen=True)
class Teller:
    """Reads the conversations of a session at one depth."""

    conversations: Conversations
    spending: SessionFigures
    depth: Depth = "tools"
    thinking: bool = False
    directory: str | None = None
    whole: WholeOf | None = None
    is_kept: IsKept | None = None
    told: set[str] = field(default_factory=set)
    """Agents that were read already."""
    summaries: dict[str, dict[str | None, str | None]] = field(default_factory=dict)

    def passages(
        self, conversation: Conversation, turns: Sequence[Turn] | None = None
    ) -> Iterator[AnyPassage]:
        """Yields what is shown of a conversation, or of some of its turns."""
        chosen = conversation.turns if turns is None else turns
        self.told.add(conversation.id)
        stack: list[Iterator[Step]] = [self._turns(conversation, chosen)]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
            elif isinstance(step, Nest):
                if step.line not in self.told:
                    stack.append(self._agent(step))
            elif isinstance(step, Unfold):
                stack.append(self._story(step.conversation, step.items, step.level))
            else:
                yield step

    def items(
        self, conversation: Conversation, turns: Sequence[Turn] | None = None
    ) -> Iterator[Spot]:
        """Yields the items behind what is shown, agents' after the call that sent them out."""
        chosen = conversation.turns if turns is None else turns
        told = {conversation.id}
        stack: list[Iterator[Item]] = [self._visible(turn.items for turn in chosen)]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            yield item
            if isinstance(item, Folded):
                stack.append(iter(item.items))
            for line in reversed(item.agents) if isinstance(item, Called) else ():
                if line not in told and line in self.conversations.by_line:
                    told.add(line)
                    agent = self.conversations.by_line[line]
                    stack.append(self._visible(turn.items for turn in agent.turns))

    def _visible(self, parts: Iterable[Sequence[Item]]) -> Iterator[Item]:
        for items in parts:
            yield from visible(items, self.depth, thinking=self.thinking)

    def _turns(self, conversation: Conversation, turns: Sequence[Turn]) -> Iterator[Step]:
        for turn in turns:
            seen = visible(turn.items, self.depth, thinking=self.thinking)
            if not seen:
                continue
            if turn.number:
                yield TurnHead(
                    number=turn.number,
                    time=turn.started,
                    spent=self.spending.of_turn(conversation, turn),
                    is_interrupted=turn.is_interrupted,
                )
            if turn.opener and turn.opener not in seen[:1]:
                yield hidden_opener(turn.opener, 0)
            yield from self._story(conversation, seen, 0)

    def _agent(self, nest: Nest) -> Iterator[Step]:
        """Yields an agent's own conversation, one level deeper."""
        self.told.add(nest.line)
        agent = self.conversations.by_line[nest.line]
        for turn in agent.turns:
            seen = visible(turn.items, self.depth, thinking=self.thinking)
            yield from self._story(agent, seen, nest.level)

    def _story(
        self, conversation: Conversation, items: Sequence[Item], level: int
    ) -> Iterator[Step]:
        calls = {key_of(item): item for item in items if isinstance(item, Called)}
        for trouble, group in groupby(story(items), _is_trouble):
            if trouble:
                yield from self._troubles([placed.item for placed in group], level)
                continue
            for placed in group:
                yield from self._step(conversation, placed, calls, level)

    def _troubles(self, same: Sequence[Item], level: int) -> Iterator[Step]:
        """Yields errors of the API in a row, as one where not everything is wanted."""
        notes = [item for item in same if isinstance(item, Noted)]
        if self.depth != "all":
            yield noted_remark(notes[0], level, len(notes))
            return
        for note in notes:
            yield noted_remark(note, level)
            yield from note_parts(note, level)

    def _step(
        self,
        conversation: Conversation,
        placed: Placed,
        calls: dict[tuple[str, str | None], Called],
        level: int,
    ) -> Iterator[Step]:
        """Yields one item of the story."""
        match placed.item:
            case Called() as called:
                yield from self._call(called, level, has_result=placed.has_result)
            case Answered() as answer:
                yield from self._calls.late(answer, calls.get(key_of(answer)), level)
            case other:
                yield from self._words(conversation, other, level)

    def _words(self, conversation: Conversation, item: Item, level: int) -> Iterator[Step]:
        """Yields what is neither a call nor a result."""
        match item:
            case Told() as told:
                is_agent = conversation.agent is not None
                yield from told_passages(told, level, self.depth, is_agent=is_agent)
            case Said() | Thought() as words:
                yield model_words(conversation, words, level)
            case Folded() as fold:
                yield folded_remark(fold, level)
                if self.depth == "all":
                    yield Unfold(conversation, fold.items, level + 1)
            case Compacted() as compacted:
                yield landmark(compacted, self._summary(conversation, compacted), level)
            case Left() as left:
                yield leaving(left, level)
            case Noted() as note:
                yield noted_remark(note, level)
                if self.depth == "all":
                    yield from note_parts(note, level)
            case Shown(enclosure=one):
                is_full = self.depth == "all"
                remark = Remark(level=level, text=enclosure_words(one))
                yield from enclosed((one,), level) if is_full else (remark,)

    def _call(self, called: Called, level: int, *, has_result: bool) -> Iterator[Step]:
        """Yields a call and what it brought, then the conversations of its agents."""
        yield from self._calls.call(called, level, has_result=has_result)
        agents = self._calls.agents_of(called)
        for name in agents:
            if name in self.told:
                yield Remark(level=level + 1, text="its conversation stands above")
            elif len(agents) > 1:
                yield self._calls.introduced(name, level + 1)
            yield Nest(name, level + 1)

    def _summary(self, conversation: Conversation, compacted: Compacted) -> str | None:
        """Returns what a compaction left; all of a conversation are looked up at once."""
        known = self.summaries.get(conversation.id)
        if known is None:
            known = {one.uuid: one.summary for one in compactions_of(conversation)}
            self.summaries[conversation.id] = known
        return known.get(compacted.uuid)

    @cached_property
    def _calls(self) -> CallTeller:
        return CallTeller(
            self.conversations.by_line,
            self.spending,
            self.directory,
            is_full=self.depth == "all",
            whole=self.whole,
            is_kept=self.is_kept,
        )


def _is_trouble(placed: Placed) -> bool:
    return isinstance(placed.item, Noted) and placed.item.subtype == "api_error"
