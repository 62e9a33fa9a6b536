"""A conversation to its totals, alone or with all agents below it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import (
    Called,
    Conversation,
    Conversations,
    Response,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.conversation.prices import name_of
from plait.conversation.usage import NOTHING, Tokens, supersedes
from plait.conversation.walk import walk
from plait.graph.paths import SPOKEN
from plait.record.time import moment

TYPED = frozenset({"prompt", "queued"})


class Pricing(Protocol):
    """Tells what a response costs."""

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        """Returns the dollars of one response, None where it cannot be priced."""


class Totals(Struct, frozen=True, kw_only=True):
    """What a conversation, or several together, came to."""

    conversations: int = 0
    turns: int = 0
    prompts: int = 0
    """What a person typed, queued prompts too."""
    responses: int = 0
    """Of a model, each once; what the client makes in its place is none."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    tokens: Tokens = NOTHING
    cost_usd: float | None = None
    """None where no prices were given; of what can be priced, else."""
    unpriced: Mapping[str, int] = {}
    """Responses without a price, by model."""
    duration_ms: float = 0
    """Of the turns that people had: an agent's time lies within the turn that sent it out."""
    working_ms: float = 0
    asking_ms: float = 0
    """How long the model waited for a person within a turn."""
    waiting_ms: float = 0
    """How long the conversation waited for the next prompt."""
    first: str | None = None
    last: str | None = None


def totals_of(conversation: Conversation, prices: Pricing | None = None) -> Totals:
    """Returns the totals of a conversation alone."""
    return totals_over([conversation], prices)


def totals_below(conversations: Conversations, name: str, prices: Pricing | None = None) -> Totals:
    """Returns the totals of a conversation with all agents that it sent out, and theirs."""
    names = [name, *agents_below(conversations, name)]
    return totals_over([conversations.by_line[one] for one in names], prices)


def agents_below(conversations: Conversations, name: str) -> list[str]:
    """Returns the agents that a conversation sent out, and those that they sent out."""
    children: dict[str | None, list[str]] = {}
    for conversation in conversations.by_line.values():
        if conversation.kind in ("agent", "service"):
            children.setdefault(conversation.parent, []).append(conversation.id)
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        below = [one for one in children.get(waiting.pop(), ()) if one not in found]
        found.update(dict.fromkeys(below))
        waiting += below
    found.pop(name, None)
    return list(found)


def totals_over(conversations: Iterable[Conversation], prices: Pricing | None = None) -> Totals:
    """Returns the totals of several conversations; a response that they share counts once."""
    chosen = list(conversations)
    turns = [turn for one in chosen for turn in one.turns if turn.number]
    held = list(_held_by_people(chosen)) or turns
    answers = [response for _, _, response in counted_once(chosen)]
    counts = Counter(counted for one in chosen for counted in _counted_in(one))
    cost, unpriced = _priced(answers, prices)
    return Totals(
        conversations=len(chosen),
        turns=len(turns),
        prompts=counts["prompt"],
        responses=len(answers),
        calls=counts["call"],
        failed=counts["failed"],
        rejected=counts["rejected"],
        tokens=sum((one.tokens for one in answers), NOTHING),
        cost_usd=cost,
        unpriced=unpriced,
        duration_ms=sum(turn.duration_ms or 0 for turn in held),
        working_ms=sum(turn.working_ms or 0 for turn in held),
        asking_ms=sum(turn.asking_ms for turn in held),
        waiting_ms=sum(turn.waited_ms or 0 for turn in held),
        first=min((one.started for one in chosen if one.started), default=None),
        last=max((one.ended for one in chosen if one.ended), default=None),
    )


def _held_by_people(conversations: Iterable[Conversation]) -> Iterator[Turn]:
    for one in conversations:
        if one.kind in SPOKEN:
            yield from (turn for turn in one.turns if turn.number)


def counted_once(
    conversations: Iterable[Conversation],
) -> Iterable[tuple[Conversation, int, Response]]:
    """Returns the responses of models, each once, with the first conversation that has it.

    Its figures are those of the copy that counts, its number and its records are those of the
    first.
    """
    found: dict[object, tuple[Conversation, int, Response]] = {}
    for conversation in conversations:
        for number, response in enumerate(conversation.responses):
            if response.is_synthetic:
                continue
            key = response.key or len(found)
            known = found.setdefault(key, (conversation, number, response))
            if known[2] is not response and supersedes(response, known[2]):
                first = known[2]
                started = first.started or response.started
                found[key] = (*known[:2], replace(response, started=started, uuids=first.uuids))
    return found.values()


def _counted_in(conversation: Conversation) -> Iterator[str]:
    for _, item in walk(conversation):
        if isinstance(item, Called) and not item.is_intermediate:
            yield "call"
            yield item.outcome
        elif isinstance(item, Told) and item.is_typed and item.kind in TYPED:
            yield "prompt"


def _priced(
    answers: Iterable[Response], prices: Pricing | None
) -> tuple[float | None, Mapping[str, int]]:
    if prices is None:
        return None, {}
    total, unpriced = 0.0, Counter[str]()
    for response in answers:
        if response.usage is None:
            continue
        tokens = response.tokens
        cost = prices.cost(response.model, tokens, moment(response.started))
        if cost is None:
            unpriced[name_of(response.model, tokens)] += 1
        else:
            total += cost
    return total, dict(unpriced)


def with_own_responses(told: Conversation) -> Conversation:
    """Returns a path with those responses alone that stand on it, for counting."""
    of_model = (Said, Thought, Called, Shown)
    spoken = {item.response for item in told.items() if isinstance(item, of_model)}
    kept = tuple(one for number, one in enumerate(told.responses) if number in spoken)
    return replace(told, responses=kept)
