"""Responses to rows of figures: by day, week, month, session, project or model."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Literal, TypeAlias

from msgspec import Struct, field

from plait.conversation.prices import Prices, name_of
from plait.conversation.usage import Response, RunKind

By: TypeAlias = Literal["daily", "weekly", "monthly", "session", "project", "model"]
NO_MODEL = "unnamed"
QUARTER = 15 * 60
Slot: TypeAlias = tuple[str | None, str, RunKind, bool]
"""The row, the model, the kind of run, and whether it was abandoned."""


class Tally(Struct, gc=False):
    """Figures that add up."""

    responses: int = 0
    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0
    web_fetches: int = 0
    cost: float = 0.0
    """Of what could be priced."""
    unpriced: dict[str, int] = field(default_factory=dict)
    """How many responses have no price, by the name of their model."""
    logged: float | None = None
    """What the log itself says of the cost; None where it says nothing."""
    first: datetime | None = None
    last: datetime | None = None

    @property
    def cache_write(self) -> int:
        """All that was written to the cache."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def tokens(self) -> int:
        """All tokens, cached or not."""
        return self.input + self.output + self.cache_write + self.cache_read

    def add(self, response: Response, cost: float | None) -> None:
        """Takes in one response."""
        tokens = response.tokens
        self.responses += 1
        self.input += tokens.input
        self.output += tokens.output
        self.cache_write_5m += tokens.cache_write_5m
        self.cache_write_1h += tokens.cache_write_1h
        self.cache_read += tokens.cache_read
        self.web_searches += tokens.web_searches
        self.web_fetches += tokens.web_fetches
        if cost is None:
            name = name_of(response.model, tokens)
            self.unpriced[name] = self.unpriced.get(name, 0) + 1
        else:
            self.cost += cost
        if response.logged is not None:
            self.logged = (self.logged or 0.0) + response.logged
        time = response.time
        if time is None:
            return
        if self.first is None or time < self.first:
            self.first = time
        if self.last is None or time > self.last:
            self.last = time

    def take(self, other: "Tally") -> None:
        """Takes in the figures of another."""
        self.responses += other.responses
        self.input += other.input
        self.output += other.output
        self.cache_write_5m += other.cache_write_5m
        self.cache_write_1h += other.cache_write_1h
        self.cache_read += other.cache_read
        self.web_searches += other.web_searches
        self.web_fetches += other.web_fetches
        self.cost += other.cost
        for name, count in other.unpriced.items():
            self.unpriced[name] = self.unpriced.get(name, 0) + count
        if other.logged is not None:
            self.logged = (self.logged or 0.0) + other.logged
        self._span(other.first, other.last)

    def _span(self, first: datetime | None, last: datetime | None) -> None:
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last


class Row(Struct, gc=False):
    """The figures of a day, a session or whatever else, and the parts of them."""

    key: str | None
    """None for what no day or model is known of."""
    total: Tally = field(default_factory=Tally)
    models: dict[str, Tally] = field(default_factory=dict)
    """The largest cost first."""
    agents: Tally = field(default_factory=Tally)
    """Agents and workflows, whoever sent them out."""
    service: Tally = field(default_factory=Tally)
    """The client's own errands: compaction, suggestions, warming up."""
    abandoned: Tally = field(default_factory=Tally)
    """What was answered on branches that were left, agents sent out from there included."""

    def add(self, slot: Slot, tally: Tally) -> None:
        """Takes in the figures of one slot."""
        _, model, kind, is_abandoned = slot
        self.total.take(tally)
        self.models.setdefault(model, Tally()).take(tally)
        if kind in ("agent", "workflow"):
            self.agents.take(tally)
        if kind == "service":
            self.service.take(tally)
        if is_abandoned:
            self.abandoned.take(tally)

    def take(self, other: "Row") -> None:
        """Takes in another row."""
        self.total.take(other.total)
        self.agents.take(other.agents)
        self.service.take(other.service)
        self.abandoned.take(other.abandoned)
        for name, tally in other.models.items():
            self.models.setdefault(name, Tally()).take(tally)


class Spending(Struct, frozen=True):
    """Rows, and all of them together."""

    rows: tuple[Row, ...]
    totals: Row


def spending(
    responses: Iterable[Response],
    by: By,
    prices: Prices,
    zone: tzinfo | None = None,
    abandoned: Collection[str | None] = (),
) -> Spending:
    """Returns the figures by what was asked for, the earliest or the first name first.

    Abandoned are the responses with these uuids.
    """
    slots: dict[Slot, Tally] = {}
    key_of = keys(by, zone)
    for response in responses:
        model, is_abandoned = response.model or NO_MODEL, response.uuid in abandoned
        slot = (key_of(response), model, response.kind, is_abandoned)
        tally = slots.get(slot)
        if tally is None:
            tally = slots[slot] = Tally()
        tally.add(response, prices.cost(response.model, response.tokens, response.time))
    return rows_of(slots)


def rows_of(slots: dict[Slot, Tally]) -> Spending:
    """Returns the rows that slots make up."""
    rows: dict[str | None, Row] = {}
    totals = Row(None)
    for slot, tally in slots.items():
        rows.setdefault(slot[0], Row(slot[0])).add(slot, tally)
        totals.add(slot, tally)
    for row in (totals, *rows.values()):
        row.models = dict(sorted(row.models.items(), key=lambda one: (-one[1].cost, one[0])))
    ordered = sorted(rows.values(), key=lambda row: (row.key is None, row.key or ""))
    return Spending(tuple(ordered), totals)


def keys(by: By, zone: tzinfo | None) -> Callable[[Response], str | None]:
    """Returns the function that says which row a response belongs to."""
    if by == "session":
        return lambda response: response.session
    if by == "project":
        return lambda response: response.project
    if by == "model":
        return lambda response: response.model
    name = {"daily": day, "weekly": week, "monthly": month}[by]
    known: dict[float, str] = {}

    def period(response: Response) -> str | None:
        if response.time is None:
            return None
        # Clocks go by quarters of an hour everywhere: so does the beginning of a day.
        quarter = response.time.timestamp() // QUARTER
        if quarter not in known:
            known[quarter] = name(response.time.astimezone(zone))
        return known[quarter]

    return period


def day(time: datetime) -> str:
    """Names a day."""
    return f"{time.year:04}-{time.month:02}-{time.day:02}"


def week(time: datetime) -> str:
    """Names a week by its Monday."""
    return day(time - timedelta(days=time.weekday()))


def month(time: datetime) -> str:
    """Names a month."""
    return f"{time.year:04}-{time.month:02}"


def within(
    responses: Sequence[Response], start: datetime | None, end: datetime | None
) -> Sequence[Response]:
    """Returns the responses of a span of time; those without a time are in none."""
    if start is None and end is None:
        return responses
    return [
        one
        for one in responses
        if one.time is not None
        and (start is None or one.time >= start)
        and (end is None or one.time < end)
    ]
