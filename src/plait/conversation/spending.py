"""Responses to rows of figures: by day, week, month, session, project, model or five-hour block.

A block is what a plan counts by: it begins with the hour, UTC, of its first response and lasts
five hours; it also ends where five hours pass without any. The one that goes on now is
projected to its end.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field

from plait.conversation.prices import Prices, name_of
from plait.conversation.usage import NOTHING, BilledResponse, RunKind, Tokens

By: TypeAlias = Literal["daily", "weekly", "monthly", "session", "project", "model"]
NO_MODEL = "unnamed"
QUARTER = 15 * 60
Slot: TypeAlias = tuple[str | None, str, RunKind, bool]
"""The row, the model, the kind of run, and whether it was abandoned."""


class SpendingSum(Struct, gc=False):
    """Figures that add up."""

    responses: int = 0
    tokens: Tokens = NOTHING
    cost: float = 0.0
    """Of what could be priced."""
    unpriced: dict[str, int] = field(default_factory=dict)
    """How many responses have no price, by the name of their model."""
    logged: float | None = None
    """What the log itself says of the cost; None where it says nothing."""
    first: datetime | None = None
    last: datetime | None = None

    @property
    def known_cost(self) -> float | None:
        """What it cost; None where nothing of it has a price."""
        has_none = self.unpriced and sum(self.unpriced.values()) == self.responses
        return None if has_none else self.cost

    def add(self, response: BilledResponse, cost: float | None) -> None:
        """Takes in one response."""
        self.responses += 1
        self.tokens += response.tokens
        if cost is None:
            self.leave_out(response)
        else:
            self.cost += cost
        if response.logged is not None:
            self.logged = (self.logged or 0.0) + response.logged
        self._span(response.time, response.time)

    def leave_out(self, response: BilledResponse) -> None:
        """Names the model of a response that has no price."""
        name = name_of(response.model, response.tokens)
        self.unpriced[name] = self.unpriced.get(name, 0) + 1

    def take(self, other: "SpendingSum") -> None:
        """Takes in the figures of another."""
        self.responses += other.responses
        self.tokens += other.tokens
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


class SpendingRow(Struct, gc=False):
    """The figures of a day, a session or whatever else, and the parts of them."""

    key: str | None
    """None for what no day or model is known of."""
    total: SpendingSum = field(default_factory=SpendingSum)
    models: dict[str, SpendingSum] = field(default_factory=dict)
    """The largest cost first."""
    agents: SpendingSum = field(default_factory=SpendingSum)
    """Agents and workflows, whoever sent them out."""
    service: SpendingSum = field(default_factory=SpendingSum)
    """The client's own errands: compaction, suggestions, warming up."""
    abandoned: SpendingSum = field(default_factory=SpendingSum)
    """What was answered on branches that were left, agents sent out from there included."""

    def add(self, slot: Slot, tally: SpendingSum) -> None:
        """Takes in the figures of one slot."""
        _, model, kind, is_abandoned = slot
        self.total.take(tally)
        self.models.setdefault(model, SpendingSum()).take(tally)
        if kind in ("agent", "workflow"):
            self.agents.take(tally)
        if kind == "service":
            self.service.take(tally)
        if is_abandoned:
            self.abandoned.take(tally)

    def take(self, other: "SpendingRow") -> None:
        """Takes in another row."""
        self.total.take(other.total)
        self.agents.take(other.agents)
        self.service.take(other.service)
        self.abandoned.take(other.abandoned)
        for name, tally in other.models.items():
            self.models.setdefault(name, SpendingSum()).take(tally)


class Spending(Struct, frozen=True):
    """Rows, and all of them together."""

    rows: tuple[SpendingRow, ...]
    totals: SpendingRow


def by_session(responses: Iterable[BilledResponse], prices: Prices) -> dict[str, SpendingSum]:
    """Returns what each session came to, by id."""
    return {row.key or "": row.total for row in spending(responses, "session", prices).rows}


def spending(
    responses: Iterable[BilledResponse],
    by: By,
    prices: Prices,
    zone: tzinfo | None = None,
    abandoned: Collection[str | None] = (),
) -> Spending:
    """Returns the figures by what was asked for, the earliest or the first name first.

    Abandoned are the responses with these uuids.
    """
    held: dict[Slot, list[BilledResponse]] = {}
    key_of = key_function(by, zone)
    for response in responses:
        model, is_abandoned = response.model or NO_MODEL, response.uuid in abandoned
        slot = (key_of(response), model, response.kind, is_abandoned)
        known = held.get(slot)
        if known is None:
            held[slot] = [response]
        else:
            known.append(response)
    return _rows_of({slot: sum_of(found, prices) for slot, found in held.items()})


def sum_of(responses: list[BilledResponse], prices: Prices) -> SpendingSum:
    """Returns the figures of many responses: as if each were added, column by column."""
    found = SpendingSum(len(responses), _together([one.tokens for one in responses]))
    price, cost = prices.cost, 0.0
    for one in responses:  # not by sum(): newer versions of it round otherwise
        paid = price(one.model, one.tokens, one.time)
        if paid is None:
            found.leave_out(one)
        else:
            cost += paid
        if one.logged is not None:
            found.logged = (found.logged or 0.0) + one.logged
    found.cost = cost
    times = [one.time for one in responses if one.time is not None]
    found.first, found.last = min(times, default=None), max(times, default=None)
    return found


def _together(found: Sequence[Tokens]) -> Tokens:
    return Tokens(
        sum([one.input for one in found]),
        sum([one.output for one in found]),
        sum([one.cache_write_5m for one in found]),
        sum([one.cache_write_1h for one in found]),
        sum([one.cache_read for one in found]),
        sum([one.web_searches for one in found]),
        sum([one.web_fetches for one in found]),
    )


def _rows_of(slots: dict[Slot, SpendingSum]) -> Spending:
    rows: dict[str | None, SpendingRow] = {}
    totals = SpendingRow(None)
    for slot, tally in slots.items():
        rows.setdefault(slot[0], SpendingRow(slot[0])).add(slot, tally)
        totals.add(slot, tally)
    for row in (totals, *rows.values()):
        row.models = dict(sorted(row.models.items(), key=lambda one: (-one[1].cost, one[0])))
    ordered = sorted(rows.values(), key=lambda row: (row.key is None, row.key or ""))
    return Spending(tuple(ordered), totals)


def key_function(by: By, zone: tzinfo | None) -> Callable[[BilledResponse], str | None]:
    """Returns what names the row that a response belongs to."""
    if by == "session":
        return lambda response: response.session
    if by == "project":
        return lambda response: response.project
    if by == "model":
        return lambda response: response.model
    name = {"daily": day, "weekly": _week, "monthly": _month}[by]
    known: dict[float, str] = {}

    def period(response: BilledResponse) -> str | None:
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


def _week(time: datetime) -> str:
    return day(time - timedelta(days=time.weekday()))


def _month(time: datetime) -> str:
    return f"{time.year:04}-{time.month:02}"


class Timed(Protocol):
    """What has a time, or none."""

    @property
    def time(self) -> datetime | None:
        """When it was."""


T = TypeVar("T", bound=Timed)


def within(responses: Sequence[T], start: datetime | None, end: datetime | None) -> Sequence[T]:
    """Returns the responses of a span of time; those without a time are in none."""
    if start is None and end is None:
        return responses
    return [one for one in responses if is_within(one.time, start, end)]


def is_within(time: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    """Tells whether a moment is in a span of time; what has none is in no span."""
    return time is not None and (start is None or time >= start) and (end is None or time < end)


LEAST = 1e-6
"""Dollars below which a difference is dust."""


class BeyondLog(Struct, frozen=True, gc=False):
    """What the client counted in a session beyond the responses in its log."""

    session: str
    project: str
    time: datetime | None
    """Of the last response: the client says no time."""
    cost: float


def beyond_log(
    responses: Iterable[BilledResponse], own_costs: Mapping[str, float], prices: Prices
) -> tuple[BeyondLog, ...]:
    """Returns what the client's own count of sessions has beyond the responses in the logs:
    compactions, and requests that came to nothing.

    A session of which anything has no price is left out: nothing can be compared there.
    """
    spent: dict[str, float | None] = {}
    last: dict[str, BilledResponse] = {}
    for one in responses:
        cost = prices.cost(one.model, one.tokens, one.time) if one.session in own_costs else None
        before = spent.get(one.session, 0.0)
        spent[one.session] = None if cost is None or before is None else before + cost
        known = last.get(one.session)
        if known is None or (one.time and (not known.time or one.time > known.time)):
            last[one.session] = one
    return tuple(
        BeyondLog(session, last[session].project, last[session].time, own_costs[session] - cost)
        for session, cost in spent.items()
        if cost is not None and own_costs[session] - cost > LEAST
    )


BLOCK_LENGTH = timedelta(hours=5)
MINUTE = timedelta(minutes=1)


class BurnRate(Struct, frozen=True):
    """How fast a block goes: between its first response and its last."""

    tokens_per_minute: float
    cost_per_hour: float


class BillingBlock(Struct, frozen=True):
    """Five hours with what was answered in them, or a gap in which nothing was."""

    start: datetime
    end: datetime
    row: SpendingRow
    is_gap: bool = False
    is_active: bool = False

    @property
    def total(self) -> SpendingSum:
        """All its figures."""
        return self.row.total

    @property
    def rate(self) -> BurnRate | None:
        """How fast it went; None where there is no time between its responses."""
        first, last = self.total.first, self.total.last
        minutes = (last - first) / MINUTE if first and last else 0.0
        if minutes <= 0:
            return None
        return BurnRate(self.total.tokens.total / minutes, self.total.cost / minutes * 60)

    def left(self, now: datetime) -> timedelta:
        """Returns how long it still lasts."""
        return max(self.end - now, timedelta(0))

    def projected(self, now: datetime) -> tuple[int, float] | None:
        """Returns the tokens and the cost at its end, if it goes on as it went."""
        rate = self.rate
        if not self.is_active or rate is None:
            return None
        minutes = self.left(now) / MINUTE
        tokens = self.total.tokens.total + rate.tokens_per_minute * minutes
        return round(tokens), self.total.cost + rate.cost_per_hour / 60 * minutes


def billing_blocks(
    responses: Iterable[BilledResponse], prices: Prices, now: datetime
) -> list[BillingBlock]:
    """Returns the blocks and gaps in the order of time; what has no time is in none."""
    found: list[BillingBlock] = []
    start = last = datetime.min.replace(tzinfo=UTC)
    row: SpendingRow | None = None
    timed = [(one.time, one) for one in responses if one.time is not None]
    for time, response in sorted(timed, key=lambda pair: pair[0]):
        if row is None or time - start > BLOCK_LENGTH or time - last > BLOCK_LENGTH:
            if row is not None:
                found.append(_block_of(start, row, now))
                if time - last > BLOCK_LENGTH:
                    found.append(
                        BillingBlock(last + BLOCK_LENGTH, time, SpendingRow(None), is_gap=True)
                    )
            start, row = time.replace(minute=0, second=0, microsecond=0), SpendingRow(None)
        _add_to_block(row, response, prices)
        last = time
    if row is not None:
        found.append(_block_of(start, row, now))
    return found


def untimed_row(responses: Iterable[BilledResponse], prices: Prices) -> SpendingRow:
    """Returns the figures of what has no time, and so stands in no block."""
    row = SpendingRow(None)
    for response in responses:
        if response.time is None:
            _add_to_block(row, response, prices)
    return row


def _add_to_block(row: SpendingRow, response: BilledResponse, prices: Prices) -> None:
    tally = SpendingSum()
    tally.add(response, prices.cost(response.model, response.tokens, response.time))
    row.add((None, response.model or NO_MODEL, response.kind, False), tally)


def _block_of(start: datetime, row: SpendingRow, now: datetime) -> BillingBlock:
    end = start + BLOCK_LENGTH
    last = row.total.last or start
    is_active = now < end and now - last < BLOCK_LENGTH and last <= now
    row.models = dict(sorted(row.models.items(), key=lambda one: (-one[1].cost, one[0])))
    return BillingBlock(start, end, row, is_active=is_active)
