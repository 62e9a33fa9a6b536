"""The pages of figures: tokens and money, and what was done with them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import ListedSessions, Money, Period
from plait.conversation.prices import Prices
from plait.conversation.spending import By, billing_blocks, spending, within
from plait.conversation.usage import BilledResponse as Answered
from plait.view.page.figures.insights import Insights, insights_figures
from plait.view.page.figures.period import USUAL, FiguresPage, figures_page, period_in
from plait.view.page.figures.period import Period as PagePeriod
from plait.view.page.figures.usage import CacheSavings, Usage, usage_figures
from plait.view.page.lists.rows import short_place
from plait.web.answers import page_or_part
from plait.web.requests import library_in

BY: dict[str, By] = {"day": "daily", "week": "weekly", "month": "monthly"}
MANY_DAYS = 120


def _serve_insights(request: Request) -> Response:
    library = library_in(request)
    span = period_in(request.query_params)
    bounds = span.bounds(datetime.now(UTC), USUAL["insights"])
    figures, is_counting = library.figures(Period(span.project or None, *bounds)).ask()
    insights, rows = None, library.rows()
    if figures is not None:
        known = {one.name: one for one in rows.sessions}
        insights = Insights(figures, library.hours(), known, is_counting)
    told = insights_figures(insights, is_counting=is_counting)
    return _answered(request, "insights", span, told, rows)


def _serve_usage(request: Request) -> Response:
    library = library_in(request)
    span, now = period_in(request.query_params), datetime.now(UTC)
    rows = library.rows()
    usage = None
    if rows.money is not None:
        make = partial(_usage_of, rows, rows.money, span, now, library.prices)
        name = "usage page", span, f"{now:%d %H:%M}"
        usage = library.made.of(name, (rows.money, rows.sessions), make)
    told = usage_figures(usage, is_counting=rows.is_counting)
    return _answered(request, "usage", span, told, rows)


def _answered(
    request: Request, here: FiguresPage, span: PagePeriod, told: str, rows: ListedSessions
) -> Response:
    names = {name: short_place(place) for name, place in rows.places.items()}
    page = partial(figures_page, here, span, told, names)
    return page_or_part(request, here.capitalize(), lambda: told, page, here=here)


def _usage_of(
    rows: ListedSessions, money: Money, span: PagePeriod, now: datetime, prices: Prices
) -> Usage:
    chosen = within(money.responses, *span.bounds(now, USUAL["usage"]))
    if span.project:
        chosen = [one for one in chosen if one.project == span.project]
    step = span.by or _usual_step(chosen)
    return Usage(
        span=span,
        now=now,
        step=step,
        periods=spending(chosen, BY[step], prices, None, money.left),
        projects=spending(chosen, "project", prices),
        sessions=spending(chosen, "session", prices),
        blocks=billing_blocks(chosen, prices, now),
        saved=_saved_by_cache(chosen, prices),
        known={one.name: one for one in rows.sessions},
        places=rows.places,
        is_counting=rows.is_counting,
    )


def _usual_step(responses: Sequence[Answered]) -> str:
    times = [one.time for one in responses if one.time]
    is_long = times and (max(times) - min(times)).days > MANY_DAYS
    return "week" if is_long else "day"


def _saved_by_cache(responses: Sequence[Answered], prices: Prices) -> CacheSavings:
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


ROUTES = (Route("/usage", _serve_usage), Route("/insights", _serve_insights))
