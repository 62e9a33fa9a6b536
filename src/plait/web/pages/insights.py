"""The page of what was done: tools, files, hours, models."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from plait.view.page.frame import framed
from plait.view.page.insights import USUAL, Insights, insights_figures, insights_page
from plait.view.page.listing import short_place
from plait.view.page.span import span_in
from plait.web.answers import html
from plait.web.rows import Shelf


def serve(request: Request) -> Response:
    """Returns the page, or its figures alone."""
    shelf: Shelf = request.app.state.shelf
    span = span_in(request.query_params)
    bounds = span.bounds(datetime.now(UTC), USUAL)
    figures, is_counting = shelf.sums.figures(span.project or None, *bounds).ask()
    insights, rows = None, shelf.rows()
    if figures is not None:
        known = {one.name: one for one in rows.sessions}
        insights = Insights(figures, shelf.hours(), known, is_counting)
    names = {name: short_place(place) for name, place in rows.places.items()}
    told = insights_figures(insights, is_counting=is_counting)
    if "part" in request.query_params:
        return html(request, told)
    return html(request, framed("Insights", insights_page(span, told, names), here="insights"))
