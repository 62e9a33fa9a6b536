"""A user's own prices to a table: dollars for a million tokens, by model or pattern.

["claude-opus-9"]
input = 5.0
output = 25.0

["glm-*"]
input = 0.6
output = 2.2
cache_read = 0.11
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from plait.conversation.prices.table import PriceList, Rate
from plait.errors import ConfigError

NAMES = ("input", "output", "cache_write", "cache_write_1h", "cache_read", "web_search")
NEEDED = ("input", "output")
# What a provider of this API takes for its cache, in input tokens.
SHARES = {"cache_write": 1.25, "cache_write_1h": 2.0, "cache_read": 0.1}
WEB_SEARCH = 10.0
EXAMPLE = 'write ["claude-opus-9"], then input = 5.0 and output = 25.0, dollars a million tokens'


@dataclass(frozen=True, slots=True)
class PriceFile:
    """Prices by the names and patterns of a user, in their order."""

    prices: Mapping[str, PriceList]

    def find(self, model: str) -> PriceList | None:
        """Returns the prices of a model: under its own name, else under the first that fits."""
        exact = self.prices.get(model)
        if exact is not None:
            return exact
        return next((one for name, one in self.prices.items() if fnmatchcase(model, name)), None)


def price_file(text: str, name: str) -> PriceFile:
    """Reads a price file, TOML or JSON, or says what is wrong with it."""
    table = _parsed(text, name)
    return PriceFile({model: _prices_of(entry, model, name) for model, entry in table.items()})


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        table = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read the prices in '{name}': {error}", EXAMPLE) from error
    if not isinstance(table, dict):
        raise ConfigError(f"the prices in '{name}' are not a table of models", EXAMPLE)
    return table


def _prices_of(entry: object, model: str, name: str) -> PriceList:
    if not isinstance(entry, dict):
        raise ConfigError(f"'{model}' in '{name}' has no table of prices", EXAMPLE)
    for key, value in entry.items():
        _check_price(key, value, model, name)
    missing = [key for key in NEEDED if key not in entry]
    if missing:
        raise ConfigError(f"'{model}' in '{name}' has no price for {missing[0]}", EXAMPLE)
    rates: dict[str, Any] = {key: Rate(entry["input"] * share) for key, share in SHARES.items()}
    rates["web_search"] = Rate(WEB_SEARCH)
    return PriceList(**{**rates, **{key: Rate(float(value)) for key, value in entry.items()}})


def _check_price(key: str, value: object, model: str, name: str) -> None:
    if key not in NAMES:
        near = get_close_matches(key, NAMES, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(NAMES)}"
        raise ConfigError(f"unknown price '{key}' of '{model}' in '{name}'", hint)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < float("inf"):  # type: ignore[operator]
        raise ConfigError(f"the price '{key}' of '{model}' in '{name}' must be a number", EXAMPLE)
