"""Requests to what each cost and why, and to what all of them came to."""

from datetime import datetime

from msgspec import Struct, field

from plait.conversation.account.model import Cause


class WhyRequest(Struct, frozen=True, kw_only=True, gc=False):
    """One request, with what it took and what of that was there before."""

    response: str
    turn: int | None
    """Of the conversation that goes on, also for agents that it sent out; None beside it."""
    time: datetime | None
    model: str | None
    read: int
    new: int
    again: int
    uncached: int
    output: int
    cause: Cause | None
    cost_usd: float | None
    """None where it has no price."""
    again_cost_usd: float | None
    agent: str | None = None
    uuid: str | None = None
    gap_seconds: float | None = None
    """Since what it goes on from was last read."""
    input_cost_usd: float | None = None
    """Of all that the model read."""
    unknown: int = 0
    """Of what is new, tokens that may have been there: what it goes on from is not in the log."""


class CauseSum(Struct, gc=False):
    """What one cause came to."""

    requests: int = 0
    again: int = 0
    again_cost_usd: float = 0.0


class WhyTotals(Struct):
    """All requests together."""

    requests: int = 0
    read: int = 0
    new: int = 0
    again: int = 0
    uncached: int = 0
    output: int = 0
    cost_usd: float = 0.0
    """Of what has a price."""
    again_cost_usd: float = 0.0
    input_cost_usd: float = 0.0
    """Of all that the model read."""
    unpriced: int = 0
    unknown: int = 0
    """Of what is new, tokens that may have been there."""
    causes: dict[Cause, CauseSum] = field(default_factory=dict)

    def add(self, one: WhyRequest) -> None:
        """Takes in a request."""
        self.requests += 1
        self.read += one.read
        self.new += one.new
        self.again += one.again
        self.uncached += one.uncached
        self.output += one.output
        self.cost_usd += one.cost_usd or 0.0
        self.again_cost_usd += one.again_cost_usd or 0.0
        self.input_cost_usd += one.input_cost_usd or 0.0
        self.unpriced += one.cost_usd is None
        self.unknown += one.unknown
        if one.cause:
            found = self.causes.setdefault(one.cause, CauseSum())
            found.requests += 1
            found.again += one.again
            found.again_cost_usd += one.again_cost_usd or 0.0
