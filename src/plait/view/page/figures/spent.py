"""Responses to what the page of usage shows: in a span of time, by what they were spent on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from plait.conversation.cross import REPORTS, CrossTable, Dimension, crossed
from plait.conversation.prices import Prices
from plait.conversation.spending import (
    NO_MODEL,
    BeyondLog,
    BillingBlock,
    By,
    Spending,
    SpendingRow,
    SpendingSum,
    billing_blocks,
    spending,
    within,
)
from plait.conversation.usage import BilledResponse
from plait.view.amounts import tokens_in_words
from plait.view.forms import told_apart
from plait.view.page.figures.period import USUAL, Period
from plait.view.page.figures.slices import Slice, slice_of
from plait.view.page.lists.rows import ListedSession, priced
from plait.view.usage_csv import cross_csv, rows_csv

BY: dict[str, By] = {"day": "daily", "week": "weekly", "month": "monthly"}
STEPS: dict[str, Dimension] = {"day": "day", "week": "week", "month": "month"}
INSIDE: dict[str, Dimension] = {"model": "model", "session": "session"}
MANY_DAYS = 120


class CacheSavings(NamedTuple):
    """What the cache was good for."""

    paid: float
    """Of what could be priced both ways."""
    without: float
    """What the same tokens would have cost without a cache."""


class Usage(NamedTuple):
    """What the page is made of."""

    span: Period
    now: datetime
    step: str
    periods: Spending
    projects: Spending
    sessions: Spending
    cross: CrossTable
    """By project, model and step of time."""
    areas: CrossTable
    """By project, and what is asked for inside of them."""
    blocks: Sequence[BillingBlock]
    saved: CacheSavings
    known: Mapping[str, ListedSession]
    """The sessions that there are, by id."""
    places: Mapping[str, str]
    is_counting: bool = False
    beyond: float = 0.0
    """Dollars that Claude Code counted beyond the responses in its logs."""

    @property
    def answered(self) -> int:
        """How many of the sessions that there are have responses in this span."""
        keys = {row.key for row in self.sessions.rows}
        return sum(name.partition("~")[0] in keys for name in self.looked_at)

    @property
    def looked_at(self) -> list[str]:
        """The names of all sessions, or of those of the project that is asked for."""
        wanted = self.span.project
        return [name for name, one in self.known.items() if not wanted or one.project == wanted]

    @property
    def total(self) -> SpendingRow:
        """Everything in this span."""
        return self.periods.totals

    @property
    def models(self) -> Mapping[str, str]:
        """The names of all models on this page, each in one form wherever it stands."""
        return told_apart(name or NO_MODEL for name in self.cross.names("model"))

    @property
    def base(self) -> Slice:
        """What the page counts."""
        return slice_of(self.span, self.now, USUAL["usage"])

    def to(self, **changes: str) -> Slice:
        """Returns what a part of it counts."""
        return replace(self.base, **changes)

    def amount(self, tally: SpendingSum) -> float:
        """Returns what is measured: money or tokens."""
        return tally.cost if self.span.of == "cost" else float(tally.tokens.total)

    def write(self, value: float) -> str:
        """Writes what is measured."""
        return priced(value) if self.span.of == "cost" else tokens_in_words(round(value))


def usage_in(
    responses: Sequence[BilledResponse],
    left: frozenset[str],
    span: Period,
    now: datetime,
    prices: Prices,
    known: Mapping[str, ListedSession],
    places: Mapping[str, str],
    *,
    is_counting: bool,
    beyond: Sequence[BeyondLog] = (),
) -> Usage:
    """Returns what was spent in a span of time; some of it on branches that were left."""
    bounds = span.bounds(now, USUAL["usage"])
    chosen, more = within(responses, *bounds), within(beyond, *bounds)
    if span.project:
        chosen = [one for one in chosen if one.project == span.project]
        more = [one for one in more if one.project == span.project]
    step = span.by or _usual_step(chosen)
    return Usage(
        span=span,
        now=now,
        step=step,
        periods=spending(chosen, BY[step], prices, None, left),
        projects=spending(chosen, "project", prices),
        sessions=spending(chosen, "session", prices),
        cross=crossed(chosen, ("project", "model", STEPS[step]), prices),
        areas=crossed(chosen, ("project", INSIDE[span.inside]), prices),
        blocks=billing_blocks(chosen, prices, now),
        saved=saved_by_cache(chosen, prices),
        known=known,
        places=places,
        is_counting=is_counting,
        beyond=sum(one.cost for one in more),
    )


def _usual_step(responses: Sequence[BilledResponse]) -> str:
    times = [one.time for one in responses if one.time]
    is_long = times and (max(times) - min(times)).days > MANY_DAYS
    return "week" if is_long else "day"


def saved_by_cache(responses: Sequence[BilledResponse], prices: Prices) -> CacheSavings:
    """Returns what responses cost, and what they would have without a cache."""
    paid = without = 0.0
    for one in responses:
        tokens = one.tokens
        cost = prices.cost(one.model, tokens, one.time)
        plain = replace(
            tokens, input=tokens.total_input, cache_write_5m=0, cache_write_1h=0, cache_read=0
        )
        full = prices.cost(one.model, plain, one.time)
        if cost is not None and full is not None:
            paid += cost
            without += full
    return CacheSavings(paid, without)


def usage_csv(
    responses: Sequence[BilledResponse],
    span: Period,
    now: datetime,
    prices: Prices,
    rows: str,
    titles: Mapping[str, str],
) -> str:
    """Returns what was spent in a span of time as CSV: by one thing, or as a cross table."""
    chosen = within(responses, *span.bounds(now, USUAL["usage"]))
    if span.project:
        chosen = [one for one in chosen if one.project == span.project]
    step = span.by or _usual_step(chosen)
    by = next((report for name, report in REPORTS.items() if name == rows), None)
    if by is None:
        return cross_csv(crossed(chosen, ("project", "model", STEPS[step]), prices))
    found = spending(chosen, by, prices).rows
    return rows_csv(rows, found, titles if rows == "session" else None)
