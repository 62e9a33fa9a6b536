"""The task and the usage of each agent of a session.

The figures are those of the session's responses, each counted once: the part of the parent
conversation that an agent's log repeats is not counted as the agent's.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from plait.conversation.costs import (
    CostFunction,
    Requester,
    ResponseCost,
    SessionCost,
    compute_session_cost,
    get_requester,
)
from plait.conversation.model import Conversations, ToolCall
from plait.conversation.usage import NO_TOKENS, Tokens
from plait.conversation.walk import AGENTS, find_agent_types
from plait.view.formats import (
    format_count,
    format_duration,
    format_input_tokens,
    format_money,
    format_output_tokens,
    join_dotted,
)
from plait.view.text import shorten

MAX_AGENT_TITLE = 300


class AgentCost(Struct, frozen=True, kw_only=True):
    """An agent and its own usage."""

    line: str
    type: str
    """As in the call that started it; `service` for a background request of the client."""
    who: Requester
    prompt: str
    """Its task."""
    models: tuple[str, ...]
    """In order of first use."""
    responses: int
    calls: int
    tokens: Tokens
    cost: float | None
    """In US dollars; None if no price is known."""
    unpriced: int
    """Responses without a price."""
    duration_ms: float


class AgentCosts(Mapping[str, AgentCost]):
    """The agents of a session by DAG line, computed on first use."""

    def __init__(self, conversations: Conversations, cost_of: CostFunction) -> None:
        self._conversations = conversations
        self._cost_of = cost_of

    @cached_property
    def session_cost(self) -> SessionCost:
        """The cost of the session, its agents included."""
        return compute_session_cost(self._conversations, self._cost_of)

    @cached_property
    def _costs(self) -> dict[str, AgentCost]:
        by_line: dict[str, list[ResponseCost]] = {}
        for response in self.session_cost.responses:
            by_line.setdefault(response.line, []).append(response)
        types = find_agent_types(self._conversations)
        agents = {}
        for agent in self._conversations.by_line.values():
            if agent.kind not in AGENTS:
                continue
            paid = by_line.get(agent.id, [])
            costs = [response.cost for response in paid if response.cost is not None]
            models = dict.fromkeys(response.model for response in paid if response.model)
            title = agent.label or agent.title or agent.agent or agent.id
            agents[agent.id] = AgentCost(
                line=agent.id,
                type=types[agent.id],
                who=get_requester(agent),
                prompt=shorten(title, MAX_AGENT_TITLE),
                models=tuple(models),
                responses=len(paid),
                calls=sum(isinstance(i, ToolCall) and not i.is_intermediate for i in agent.items()),
                tokens=sum((response.tokens for response in paid), NO_TOKENS),
                cost=sum(costs) if costs else None,
                unpriced=sum(part.cost is None and part.tokens.total > 0 for part in paid),
                duration_ms=agent.duration_ms,
            )
        return agents

    def __getitem__(self, line: str) -> AgentCost:
        return self._costs[line]

    def __iter__(self) -> Iterator[str]:
        return iter(self._costs)

    def __len__(self) -> int:
        return len(self._costs)


def sum_agent_costs(agents: Iterable[AgentCost]) -> AgentCost:
    """Return the combined cost of several agents; they run in parallel, so times are not added."""
    agent_list = list(agents)
    costs = [agent.cost for agent in agent_list if agent.cost is not None]
    return AgentCost(
        line="",
        type="",
        who="agents",
        prompt="",
        models=tuple(dict.fromkeys(model for agent in agent_list for model in agent.models)),
        responses=sum(agent.responses for agent in agent_list),
        calls=sum(agent.calls for agent in agent_list),
        tokens=sum((agent.tokens for agent in agent_list), NO_TOKENS),
        cost=sum(costs) if costs else None,
        unpriced=sum(agent.unpriced for agent in agent_list),
        duration_ms=0,
    )


def format_agent_usage(agent: AgentCost, *, has_time: bool = True) -> str:
    """Format an agent's calls, time, tokens and cost."""
    tokens = agent.tokens
    return join_dotted(
        format_count(agent.calls, "call") if agent.calls else "",
        format_duration(agent.duration_ms) if has_time else "",
        format_input_tokens(tokens.total_input),
        format_output_tokens(tokens.output),
        format_agent_cost(agent),
    )


def format_agent_cost(agent: AgentCost) -> str:
    """Format an agent's cost; a star marks a partly unpriced one, empty if unpriced."""
    star = "*" if agent.unpriced else ""
    return f"{format_money(agent.cost)}{star}" if agent.cost is not None else ""
