"""Generate the packaged price table from `genai-prices`.

python -m tools.prices        write src/plait/conversation/prices/prices.json.gz anew

The table has all that Plait looks at, a line for each model; the package itself takes most of
a second to load, and brings an HTTP client.
"""

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from importlib.metadata import version
from typing import Any

from genai_prices.data import providers
from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    MatchLogic,
    ModelInfo,
)
from genai_prices.types import Provider as Theirs
from msgspec import Raw
from msgspec.json import encode

from plait.conversation.prices.table import (
    TABLE,
    ListedModel,
    PriceList,
    PriceTable,
    Provider,
    Rate,
)

PACKAGE = "genai-prices"
SOURCE = "https://github.com/pydantic/genai-prices"
LICENCE = "MIT, copyright (c) Pydantic Services Inc. 2025 to present; see prices.LICENSE"
KEYS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_5m": "cache_write_5m_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "web_search": "web_searches_kcount",
}


def main() -> None:
    """Write the table."""
    TABLE.write_bytes(gzip.compress(table(datetime.now(UTC).date()), mtime=0))


def table(made: date) -> bytes:
    """Return the table of the installed package, as it was made on a day."""
    source = f"{PACKAGE} {version(PACKAGE)}, {SOURCE}"
    return encode(PriceTable(source, LICENCE, made, tuple(map(provider_of, providers)))) + b"\n"


def provider_of(theirs: Theirs) -> Provider:
    """Return a provider with its models."""
    rows = (encode(make_listed_model(model)).replace(b",[]]", b"]") for model in theirs.models)
    models = b",\n".join(rows)
    return Provider(
        theirs.id,
        Raw(b"[\n" + models + b"\n]"),
        called=ways_of(theirs.provider_match),
        known_by=ways_of(theirs.model_match),
        resells=tuple(theirs.fallback_model_providers or ()),
    )


def make_listed_model(model: ModelInfo) -> ListedModel:
    """Return a model with its prices."""
    return ListedModel(ways_of(model.match), tuple(lists_of(model)), tuple(variants_of(model)))


def ways_of(clause: MatchLogic | None) -> tuple[str, ...]:
    """Return the ways in which a name may be written."""
    match clause:
        case None:
            return ()
        case ClauseOr():
            return tuple(way for item in clause.or_ for way in ways_of(item))
        case ClauseAnd():
            return ("~^" + "".join(map(ahead, clause.and_)),)
        case ClauseEquals():
            return (f"={clause.equals.lower()}",)
        case ClauseStartsWith():
            return (f"^{clause.starts_with.lower()}",)
        case ClauseEndsWith():
            return (f"${clause.ends_with.lower()}",)
        case ClauseContains():
            return (f"*{clause.contains.lower()}",)
        case ClauseRegex():
            return (f"~{clause.regex}",)


def ahead(clause: MatchLogic) -> str:
    """Return what looks, from the beginning of a name, whether a part of a condition holds."""
    return "(?:" + "|".join(f"(?={LOOKS[way[0]](way[1:])})" for way in ways_of(clause)) + ")"


LOOKS: dict[str, Any] = {
    "=": lambda text: rf"{re.escape(text)}\Z",
    "^": re.escape,
    "$": lambda text: rf".*{re.escape(text)}\Z",
    "*": lambda text: f".*{re.escape(text)}",
    "~": lambda pattern: f".*(?:{pattern})",
}


def lists_of(model: ModelInfo) -> Iterator[PriceList]:
    """Yield the ordinary prices of a model with the time from which they hold."""
    if not isinstance(model.prices, list):
        yield prices_of(model.prices)
        return
    for price in model.prices:
        yield prices_of(price.prices, price.constraint)


def variants_of(model: ModelInfo) -> Iterator[PriceList]:
    """Yield the prices of special cases."""
    for variant in model.price_variants or ():
        yield prices_of(variant.prices, variant.constraint, dict(variant.when))


def prices_of(price: Any, constraint: Any = None, case: dict[str, str] | None = None) -> PriceList:
    """Return the rates of a list as plain values."""
    start = getattr(constraint, "start_time", None)
    return PriceList(
        **{name: rate_of(price.__dict__.get(key)) for name, key in KEYS.items()},
        since=getattr(constraint, "start_date", None),
        hours=(f"{start:%H:%M:%S}", f"{constraint.end_time:%H:%M:%S}") if start else None,
        case=case or {},
    )


def rate_of(price: Any) -> Rate | None:
    """Return a rate as plain numbers."""
    if price is None:
        return None
    if not hasattr(price, "tiers"):
        return Rate(float(price))
    return Rate(float(price.base), tuple((tier.start, float(tier.price)) for tier in price.tiers))


if __name__ == "__main__":
    main()
