"""Tokens and cost of responses, summed by day, week, month, session, project, model or block.

A billing block is what a plan's limits count by: it starts at the full hour (UTC) of its first
response and lasts five hours; it also ends after five hours without any response. The cost of the
active block is projected to its end.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, Protocol, TypeAlias, TypeVar, get_args

from msgspec import Struct, field

from plait.conversation.prices import Prices, format_unpriced_model
from plait.conversation.usage import NO_TOKENS, BilledResponse, RunKind, Tokens
from plait.errors import UserError

GroupBy: TypeAlias = Literal["daily", "weekly", "monthly", "session", "project", "model", "agent"]
NO_MODEL = "unnamed"
QUARTER = 15 * 60
"""Seconds; offsets of time zones are multiples of it, and so are the starts of days."""
LEAST_DIFFERENCE = 1e-6
"""Dollars below which two costs are equal."""
BLOCK_LENGTH = timedelta(hours=5)
MINUTE = timedelta(minutes=1)
Slot: TypeAlias = tuple[str | None, str, RunKind, bool]
"""Row key, model, kind of run, and whether the responses were abandoned."""


class SpendingSum(Struct, gc=False):
    """Tokens and cost of several responses."""

    responses: int = 0
    tokens: Tokens = NO_TOKENS
    cost: float = 0.0
    """Of the responses that have a price."""
    unpriced: dict[str, int] = field(default_factory=dict)
    """Responses without a price, by model."""
    logged: float | None = None
    """The cost reported in the logs; None if there is none."""
    units: float | None = None
    """What agents charged in a unit of their own, such as Copilot's; never dollars."""
    first: datetime | None = None
    last: datetime | None = None

    @property
    def known_cost(self) -> float | None:
        """The cost; None if no response has a price."""
        has_none = self.unpriced and sum(self.unpriced.values()) == self.responses
        return None if has_none else self.cost

    def add(self, response: BilledResponse, cost: float | None) -> None:
        """Add one response."""
        self.responses += 1
        self.tokens += response.tokens
        if cost is None:
            self.add_unpriced(response)
        else:
            self.cost += cost
        if response.logged is not None:
            self.logged = (self.logged or 0.0) + response.logged
        if response.units is not None:
            self.units = (self.units or 0.0) + response.units
        self._extend(response.time, response.time)

    def add_unpriced(self, response: BilledResponse) -> None:
        """Note the model of a response that has no price."""
        name = format_unpriced_model(response.model, response.tokens)
        self.unpriced[name] = self.unpriced.get(name, 0) + 1

    def merge(self, other: "SpendingSum") -> None:
        """Add another sum."""
        self.responses += other.responses
        self.tokens += other.tokens
        self.cost += other.cost
        for name, count in other.unpriced.items():
            self.unpriced[name] = self.unpriced.get(name, 0) + count
        if other.logged is not None:
            self.logged = (self.logged or 0.0) + other.logged
        if other.units is not None:
            self.units = (self.units or 0.0) + other.units
        self._extend(other.first, other.last)

    def _extend(self, first: datetime | None, last: datetime | None) -> None:
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last


class SpendingRow(Struct, gc=False):
    """The sums of a day, a session or another group, and of parts of it."""

    key: str | None
    """None for responses without a date or a model."""
    total: SpendingSum = field(default_factory=SpendingSum)
    models: dict[str, SpendingSum] = field(default_factory=dict)
    """Highest cost first."""
    agents: SpendingSum = field(default_factory=SpendingSum)
    """Sub-agents and workflows."""
    service: SpendingSum = field(default_factory=SpendingSum)
    """Background requests by Claude Code: compaction, suggestions, cache warm-up."""
    abandoned: SpendingSum = field(default_factory=SpendingSum)
    """Responses on abandoned branches, with their sub-agents."""

    def add(self, slot: Slot, tally: SpendingSum) -> None:
        """Add the sum of one slot."""
        _, model, kind, is_abandoned = slot
        self.total.merge(tally)
        self.models.setdefault(model, SpendingSum()).merge(tally)
        if kind in ("agent", "workflow"):
            self.agents.merge(tally)
        if kind == "service":
            self.service.merge(tally)
        if is_abandoned:
            self.abandoned.merge(tally)

    def merge(self, other: "SpendingRow") -> None:
        """Add another row."""
        self.total.merge(other.total)
        self.agents.merge(other.agents)
        self.service.merge(other.service)
        self.abandoned.merge(other.abandoned)
        for name, tally in other.models.items():
            self.models.setdefault(name, SpendingSum()).merge(tally)

    def sort_models(self) -> None:
        """Put the models with the highest cost first."""
        self.models = dict(sorted(self.models.items(), key=lambda item: (-item[1].cost, item[0])))


class Spending(Struct, frozen=True):
    """Rows, and their total."""

    rows: tuple[SpendingRow, ...]
    totals: SpendingRow

    def __iter__(self) -> Iterator[SpendingRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def sum_by_session(responses: Iterable[BilledResponse], prices: Prices) -> dict[str, SpendingSum]:
    """Return the sum of each session, by id."""
    return {row.key or "": row.total for row in group_spending(responses, "session", prices).rows}


def group_spending(
    responses: Iterable[BilledResponse],
    by: GroupBy,
    prices: Prices,
    zone: tzinfo | None = None,
    abandoned: Collection[str | None] = (),
) -> Spending:
    """Return the sums of responses by group, the earliest or first name first.

    `abandoned` holds the uuids of responses on abandoned branches.
    """
    by_slot: dict[Slot, list[BilledResponse]] = {}
    get_key = make_key_function(by, zone)
    for response in responses:
        model, is_abandoned = response.model or NO_MODEL, response.uuid in abandoned
        slot = (get_key(response), model, response.kind, is_abandoned)
        known = by_slot.get(slot)
        if known is None:
            by_slot[slot] = [response]
        else:
            known.append(response)
    rows: dict[str | None, SpendingRow] = {}
    totals = SpendingRow(None)
    for slot, found in by_slot.items():
        tally = sum_responses(found, prices)
        rows.setdefault(slot[0], SpendingRow(slot[0])).add(slot, tally)
        totals.add(slot, tally)
    for row in (totals, *rows.values()):
        row.sort_models()
    ordered = sorted(rows.values(), key=lambda row: (row.key is None, row.key or ""))
    return Spending(tuple(ordered), totals)


def sum_responses(responses: list[BilledResponse], prices: Prices) -> SpendingSum:
    """Return the sum of many responses, column by column: several times faster than `add`."""
    tokens = [response.tokens for response in responses]
    tally = SpendingSum(
        len(responses),
        Tokens(
            sum([part.input for part in tokens]),
            sum([part.output for part in tokens]),
            sum([part.cache_write_5m for part in tokens]),
            sum([part.cache_write_1h for part in tokens]),
            sum([part.cache_read for part in tokens]),
            sum([part.web_searches for part in tokens]),
            sum([part.web_fetches for part in tokens]),
        ),
    )
    get_cost, total = prices.cost, 0.0
    for response in responses:  # not by sum(): Python 3.12 rounds it differently
        cost = get_cost(response.model, response.tokens, response.time)
        if cost is None:
            tally.add_unpriced(response)
        else:
            total += cost
        if response.logged is not None:
            tally.logged = (tally.logged or 0.0) + response.logged
        if response.units is not None:
            tally.units = (tally.units or 0.0) + response.units
    tally.cost = total
    times = [response.time for response in responses if response.time is not None]
    tally.first, tally.last = min(times, default=None), max(times, default=None)
    return tally


def make_key_function(by: GroupBy, zone: tzinfo | None) -> Callable[[BilledResponse], str | None]:
    """Return a function that gives the key of a response's row."""
    if by == "session":
        return lambda response: response.session
    if by == "project":
        return lambda response: response.project
    if by == "model":
        return lambda response: response.model
    if by == "agent":
        return lambda response: response.source
    make_key = PERIOD_KEYS[by]
    keys: dict[float, str] = {}

    def get_period_key(response: BilledResponse) -> str | None:
        if response.time is None:
            return None
        quarter = response.time.timestamp() // QUARTER
        if quarter not in keys:
            keys[quarter] = make_key(response.time.astimezone(zone))
        return keys[quarter]

    return get_period_key


def format_iso_day(time: datetime) -> str:
    """Return a day as YYYY-MM-DD."""
    return f"{time.year:04}-{time.month:02}-{time.day:02}"


PERIOD_KEYS: dict[str, Callable[[datetime], str]] = {
    "daily": format_iso_day,
    "weekly": lambda time: format_iso_day(time - timedelta(days=time.weekday())),
    "monthly": lambda time: f"{time.year:04}-{time.month:02}",
}
"""The keys of days, weeks (their Mondays) and months."""


class Timed(Protocol):
    """Anything with a time, or none."""

    @property
    def time(self) -> datetime | None:
        """The time."""


T = TypeVar("T", bound=Timed)


def filter_by_time(
    responses: Sequence[T], start: datetime | None, end: datetime | None
) -> Sequence[T]:
    """Return the responses of a period; those without a time are in none."""
    if start is None and end is None:
        return responses
    return [response for response in responses if is_in_period(response.time, start, end)]


def is_in_period(time: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    """Tell whether a time is in a period, whose end is exclusive."""
    return time is not None and (start is None or time >= start) and (end is None or time < end)


class UnloggedCost(Struct, frozen=True, gc=False):
    """The cost that the client counted in a session beyond the responses in its log."""

    session: str
    project: str
    time: datetime | None
    """Time of the last response: the client states none."""
    cost: float


def find_unlogged_costs(
    responses: Iterable[BilledResponse], own_costs: Mapping[str, float], prices: Prices
) -> tuple[UnloggedCost, ...]:
    """Return what the client counted beyond the logs: compactions, and requests that failed.

    A session with any unpriced response is left out: its sums cannot be compared.
    """
    spent: dict[str, float | None] = {}
    latest: dict[str, BilledResponse] = {}
    for response in responses:
        session, cost = response.session, None
        if session in own_costs:
            cost = prices.cost(response.model, response.tokens, response.time)
        before = spent.get(session, 0.0)
        spent[session] = None if cost is None or before is None else before + cost
        known = latest.get(session)
        if known is None or (response.time and (not known.time or response.time > known.time)):
            latest[session] = response
    return tuple(
        UnloggedCost(
            session, latest[session].project, latest[session].time, own_costs[session] - cost
        )
        for session, cost in spent.items()
        if cost is not None and own_costs[session] - cost > LEAST_DIFFERENCE
    )


class BurnRate(Struct, frozen=True):
    """How fast a block is used, between its first and last response."""

    tokens_per_minute: float
    cost_per_hour: float


class BillingBlock(Struct, frozen=True):
    """Five hours with responses, or a gap without any."""

    start: datetime
    end: datetime
    row: SpendingRow
    is_gap: bool = False
    is_active: bool = False

    @property
    def total(self) -> SpendingSum:
        """The sum of its responses."""
        return self.row.total

    @property
    def rate(self) -> BurnRate | None:
        """Its burn rate; None if its responses all have one time."""
        first, last = self.total.first, self.total.last
        minutes = (last - first) / MINUTE if first and last else 0.0
        if minutes <= 0:
            return None
        return BurnRate(self.total.tokens.total / minutes, self.total.cost / minutes * 60)

    def time_left(self, now: datetime) -> timedelta:
        """Return the time until its end."""
        return max(self.end - now, timedelta(0))

    def projected(self, now: datetime) -> tuple[int, float] | None:
        """Return the tokens and the cost at its end at the current rate."""
        rate = self.rate
        if not self.is_active or rate is None:
            return None
        minutes = self.time_left(now) / MINUTE
        tokens = self.total.tokens.total + rate.tokens_per_minute * minutes
        return round(tokens), self.total.cost + rate.cost_per_hour / 60 * minutes


def build_billing_blocks(
    responses: Iterable[BilledResponse], prices: Prices, now: datetime
) -> list[BillingBlock]:
    """Return blocks and gaps in the order of time; responses without a time are in none."""
    blocks: list[BillingBlock] = []
    start = last = datetime.min.replace(tzinfo=UTC)
    row: SpendingRow | None = None

    def close(row: SpendingRow) -> None:
        end = start + BLOCK_LENGTH
        last = row.total.last or start
        row.sort_models()
        is_active = now < end and now - last < BLOCK_LENGTH and last <= now
        blocks.append(BillingBlock(start, end, row, is_active=is_active))

    timed = [(response.time, response) for response in responses if response.time is not None]
    for time, response in sorted(timed, key=lambda pair: pair[0]):
        if row is None or time - start > BLOCK_LENGTH or time - last > BLOCK_LENGTH:
            if row is not None:
                close(row)
                if time - last > BLOCK_LENGTH:
                    gap = BillingBlock(last + BLOCK_LENGTH, time, SpendingRow(None), is_gap=True)
                    blocks.append(gap)
            start, row = time.replace(minute=0, second=0, microsecond=0), SpendingRow(None)
        _add_response(row, response, prices)
        last = time
    if row is not None:
        close(row)
    return blocks


def build_untimed_row(responses: Iterable[BilledResponse], prices: Prices) -> SpendingRow:
    """Return the sums of responses without a time, which are in no block."""
    row = SpendingRow(None)
    for response in responses:
        if response.time is None:
            _add_response(row, response, prices)
    return row


def _add_response(row: SpendingRow, response: BilledResponse, prices: Prices) -> None:
    tally = SpendingSum()
    tally.add(response, prices.cost(response.model, response.tokens, response.time))
    row.add((None, response.model or NO_MODEL, response.kind, False), tally)


Dimension: TypeAlias = Literal["project", "model", "session", "agent", "day", "week", "month"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
GROUP_BY: dict[Dimension, GroupBy] = {
    "project": "project",
    "model": "model",
    "session": "session",
    "agent": "agent",
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
}
TIMES: tuple[Dimension, ...] = ("day", "week", "month")
CellKey: TypeAlias = tuple[str | None, ...]
"""The key of a cell in each dimension, in their order."""


class CrossTable(Struct, frozen=True):
    """Sums by several dimensions at once.

    Each response is in one cell, so that the sums along all dimensions agree:

        project × model × week      the cells
        project × week              the same, summed over models
        week                        what a report by week says
    """

    dimensions: tuple[Dimension, ...]
    cells: Mapping[CellKey, SpendingSum]
    totals: SpendingSum

    def __iter__(self) -> Iterator[CellKey]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def sums_by(self, *dimensions: Dimension) -> dict[CellKey, SpendingSum]:
        """Return the sums by some dimensions; of a single one times in order, the rest by cost."""
        places = [self.dimensions.index(dimension) for dimension in dimensions]
        sums: dict[CellKey, SpendingSum] = {}
        for cell, tally in self.cells.items():
            key = tuple(cell[place] for place in places)
            sums.setdefault(key, SpendingSum()).merge(tally)
        if len(dimensions) != 1:
            return sums

        def get_rank(item: tuple[CellKey, SpendingSum]) -> tuple[object, ...]:
            (key,), tally = item
            if dimensions[0] in TIMES:
                return (key is None, key or "")
            return (-tally.cost, -tally.tokens.total, key or "")

        return dict(sorted(sums.items(), key=get_rank))

    def names(self, dimension: Dimension) -> list[str | None]:
        """Return the keys of one dimension: times in order, the rest by cost."""
        return [key for (key,) in self.sums_by(dimension)]

    def sorted_cells(self) -> list[tuple[CellKey, SpendingSum]]:
        """Return all cells in the order of the names of each dimension."""
        ranks = [
            {name: rank for rank, name in enumerate(self.names(dimension))}
            for dimension in self.dimensions
        ]
        return sorted(
            self.cells.items(),
            key=lambda cell: [rank[key] for rank, key in zip(ranks, cell[0], strict=True)],
        )


def build_cross_table(
    responses: Iterable[BilledResponse],
    dimensions: Sequence[Dimension],
    prices: Prices,
    zone: tzinfo | None = None,
) -> CrossTable:
    """Return the sums of responses by several dimensions."""
    key_functions = [make_key_function(GROUP_BY[dimension], zone) for dimension in dimensions]
    by_cell: dict[CellKey, list[BilledResponse]] = {}
    for response in responses:
        cell = tuple(get_key(response) for get_key in key_functions)
        by_cell.setdefault(cell, []).append(response)
    cells = {cell: sum_responses(found, prices) for cell, found in by_cell.items()}
    totals = SpendingSum()
    for tally in cells.values():
        totals.merge(tally)
    return CrossTable(tuple(dimensions), cells, totals)


MOST_DIMENSIONS = 3


def parse_dimensions(text: str) -> tuple[Dimension, ...]:
    """Parse the dimensions of a cross table: `project,model,week`."""
    example = "`--by project,model,week`"
    dimensions: list[Dimension] = []
    for word in text.split(","):
        dimension = next((known for known in DIMENSIONS if known == word.strip()), None)
        if dimension is None:
            known = ", ".join(DIMENSIONS)
            raise UserError(f"cannot group by '{word.strip()}'", f"choose from {known}")
        if dimension in dimensions:
            raise UserError(f"'{dimension}' is given twice", example)
        dimensions.append(dimension)
    if sum(dimension in TIMES for dimension in dimensions) > 1:
        raise UserError("use only one of day, week and month", "`--by project,week`")
    if len(dimensions) > MOST_DIMENSIONS:
        raise UserError(f"use at most {MOST_DIMENSIONS} dimensions", example)
    return tuple(dimensions)
