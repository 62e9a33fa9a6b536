"""Pages of figures: usage, insights, waste, and what a figure counts.

What draws them is loaded when one is asked for: a server is there sooner without it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import ListedSessions, LiveArchive, Money
from plait.conversation.spending import NO_MODEL
from plait.conversation.stats.model import SessionPart
from plait.view.forms import day_of, told_apart
from plait.view.page.figures.period import USUAL, FiguresPage, Period, figures_page, period_in
from plait.view.page.figures.slices import Slice, responses_in, slice_in, slice_of
from plait.view.page.lists.rows import short_place
from plait.web.answers import library_in, page_or_part

if TYPE_CHECKING:
    from plait.archive import CountedSessions
    from plait.view.page.figures.counted import CountedPage


def _serve_insights(request: Request) -> Response:
    from plait.view.page.figures.insights import Insights, hours_of, insights_figures

    library = library_in(request)
    span, now = period_in(request.query_params), datetime.now(UTC)
    bounds = span.bounds(now, USUAL["insights"])
    counted, is_counting = library.figures(span.project or None, *bounds).ask()
    insights, rows = None, library.rows()
    if counted is not None:
        known = {one.name: one for one in rows.sessions}
        hours = hours_of(part for _, part in counted.parts)
        base = slice_of(span, now, USUAL["insights"])
        found, is_looking = library.insights(span.project or None, *bounds)
        is_counting = is_counting or is_looking
        insights = Insights(counted.figures, hours, known, base, is_counting, found)
    told = insights_figures(insights, is_counting=is_counting)
    return _answered_figures(request, "insights", span, told, rows)


def _serve_usage(request: Request) -> Response:
    from plait.view.page.figures.spent import usage_in
    from plait.view.page.figures.usage import usage_figures

    library = library_in(request)
    span, now = period_in(request.query_params), datetime.now(UTC)
    rows = library.rows()
    usage = None
    if rows.money is not None:
        known = {one.name: one for one in rows.sessions}
        given = rows.money.responses, rows.money.left, span, now, library.prices
        make = partial(
            usage_in,
            *given,
            known,
            rows.places,
            is_counting=rows.is_counting,
            beyond=rows.money.beyond,
        )
        name = "usage page", span, (now.day, now.hour, now.minute)
        usage = library.made.of(name, (rows.money, rows.sessions), make)
    told = usage_figures(usage, is_counting=rows.is_counting)
    return _answered_figures(request, "usage", span, told, rows)


def _serve_csv(request: Request) -> Response:
    """Returns figures of usage as a file; all of them are counted first."""
    from plait.view.page.figures.spent import usage_csv

    library = library_in(request)
    span, now = period_in(request.query_params), datetime.now(UTC)
    money = library.money.whole()
    rows = request.query_params.get("rows", "cross")
    titles = {one.name: one.words for one in library.rows().sessions}
    text = usage_csv(money.responses, span, now, library.prices, rows, titles)
    named = {"Content-Disposition": f'attachment; filename="usage-{day_of(now)}.csv"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv", headers=named)


def _serve_waste(request: Request) -> Response:
    from plait.view.page.figures.waste import waste_figures

    library = library_in(request)
    span, now = period_in(request.query_params), datetime.now(UTC)
    bounds = span.bounds(now, USUAL["waste"])
    found, is_counting = library.waste(span.project or None, *bounds).ask()
    rows = library.rows()
    known = {one.name: one for one in rows.sessions}
    base = slice_of(span, now, USUAL["waste"])
    told = waste_figures(found and found.waste, known, base, is_counting=is_counting)
    return _answered_figures(request, "waste", span, told, rows)


def _serve_counted(request: Request) -> Response:
    from plait.view.page.figures.counted import counted_list, counted_page

    library, given = library_in(request), slice_in(request.query_params)
    page = _counted_page(library, given, library.rows())
    part, whole = partial(counted_list, page), partial(counted_page, page)
    here = "insights" if page.amounts is not None and given.of != "begun" else "usage"
    return page_or_part(request, "Counted", part, whole, here=here)


def _counted_page(library: LiveArchive, given: Slice, rows: ListedSessions) -> "CountedPage":
    from plait.view.page.figures.counted import CountedPage, begun_in, lost_in, parts_in

    known = {one.name: one for one in rows.sessions}
    if given.of in ("responses", "beyond"):
        page = CountedPage(given, known, rows.places, rows.is_counting)
        return page if rows.money is None else _of_money(library, page, rows.money)
    if given.of == "begun":
        turns = begun_in(given, library.now.begun, known)
        counts: dict[str, float] = {}
        for one in turns:
            counts[one.name] = counts.get(one.name, 0) + 1
        first = {one.name: one for one in reversed(turns)}
        return CountedPage(given, known, rows.places, False, amounts=counts, turns=first)
    chosen = given.project or None, *given.bounds
    if given.of == "waste":
        lost, is_counting = library.waste(*chosen).ask()
        told = lost and lost_in(given, ((library.now.named(one), part) for one, part in lost.parts))
        return CountedPage(given, known, rows.places, is_counting, amounts=told)
    counted, is_counting = library.figures(*chosen).ask()
    amounts = parts_in(given, _named(library, counted)) if counted else None
    names = told_apart(one.model for one in counted.figures.models) if counted else {}
    return CountedPage(given, known, rows.places, is_counting, amounts=amounts, models=names)


def _of_money(library: LiveArchive, page: "CountedPage", money: Money) -> "CountedPage":
    from plait.view.page.figures.counted import beyond_in, spent_in
    from plait.view.page.figures.spent import saved_by_cache

    given, prices = page.given, library.prices
    if given.of == "beyond":
        return page._replace(amounts=beyond_in(given, money.beyond))
    found = responses_in(given, money.responses, money.left, prices)
    saved = saved_by_cache(found, prices)
    names = told_apart({one.model or NO_MODEL for one in money.responses})
    spent = spent_in(found, prices)
    return page._replace(spent=spent, saved=saved.without - saved.paid, models=names)


def _named(library: LiveArchive, counted: "CountedSessions") -> Iterator[tuple[str, SessionPart]]:
    for session, part in counted.parts:
        yield library.now.named(session), part


def _answered_figures(
    request: Request, here: FiguresPage, span: Period, told: str, rows: ListedSessions
) -> Response:
    names = {name: short_place(place) for name, place in rows.places.items()}
    page = partial(figures_page, here, span, told, names)
    place = "usage" if here == "waste" else here
    return page_or_part(request, here.capitalize(), lambda: told, page, here=place)


ROUTES = (
    Route("/usage", _serve_usage),
    Route("/insights", _serve_insights),
    Route("/usage.csv", _serve_csv),
    Route("/waste", _serve_waste),
    Route("/counted", _serve_counted),
)
