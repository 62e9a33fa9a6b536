"""Conversations to spans: a trace for each turn, and in it what was done within what.

    Turn N                     a prompt and all that answers it
    ├─ claude-opus-5-5         a response of the model, until the next begins
    │  ├─ Bash                 a call, until its result
    │  └─ Agent
    │     └─ Explore           the agent that it sent out, with spans of its own
    └─ Compaction              and hooks, queued prompts, interruptions, errors of the API

Nothing here reads a clock: a span ends when the log says so. A turn that nobody has answered
yet gives no trace; what stands in it goes to the next one that is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import replace

from plait.conversation.model import Called, Conversation, Response, Turn
from plait.conversation.spoken import SpokenResponse, SpokenResponses
from plait.conversation.totals import Pricing
from plait.conversation.usage import NOTHING, Tokens
from plait.graph.paths import SPOKEN
from plait.record.time import moment
from plait.trace.model import Span
from plait.trace.spans.builder import (
    TraceBuilder,
    Where,
    first_key,
    latest,
    nanoseconds,
    span_times,
    trace_id,
)
from plait.trace.spans.facts import (
    AgentPlaces,
    agent_facts,
    generation_facts,
    opening,
    tool_facts,
    turn_facts,
    workflow_name,
)
from plait.trace.spans.notes import add_notes

WORKFLOW = "Workflow"


def traces_of(
    by_line: Mapping[str, Conversation],
    prices: Pricing | None = None,
    written: Mapping[str, int] | None = None,
) -> Iterator[list[Span]]:
    """Yields the spans of each answered turn, the root first and parents before children.

    A trace of which no record has a time is near where the turn before it ended, else where
    the next one began, else when the session's log was last written, as far as given.
    """
    yield from TraceTeller(by_line, prices, written or {}).traces()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns of a conversation that stand within one span."""

    parts: SpokenResponses
    turns: Sequence[Turn]
    parent: str
    where: Where


class TraceTeller:
    """Tells the traces of conversations that belong together; a response's tokens once."""

    def __init__(
        self,
        by_line: Mapping[str, Conversation],
        prices: Pricing | None,
        written: Mapping[str, int],
    ) -> None:
        self.by_line = by_line
        self.prices = prices
        self.written = written
        self.homes = AgentPlaces(by_line)
        self.counted: set[str] = set()
        self.told: set[str] = set()
        """The agents that stand in a trace."""

    def traces(self) -> Iterator[list[Span]]:
        """Yields all traces: conversation by conversation, then agents that belong nowhere."""
        for conversation in self.by_line.values():
            if conversation.kind in SPOKEN:
                yield from self._of(conversation)
        agents = [name for name, one in self.by_line.items() if one.kind not in SPOKEN]
        for name in (*self.homes.uncalled, *agents):
            if name not in self.told and self.by_line[name].responses:
                agent = self.by_line[name]
                yield _dated(self._of_agent(agent), partial(self.written.get, agent.session))

    def _of(self, conversation: Conversation) -> Iterator[list[Span]]:
        parts, offset = SpokenResponses(conversation), self.homes.offset(conversation)
        carried: list[Turn] = []
        for turn in conversation.turns:
            carried.append(turn)
            if parts.has(turn):
                spans = self._of_turn(parts, carried, offset + turn.number)
                yield _dated(spans, partial(self._near, conversation, turn))
                carried = []

    def _near(self, conversation: Conversation, turn: Turn) -> int | None:
        """Returns when a turn without times was, as near as can be said."""
        place = conversation.turns.index(turn)
        before = latest(one.ended for one in conversation.turns[:place])
        after = (nanoseconds(one.started) for one in conversation.turns[place:] if one.started)
        return before or next(after, None) or self.written.get(conversation.session)

    def _of_turn(self, parts: SpokenResponses, turns: list[Turn], number: int) -> list[Span]:
        """Returns the trace of the last of some turns, with what stood unanswered before it."""
        conversation, turn = parts.conversation, turns[-1]
        draft = TraceBuilder(
            trace_id(first_key(conversation, turn.items)),
            conversation.session,
            conversation.project,
            number,
        )
        where = Where(conversation.id, not conversation.is_active)
        facts = turn_facts(conversation, turn, parts.of(turn), number)
        root = draft.add(where, "turn", "root", **facts)
        self._tell(draft, Stretch(parts, turns, root.id, where))
        return draft.spans

    def _of_agent(self, agent: Conversation) -> list[Span]:
        """Returns the trace of an agent that belongs to no turn."""
        items = tuple(agent.items())
        draft = TraceBuilder(trace_id(first_key(agent, items)), agent.session, agent.project, 0)
        self._tell(draft, self._agent(draft, agent, None, None, Where(agent.id)))
        return draft.spans

    def _tell(self, draft: TraceBuilder, stretch: Stretch) -> None:
        """Adds the spans of a stretch, and of all agents below it."""
        waiting = [stretch]
        while waiting:
            waiting += self._told(draft, waiting.pop())

    def _told(self, draft: TraceBuilder, stretch: Stretch) -> list[Stretch]:
        """Adds what stands directly in a stretch; returns the agents that were sent out."""
        found: list[Stretch] = []
        unnamed: list[str] = []
        for turn in stretch.turns:
            spoken = stretch.parts.of(turn)
            for place, one in enumerate(spoken):
                found += self._response(draft, stretch, one, None if place else opening(turn))
            add_notes(draft, stretch.where, stretch.parent, turn, is_answered=bool(spoken))
            unnamed += self.homes.agents.get((stretch.where.conversation, turn.number), ())
        for name in unnamed:
            if name not in self.told:
                agent = self.by_line[name]
                parent = _compaction_of(draft, agent) or stretch.parent
                found.append(self._agent(draft, agent, None, parent, stretch.where))
        return found

    def _response(
        self,
        draft: TraceBuilder,
        stretch: Stretch,
        one: SpokenResponse,
        asked: dict[str, Any] | None,
    ) -> list[Stretch]:
        """Adds a response and its calls; returns the agents that they sent out."""
        tokens, cost = self._spent(one.parts)
        span = draft.add(
            stretch.where,
            "generation",
            one.response.key or f"response {one.numbers[0]}",
            parent=stretch.parent,
            input=asked,
            tokens=tokens,
            cost=cost,
            **generation_facts(one),
        )
        found: list[Stretch] = []
        for call in one.calls:
            found += self._call(draft, stretch, span, call)
        return found

    def _spent(self, parts: Sequence[Response]) -> tuple[Tokens | None, float | None]:
        """Returns the tokens and the dollars of a response, unless they were told before."""
        spent = [self._spent_by(one) for one in parts]
        tokens = [one for one, _ in spent if one is not None]
        costs = [one for _, one in spent if one is not None]
        return sum(tokens, NOTHING) if tokens else None, sum(costs) if costs else None

    def _spent_by(self, response: Response) -> tuple[Tokens | None, float | None]:
        key = response.key
        if response.usage is None or response.is_synthetic or key in self.counted:
            return None, None
        if key:
            self.counted.add(key)
        tokens = response.tokens
        if self.prices is None:
            return tokens, None
        return tokens, self.prices.cost(response.model, tokens, moment(response.started))

    def _call(
        self, draft: TraceBuilder, stretch: Stretch, above: Span, call: Called
    ) -> list[Stretch]:
        """Adds a call; returns the agents that it sent out."""
        span = draft.add(
            stretch.where,
            "tool",
            f"{call.call} {call.uuid or ''}",
            parent=above.id,
            is_abandoned=above.is_abandoned,
            **span_times(call.interval, above.start),
            **tool_facts(call),
        )
        draft.calls.setdefault(call.call, span.id)
        agents = [self.by_line[name] for name in call.agents if name in self.by_line]
        new = [agent for agent in agents if agent.id not in self.told]
        where = Where(stretch.where.conversation, span.is_abandoned)
        if new and call.name == WORKFLOW:
            span = _add_workflow(draft, where, span, call, new)
        return [self._agent(draft, agent, call, span.id, where) for agent in new]

    def _agent(
        self,
        draft: TraceBuilder,
        agent: Conversation,
        call: Called | None,
        parent: str | None,
        where: Where,
    ) -> Stretch:
        """Adds an agent; returns what it did, still to be told."""
        self.told.add(agent.id)
        parts, within = SpokenResponses(agent), Where(agent.id, where.is_abandoned)
        facts = agent_facts(parts, call)
        span = draft.add(within, "agent", agent.id, parent=parent, **facts)
        return Stretch(parts, agent.turns, span.id, within)


def _dated(spans: list[Span], near: Callable[[], int | None]) -> list[Span]:
    """Returns a trace whose root says when it was, where no span of it has a time."""
    if any(span.start is not None or span.end is not None for span in spans):
        return spans
    return [replace(spans[0], near=near()), *spans[1:]]


def _add_workflow(
    draft: TraceBuilder, where: Where, tool: Span, call: Called, agents: list[Conversation]
) -> Span:
    begun = [time for one in agents if (time := nanoseconds(one.started)) is not None]
    return draft.add(
        where,
        "workflow",
        call.call,
        name=workflow_name(call) or WORKFLOW,
        parent=tool.id,
        start=min(begun, default=tool.start),
        end=latest(one.ended for one in agents),
        metadata={"agents": len(agents)},
    )


def _compaction_of(draft: TraceBuilder, agent: Conversation) -> str | None:
    if not (agent.agent or "").startswith("acompact"):
        return None
    begun = nanoseconds(agent.started) or 0
    later = (one.id for one in draft.compactions if (one.end or 0) >= begun)
    return next(later, None)
