"""Settings to prices: the user's own file, and what was looked up before."""

from pathlib import Path

from plait.conversation.prices import Prices
from plait.errors import ConfigError


def prices_with(own: Path | None) -> Prices:
    """Returns the prices in force, or says what is wrong with the user's own file."""
    if own is None:
        return Prices()
    from plait.conversation.price_file import price_file

    try:
        return Prices(price_file(own.read_text(encoding="utf-8"), str(own)))
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"cannot read the prices in '{own}': {said.lower()}") from error
