"""The pages of figures: tokens and money, and what was done with them."""

from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import ListedSessions
from plait.view.page.figures.insights import Insights, insights_figures
from plait.view.page.figures.period import USUAL, FiguresPage, Period, figures_page, period_in
from plait.view.page.figures.usage import usage_figures, usage_in
from plait.view.page.lists.rows import short_place
from plait.web.answers import library_in, page_or_part


def _serve_insights(request: Request) -> Response:
    library = library_in(request)
    span = period_in(request.query_params)
    bounds = span.bounds(datetime.now(UTC), USUAL["insights"])
    figures, is_counting = library.figures(span.project or None, *bounds).ask()
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
        known = {one.name: one for one in rows.sessions}
        given = rows.money.responses, rows.money.left, span, now, library.prices
        make = partial(usage_in, *given, known, rows.places, is_counting=rows.is_counting)
        name = "usage page", span, f"{now:%d %H:%M}"
        usage = library.made.of(name, (rows.money, rows.sessions), make)
    told = usage_figures(usage, is_counting=rows.is_counting)
    return _answered(request, "usage", span, told, rows)


def _answered(
    request: Request, here: FiguresPage, span: Period, told: str, rows: ListedSessions
) -> Response:
    names = {name: short_place(place) for name, place in rows.places.items()}
    page = partial(figures_page, here, span, told, names)
    return page_or_part(request, here.capitalize(), lambda: told, page, here=here)


ROUTES = (Route("/usage", _serve_usage), Route("/insights", _serve_insights))
