"""Responses to what they took: of turns, of agents, of a session, by model and by who asked.

Each response is counted once. What the agents of a turn took is part of what it took.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Called, Conversation, Conversations, Item, Response, Turn
from plait.conversation.prices import name_of
from plait.conversation.totals import Pricing, counted_once
from plait.conversation.usage import NOTHING, Tokens
from plait.graph.paths import SPOKEN
from plait.record.time import moment
from plait.view.text import shortened


class Figures(Struct, frozen=True, kw_only=True):
    """What something took: time, calls, tokens, money."""

    duration_ms: float | None = None
    asking_ms: float = 0
    """The part of the duration in which a person was asked something."""
    calls: int = 0
    tokens: int = 0
    """All that was read and written."""
    written: int = 0
    cost: float | None = None
    """In US dollars; None where nothing of it has a price."""
    is_partly_priced: bool = False
    """True where some of it has no price."""


class SessionFigures:
    """Adds up what the conversations of a session took."""

    def __init__(self, conversations: Conversations, prices: Pricing | None = None) -> None:
        self._by_line = conversations.by_line
        self._prices = prices
        self._whole: dict[str, Figures] = {}
        self._turns: dict[str, dict[int, int]] = {}

    def of_turn(self, conversation: Conversation, turn: Turn) -> Figures:
        """Returns what a turn took, its agents included."""
        begun = self._begun_in(conversation)
        numbers = [number for number in turn.responses if begun.get(number) == turn.number]
        own = self._own(conversation, numbers, turn.items, turn.duration_ms, turn.asking_ms)
        return total_figures(own, map(self.of_agent, agents_sent(turn.items, self._by_line)))

    def _begun_in(self, conversation: Conversation) -> dict[int, int]:
        """Returns the turn that each response begins in: a prompt may come in its midst."""
        known = self._turns.get(conversation.id)
        if known is None:
            known = {
                n: turn.number for turn in reversed(conversation.turns) for n in turn.responses
            }
            self._turns[conversation.id] = known
        return known

    def of_agent(self, line: str) -> Figures:
        """Returns what one agent took by itself."""
        found = self._whole.get(line)
        if found is None:
            agent = self._by_line[line]
            numbers = range(len(agent.responses))
            items = list(agent.items())
            found = self._own(agent, numbers, items, agent.duration_ms)
            self._whole[line] = found
        return found

    def _own(
        self,
        conversation: Conversation,
        numbers: Iterable[int],
        items: Iterable[Item],
        duration_ms: float | None,
        asking_ms: float = 0,
    ) -> Figures:
        tokens = written = 0
        costs: list[float | None] = []
        for number in numbers:
            response = conversation.responses[number]
            if response.usage is None or response.is_synthetic:
                continue
            taken = response.tokens
            written += taken.output
            tokens += taken.total
            costs.append(self._cost(response))
        known = [cost for cost in costs if cost is not None]
        return Figures(
            duration_ms=duration_ms,
            asking_ms=asking_ms,
            calls=sum(isinstance(i, Called) and not i.is_intermediate for i in items),
            tokens=tokens,
            written=written,
            cost=sum(known) if known else None,
            is_partly_priced=len(known) < len(costs),
        )

    def _cost(self, response: Response) -> float | None:
        if self._prices is None:
            return None
        return self._prices.cost(response.model, response.tokens, moment(response.started))


def agents_sent(items: Iterable[Item], by_line: Mapping[str, Conversation]) -> Iterator[str]:
    """Yields every agent that calls sent out, each once, followed by those that it sent out."""
    seen: set[str] = set()
    waiting = list(agents_called(items))[::-1]
    while waiting:
        line = waiting.pop()
        if line not in seen and line in by_line:
            seen.add(line)
            yield line
            waiting += list(agents_called(by_line[line].items()))[::-1]


def agents_called(items: Iterable[Item]) -> Iterator[str]:
    """Yields the agents that calls sent out."""
    for item in items:
        if isinstance(item, Called):
            yield from item.agents


def total_figures(own: Figures, others: Iterable[Figures]) -> Figures:
    """Returns a sum of what was spent; time and calls are one's own."""
    parts = [own, *others]
    costs = [part.cost for part in parts if part.cost is not None]
    return Figures(
        duration_ms=own.duration_ms,
        asking_ms=own.asking_ms,
        calls=own.calls,
        tokens=sum(part.tokens for part in parts),
        written=sum(part.written for part in parts),
        cost=sum(costs) if costs else None,
        is_partly_priced=any(part.is_partly_priced for part in parts),
    )


Who: TypeAlias = Literal["main", "agents", "service", "abandoned"]
WHO: tuple[Who, ...] = ("main", "agents", "service", "abandoned")
CostOf: TypeAlias = Callable[[Response], float | None]
"""What a response costs, None where that is not known."""


def cost_by(prices: Pricing | None) -> CostOf:
    """Returns what tells the cost of responses; none where there are no prices."""

    def cost(response: Response) -> float | None:
        if prices is None or response.usage is None or response.is_synthetic:
            return None
        return prices.cost(response.model, response.tokens, moment(response.started))

    return cost


LONGEST = 120


class ResponseCost(Struct, frozen=True, kw_only=True):
    """One response, and what it took."""

    number: int
    who: Who
    line: str
    by: str | None
    """The agent's task, None in a conversation that people had."""
    turn: int
    model: str | None
    time: str | None
    uuid: str | None
    tokens: Tokens
    cost: float | None
    """None where it has no price."""
    stop_reason: str | None = None
    is_error: bool = False


class CostSum(Struct, frozen=True, kw_only=True):
    """Several responses together."""

    name: str
    responses: int
    tokens: Tokens
    cost: float
    unpriced: int = 0


class SessionCost(Struct, frozen=True, kw_only=True):
    """What a session took."""

    total: CostSum
    by_who: tuple[CostSum, ...]
    by_model: tuple[CostSum, ...]
    responses: tuple[ResponseCost, ...]
    """In the order of time."""


def session_cost(told: Conversations, cost_of: CostOf) -> SessionCost:
    """Returns what all responses of a session took, each counted once."""
    paid = sorted(_all_paid(told, cost_of), key=lambda one: (one.time or "", one.number))
    by_model: dict[str, list[ResponseCost]] = {}
    for one in paid:
        by_model.setdefault(name_of(one.model, one.tokens), []).append(one)
    models = [_summed(name, found) for name, found in by_model.items()]
    kinds = [(who, [one for one in paid if one.who == who]) for who in WHO]
    return SessionCost(
        total=_summed("all", paid),
        by_who=tuple(_summed(who, found) for who, found in kinds if found),
        by_model=tuple(sorted(models, key=lambda one: (-one.cost, -one.tokens.total, one.name))),
        responses=tuple(paid),
    )


def _all_paid(told: Conversations, cost_of: CostOf) -> Iterator[ResponseCost]:
    others = [one for one in told.by_line.values() if one.id != told.main]
    turns = {
        (line.id, place): turn.number
        for line in told.by_line.values()
        for turn in line.turns
        for place in turn.responses
    }
    found = counted_once((told.active, *others))
    for number, (line, place, response) in enumerate(found, 1):
        turn = turns.get((line.id, place), 0)
        yield _paid_by(line, response, number, turn, cost_of(response))


def _paid_by(
    line: Conversation, response: Response, number: int, turn: int, cost: float | None
) -> ResponseCost:
    who = who_asked(line)
    words = shortened(line.label or line.agent or line.id, LONGEST)
    return ResponseCost(
        number=number,
        who=who,
        line=line.id,
        by=None if line.kind in SPOKEN else words,
        turn=turn,
        model=response.model,
        time=response.started,
        uuid=next(iter(response.uuids), None),
        tokens=response.tokens,
        cost=cost,
        stop_reason=response.stop_reason,
        is_error=response.is_error,
    )


def who_asked(line: Conversation) -> Who:
    """Returns who the responses of a conversation are counted to."""
    if not line.is_active:
        return "abandoned"
    if line.kind == "service":
        return "service"
    return "main" if line.kind in SPOKEN else "agents"


def _summed(name: str, paid: Iterable[ResponseCost]) -> CostSum:
    found = list(paid)
    tokens = NOTHING
    for one in found:
        tokens += one.tokens
    return CostSum(
        name=name,
        responses=len(found),
        tokens=tokens,
        cost=sum(one.cost or 0 for one in found),
        unpriced=sum(one.cost is None and one.tokens.total > 0 for one in found),
    )
