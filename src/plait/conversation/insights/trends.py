"""Responses and days to trends: a period against the one before it, and week by week."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta, tzinfo

from plait.conversation.insights.model import Measure, Trend, Trends
from plait.conversation.prices import Prices
from plait.conversation.spending import SpendingSum, sum_of
from plait.conversation.stats.model import DayFigures
from plait.conversation.usage import BilledResponse

USUAL_DAYS = 30
"""How long a period is where all time is asked for."""
WEEKS = 12
LEAST_DAYS = 3
"""Days with anything in them, in both periods together, from which on they are compared."""


def trends_of(
    responses: Iterable[BilledResponse],
    days: Sequence[DayFigures],
    prices: Prices,
    since: datetime | None,
    until: datetime | None,
    now: datetime,
    zone: tzinfo | None = None,
) -> Trends | None:
    """Returns a period beside the one before it; None where too little happened in both."""
    book = _Book(responses, days, prices, zone)
    last = _last_day(until, now, zone)
    if since is None and until is None:
        last = book.last_until(last)
    first = since.astimezone(zone).date() if since else last - timedelta(days=USUAL_DAYS - 1)
    if last < first:
        return None
    length = (last - first).days + 1
    earlier = first - timedelta(days=length)
    if book.active(earlier, last) < LEAST_DAYS:
        return None
    monday = last - timedelta(days=last.weekday())
    weeks = [monday - timedelta(days=7 * back) for back in reversed(range(WEEKS))]
    measures = tuple(
        Trend(
            measure=name,
            now=amount(first, last),
            before=amount(earlier, first - timedelta(days=1)),
            weeks=tuple(amount(week, min(week + timedelta(days=6), last)) for week in weeks),
        )
        for name, amount in book.measures()
    )
    return Trends(
        since=first.isoformat(),
        until=last.isoformat(),
        before_since=earlier.isoformat(),
        before_until=(first - timedelta(days=1)).isoformat(),
        weeks=tuple(week.isoformat() for week in weeks),
        measures=measures,
    )


def _last_day(until: datetime | None, now: datetime, zone: tzinfo | None) -> date:
    today = now.astimezone(zone).date()
    if until is None:
        return today
    return min((until - timedelta(microseconds=1)).astimezone(zone).date(), today)


class _Book:
    """What happened, by day."""

    def __init__(
        self,
        responses: Iterable[BilledResponse],
        days: Sequence[DayFigures],
        prices: Prices,
        zone: tzinfo | None,
    ) -> None:
        held: dict[date, list[BilledResponse]] = {}
        self._sessions: dict[date, set[str]] = {}
        for one in responses:
            if one.time is not None:
                day = one.time.astimezone(zone).date()
                held.setdefault(day, []).append(one)
                self._sessions.setdefault(day, set()).add(one.session)
        self._spent = {day: sum_of(found, prices) for day, found in held.items()}
        self._days = {date.fromisoformat(one.day): one for one in days}

    def last_until(self, day: date) -> date:
        """Returns the last day, up to another, on which anything happened."""
        found = [one for one in self._spent.keys() | self._days.keys() if one <= day]
        return max(found, default=day)

    def active(self, first: date, last: date) -> int:
        """Returns on how many days anything happened."""
        return sum(first <= day <= last for day in self._spent.keys() | self._days.keys())

    def measures(self) -> list[tuple[Measure, Callable[[date, date], float]]]:
        """Returns what is measured, each with what adds it up between two days."""
        return [
            ("cost", lambda first, last: self._sum(first, last, lambda one: one.cost)),
            ("tokens", lambda first, last: self._sum(first, last, lambda one: one.tokens.total)),
            ("sessions", self._held),
            ("prompts", lambda first, last: self._count(first, last, lambda one: one.prompts)),
            ("calls", lambda first, last: self._count(first, last, lambda one: one.calls)),
            ("failed", lambda first, last: self._count(first, last, lambda one: one.failed)),
        ]

    def _sum(self, first: date, last: date, of: Callable[[SpendingSum], float]) -> float:
        return sum(of(one) for day, one in self._spent.items() if first <= day <= last)

    def _count(self, first: date, last: date, of: Callable[[DayFigures], int]) -> float:
        return sum(of(one) for day, one in self._days.items() if first <= day <= last)

    def _held(self, first: date, last: date) -> float:
        found = [names for day, names in self._sessions.items() if first <= day <= last]
        return len(set().union(*found))
