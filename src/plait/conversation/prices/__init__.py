"""The cost of responses in dollars, by the prices of their day.

Each response is priced by itself: a long one costs more per token, and a sum would look long. What
has no listed price is unpriced, never free: an unknown model, or a service tier or speed that the
data does not cover.
"""

import re
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import NamedTuple

from msgspec.json import encode

from plait.conversation.prices.table import (
    TABLE,
    ModelPrices,
    PriceFile,
    PriceList,
    find_model_prices,
    iter_listed_names,
    load_price_table,
)
from plait.conversation.usage import Tokens

MILLION, THOUSAND = 1_000_000, 1_000
ELSEWHERE = {"us": 1.1}
"""The surcharge on every token for regional processing, by the provider's list."""
OWN_LISTS = frozenset({"anthropic"})
CASES = {"batch": {"processing": "batch"}}


class UnitPrices(NamedTuple):
    """Dollars per million tokens of each kind, and per thousand searches."""

    input: float
    output: float
    cache_write_5m: float
    cache_write_1h: float
    cache_read: float
    web_searches: float
    unknown: tuple[str, ...]
    """Token kinds without a price."""

    def cost(self, tokens: Tokens) -> float | None:
        """Return the cost of tokens; None if a kind that was used has no price."""
        if self.unknown and any(getattr(tokens, name) for name in self.unknown):
            return None
        paid = (
            self.input * tokens.input
            + self.output * tokens.output
            + self.cache_write_5m * tokens.cache_write_5m
            + self.cache_write_1h * tokens.cache_write_1h
            + self.cache_read * tokens.cache_read
        )
        return paid / MILLION + self.web_searches * tokens.web_searches / THOUSAND


UNITS = UnitPrices._fields[:-1]


class Prices:
    """Prices for responses; the user's own prices come before the built-in list."""

    def __init__(self, own: PriceFile | None = None) -> None:
        self.own = own
        self.cards: dict[str, ModelPrices | None] = {}
        """Prices by model looked up so far, including models without any."""
        self._units: dict[tuple[object, ...], list[tuple[int, UnitPrices]]] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of these prices today: a response without a time is priced by the current day."""
        return f"{self.list_digest}-{datetime.now(UTC).toordinal()}"

    @cached_property
    def list_digest(self) -> str:
        """A digest of these prices on any day."""
        own = encode(list(self.own.prices.items()) if self.own else [])
        return blake2b(TABLE.read_bytes() + own, digest_size=8).hexdigest()

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        """Return the cost of one response in dollars; None if it cannot be priced."""
        unit = self.unit(model, tokens, when)
        return unit.cost(tokens) if unit else None

    def unit(self, model: str | None, tokens: Tokens, when: datetime | None) -> UnitPrices | None:
        """Return the price of each kind of token in a response; None if unknown."""
        time = when or datetime.now(UTC)
        key = (model, time.toordinal(), tokens.tier, tokens.speed, tokens.geo)
        units = self._units.get(key)
        if units is None:
            units, is_kept = self._steps(model, tokens, time)
            if is_kept:
                self._units[key] = units
        total_input = tokens.total_input
        for start, unit in units:
            if total_input > start:
                return unit
        return None

    def _steps(
        self, model: str | None, tokens: Tokens, time: datetime
    ) -> tuple[list[tuple[int, UnitPrices]], bool]:
        """Return the unit prices by input length from which they apply, and whether they hold all
        day.
        """
        if model is None:
            return [], True
        own = self.own.find(format_unpriced_model(model, tokens)) if self.own else None
        if own is not None:
            return _steps_of(own, 1.0), True
        factor = 1.0 if tokens.geo is None else ELSEWHERE.get(tokens.geo)
        if model not in self.cards:
            self.cards[model] = find_model_prices(model)
        card = self.cards[model]
        if card is None or factor is None or (factor != 1 and card.provider not in OWN_LISTS):
            return [], True
        case: dict[str, str] = {}
        if tokens.tier:
            case |= CASES.get(tokens.tier, {"service_tier": tokens.tier})
        if tokens.speed:
            case |= {"service_tier": tokens.speed}
        listed = card.prices(time, case)
        return _steps_of(listed, factor) if listed else [], not card.is_by_hour


def format_unpriced_model(model: str | None, tokens: Tokens) -> str:
    """Return the name of an unpriced model, with the special conditions of its use."""
    special = [word for word in (tokens.tier, tokens.speed, tokens.geo) if word]
    if tokens.geo in ELSEWHERE:
        special.remove(tokens.geo or "")
    return f"{model or 'unnamed'}{''.join(f' ({word})' for word in special)}"


def _steps_of(listed: PriceList, factor: float) -> list[tuple[int, UnitPrices]]:
    # A kind without a rate of its own costs what the more general kind does: a one-hour
    # cache write like any cache write, and a cached token like an uncached one.
    write = listed.cache_write or listed.input
    rates = (
        listed.input,
        listed.output,
        listed.cache_write_5m or write,
        listed.cache_write_1h or write,
        listed.cache_read or listed.input,
        listed.web_search,
    )
    starts = {start for rate in rates if rate for start, _ in rate.steps}
    ordered = [*sorted(starts, reverse=True), -1]
    unknown = tuple(name for name, rate in zip(UNITS, rates, strict=True) if rate is None)
    found: list[tuple[int, UnitPrices]] = []
    for start in ordered:
        *paid, searches = [rate.at(start + 1) if rate else 0.0 for rate in rates]
        found.append((start, UnitPrices._make((*(r * factor for r in paid), searches, unknown))))
    return found


# The small model for a model: the newest Haiku of no later generation.
#
# Price lists do not say since when a model was available; a generation that existed by then does.


SELLER, SMALL = "anthropic", "haiku"
VERSION = r"\d{1,2}(?:[-.]\d{1,2}(?!\d))?"
MODEL_NAME = re.compile(
    rf"claude-(?:(?P<early>{VERSION})-(?P<old>[a-z]+)|(?P<new>[a-z]+)-(?P<late>{VERSION}))(?!\d)"
)


@lru_cache(maxsize=256)
def find_smaller_model(model: str) -> str | None:
    """Return a name of the small model of a model's time in its provider's list.

    None if it is small itself, if there was none, or if the name has no generation.
    """
    found = _parse_family(model.lower())
    known = (load_price_table().card(name, provider) for name, provider in iter_listed_names(model))
    card = next(filter(None, known), None)
    if found is None or card is None or card.provider != SELLER or found[0] == SMALL:
        return None
    fitting = [pair for pair in _small_models() if pair[0] <= found[1]]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


@lru_cache(maxsize=1)
def _small_models() -> tuple[tuple[tuple[int, ...], str], ...]:
    """Return the listed small models by generation."""
    seller = next(provider for provider in load_price_table().providers if provider.id == SELLER)
    names = (way[1:] for model in seller.known_models for way in model.names if way[0] in "=^")
    families = ((_parse_family(name), name) for name in names)
    return tuple((found[1], name) for found, name in families if found and found[0] == SMALL)


def _parse_family(model: str) -> tuple[str, tuple[int, ...]] | None:
    """Return the family and the generation in a model name."""
    found = MODEL_NAME.search(model)
    if found is None:
        return None
    version = found["early"] or found["late"]
    numbers = tuple(int(part) for part in re.split("[-.]", version))
    return found["old"] or found["new"], (*numbers, 0)[:2]
