"""An archive to what stands out in it: trends, outliers, habits.

Faces that have counted already give what they have; the rule is the same.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from plait.conversation.insights.habits import Observed, habits_in
from plait.conversation.insights.model import Insights, Outlier
from plait.conversation.insights.outliers import outliers_in
from plait.conversation.insights.trends import trends_of
from plait.conversation.prices import Prices
from plait.conversation.spending import By, spending, within
from plait.conversation.stats.model import QUARTER, DayFigures, Figures, SessionPart
from plait.conversation.usage import BilledResponse
from plait.conversation.waste.findings import Waste

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Several


class Span(NamedTuple):
    """The time that is looked at."""

    since: datetime | None
    until: datetime | None
    now: datetime
    zone: tzinfo | None = None


class CountedBefore(NamedTuple):
    """What was counted, and is looked through."""

    figures: Figures
    """Of the span."""
    parts: Sequence[tuple[str, SessionPart]]
    days: Sequence[DayFigures]
    """Of all time."""
    responses: Sequence[BilledResponse]
    """Of all time, too."""
    waste: Waste | None


def insights_of(counted: CountedBefore, span: Span, prices: Prices) -> Insights:
    """Returns what stands out in what was counted."""
    chosen = within(counted.responses, span.since, span.until)
    observed = Observed(
        counted.figures,
        counted.parts,
        counted.waste,
        _costs(chosen, "model", prices, span.zone),
        lambda quarter: _hour(quarter, span.zone),
    )
    dates = span.since, span.until, span.now, span.zone
    return Insights(
        trends=trends_of(counted.responses, counted.days, prices, *dates),
        outliers=tuple(_outliers(counted, chosen, span, prices)),
        habits=habits_in(observed),
    )


def _outliers(
    counted: CountedBefore, chosen: Sequence[BilledResponse], span: Span, prices: Prices
) -> list[Outlier]:
    parts = counted.parts
    times = {name: float(part.spent.get("working_ms", 0)) for name, part in parts}
    failed = {name: float(part.counts.get("failed", 0)) for name, part in parts}
    prompts = {one.day: float(one.prompts) for one in counted.figures.days}
    return [
        *outliers_in(_costs(chosen, "session", prices, span.zone), "session", "cost"),
        *outliers_in(times, "session", "time"),
        *outliers_in(failed, "session", "failed"),
        *outliers_in(_costs(chosen, "daily", prices, span.zone), "day", "cost"),
        *outliers_in(prompts, "day", "prompts"),
    ]


def _costs(
    responses: Sequence[BilledResponse], by: By, prices: Prices, zone: tzinfo | None
) -> Mapping[str, float]:
    rows = spending(responses, by, prices, zone).rows
    return {row.key: row.total.cost for row in rows if row.key}


def _hour(quarter: int, zone: tzinfo | None) -> tuple[int, int] | None:
    try:
        here = datetime.fromtimestamp(quarter * QUARTER, UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):  # a year that no clock knows
        return None
    return here.weekday(), here.hour


def archive_insights(
    archive: "Archive", sessions: "Several", span: Span, prices: Prices
) -> Insights:
    """Returns what stands out in some sessions of an archive, or in all."""
    chosen = archive.named(sessions)
    names = {one.id for one in chosen}
    whole = archive.stats_by_session(chosen, zone=span.zone)
    found = whole
    if span.since or span.until:
        found = archive.stats_by_session(chosen, zone=span.zone, since=span.since, until=span.until)
    responses = [one for one in archive.responses().responses if one.session in names]
    counted = CountedBefore(
        found.figures,
        [(session.id, part) for session, part in found.parts],
        whole.figures.days,
        responses,
        archive.waste(chosen, prices, span.since, span.until),
    )
    return insights_of(counted, span, prices)
