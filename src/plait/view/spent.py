"""Conversations of a session to what each response took: by model, by who asked, one by one."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.model import Conversation, Conversations, Response
from plait.conversation.prices import name_of
from plait.conversation.tokens import NOTHING, Tokens
from plait.conversation.totals import response_key, tokens_in
from plait.graph.paths import SPOKEN
from plait.view.page.titles import shortened

Who: TypeAlias = Literal["main", "agents", "service", "abandoned"]
WHO: tuple[Who, ...] = ("main", "agents", "service", "abandoned")
CostOf: TypeAlias = Callable[[Response], float | None]
LONGEST = 120


class Paid(Struct, frozen=True, kw_only=True):
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


class Sum(Struct, frozen=True, kw_only=True):
    """Several responses together."""

    name: str
    responses: int
    tokens: Tokens
    cost: float
    unpriced: int = 0


class Spent(Struct, frozen=True, kw_only=True):
    """What a session took."""

    total: Sum
    by_who: tuple[Sum, ...]
    by_model: tuple[Sum, ...]
    responses: tuple[Paid, ...]
    """In the order of time."""


def spent_by(told: Conversations, cost_of: CostOf) -> Spent:
    """Returns what all responses of a session took, each counted once."""
    paid = sorted(all_paid(told, cost_of), key=lambda one: (one.time or "", one.number))
    by_model: dict[str, list[Paid]] = {}
    for one in paid:
        by_model.setdefault(name_of(one.model, one.tokens), []).append(one)
    models = [summed(name, found) for name, found in by_model.items()]
    kinds = [(who, [one for one in paid if one.who == who]) for who in WHO]
    return Spent(
        total=summed("all", paid),
        by_who=tuple(summed(who, found) for who, found in kinds if found),
        by_model=tuple(sorted(models, key=lambda one: (-one.cost, -one.tokens.total, one.name))),
        responses=tuple(paid),
    )


def all_paid(told: Conversations, cost_of: CostOf) -> Iterator[Paid]:
    """Yields every response once, the active conversation's first."""
    known: set[str] = set()
    others = [one for one in told.by_line.values() if one.id != told.main]
    number = 0
    for line in (told.active, *others):
        turns = {place: turn.number for turn in line.turns for place in turn.responses}
        for place, response in enumerate(line.responses):
            key = response_key(response)
            if response.is_synthetic or key in known:
                continue
            known.update([key] if key else [])
            number += 1
            yield paid_by(line, response, number, turns.get(place, 0), cost_of(response))


def paid_by(
    line: Conversation, response: Response, number: int, turn: int, cost: float | None
) -> Paid:
    """Returns one response with what it took."""
    who = who_asked(line)
    words = shortened(line.label or line.agent or line.id, LONGEST)
    return Paid(
        number=number,
        who=who,
        line=line.id,
        by=None if line.kind in SPOKEN else words,
        turn=turn,
        model=response.model,
        time=response.started,
        uuid=next(iter(response.uuids), None),
        tokens=tokens_in(response),
        cost=cost,
        stop_reason=response.stop_reason,
        is_error=response.is_error,
    )


def who_asked(line: Conversation) -> Who:
    """Returns on whose account a conversation goes."""
    if not line.is_active:
        return "abandoned"
    if line.kind == "service":
        return "service"
    return "main" if line.kind in SPOKEN else "agents"


def summed(name: str, paid: Iterable[Paid]) -> Sum:
    """Returns responses together."""
    found = list(paid)
    tokens = NOTHING
    for one in found:
        tokens += one.tokens
    return Sum(
        name=name,
        responses=len(found),
        tokens=tokens,
        cost=sum(one.cost or 0 for one in found),
        unpriced=sum(one.cost is None and one.tokens.total > 0 for one in found),
    )
