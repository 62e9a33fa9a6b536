"""The first page: what was done lately, what runs, what it took."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from plait.archive.live import LiveArchive, Money, SessionRows, cost_of, drawings
from plait.conversation.prices import Prices
from plait.conversation.spending import spending, within
from plait.view.page.frame import framed
from plait.view.page.lists.home import Home, WeekFigures, home_page
from plait.view.page.lists.rows import ListedSession
from plait.web.answers import html

RECENT = 12
SOON = timedelta(days=7)
WEEK = timedelta(days=7)


def serve_home(request: Request) -> Response:
    """Returns the first page, or what stands in it alone."""
    shelf: SessionRows = request.app.state.shelf
    page = home_page(_home_of(request.app.state.library, shelf))
    if "part" in request.query_params:
        return html(request, page)
    return html(request, framed("Plait", page, here="home", is_asking=True))


def _home_of(library: LiveArchive, shelf: SessionRows) -> Home:
    now = datetime.now(UTC)
    rows, money, is_counting = shelf.rows()
    newest = sorted(rows, key=lambda one: one.ended or "", reverse=True)
    running = [one for one in newest if one.is_live]
    recent = [one for one in newest if not one.is_live][:RECENT]
    days = shelf.days()
    make = partial(_two_weeks, money, days, library.prices, _beginning_of_week(now))
    weeks = shelf.remembered((money, rows), ("weeks", f"{now:%Y-%m-%d %H}"), make)
    return Home(
        now=now,
        running=running,
        recent=recent,
        drawings=drawings(library.now, [*running, *recent]),
        days=days,
        week=weeks[0],
        last_week=weeks[1],
        soon=_going_soon(rows, now),
        settings=[str(config / "settings.json") for config in library.now.archive.kept_days],
        total=len(rows),
        looked=[str(root) for root in library.roots],
        is_counting=is_counting,
    )


def _beginning_of_week(now: datetime) -> datetime:
    here = now.astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=here.weekday())


def _two_weeks(
    money: Money | None, days: Mapping[date, int], prices: Prices, monday: datetime
) -> tuple[WeekFigures | None, WeekFigures | None]:
    before = _spell(money, days, prices, monday - WEEK, monday)
    return _spell(money, days, prices, monday, monday + WEEK), before


def _spell(
    money: Money | None,
    days: Mapping[date, int],
    prices: Prices,
    start: datetime,
    end: datetime,
) -> WeekFigures | None:
    if money is None:
        return None
    chosen = within(money.responses, start, end)
    total = spending(chosen, "model", prices).totals.total
    first, last = start.astimezone().date(), end.astimezone().date()
    return WeekFigures(
        cost=cost_of(total),
        is_partly_priced=bool(total.unpriced),
        tokens=total.tokens.total,
        sessions=len({one.session for one in chosen}),
        turns=sum(count for day, count in days.items() if first <= day < last),
    )


def _going_soon(rows: Sequence[ListedSession], now: datetime) -> list[ListedSession]:
    soon = [one for one in rows if one.deleted_at and one.deleted_at - now < SOON]
    return sorted(soon, key=lambda one: one.deleted_at or now)
