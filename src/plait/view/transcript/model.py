"""A path through a session to what a transcript tells of it, step by step.

A transcript is one conversation from its root to its end. The formats differ in how they write
a step; which steps there are, and in which order, is decided here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.conversation.model import Answered, Called, Conversation, Folded, Item, Thought, Turn
from plait.conversation.pair import Placed, story
from plait.conversation.totals import Totals
from plait.conversation.walk import Depth, visible
from plait.graph.paths import SPOKEN, Status

AgentsIn: TypeAlias = Literal["inline", "files"]


class Manner(Struct, frozen=True, kw_only=True):
    """How much of a conversation is told, and how."""

    depth: Depth = "tools"
    has_thinking: bool = True
    has_tools: bool = True
    is_simple: bool = False
    """One line a call."""
    agents: AgentsIn = "inline"
    has_front_matter: bool = False


class Heading(Struct, frozen=True, kw_only=True):
    """What a transcript says of itself before it begins."""

    session: str
    path: int = 1
    of: int = 1
    status: Status = "ACTIVE"
    fork_point: str | None = None
    """Where an abandoned path leaves the active one."""
    messages: int = 0
    compactions: int = 0
    turns: int = 0
    """Of the path itself, not of its agents."""
    title: str | None = None
    project: str | None = None
    directory: str | None = None
    branch: str | None = None
    """The one of git."""
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    started: str | None = None
    ended: str | None = None
    totals: Totals
    """With the agents that were sent out."""
    resume: str | None = None
    """What to type to go on with it."""


class Transcript(Struct, frozen=True, kw_only=True):
    """One path, ready to be written."""

    name: str
    """Of its file, without what the format adds."""
    heading: Heading
    conversation: Conversation
    by_line: Mapping[str, Conversation]
    """All conversations of the session, and of those that it shares records with."""
    names: Mapping[str, str]
    """By DAG-line: the transcript that reads it to its end."""
    way: frozenset[str]
    """The DAG-lines that the path goes along."""
    unnamed: tuple[str, ...] = ()
    """Agents that no call names, and what broken lines hold; they stand at the end."""
    agent: str | None = None
    """The DAG-line of the agent that it is about, None for a path."""


class AgentBegins(NamedTuple):
    """The conversation of an agent follows."""

    agent: Conversation
    is_called: bool = True
    """False where no call names it."""


class AgentElsewhere(NamedTuple):
    """The conversation of an agent stands in a file of its own, or stood above."""

    agent: Conversation
    name: str | None


class FoldBegins(NamedTuple):
    """Records follow that are out of the reading order."""

    fold: Folded


class Ends(NamedTuple):
    """What began last is over."""


Step: TypeAlias = Turn | Placed | AgentBegins | AgentElsewhere | FoldBegins | Ends


@dataclass(frozen=True)
class TranscriptWalk:
    """Walks through a transcript once."""

    transcript: Transcript
    manner: Manner
    told: dict[str, None] = field(default_factory=dict)
    """Agents that were met already, in their order."""

    def steps(self) -> Iterator[Step]:
        """Yields all steps, agents where they were sent out, each once."""
        for turn in self.transcript.conversation.turns:
            yield from self.turn(turn)
        yield from self.rest()

    def turn(self, turn: Turn) -> Iterator[Step]:
        """Yields the steps of one turn, itself first; none where nothing of it is told."""
        return self._opened(self._turn(turn))

    def rest(self) -> Iterator[Step]:
        """Yields what stands behind the last turn."""
        return self._opened(self._rest())

    def _opened(self, steps: Iterator[Step]) -> Iterator[Step]:
        stack = [steps]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                continue
            yield step
            if isinstance(step, AgentBegins):
                stack.append(self._agent(step.agent))
            elif isinstance(step, FoldBegins):
                stack.append(self._fold(step.fold))

    def _turn(self, turn: Turn) -> Iterator[Step]:
        seen = seen_items(turn.items, self.manner)
        if seen:
            yield turn
            yield from self._story(seen)

    def _rest(self) -> Iterator[Step]:
        if self.manner.has_tools and self.manner.depth in ("tools", "all"):
            for name in self.transcript.unnamed:
                yield from self._sent(name, is_called=False)

    def _agent(self, agent: Conversation) -> Iterator[Step]:
        for turn in agent.turns:
            yield from self._story(seen_items(turn.items, self.manner))
        yield Ends()

    def _fold(self, fold: Folded) -> Iterator[Step]:
        yield from self._story(seen_items(fold.items, self.manner))
        yield Ends()

    def _story(self, items: Sequence[Item]) -> Iterator[Step]:
        for placed in story(items):
            if isinstance(placed.item, Folded):
                yield FoldBegins(placed.item)
                continue
            yield placed
            if isinstance(placed.item, Called):
                for name in placed.item.agents:
                    yield from self._sent(name)

    def _sent(self, name: str, *, is_called: bool = True) -> Iterator[Step]:
        agent = self.transcript.by_line.get(name)
        if agent is None:
            return
        if self.manner.agents == "files" and agent.kind not in SPOKEN:
            yield AgentElsewhere(agent, self.transcript.names.get(name))
        elif name in self.told:
            yield AgentElsewhere(agent, None)
        else:
            self.told[name] = None
            yield AgentBegins(agent, is_called)


def seen_items(items: Sequence[Item], manner: Manner) -> list[Item]:
    """Returns the items that are told."""
    found = visible(items, manner.depth, thinking=manner.has_thinking)
    if not manner.has_thinking:
        found = [item for item in found if not isinstance(item, Thought)]
    if not manner.has_tools:
        found = [item for item in found if not isinstance(item, Called | Answered)]
    return found
