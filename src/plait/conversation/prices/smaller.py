"""A model to the small one of its day: the newest Haiku of no later generation.

Prices do not say from when on a model could be had; a generation that had come by then does.
"""

import re
from functools import lru_cache

from plait.conversation.prices.table import price_table, references

SELLER, SMALL = "anthropic", "haiku"
VERSION = r"\d{1,2}(?:[-.]\d{1,2}(?!\d))?"
NAME = re.compile(
    rf"claude-(?:(?P<early>{VERSION})-(?P<old>[a-z]+)|(?P<new>[a-z]+)-(?P<late>{VERSION}))(?!\d)"
)


@lru_cache(maxsize=256)
def smaller_model(model: str) -> str | None:
    """Returns a name that the small model of a model's day has in the list of its seller.

    None where it is small itself, where none was there, or where the name says no generation.
    """
    found = _read(model.lower())
    known = (price_table().card(name, provider) for name, provider in references(model))
    card = next((one for one in known if one), None)
    if found is None or card is None or card.provider != SELLER or found[0] == SMALL:
        return None
    fitting = [pair for pair in _small_models() if pair[0] <= found[1]]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


@lru_cache(maxsize=1)
def _small_models() -> tuple[tuple[tuple[int, ...], str], ...]:
    """Returns the small models that are listed, each by its generation."""
    seller = next(one for one in price_table().providers if one.id == SELLER)
    names = (way[1:] for one in seller.listed for way in one.names if way[0] in "=^")
    told = ((_read(name), name) for name in names)
    return tuple((found[1], name) for found, name in told if found and found[0] == SMALL)


def _read(model: str) -> tuple[str, tuple[int, ...]] | None:
    """Returns the family and the generation that a name tells."""
    found = NAME.search(model)
    if found is None:
        return None
    version = found["early"] or found["late"]
    numbers = tuple(int(part) for part in re.split("[-.]", version))
    return found["old"] or found["new"], (*numbers, 0)[:2]
