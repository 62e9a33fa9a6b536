"""What stands in a session's context to what carrying it has cost so far."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.conversation.account import PaidRequest
from plait.conversation.prices import Prices, Unit

if TYPE_CHECKING:
    from plait.view.context_fill import Fill, FillItem

MOST = 12
MILLION = 1_000_000


class Carried(Struct, frozen=True, kw_only=True):
    """Something that is sent with every request, and what that has come to."""

    kind: str
    words: str
    tokens: int
    """About so many, by the measure of the session."""
    turn: int | None
    """Since when it is there."""
    uuid: str | None
    requests: int
    """That have carried it."""
    cost_usd: float | None
    """What they paid for it; None where they have no price."""


def carried(
    fills: Iterable["Fill"], requests: Sequence[PaidRequest], measure: float, prices: Prices
) -> tuple[Carried, ...]:
    """Returns the largest things of a context, with what requests in their order paid for them."""
    carriers = [_Carrier.of(one, prices) for one in requests]
    lines = [one.line for one in requests]
    later = [0.0, *accumulate(one.carrying for one in carriers)]
    found = [
        _carried(fill.kind, item, measure, carriers, lines, later)
        for fill in fills
        if fill.kind != "rereads"
        for item in fill.largest
    ]
    found.sort(key=lambda one: -one.tokens)
    return tuple(found[:MOST])


class _Carrier(Struct, frozen=True):
    """What a request paid for a token: to have it read for the first time, and again."""

    entering: float
    carrying: float
    is_priced: bool

    @classmethod
    def of(cls, paid: PaidRequest, prices: Prices) -> "_Carrier":
        unit = prices.unit(paid.model, paid.tokens, paid.time)
        if unit is None:
            return cls(0.0, 0.0, False)
        parts = paid.parts
        old = parts.read + parts.again
        spent = parts.read * unit.cache_read + parts.again * _write(paid, unit)
        return cls(_write(paid, unit), spent / old if old else 0.0, True)


def _write(paid: PaidRequest, unit: Unit) -> float:
    tokens = paid.tokens
    if not tokens.cache_write:
        return unit.input
    minutes = tokens.cache_write_5m * unit.cache_write_5m
    return (minutes + tokens.cache_write_1h * unit.cache_write_1h) / tokens.cache_write


def _carried(
    kind: str,
    item: "FillItem",
    measure: float,
    carriers: Sequence[_Carrier],
    lines: Sequence[int],
    later: Sequence[float],
) -> Carried:
    first = bisect_right(lines, item.line or 0)
    tokens, count = round(item.tokens * measure), len(lines) - first
    cost: float | None = 0.0
    if count:
        rate = carriers[first].entering + later[-1] - later[first + 1]
        is_priced = any(one.is_priced for one in carriers[first:])
        cost = tokens * rate / MILLION if is_priced else None
    return Carried(
        kind=kind,
        words=item.words,
        tokens=tokens,
        turn=item.turn,
        uuid=item.uuid,
        requests=count,
        cost_usd=cost,
    )
