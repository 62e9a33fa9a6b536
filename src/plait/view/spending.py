"""Turns, agents and conversations to what they took: time, calls, tokens, money.

Each response is counted once. What the agents of a turn took is part of what it took.
"""

from collections.abc import Iterable, Iterator, Mapping

from plait.conversation.model import Called, Conversation, Conversations, Item, Response, Turn
from plait.conversation.totals import Pricing, tokens_in
from plait.record.time import moment
from plait.view.passages import Spent


class Spending:
    """Adds up what the conversations of a session took; prices are asked for once."""

    def __init__(self, conversations: Conversations, prices: Pricing | None = None) -> None:
        self._by_line = conversations.by_line
        self._prices = prices
        self._costs: dict[tuple[str, int], float | None] = {}
        self._whole: dict[str, Spent] = {}
        self._turns: dict[str, dict[int, int]] = {}

    def of_turn(self, conversation: Conversation, turn: Turn) -> Spent:
        """Returns what a turn took, its agents included."""
        begun = self._begun_in(conversation)
        numbers = [number for number in turn.responses if begun.get(number) == turn.number]
        own = self._own(conversation, numbers, turn.items, turn.working_ms)
        return added(own, map(self.of_agent, sent_out(turn.items, self._by_line)))

    def _begun_in(self, conversation: Conversation) -> dict[int, int]:
        """Returns the turn that each response begins in: a prompt may come in its midst."""
        known = self._turns.get(conversation.id)
        if known is None:
            known = {
                n: turn.number for turn in reversed(conversation.turns) for n in turn.responses
            }
            self._turns[conversation.id] = known
        return known

    def of_agent(self, line: str) -> Spent:
        """Returns what one agent took by itself."""
        found = self._whole.get(line)
        if found is None:
            agent = self._by_line[line]
            numbers = range(len(agent.responses))
            items = list(agent.items())
            found = self._own(agent, numbers, items, lasting(agent))
            self._whole[line] = found
        return found

    def _own(
        self,
        conversation: Conversation,
        numbers: Iterable[int],
        items: Iterable[Item],
        duration_ms: float | None,
    ) -> Spent:
        tokens = written = 0
        costs: list[float | None] = []
        for number in numbers:
            response = conversation.responses[number]
            if response.usage is None or response.is_synthetic:
                continue
            taken = tokens_in(response)
            written += taken.output
            tokens += taken.total
            costs.append(self._cost(conversation.id, number, response))
        known = [cost for cost in costs if cost is not None]
        return Spent(
            duration_ms=duration_ms,
            calls=sum(isinstance(i, Called) and not i.is_intermediate for i in items),
            tokens=tokens,
            written=written,
            cost=sum(known) if known else None,
            is_partly_priced=len(known) < len(costs),
        )

    def _cost(self, line: str, number: int, response: Response) -> float | None:
        key = (line, number)
        if self._prices is None:
            return None
        if key not in self._costs:
            when, tokens = moment(response.started), tokens_in(response)
            self._costs[key] = self._prices.cost(response.model, tokens, when)
        return self._costs[key]


def sent_out(items: Iterable[Item], by_line: Mapping[str, Conversation]) -> Iterator[str]:
    """Yields every agent that calls sent out, those of agents too, each once."""
    seen: set[str] = set()
    waiting = list(sent_by(items))
    while waiting:
        line = waiting.pop()
        if line in seen or line not in by_line:
            continue
        seen.add(line)
        yield line
        waiting += sent_by(by_line[line].items())


def sent_by(items: Iterable[Item]) -> Iterator[str]:
    """Yields the agents that calls sent out."""
    for item in items:
        if isinstance(item, Called):
            yield from item.agents


def lasting(conversation: Conversation) -> float:
    """Returns how long the turns of a conversation took."""
    return sum(turn.working_ms or 0 for turn in conversation.turns)


def added(own: Spent, others: Iterable[Spent]) -> Spent:
    """Returns a sum of what was spent; time and calls are one's own."""
    parts = [own, *others]
    costs = [part.cost for part in parts if part.cost is not None]
    return Spent(
        duration_ms=own.duration_ms,
        calls=own.calls,
        tokens=sum(part.tokens for part in parts),
        written=sum(part.written for part in parts),
        cost=sum(costs) if costs else None,
        is_partly_priced=any(part.is_partly_priced for part in parts),
    )
