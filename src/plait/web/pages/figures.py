"""The pages Usage, Insights and Waste, and the figures of Usage as CSV."""

from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from plait.archive.live import ListedSessions
from plait.insights.page import (
    InsightsPage,
    count_prompts_by_hour,
    render_insights_figures,
    render_waste_figures,
)
from plait.usage.page import (
    compute_usage_page,
    find_latest_period,
    render_usage_csv,
    render_usage_figures,
)
from plait.view.formats import format_day
from plait.view.page.session_rows import format_project
from plait.view.page.slices import (
    DEFAULT_RANGES,
    FiguresPage,
    Period,
    read_period,
    render_figures_page,
    slice_for_period,
)
from plait.web.responses import get_library, page_or_fragment


def serve_insights(request: Request) -> Response:
    """Serve what was done: tools, turns, files, hours, models, agents, and what is notable."""
    library = get_library(request)
    period, now = read_period(request.query_params), datetime.now(UTC)
    bounds = period.bounds(now, DEFAULT_RANGES["insights"])
    statistics, is_counting = library.figures(period.project or None, *bounds).get()
    insights, rows = None, library.rows()
    if statistics is not None:
        notable, is_looking = library.insights(period.project or None, *bounds)
        is_counting = is_counting or is_looking
        insights = InsightsPage(
            statistics.figures,
            count_prompts_by_hour(part for _, part in statistics.parts),
            {session.name: session for session in rows.sessions},
            slice_for_period(period, now, DEFAULT_RANGES["insights"]),
            is_counting,
            notable,
        )
    figures = render_insights_figures(insights, is_counting=is_counting)
    return _respond(request, "insights", period, figures, rows)


def serve_usage(request: Request) -> Response:
    """Serve tokens and cost: totals, over time, by project, model and session."""
    library = get_library(request)
    period, now = read_period(request.query_params), datetime.now(UTC)
    rows = library.rows()
    usage, note = None, ""
    if rows.billing is not None:
        asked, period = period, find_latest_period(rows.billing.responses, period, now)
        if period != asked:
            note = (
                '<p class="note-line" role="status">No usage in the last 30 days. These are the '
                f"last 30 days with usage, {period.since} to {period.until}.</p>"
            )
        compute = partial(
            compute_usage_page,
            rows.billing.responses,
            rows.billing.abandoned,
            period,
            now,
            library.prices,
            {session.name: session for session in rows.sessions},
            rows.directories,
            is_counting=rows.is_pending,
            beyond=rows.billing.unlogged,
        )
        key = "usage page", period, (now.day, now.hour, now.minute)
        usage = library.cache.get_or_make(key, (rows.billing, rows.sessions), compute)
    figures = note + render_usage_figures(usage, is_counting=rows.is_pending)
    return _respond(request, "usage", period, figures, rows)


def serve_csv(request: Request) -> Response:
    """Serve the figures of Usage as a file, once all of them are counted."""
    library = get_library(request)
    period, now = read_period(request.query_params), datetime.now(UTC)
    responses = library.billing.wait().responses
    rows = request.query_params.get("rows", "cross")
    titles = {session.name: session.display_title for session in library.rows().sessions}
    text = render_usage_csv(responses, period, now, library.prices, rows, titles)
    headers = {"Content-Disposition": f'attachment; filename="usage-{format_day(now)}.csv"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv", headers=headers)


def serve_waste(request: Request) -> Response:
    """Serve avoidable spending."""
    library = get_library(request)
    period, now = read_period(request.query_params), datetime.now(UTC)
    bounds = period.bounds(now, DEFAULT_RANGES["waste"])
    waste, is_counting = library.waste(period.project or None, *bounds).get()
    rows = library.rows()
    figures = render_waste_figures(
        waste and waste.waste,
        {session.name: session for session in rows.sessions},
        slice_for_period(period, now, DEFAULT_RANGES["waste"]),
        is_counting=is_counting,
    )
    return _respond(request, "waste", period, figures, rows)


def _respond(
    request: Request, page: FiguresPage, period: Period, figures: str, rows: ListedSessions
) -> Response:
    projects = {name: format_project(path) for name, path in rows.directories.items()}
    return page_or_fragment(
        request,
        page.capitalize(),
        lambda: figures,
        partial(render_figures_page, page, period, figures, projects),
        here="insights" if page == "waste" else page,
    )
