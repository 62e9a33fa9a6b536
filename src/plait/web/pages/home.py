"""The first page: what was done lately, what runs, what it took."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from plait.conversation.prices import Prices
from plait.conversation.spending import spending, within
from plait.view.page.frame import framed
from plait.view.page.home import Home, Spell, home_page
from plait.view.page.listing import Listed
from plait.web.answers import html
from plait.web.drawings import drawings
from plait.web.library import Library
from plait.web.rows import Shelf, cost_of
from plait.web.sums import Money

RECENT = 12
SOON = timedelta(days=7)
WEEK = timedelta(days=7)


def serve(request: Request) -> Response:
    """Returns the first page, or what stands in it alone."""
    shelf: Shelf = request.app.state.shelf
    page = home_page(home_of(request.app.state.library, shelf))
    if "part" in request.query_params:
        return html(request, page)
    return html(request, framed("Plait", page, here="home", is_asking=True))


def home_of(library: Library, shelf: Shelf) -> Home:
    """Returns what the first page is made of."""
    now = datetime.now(UTC)
    rows, money, is_counting = shelf.rows()
    newest = sorted(rows, key=lambda one: one.ended or "", reverse=True)
    running = [one for one in newest if one.is_live]
    recent = [one for one in newest if not one.is_live][:RECENT]
    days = shelf.days()
    make = partial(two_weeks, money, days, library.prices, beginning_of_week(now))
    weeks = shelf.remembered((money, rows), ("weeks", f"{now:%Y-%m-%d %H}"), make)
    return Home(
        now=now,
        running=running,
        recent=recent,
        drawings=drawings(library.now, [*running, *recent]),
        days=days,
        week=weeks[0],
        last_week=weeks[1],
        soon=going_soon(rows, now),
        settings=[str(config / "settings.json") for config in library.now.archive.kept_days],
        total=len(rows),
        looked=[str(root) for root in library.roots],
        is_counting=is_counting,
    )


def beginning_of_week(now: datetime) -> datetime:
    """Returns the last Monday, as it began here."""
    here = now.astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=here.weekday())


def two_weeks(
    money: Money | None, days: Mapping[date, int], prices: Prices, monday: datetime
) -> tuple[Spell | None, Spell | None]:
    """Returns what was spent in the week that began on a Monday, and in the one before."""
    before = spell(money, days, prices, monday - WEEK, monday)
    return spell(money, days, prices, monday, monday + WEEK), before


def spell(
    money: Money | None,
    days: Mapping[date, int],
    prices: Prices,
    start: datetime,
    end: datetime,
) -> Spell | None:
    """Returns what was spent in some days, None while that is being counted."""
    if money is None:
        return None
    chosen = within(money.responses, start, end)
    total = spending(chosen, "model", prices).totals.total
    first, last = start.astimezone().date(), end.astimezone().date()
    return Spell(
        cost=cost_of(total),
        is_partly_priced=bool(total.unpriced),
        tokens=total.tokens,
        sessions=len({one.session for one in chosen}),
        turns=sum(count for day, count in days.items() if first <= day < last),
    )


def going_soon(rows: Sequence[Listed], now: datetime) -> list[Listed]:
    """Returns the sessions that the cleanup will delete soon, the first to go first."""
    soon = [one for one in rows if one.deleted_at and one.deleted_at - now < SOON]
    return sorted(soon, key=lambda one: one.deleted_at or now)
