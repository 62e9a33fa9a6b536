"""Usage of responses to tokens and dollars, of a turn and of all turns together."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from plait.conversation.prices import Prices
from plait.conversation.usage import NOTHING, Tokens, tokens_of
from plait.record.billing import Figures
from plait.record.codec import lenient


class Meter:
    """Counts what responses take."""

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.tokens: Tokens = NOTHING
        self.dollars = 0.0
        """What those cost whose price is known."""
        self.unpriced = 0
        """Responses whose price is not known."""
        self.responses = 0

    @property
    def cost(self) -> float | None:
        """All dollars, None where a price is not known."""
        return None if self.unpriced else self.dollars

    def fresh(self) -> "Meter":
        """Returns a meter with the same prices that has counted nothing."""
        return Meter(self.prices)

    def add(self, model: str, usage: Mapping[str, Any], when: datetime) -> None:
        """Counts a response."""
        tokens = tokens_of(lenient(usage, Figures))
        dollars = self.prices.cost(model, tokens, when)
        self.tokens += tokens
        self.responses += 1
        if dollars is None:
            self.unpriced += 1
        else:
            self.dollars += dollars

    def by_kind(self) -> dict[str, int]:
        """Returns the tokens by the names that the API gives them."""
        return {
            "input_tokens": self.tokens.input,
            "cache_creation_input_tokens": self.tokens.cache_write,
            "cache_read_input_tokens": self.tokens.cache_read,
            "output_tokens": self.tokens.output,
        }
