"""The price table of models: what each costs, from which day, under which conditions.

The table ships with the package (`tools/prices.py` generates it). Only the requested provider's
part is decoded.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from zlib import MAX_WBITS, decompress

from msgspec import Raw, Struct
from msgspec.json import decode

from plait.errors import ConfigError

TABLE = Path(__file__).with_name("prices.json.gz")
GZIP = MAX_WBITS | 16
RATES = (
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cache_write_5m",
    "cache_write_1h",
    "web_search",
)
CONTEXT = "[1m]"
"""The client's mark for a model with its long context."""
DATE = re.compile(r"-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")


class Rate(Struct, frozen=True, array_like=True):
    """Dollars per million tokens, or per thousand searches."""

    plain: float
    steps: tuple[tuple[int, float], ...] = ()
    """The price of all tokens from a number of input tokens on."""

    def at(self, total_input: int) -> float:
        """Return the price for a response with this many input tokens."""
        price = self.plain
        for start, above in self.steps:
            if total_input > start:
                price = above
        return price


class PriceList(Struct, frozen=True, omit_defaults=True):
    """The rates that apply under a condition; None if the list does not say."""

    input: Rate | None = None
    output: Rate | None = None
    cache_read: Rate | None = None
    cache_write: Rate | None = None
    cache_write_5m: Rate | None = None
    cache_write_1h: Rate | None = None
    web_search: Rate | None = None
    since: date | None = None
    """The first day on which they apply."""
    hours: tuple[str, str] | None = None
    """The hours of the day, UTC, in which they apply."""
    case: dict[str, str] = {}
    """Their condition, such as `processing: batch`."""

    def hold(self, time: datetime) -> bool:
        """Return whether they apply at a moment, given in UTC."""
        if self.since is not None and time.date() < self.since:
            return False
        if self.hours is None:
            return True
        start, end = self.hours
        now = f"{time:%H:%M:%S}"
        return start <= now < end if start <= end else now >= start or now < end


class ModelPrices(Struct, frozen=True, omit_defaults=True):
    """All known prices of one model."""

    provider: str
    lists: tuple[PriceList, ...]
    """The last one that applies counts; the first if none does."""
    variants: tuple[PriceList, ...] = ()
    """For special conditions; the first that applies counts, rate by rate."""

    @property
    def is_by_hour(self) -> bool:
        """Return whether the price depends on the time of day."""
        return any(rates.hours for rates in (*self.lists, *self.variants))

    def prices(self, time: datetime, case: dict[str, str]) -> PriceList | None:
        """Return the rates at a moment under a condition; None if there is no price."""
        chosen = next(
            (price_list for price_list in reversed(self.lists) if price_list.hold(time)),
            self.lists[0],
        )
        if not case:
            return chosen
        fitting = [rates for rates in self.variants if rates.hold(time) and rates.case == case]
        rates: dict[str, Any] = {name: getattr(chosen, name) for name in RATES}
        for variant in reversed(fitting):
            rates |= {n: getattr(variant, n) for n in RATES if getattr(variant, n) is not None}
        return PriceList(**rates) if fitting else None


class ListedModel(Struct, frozen=True, array_like=True, omit_defaults=True):
    """A model of a provider: its names and its prices."""

    names: tuple[str, ...]
    """Any of them: `=` precedes a whole name, `^` a beginning, `$` an end, `*` a part, `~` a
    regular expression.
    """
    lists: tuple[PriceList, ...]
    variants: tuple[PriceList, ...] = ()


class Provider(Struct, frozen=True, omit_defaults=True, dict=True):
    """A provider of models."""

    id: str
    models: Raw
    """Decoded on demand."""
    called: tuple[str, ...] = ()
    """Other names of the provider, written like model names."""
    known_by: tuple[str, ...] = ()
    """Models that nobody else sells under such a name."""
    resells: tuple[str, ...] = ()
    """Providers whose models it sells at their prices."""

    @cached_property
    def known_models(self) -> tuple[ListedModel, ...]:
        """The models in the order in which they are tried."""
        return decode(self.models, type=tuple[ListedModel, ...])

    def find(self, name: str) -> ListedModel | None:
        """Return the first model with a name."""
        return next((model for model in self.known_models if _is_named(name, model.names)), None)


class PriceTable(Struct, frozen=True):
    """All prices and their source."""

    source: str
    licence: str
    made: date
    providers: tuple[Provider, ...]

    def card(self, model: str, provider: str | None) -> ModelPrices | None:
        """Return the prices of a model in a provider's list, else in that of the provider known
        for it.
        """
        name = model.lower()
        seller = self._known_by(name) if provider is None else self._called(provider.lower())
        if seller is None:
            return None
        listed = self._sold_by(seller, name) or self._sold_by(seller, DATE.sub(_dashed, name))
        return ModelPrices(seller.id, listed.lists, listed.variants) if listed else None

    def _known_by(self, model: str) -> Provider | None:
        return next(
            (provider for provider in self.providers if _is_named(model, provider.known_by)), None
        )

    def _called(self, name: str) -> Provider | None:
        exact = (provider for provider in self.providers if provider.id == name)
        called = (provider for provider in self.providers if _is_named(name, provider.called))
        return next(exact, None) or next(called, None)

    def _sold_by(self, seller: Provider, model: str) -> ListedModel | None:
        makers = (
            provider
            for name in seller.resells
            for provider in self.providers
            if provider.id == name
        )
        return next(filter(None, (provider.find(model) for provider in (seller, *makers))), None)


def _is_named(name: str, ways: tuple[str, ...]) -> bool:
    return any(NAMED[way[0]](name, way[1:]) for way in ways)


NAMED: dict[str, Callable[[str, str], bool]] = {
    "=": str.__eq__,
    "^": str.startswith,
    "$": str.endswith,
    "*": str.__contains__,
    "~": lambda name, pattern: re.search(pattern, name) is not None,
}


def _dashed(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    try:
        return f"-{date(int(year), int(month), int(day))}"
    except ValueError:
        return match[0]


@lru_cache(maxsize=1)
def load_price_table() -> PriceTable:
    """Return the prices that ship with the package."""
    return decode(decompress(TABLE.read_bytes(), GZIP), type=PriceTable)


def find_model_prices(model: str) -> ModelPrices | None:
    """Return the prices of a model from the price table; None if it is not listed."""
    found = (load_price_table().card(name, provider) for name, provider in iter_listed_names(model))
    return next((card for card in found if card), None)


def iter_listed_names(model: str) -> Iterator[tuple[str, str | None]]:
    """Yield the names under which a model may be listed, each with its provider.

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


NAMES = ("input", "output", "cache_write", "cache_write_1h", "cache_read", "web_search")
NEEDED = ("input", "output")
# The price of the cache in units of input tokens, for providers of this API.
SHARES = {"cache_write": 1.25, "cache_write_1h": 2.0, "cache_read": 0.1}
WEB_SEARCH = 10.0
EXAMPLE = 'write ["claude-opus-9"], then input = 5.0 and output = 25.0 (dollars per million tokens)'


@dataclass(frozen=True, slots=True)
class PriceFile:
    """A user's prices by names and patterns, in order."""

    prices: Mapping[str, PriceList]

    def find(self, model: str) -> PriceList | None:
        """Return the prices of a model: under its own name, else under the first matching pattern."""
        exact = self.prices.get(model)
        if exact is not None:
            return exact
        return next(
            (rates for name, rates in self.prices.items() if fnmatchcase(model, name)), None
        )


def parse_price_file(text: str, name: str) -> PriceFile:
    """Read a price file in TOML or JSON; raise with what is wrong with it."""
    import tomllib

    try:
        table = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read the prices in '{name}': {error}", EXAMPLE) from error
    if not isinstance(table, dict):
        raise ConfigError(f"the prices in '{name}' do not contain a table of models", EXAMPLE)
    prices = {}
    for model, entry in table.items():
        if not isinstance(entry, dict):
            raise ConfigError(f"'{model}' in '{name}' is not a table of prices", EXAMPLE)
        for key, value in entry.items():
            if key not in NAMES:
                from difflib import get_close_matches

                near = get_close_matches(key, NAMES, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"choose from {', '.join(NAMES)}"
                raise ConfigError(f"unknown price '{key}' for '{model}' in '{name}'", hint)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 <= value < float("inf"):
                raise ConfigError(
                    f"the price '{key}' for '{model}' in '{name}' must be a number", EXAMPLE
                )
        missing = [key for key in NEEDED if key not in entry]
        if missing:
            raise ConfigError(f"'{model}' in '{name}' has no price for {missing[0]}", EXAMPLE)
        rates: dict[str, Any] = {key: Rate(entry["input"] * share) for key, share in SHARES.items()}
        rates["web_search"] = Rate(WEB_SEARCH)
        prices[model] = PriceList(
            **{**rates, **{key: Rate(float(value)) for key, value in entry.items()}}
        )
    return PriceFile(prices)
