"""Tokens and cost of conversations: totals, of a turn with its agents, and response by response.

Each response counts once, also if several conversations share it. The usage of a turn's agents is
part of the turn's usage.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    Conversation,
    Conversations,
    Item,
    OtherBlock,
    Response,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.prices import format_unpriced_model
from plait.conversation.usage import NO_TOKENS, Tokens, supersedes
from plait.conversation.walk import iter_items
from plait.graph.paths import SPOKEN
from plait.record.time import parse_time

TYPED = frozenset({"prompt", "queued"})
MOST_TASK_CHARACTERS = 120
Requester: TypeAlias = Literal["main", "agents", "service", "abandoned"]
REQUESTERS: tuple[Requester, ...] = ("main", "agents", "service", "abandoned")
CostFunction: TypeAlias = Callable[[Response], float | None]
"""Returns the cost of a response; None if unknown."""


class Pricing(Protocol):
    """Prices responses."""

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        """Return the cost of one response in dollars; None if it has no price."""


class Totals(Struct, frozen=True, kw_only=True):
    """The totals of one or several conversations."""

    conversations: int = 0
    turns: int = 0
    prompts: int = 0
    """Typed by the user, queued ones included."""
    responses: int = 0
    """Of models; messages that the client added are not counted."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    tokens: Tokens = NO_TOKENS
    cost_usd: float | None = None
    """Of the responses with a price; None if no prices were given."""
    unpriced: Mapping[str, int] = {}
    """Responses without a price, by model."""
    duration_ms: float = 0
    """Of the main conversation's turns: an agent works within the turn that started it."""
    working_ms: float = 0
    asking_ms: float = 0
    """How long the model waited for the user within turns."""
    waiting_ms: float = 0
    """Time between turns, until the next prompt."""
    first: str | None = None
    last: str | None = None


def list_descendant_agents(conversations: Conversations, name: str) -> list[str]:
    """Return the agents that a conversation started, and those that they started."""
    children: dict[str | None, list[str]] = {}
    for conversation in conversations.by_line.values():
        if conversation.kind in ("agent", "service"):
            children.setdefault(conversation.parent, []).append(conversation.id)
    descendants: dict[str, None] = {}
    waiting = [name]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in descendants]
        descendants.update(dict.fromkeys(new))
        waiting += new
    descendants.pop(name, None)
    return list(descendants)


def sum_conversations(
    conversations: Iterable[Conversation], prices: Pricing | None = None
) -> Totals:
    """Return the totals of several conversations; a response that they share counts once."""
    chosen = list(conversations)
    turns = [turn for line in chosen for turn in line.turns if turn.number]
    of_people = [
        turn for line in chosen if line.kind in SPOKEN for turn in line.turns if turn.number
    ] or turns
    counts: Counter[str] = Counter()
    for conversation in chosen:
        for _, item in iter_items(conversation):
            if isinstance(item, ToolCall) and not item.is_intermediate:
                counts.update(("call", item.outcome))
            elif isinstance(item, UserMessage) and item.is_typed and item.kind in TYPED:
                counts["prompt"] += 1
    responses = [response for _, _, response in unique_responses(chosen)]
    cost: float | None = None if prices is None else 0.0
    unpriced: Counter[str] = Counter()
    for response in responses:
        if prices is None or cost is None or response.usage is None:
            continue
        paid = prices.cost(response.model, response.tokens, parse_time(response.started))
        if paid is None:
            unpriced[format_unpriced_model(response.model, response.tokens)] += 1
        else:
            cost += paid
    return Totals(
        conversations=len(chosen),
        turns=len(turns),
        prompts=counts["prompt"],
        responses=len(responses),
        calls=counts["call"],
        failed=counts["failed"],
        rejected=counts["rejected"],
        tokens=sum((response.tokens for response in responses), NO_TOKENS),
        cost_usd=cost,
        unpriced=dict(unpriced),
        duration_ms=sum(turn.duration_ms or 0 for turn in of_people),
        working_ms=sum(turn.working_ms or 0 for turn in of_people),
        asking_ms=sum(turn.asking_ms for turn in of_people),
        waiting_ms=sum(turn.waited_ms or 0 for turn in of_people),
        first=min((line.started for line in chosen if line.started), default=None),
        last=max((line.ended for line in chosen if line.ended), default=None),
    )


def unique_responses(
    conversations: Iterable[Conversation],
) -> Iterable[tuple[Conversation, int, Response]]:
    """Return the responses of models, each once, with the first conversation that has it.

    Usage is that of the copy that counts; number, start and records are those of the first.
    """
    unique: dict[object, tuple[Conversation, int, Response]] = {}
    for conversation in conversations:
        for number, response in enumerate(conversation.responses):
            if response.is_synthetic:
                continue
            key = response.key or len(unique)
            holder, first_number, first = unique.setdefault(key, (conversation, number, response))
            if first is not response and supersedes(response, first):
                started = first.started or response.started
                merged = replace(response, started=started, uuids=first.uuids)
                unique[key] = (holder, first_number, merged)
    return unique.values()


def keep_responses_on_path(path: Conversation) -> Conversation:
    """Return a path with only the responses that it shows, for counting."""
    of_model = (AssistantText, AssistantThinking, ToolCall, OtherBlock)
    shown = {item.response for item in path.items() if isinstance(item, of_model)}
    kept = tuple(response for number, response in enumerate(path.responses) if number in shown)
    return replace(path, responses=kept)


class CostFigures(Struct, frozen=True, kw_only=True):
    """The time, calls, tokens and cost of a turn or an agent."""

    duration_ms: float | None = None
    asking_ms: float = 0
    """The part of the duration spent waiting for the user."""
    calls: int = 0
    tokens: int = 0
    """Input and output."""
    written: int = 0
    """Output tokens."""
    cost: float | None = None
    """In US dollars; None if no response has a price."""
    is_partly_priced: bool = False
    """True if some response has no price."""


class SessionCosts:
    """The figures of the turns and agents of a session."""

    def __init__(self, conversations: Conversations, prices: Pricing | None = None) -> None:
        self._by_line = conversations.by_line
        self._get_cost = make_cost_function(prices)
        self._agents: dict[str, CostFigures] = {}
        self._first_turns: dict[str, dict[int, int]] = {}

    def for_turn(self, conversation: Conversation, turn: Turn) -> CostFigures:
        """Return the figures of a turn, its agents included."""
        first_turns = self._first_turns.get(conversation.id)
        if first_turns is None:
            # a prompt may come in the middle of a response: the turn it starts in counts it
            first_turns = {
                number: each.number
                for each in reversed(conversation.turns)
                for number in each.responses
            }
            self._first_turns[conversation.id] = first_turns
        numbers = [place for place in turn.responses if first_turns.get(place) == turn.number]
        own = self._sum(conversation, numbers, turn.items, turn.duration_ms, turn.asking_ms)
        agents = iter_agents_launched(turn.items, self._by_line)
        return add_agent_figures(own, map(self.for_agent, agents))

    def for_agent(self, line: str) -> CostFigures:
        """Return the figures of one agent, without the agents that it started."""
        figures = self._agents.get(line)
        if figures is None:
            agent = self._by_line[line]
            numbers = range(len(agent.responses))
            figures = self._sum(agent, numbers, list(agent.items()), agent.duration_ms)
            self._agents[line] = figures
        return figures

    def _sum(
        self,
        conversation: Conversation,
        numbers: Iterable[int],
        items: Iterable[Item],
        duration_ms: float | None,
        asking_ms: float = 0,
    ) -> CostFigures:
        responses = [
            response
            for response in (conversation.responses[number] for number in numbers)
            if response.usage is not None and not response.is_synthetic
        ]
        tokens = [response.tokens for response in responses]
        costs = [self._get_cost(response) for response in responses]
        known = [cost for cost in costs if cost is not None]
        return CostFigures(
            duration_ms=duration_ms,
            asking_ms=asking_ms,
            calls=sum(isinstance(item, ToolCall) and not item.is_intermediate for item in items),
            tokens=sum(used.total for used in tokens),
            written=sum(used.output for used in tokens),
            cost=sum(known) if known else None,
            is_partly_priced=len(known) < len(costs),
        )


def iter_agents_launched(
    items: Iterable[Item], by_line: Mapping[str, Conversation]
) -> Iterator[str]:
    """Yield every agent that calls started, each followed by those that it started itself."""
    seen: set[str] = set()
    waiting = list(iter_agents_called(items))[::-1]
    while waiting:
        line = waiting.pop()
        if line not in seen and line in by_line:
            seen.add(line)
            yield line
            waiting += list(iter_agents_called(by_line[line].items()))[::-1]


def iter_agents_called(items: Iterable[Item]) -> Iterator[str]:
    """Yield the agents started by the calls among some items."""
    for item in items:
        if isinstance(item, ToolCall):
            yield from item.agents


def add_agent_figures(own: CostFigures, agents: Iterable[CostFigures]) -> CostFigures:
    """Return figures with the tokens and cost of agents added; time and calls stay separate."""
    parts = [own, *agents]
    costs = [part.cost for part in parts if part.cost is not None]
    return CostFigures(
        duration_ms=own.duration_ms,
        asking_ms=own.asking_ms,
        calls=own.calls,
        tokens=sum(part.tokens for part in parts),
        written=sum(part.written for part in parts),
        cost=sum(costs) if costs else None,
        is_partly_priced=any(part.is_partly_priced for part in parts),
    )


def make_cost_function(prices: Pricing | None) -> CostFunction:
    """Return a function for the cost of a response by some prices; None without any."""

    def get_cost(response: Response) -> float | None:
        if prices is None or response.usage is None or response.is_synthetic:
            return None
        return prices.cost(response.model, response.tokens, parse_time(response.started))

    return get_cost


class ResponseCost(Struct, frozen=True, kw_only=True):
    """One response with its tokens and cost."""

    number: int
    who: Requester
    line: str
    by: str | None
    """The agent's task; None in a main conversation."""
    turn: int
    model: str | None
    time: str | None
    uuid: str | None
    tokens: Tokens
    cost: float | None
    """None if it has no price."""
    stop_reason: str | None = None
    is_error: bool = False


class CostSum(Struct, frozen=True, kw_only=True):
    """The sum of several responses."""

    name: str
    responses: int
    tokens: Tokens
    cost: float
    unpriced: int = 0


class SessionCost(Struct, frozen=True, kw_only=True):
    """The cost of a session."""

    total: CostSum
    by_who: tuple[CostSum, ...]
    by_model: tuple[CostSum, ...]
    responses: tuple[ResponseCost, ...]
    """In the order of time."""


def compute_session_cost(conversations: Conversations, get_cost: CostFunction) -> SessionCost:
    """Return the cost of a session, each response counted once."""
    lines = [conversations.active]
    lines += [line for line in conversations.by_line.values() if line.id != conversations.main]
    turns = {
        (line.id, place): turn.number
        for line in conversations.by_line.values()
        for turn in line.turns
        for place in turn.responses
    }
    costs = [
        ResponseCost(
            number=number,
            who=get_requester(line),
            line=line.id,
            by=None if line.kind in SPOKEN else _format_task(line),
            turn=turns.get((line.id, place), 0),
            model=response.model,
            time=response.started,
            uuid=next(iter(response.uuids), None),
            tokens=response.tokens,
            cost=get_cost(response),
            stop_reason=response.stop_reason,
            is_error=response.is_error,
        )
        for number, (line, place, response) in enumerate(unique_responses(lines), 1)
    ]
    costs.sort(key=lambda cost: (cost.time or "", cost.number))
    by_model: dict[str, list[ResponseCost]] = {}
    for cost in costs:
        by_model.setdefault(format_unpriced_model(cost.model, cost.tokens), []).append(cost)
    models = [_sum_costs(name, found) for name, found in by_model.items()]
    by_who = [(who, [cost for cost in costs if cost.who == who]) for who in REQUESTERS]
    return SessionCost(
        total=_sum_costs("all", costs),
        by_who=tuple(_sum_costs(who, found) for who, found in by_who if found),
        by_model=tuple(
            sorted(models, key=lambda total: (-total.cost, -total.tokens.total, total.name))
        ),
        responses=tuple(costs),
    )


def _format_task(agent: Conversation) -> str:
    """Return the task of an agent on one line, truncated between words."""
    task, most = agent.label or agent.agent or agent.id, MOST_TASK_CHARACTERS
    words = " ".join(task[: 4 * most].split())
    if len(words) <= most and len(task) <= 4 * most:
        return words
    cut = words[:most].rpartition(" ")[0] or words[:most]
    return cut.rstrip(" ,;:") + " …"


def get_requester(line: Conversation) -> Requester:
    """Return who the responses of a conversation are attributed to."""
    if not line.is_active:
        return "abandoned"
    if line.kind == "service":
        return "service"
    return "main" if line.kind in SPOKEN else "agents"


def _sum_costs(name: str, costs: Iterable[ResponseCost]) -> CostSum:
    found = list(costs)
    return CostSum(
        name=name,
        responses=len(found),
        tokens=sum((cost.tokens for cost in found), NO_TOKENS),
        cost=sum(cost.cost or 0 for cost in found),
        unpriced=sum(cost.cost is None and cost.tokens.total > 0 for cost in found),
    )
