"""Events to the line that always tells where a session stands, and what the next prompt costs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from plait.agent.engine import Engine
from plait.agent.events import Answered, Compacted, Event, TurnEnded
from plait.conversation.next_prompt import HOUR, MINUTES, NextPrompt
from plait.conversation.prices import Prices
from plait.conversation.usage import SYNTHETIC, tokens_of
from plait.record.billing import Figures
from plait.record.codec import lenient
from plait.view.amounts import dotted, money_in_words, tokens_in_words

MENTIONED = 0.01
"""Dollars from which on a price is told."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Standing:
    """Knows what a session holds and costs, by its answers."""

    prices: Prices
    ask_above: float
    """Dollars above which a prompt is not sent before it was said twice."""
    clock: Callable[[], datetime] = _now
    following: NextPrompt | None = None
    """What the next prompt sends; None where nobody knows."""
    share: int | None = None
    """How full the context is, in hundredths."""

    def take(self, event: Event, client: Engine) -> None:
        """Takes what an event says of it."""
        match event:
            case Answered() if event.model != SYNTHETIC:
                self._answered(event.model, event.usage)
            case Compacted():
                self.following = None
            case TurnEnded():
                self.measure(client)
            case _:
                pass

    def _answered(self, model: str, usage: Mapping[str, Any]) -> None:
        used = tokens_of(lenient(usage, Figures))
        if not used.total:
            return
        before = self.following.lasts if self.following else MINUTES
        lasts = (HOUR if used.cache_write_1h else MINUTES) if used.cache_write else before
        tokens = used.total_input + used.output
        self.following = NextPrompt(
            tokens, tokens, 0, 1.0, 1.0, model=model, used=used, time=self.clock(), lasts=lasts
        )

    def measure(self, client: Engine) -> None:
        """Looks how full the context is."""
        fill = client.fill
        if fill is None:
            return
        self.share = round(100 * fill.tokens / fill.window)
        if self.following and fill.tokens:
            self.following = replace(self.following, tokens=fill.tokens)

    @property
    def dollars(self) -> float | None:
        """What is paid before the words of the next prompt are read."""
        sent = self.following
        if sent is None:
            return None
        cold, warm = sent.cold_usd(self.prices), sent.warm_usd(self.prices)
        return cold if sent.is_cold(self.clock()) else warm

    def price(self) -> str:
        """Returns what the next prompt costs, nothing where that is next to nothing."""
        dollars = self.dollars
        if self.following is None or dollars is None or dollars < MENTIONED:
            return ""
        state = ", cache cold" if self.following.is_cold(self.clock()) else ""
        return f"next {money_in_words(dollars)}{state}"

    def doubt(self) -> str:
        """Returns why one should think before one sends, nothing where one need not."""
        dollars = self.dollars
        if self.following is None or dollars is None or dollars < self.ask_above:
            return ""
        sent = tokens_in_words(self.following.tokens or 0)
        why = "the cache is cold, " if self.following.is_cold(self.clock()) else ""
        return f"{why}this sends {sent} tokens for {money_in_words(dollars)}"

    def line(self, client: Engine, *more: str) -> str:
        """Returns the line: who answers, what is allowed, how full it is, what it cost."""
        spent = client.meter.dollars
        return dotted(
            client.model,
            "" if client.mode == "default" else client.mode,
            f"context {self.share} %" if self.share is not None else "",
            money_in_words(spent) if spent else "",
            *more,
            self.price(),
            "/help",
        )
