"""Price data to cards: what a model costs, from which day, in which case.

A card is a plain value that can be kept: the price data takes most of a second to load,
longer than it takes to read a gigabyte of logs.
"""

from collections.abc import Iterator
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

KEYS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_5m": "cache_write_5m_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "web_search": "web_searches_kcount",
}
CONTEXT = "[1m]"
"""How the client writes that a model runs with its long context."""


class Rate(Struct, frozen=True, array_like=True):
    """Dollars for a million tokens, or for a thousand searches."""

    plain: float
    steps: tuple[tuple[int, float], ...] = ()
    """From more than so many input tokens on, the price of all."""

    def at(self, total_input: int) -> float:
        """Returns the price in a response that read so many tokens."""
        price = self.plain
        for start, above in self.steps:
            if total_input > start:
                price = above
        return price


class PriceList(Struct, frozen=True, omit_defaults=True):
    """The rates that hold under a condition; None where the list does not say."""

    input: Rate | None = None
    output: Rate | None = None
    cache_read: Rate | None = None
    cache_write: Rate | None = None
    cache_write_5m: Rate | None = None
    cache_write_1h: Rate | None = None
    web_search: Rate | None = None
    since: date | None = None
    """The first day on which they hold."""
    hours: tuple[str, str] | None = None
    """The hours of the day, UTC, in which they hold."""
    case: dict[str, str] = {}
    """What must be so for them to hold, such as `processing: batch`."""

    def hold(self, time: datetime) -> bool:
        """Tells whether they hold at a moment, given in UTC."""
        if self.since is not None and time.date() < self.since:
            return False
        if self.hours is None:
            return True
        start, end = self.hours
        now = f"{time:%H:%M:%S}"
        return start <= now < end if start <= end else now >= start or now < end


class Card(Struct, frozen=True, omit_defaults=True):
    """All that is known of the prices of one model."""

    provider: str
    lists: tuple[PriceList, ...]
    """The last that holds counts; the first where none does."""
    variants: tuple[PriceList, ...] = ()
    """For special cases; the first that holds counts, rate by rate."""

    @property
    def is_by_hour(self) -> bool:
        """Tells whether the time of day makes a difference."""
        return any(one.hours for one in (*self.lists, *self.variants))

    def prices(self, time: datetime, case: dict[str, str]) -> PriceList | None:
        """Returns the rates at a moment in a case, None where the case has no price."""
        chosen = next((one for one in reversed(self.lists) if one.hold(time)), self.lists[0])
        if not case:
            return chosen
        fitting = [one for one in self.variants if one.hold(time) and one.case == case]
        rates: dict[str, Any] = {name: getattr(chosen, name) for name in KEYS}
        for variant in reversed(fitting):
            rates |= {n: getattr(variant, n) for n in KEYS if getattr(variant, n) is not None}
        return PriceList(**rates) if fitting else None


def card_of(model: str) -> Card | None:
    """Looks a model up in the price data; None where it is not there. The first call is slow."""
    from genai_prices.data_snapshot import get_snapshot

    for name, provider in references(model):
        try:
            found, listed = get_snapshot().find_provider_model(name, None, provider, None)
        except LookupError:
            continue
        return Card(found.id, tuple(lists_of(listed)), tuple(variants_of(listed)))
    return None


def references(model: str) -> Iterator[tuple[str, str | None]]:
    """Yields the names under which a model may be listed, with whose list it is.

    Bedrock writes `us.anthropic.claude-…`, Vertex `claude-…@2025…`, gateways a path before it.
    """
    name = model.strip().removesuffix(CONTEXT)
    _, path, last = name.rpartition("/")
    if "anthropic." in last:
        yield last, "aws"
        yield last.partition("anthropic.")[2].partition("-v1")[0], "anthropic"
    if "@" in last:
        yield last, "google"
    yield name, None
    if path:
        yield last, name.partition("/")[0]
        yield last, None


def lists_of(model: "ModelInfo") -> Iterator[PriceList]:
    """Yields the ordinary prices of a model with the time from which they hold."""
    if not isinstance(model.prices, list):
        yield prices_of(model.prices)
        return
    for one in model.prices:
        yield prices_of(one.prices, one.constraint)


def variants_of(model: "ModelInfo") -> Iterator[PriceList]:
    """Yields the prices of special cases."""
    for one in model.price_variants or ():
        yield prices_of(one.prices, one.constraint, dict(one.when))


def prices_of(price: Any, constraint: Any = None, case: dict[str, str] | None = None) -> PriceList:
    """Returns the rates of a list as plain values."""
    start = getattr(constraint, "start_time", None)
    return PriceList(
        **{name: rate_of(price.__dict__.get(key)) for name, key in KEYS.items()},
        since=getattr(constraint, "start_date", None),
        hours=(f"{start:%H:%M:%S}", f"{constraint.end_time:%H:%M:%S}") if start else None,
        case=case or {},
    )


def rate_of(price: Any) -> Rate | None:
    """Returns a rate as plain numbers."""
    if price is None:
        return None
    if not hasattr(price, "tiers"):
        return Rate(float(price))
    return Rate(float(price.base), tuple((one.start, float(one.price)) for one in price.tiers))
