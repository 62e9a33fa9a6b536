"""Settings to prices: the user's own file, and what was looked up before."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from plait.conversation.cards import Card
from plait.conversation.prices import Prices
from plait.errors import ConfigError
from plait.line import read_small

if TYPE_CHECKING:
    from plait.conversation.price_file import PriceFile

KEPT = "prices.json"
DATA = "data.py"


class Kept(msgspec.Struct):
    """Cards that were looked up before, and in which edition of the price data."""

    edition: str
    cards: dict[str, Card | None]


def own_prices(path: Path | None) -> "PriceFile | None":
    """Returns the user's own prices, or says what is wrong with their file."""
    if path is None:
        return None
    from plait.conversation.price_file import price_file

    try:
        return price_file(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"cannot read the prices in '{path}': {said.lower()}") from error


class PriceBook:
    """Prices that remember between runs what they looked up: the data is slow to load."""

    def __init__(self, cache: Path, own: "PriceFile | None" = None) -> None:
        self.path = cache / KEPT
        self.edition = edition()
        cards = self._kept()
        self._known = len(cards)
        self.prices = Prices(own, cards)

    def _kept(self) -> dict[str, Card | None]:
        data = read_small(self.path)
        try:
            kept = msgspec.json.decode(data, type=Kept) if data else None
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return {}
        return kept.cards if kept and kept.edition == self.edition else {}

    def keep(self) -> None:
        """Writes down what is new; where that cannot be done, nothing is lost."""
        cards = dict(self.prices.cards)
        is_homeless = not any(one.exists() for one in self.path.parents[:3])
        if len(cards) == self._known or is_homeless:
            return
        fresh = self.path.with_suffix(".new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(msgspec.json.encode(Kept(self.edition, cards)))
            fresh.replace(self.path)
        except (OSError, ValueError):  # a name may hold what no text can
            return


def edition() -> str:
    """Returns what tells one edition of the price data from another, without loading it."""
    spec = find_spec("genai_prices")
    for folder in spec.submodule_search_locations or () if spec else ():
        try:
            status = (Path(folder) / DATA).stat()
        except OSError:
            continue
        return f"{status.st_size}-{status.st_mtime_ns}"
    return ""
