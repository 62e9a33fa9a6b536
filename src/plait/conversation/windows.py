"""Responses to the five-hour blocks in which a plan counts them, and the gaps between.

A block begins with the hour, UTC, of its first response and lasts five hours; it also ends
where five hours pass without any. The block that goes on now is projected to its end.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from plait.conversation.prices import Prices
from plait.conversation.spending import NO_MODEL, Row, Tally
from plait.conversation.usage import Response

LENGTH = timedelta(hours=5)
MINUTE = timedelta(minutes=1)


class Rate(Struct, frozen=True):
    """How fast a block goes: between its first response and its last."""

    tokens_per_minute: float
    cost_per_hour: float


class Block(Struct, frozen=True):
    """Five hours with what was answered in them, or a gap in which nothing was."""

    start: datetime
    end: datetime
    row: Row
    is_gap: bool = False
    is_active: bool = False

    @property
    def total(self) -> Tally:
        """All its figures."""
        return self.row.total

    @property
    def rate(self) -> Rate | None:
        """How fast it went; None where there is no time between its responses."""
        first, last = self.total.first, self.total.last
        minutes = (last - first) / MINUTE if first and last else 0.0
        if minutes <= 0:
            return None
        return Rate(self.total.tokens / minutes, self.total.cost / minutes * 60)

    def left(self, now: datetime) -> timedelta:
        """Returns how long it still lasts."""
        return max(self.end - now, timedelta(0))

    def projected(self, now: datetime) -> tuple[int, float] | None:
        """Returns the tokens and the cost at its end, if it goes on as it went."""
        rate = self.rate
        if not self.is_active or rate is None:
            return None
        minutes = self.left(now) / MINUTE
        tokens = self.total.tokens + rate.tokens_per_minute * minutes
        return round(tokens), self.total.cost + rate.cost_per_hour / 60 * minutes


def blocks(responses: Iterable[Response], prices: Prices, now: datetime) -> list[Block]:
    """Returns the blocks and gaps in the order of time; what has no time is in none."""
    found: list[Block] = []
    start = last = datetime.min.replace(tzinfo=UTC)
    row: Row | None = None
    timed = [(one.time, one) for one in responses if one.time is not None]
    for time, response in sorted(timed, key=lambda pair: pair[0]):
        if row is None or time - start > LENGTH or time - last > LENGTH:
            if row is not None:
                found.append(block_of(start, row, now))
                if time - last > LENGTH:
                    found.append(Block(last + LENGTH, time, Row(None), is_gap=True))
            start, row = time.replace(minute=0, second=0, microsecond=0), Row(None)
        add(row, response, prices)
        last = time
    if row is not None:
        found.append(block_of(start, row, now))
    return found


def untimed_row(responses: Iterable[Response], prices: Prices) -> Row:
    """Returns the figures of what has no time, and so stands in no block."""
    row = Row(None)
    for response in responses:
        if response.time is None:
            add(row, response, prices)
    return row


def add(row: Row, response: Response, prices: Prices) -> None:
    """Takes one response into a block."""
    tally = Tally()
    tally.add(response, prices.cost(response.model, response.tokens, response.time))
    row.add((None, response.model or NO_MODEL, response.kind, False), tally)


def block_of(start: datetime, row: Row, now: datetime) -> Block:
    """Returns a block that is closed, or still goes on."""
    end = start + LENGTH
    last = row.total.last or start
    is_active = now < end and now - last < LENGTH and last <= now
    row.models = dict(sorted(row.models.items(), key=lambda one: (-one[1].cost, one[0])))
    return Block(start, end, row, is_active=is_active)
