"""`plait insights`: trends, habits and outliers."""

from typing import Any

import msgspec

from plait.cli import shared
from plait.cli.options import Request, command
from plait.cli.selection import Filters
from plait.insights.report import (
    HABIT_WORDS,
    MEASURE_NAMES,
    OUTLIER_RULE,
    Habit,
    Insights,
    Trends,
    format_amount,
    format_change,
    format_habit_counts,
    format_habit_title,
    format_outlier,
    group_by_session,
)
from plait.record.time_words import parse_zone
from plait.terminal.text import GAP, SHORT_ID, align_cells, now, safe_line, short_id
from plait.view.charts import draw_columns
from plait.view.text import shorten_to_width

FIGURE_WIDTH = 11


@command(examples="plait insights\nplait insights shop --since 30d")
def insights_command(
    request: Request,
    filters: Filters,
    name: str | None = shared.name,
    timezone: str | None = shared.timezone,
    no_index: bool = shared.no_index,
    as_json: bool = shared.as_json,
) -> None:
    """Show trends, habits with their evidence, and outlier sessions and days.

    Covers all sessions or one PROJECT. A period is compared with the one before it; outliers are
    relative to your own median; habits are shown only with enough evidence.
    """
    zone, output = parse_zone(timezone), request.output
    start, end = filters.period(zone)
    with request.open_archive(no_index=no_index) as archive:
        sessions = Filters(project=filters.project).select(request, name)
        insights: Insights = archive.insights(
            sessions, prices=request.prices, zone=zone, since=start, until=end, now=now()
        )
    if as_json:
        value: dict[str, Any] = msgspec.to_builtins(insights)
        for habit, plain in zip(insights.habits, value["habits"], strict=True):
            plain["rule"] = HABIT_WORDS[habit.kind].rule
            plain["advice"] = HABIT_WORDS[habit.kind].advice
        output.json(value)
        return
    if not (insights.trends or insights.habits or insights.outliers):
        output.print("no insights: too few sessions, or nothing unusual")
        return
    by_id = {session.id: session for session in sessions}

    def find_title(session_id: str) -> str:
        session = by_id.get(session_id)
        title = request.archive.facts(session).title if session else None
        return " ".join((title or "(no title)").split())

    with output.paged():
        if insights.trends:
            _print_trends(request, insights.trends)
        for habit in insights.habits:
            _print_habit(request, habit, find_title)
        if insights.outliers:
            output.print("Outliers", style="bold")
            for outlier in insights.outliers:
                label = outlier.name
                if outlier.of != "day":
                    title = shorten_to_width(find_title(outlier.name), 40)
                    label = f"{short_id(outlier.name)}{GAP}{title}"
                line = safe_line(f"{label}{GAP}{format_outlier(outlier)}")
                output.print(shorten_to_width(line, output.width))
            output.print(OUTLIER_RULE, style="dim")


def _print_trends(request: Request, trends: Trends) -> None:
    heading = ("", f"since {trends.since}", f"since {trends.before_since}", "change", "12 weeks")
    rows = [
        (
            MEASURE_NAMES[measure.measure],
            format_amount(measure.measure, measure.now),
            format_amount(measure.measure, measure.before),
            format_change(measure),
            *draw_columns(measure.weeks),
        )
        for measure in trends.measures
    ]
    request.output.print("Trends", style="bold")
    for cells in align_cells([heading, *rows], right=(1, 2, 3)):
        request.output.print(GAP.join(cells).rstrip())
    request.output.print("")


def _print_habit(request: Request, habit: Habit, find_title: Any) -> None:
    output, words = request.output, HABIT_WORDS[habit.kind]
    output.print(safe_line(format_habit_title(habit)), style="bold")
    output.print(f"{format_habit_counts(habit)}: {words.advice}")
    output.print(f"threshold: {words.rule}", style="dim")
    for session, figures in group_by_session(habit):
        name = short_id(session).ljust(SHORT_ID)
        line = safe_line(f"{name}{GAP}{figures.rjust(FIGURE_WIDTH)}{GAP}{find_title(session)}")
        output.print(shorten_to_width(line, output.width))
    output.print("")
