"""Agents of a session to what each was asked, and what it took.

The figures are those of the session's responses, each counted once: what an agent's log holds of
the conversation that sent it out is not counted to it.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from plait.conversation.agent_types import AGENTS, agent_types
from plait.conversation.model import Called, Conversation, Conversations
from plait.conversation.usage import NOTHING, Tokens
from plait.view.amounts import dotted, many, money_in_words, time_in_words
from plait.view.costs import CostOf, ResponseCost, SessionCost, Who, session_cost, who_asked
from plait.view.forms import tokens_in, tokens_out
from plait.view.text import shortened

LONGEST = 300


class AgentCost(Struct, frozen=True, kw_only=True):
    """What an agent was, and what it took by itself."""

    line: str
    type: str
    """As the call says that sent it out; `service` of one that the client sent by itself."""
    who: Who
    words: str
    """What it was asked."""
    models: tuple[str, ...]
    """The one that it began with first."""
    responses: int
    calls: int
    tokens: Tokens
    cost: float | None
    """In US dollars; None where nothing of it has a price."""
    unpriced: int
    """Responses without a price."""
    duration_ms: float


class AgentCosts(Mapping[str, AgentCost]):
    """The agents of a session by their lines, worked out when the first is asked for."""

    def __init__(self, told: Conversations, cost_of: CostOf) -> None:
        self._told = told
        self._cost_of = cost_of

    @cached_property
    def spent(self) -> SessionCost:
        """What the session took, its agents among it."""
        return session_cost(self._told, self._cost_of)

    @cached_property
    def _found(self) -> dict[str, AgentCost]:
        by_line: dict[str, list[ResponseCost]] = {}
        for one in self.spent.responses:
            by_line.setdefault(one.line, []).append(one)
        types = agent_types(self._told)
        agents = [one for one in self._told.by_line.values() if one.kind in AGENTS]
        return {one.id: _cost_of(one, types[one.id], by_line.get(one.id, [])) for one in agents}

    def __getitem__(self, line: str) -> AgentCost:
        return self._found[line]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _cost_of(agent: Conversation, type_: str, paid: list[ResponseCost]) -> AgentCost:
    known = [one.cost for one in paid if one.cost is not None]
    models = dict.fromkeys(one.model for one in paid if one.model)
    return AgentCost(
        line=agent.id,
        type=type_,
        who=who_asked(agent),
        words=shortened(agent.label or agent.title or agent.agent or agent.id, LONGEST),
        models=tuple(models),
        responses=len(paid),
        calls=sum(isinstance(i, Called) and not i.is_intermediate for i in agent.items()),
        tokens=sum((one.tokens for one in paid), NOTHING),
        cost=sum(known) if known else None,
        unpriced=sum(one.cost is None and one.tokens.total > 0 for one in paid),
        duration_ms=agent.duration_ms,
    )


def agents_together(agents: Iterable[AgentCost]) -> AgentCost:
    """Returns what several agents took; their time lies side by side and is not added up."""
    found = list(agents)
    known = [one.cost for one in found if one.cost is not None]
    return AgentCost(
        line="",
        type="",
        who="agents",
        words="",
        models=tuple(dict.fromkeys(model for one in found for model in one.models)),
        responses=sum(one.responses for one in found),
        calls=sum(one.calls for one in found),
        tokens=sum((one.tokens for one in found), NOTHING),
        cost=sum(known) if known else None,
        unpriced=sum(one.unpriced for one in found),
        duration_ms=0,
    )


def spent_in_words(one: AgentCost, *, has_time: bool = True) -> str:
    """Says what an agent took: calls, time, what it read and wrote, money."""
    tokens = one.tokens
    return dotted(
        many(one.calls, "call") if one.calls else "",
        time_in_words(one.duration_ms) if has_time else "",
        tokens_in(tokens.total_input),
        tokens_out(tokens.output),
        cost_in_words(one),
    )


def cost_in_words(one: AgentCost) -> str:
    """Says what an agent cost; a star where some of it has no price, "" where nothing has."""
    star = "*" if one.unpriced else ""
    return f"{money_in_words(one.cost)}{star}" if one.cost is not None else ""
