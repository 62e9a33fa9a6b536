"""The Insights and Waste pages: trends, habits, outliers, tools, events, hours, files, savings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from plait.conversation.session_counts import (
    QUARTER,
    ArchiveFigures,
    LongTurn,
    SessionPart,
)
from plait.insights.report import (
    HABIT_WORDS,
    MEASURE_NAMES,
    NO_SUGGESTION,
    OUTLIER_MEASURES,
    OUTLIER_RULE,
    Habit,
    HabitEvidence,
    Insights,
    Outlier,
    Trend,
    Trends,
    format_amount,
    format_change,
    format_habit_counts,
    format_habit_title,
)
from plait.insights.waste import Evidence, Waste
from plait.insights.why import WASTE_TIPS, WASTE_TITLES, format_saving, format_saving_share
from plait.view.formats import (
    format_count,
    format_duration,
    format_hours,
    format_latency,
    format_models_distinctly,
    format_money,
    format_tokens,
    format_utc,
    format_weekday,
    join_dotted,
)
from plait.view.page.charts import (
    STACKED,
    render_bar_cell,
    render_folded_table,
    render_row,
    render_scroll_area,
    render_section,
    render_table,
    render_totals,
    render_week_map,
)
from plait.view.page.entries import render_time
from plait.view.page.markup import (
    break_path,
    esc,
    quote_url,
    render_code_spans,
    session_url,
    tool_icon,
)
from plait.view.page.session_rows import ListedSession, format_project
from plait.view.page.slices import (
    Slice,
    render_nothing,
    render_uncounted,
)
from plait.view.text import shorten

SPENT = ("cost", "tokens", "sessions")
"""What is measured by responses."""
WIDE, TALL = 8, 28
MAX_TITLE = 90


def render_notable(insights: Insights, base: Slice, sessions: Mapping[str, ListedSession]) -> str:
    """Render trends, habits and outliers; nothing if there are none."""
    trends = _render_trends(insights.trends, base) if insights.trends else ""
    rendered: list[str] = []
    for habit in insights.habits:
        words = HABIT_WORDS[habit.kind]
        subject = habit.subject
        if habit.kind == "dear model":
            (subject,) = format_models_distinctly([habit.subject]).values()
        rows = "".join(_render_habit_evidence(evidence, sessions) for evidence in habit.evidence)
        advice = ""
        if words.advice != NO_SUGGESTION:
            advice = f'<p class="advice">{esc(words.advice[:1].upper() + words.advice[1:])}.</p>'
        rendered.append(
            f'<article class="habit"><h3>{esc(format_habit_title(habit, subject))}</h3>'
            f'<p class="held">{slice_for_habit(habit, base).render_link(esc(format_habit_counts(habit)))}</p>'
            f'{advice}<ol class="short">{rows}</ol></article>'
        )
    habits = "".join(rendered)
    habits_html = render_section("Habits", f'<div class="habits">{habits}</div>') if habits else ""
    return f"{trends}{habits_html}{_render_outliers(insights.outliers, base, sessions)}"


def _render_trends(trends: Trends, base: Slice) -> str:
    current, before = (trends.since, trends.until), (trends.before_since, trends.before_until)
    heads = (None, _format_days(*current), _format_days(*before), "Change", "Last 12 weeks")
    rows = [
        render_row(
            MEASURE_NAMES[trend.measure],
            _render_trend_amount(trend, trend.now, base, *current),
            _render_trend_amount(trend, trend.before, base, *before),
            _render_trend_amount(trend, trend.now, base, *current, format_change(trend)),
            ("weeks-cell", _render_weeks(trend, trends.weeks, trends.until, base)),
        )
        for trend in trends.measures
    ]
    note = "this period compared with the previous one"
    return render_section(
        "Trends", render_scroll_area(render_table(heads, rows, "figures trends"), "Trends"), note
    )


def _format_days(first: str, last: str) -> str:
    """Format a range of days; lines break where a page is narrow."""
    return first if first == last else f"{first}\nto\n{last}"


def _build_trend_slice(trend: Trend, base: Slice, first: str, last: str) -> Slice:
    counted = "responses" if trend.measure in SPENT else trend.measure
    return replace(base, of=counted, since=first, until=last)


def _render_trend_amount(
    trend: Trend, value: float, base: Slice, first: str, last: str, label: str | None = None
) -> str:
    name = trend.measure if trend.measure in SPENT else "count"
    text = format_amount(trend.measure, value) if label is None else label
    figures = {name: value} if label is None else {}
    return _build_trend_slice(trend, base, first, last).render_link(esc(text), **figures)


def _render_weeks(trend: Trend, weeks: Sequence[str], last: str, base: Slice) -> str:
    maximum = max(trend.weeks) or 1
    rendered: list[str] = []
    for index, (week, value) in enumerate(zip(weeks, trend.weeks, strict=True)):
        if value:
            end = min((date.fromisoformat(week) + timedelta(days=6)).isoformat(), last)
            height = max(value / maximum * TALL, 1.5)
            tooltip = esc(f"Week of {week}: {format_amount(trend.measure, value)}")
            rendered.append(
                f'<a href="{esc(_build_trend_slice(trend, base, week, end).url())}" tabindex="-1" aria-label="{tooltip}">'
                f'<rect class="c0" x="{index * WIDE}" y="{TALL - height:.1f}" width="{WIDE - 2}" '
                f'height="{height:.1f}"><title>{tooltip}</title></rect></a>'
            )
    bars = "".join(rendered)
    label = f"{MEASURE_NAMES[trend.measure]} by week: " + ", ".join(
        format_amount(trend.measure, value) for value in trend.weeks
    )
    width = WIDE * len(weeks)
    return (
        f'<svg class="spark" width="{width}" height="{TALL}" viewBox="0 0 {width} {TALL}" '
        f'role="group" aria-label="{esc(label)}">{bars}</svg>'
    )


def _render_outliers(
    outliers: Sequence[Outlier], base: Slice, sessions: Mapping[str, ListedSession]
) -> str:
    if not outliers:
        return ""
    rows = [
        render_row(
            _render_outlier_name(outlier, base, sessions),
            OUTLIER_MEASURES[outlier.measure],
            _get_outlier_slice(outlier, base).render_link(
                format_amount(outlier.measure, outlier.value)
            ),
            _get_outlier_slice(outlier, base).render_link(f"{outlier.times:.1f} ×"),
            _get_outlier_slice(outlier, base, is_all=True).render_link(
                format_amount(outlier.measure, outlier.median)
            ),
        )
        for outlier in outliers
    ]
    heads = ("Session or day", "Measure", "Value", "× median", "Median")
    table = render_scroll_area(render_table(heads, rows, f"{STACKED} outliers"), "Outliers")
    return render_section("Outliers", f'{table}<p class="note-line">{esc(OUTLIER_RULE)}.</p>')


def _get_outlier_slice(outlier: Outlier, base: Slice, *, is_all: bool = False) -> Slice:
    counted = {"cost": "responses", "time": "working_ms", "failed": "failed", "prompts": "prompts"}
    if is_all:
        return replace(base, of=counted[outlier.measure])
    if outlier.of == "day":
        return replace(base, of=counted[outlier.measure], since=outlier.name, until=outlier.name)
    return replace(base, of=counted[outlier.measure], session=outlier.name)


def _render_outlier_name(
    outlier: Outlier, base: Slice, sessions: Mapping[str, ListedSession]
) -> str:
    if outlier.of == "day":
        day = date.fromisoformat(outlier.name)
        slice_ = _get_outlier_slice(outlier, base)
        return f'<a href="{esc(slice_.url())}">{format_weekday(day)}</a>'
    return _render_session_link(outlier.name, None, sessions)


def _render_session_link(name: str, uuid: str | None, sessions: Mapping[str, ListedSession]) -> str:
    session = sessions.get(name)
    url = session_url(name) + (f"#{esc(uuid)}" if uuid else "")
    if session is None:
        return f'<a href="{esc(url)}">{esc(name)}</a>'
    title = esc(shorten(session.display_title, MAX_TITLE))
    return f'<a href="{esc(url)}">{title}</a> <small>{esc(format_project(session.place))}</small>'


def _render_habit_evidence(evidence: HabitEvidence, sessions: Mapping[str, ListedSession]) -> str:
    amount = (
        format_money(evidence.cost_usd)
        if evidence.cost_usd
        else format_count(evidence.count, "time")
    )
    subject = f" <small>{esc(shorten(evidence.about))}</small>" if evidence.about else ""
    url = session_url(evidence.session) + (f"#{evidence.uuid}" if evidence.uuid else "")
    figure = f'<a class="fig num" href="{esc(url)}">{amount}</a>'
    return f"<li>{_render_session_link(evidence.session, evidence.uuid, sessions)}{subject}{figure}</li>"


MOST_ROWS = 15
TOOL_HEADS = ("Tool", "Calls", "Failed", "Rejected", "Time", "Median")


class InsightsPage(NamedTuple):
    """Everything the page shows."""

    figures: ArchiveFigures
    hours: Mapping[tuple[int, int], int]
    """Prompts that were typed, by weekday and hour; Monday is 0."""
    sessions: Mapping[str, ListedSession]
    base: Slice
    """What the page counts."""
    is_counting: bool = False
    found: Insights | None = None
    """None if insights were not computed yet."""

    def narrow(self, counted: str, name: str = "", part: str = "") -> Slice:
        """Return the slice that one figure counts."""
        return replace(self.base, of=counted, name=name, part=part)

    def render_link(self, count: int, counted: str, name: str = "", part: str = "") -> str:
        """Render a number linked to what it counts."""
        return self.narrow(counted, name, part).render_link(format_number(count), count=count)


COUNTED_HABITS = {
    "interrupts": "interruptions",
    "takes back": "retracted",
    "compacts": "compactions",
}
"""Habits that are counted as a figure of their own."""


def slice_for_habit(habit: Habit, base: Slice) -> Slice:
    """Return what a habit counts, or the nearest slice there is."""
    match habit.kind:
        case "rejects":
            return replace(base, of="tools", name=habit.subject, part="rejected")
        case "fails":
            return replace(base, of="tools", name=habit.subject, part="failed")
        case "dear model":
            return replace(base, of="models", name=habit.subject)
        case "interrupts" | "takes back" | "compacts":
            return replace(base, of=COUNTED_HABITS[habit.kind])
        case "night" | "weekend":
            return replace(base, of="prompts", part=habit.kind)
        case _:
            return replace(base, of="waste", name=habit.kind)


def find_local_hour(quarter: int) -> tuple[int, int] | None:
    """Return the local weekday and hour of a quarter of an hour since 1970."""
    try:
        time = datetime.fromtimestamp(quarter * QUARTER, UTC).astimezone()
    except (OverflowError, ValueError, OSError):  # a year beyond the calendar
        return None
    return time.weekday(), time.hour


def count_prompts_by_hour(parts: Iterable[SessionPart]) -> Counter[tuple[int, int]]:
    """Count prompts by local weekday and hour."""
    counts: Counter[tuple[int, int]] = Counter()
    for part in parts:
        for quarter, count in part.prompts.items():
            if hour := find_local_hour(quarter):
                counts[hour] += count
    return counts


def render_insights_figures(insights: InsightsPage | None, *, is_counting: bool) -> str:
    """Render the figures, or a note that nothing is counted yet."""
    if insights is None:
        return render_uncounted(is_counting=is_counting)
    figures = insights.figures
    if not figures.sessions:
        is_all = insights.base.is_everything
        return render_nothing("insights", "No activity in this period.", is_all=is_all)
    notable = insights.found
    found = render_notable(notable, insights.base, insights.sessions) if notable else ""
    rows = (
        render_row(
            name, insights.render_link(getattr(figures, counted), counted), ("words", esc(meaning))
        )
        for name, counted, meaning in COURSE
    )
    events = render_table(("Event", "Count", "Meaning"), rows, "figures wordy", is_head_hidden=True)
    hours = ""
    if insights.hours:
        week_map = render_week_map(
            insights.hours,
            lambda weekday, hour: replace(
                insights.base, of="prompts", weekday=str(weekday), hour=str(hour)
            ),
        )
        hours = render_section("When", week_map, "prompts, local time")
    longest_turns = ""
    if figures.longest_turns:
        turns = (
            _render_turn(turn, insights.sessions.get(turn.session))
            for turn in figures.longest_turns
        )
        table = render_table(("Prompt", "Session", "Time"), turns, STACKED, is_head_hidden=True)
        longest_turns = render_section("Longest turns", table)
    return (
        f"{_render_insights_totals(insights)}{found}{_render_tools(insights)}"
        f'<div class="columns2"><div>{render_section("Events", events)}{_render_agents(insights)}</div>'
        f"{_render_models(insights)}</div>"
        f"{hours}{_render_files(insights)}{longest_turns}"
    )


def _render_insights_totals(insights: InsightsPage) -> str:
    figures, render_link = insights.figures, insights.render_link
    waiting_time = format_hours(figures.asking_ms)
    waiting = insights.narrow("asking_ms").render_link(
        f"{waiting_time} waiting for you", count=figures.asking_ms
    )
    work_time = format_hours(figures.working_ms) or "0 s"
    working = insights.narrow("working_ms").render_link(work_time, count=figures.working_ms)
    total = figures.tokens.total
    tokens = insights.narrow("tokens").render_link(f"{format_tokens(total)} tokens", count=total)
    prompts = insights.narrow("prompts").render_link(
        format_count(figures.prompts, "prompt"), count=figures.prompts
    )
    count = insights.figures.service_agents
    link = insights.narrow("service_agents").render_link(
        format_count(count, "background request"), count=count
    )
    figures_ = (
        ("Sessions", render_link(figures.sessions, "sessions"), _format_session_counts(figures)),
        ("Turns", render_link(figures.turns, "turns"), prompts),
        ("Responses", render_link(figures.responses, "models"), tokens),
        (
            "Tool calls",
            render_link(figures.calls, "calls"),
            f"{render_link(figures.failed, 'failed')} failed",
        ),
        (
            "Agents",
            render_link(figures.agents, "agents"),
            f"{link} by Claude Code" if count else "",
        ),
        ("Work time", working, waiting if waiting_time else ""),
    )
    return render_totals(figures_, is_counting=insights.is_counting)


def _format_session_counts(figures: ArchiveFigures) -> str:
    empty = figures.all_sessions - figures.sessions
    prefix = f"{format_number(empty)} empty, not counted; "
    return (prefix if empty else "") + format_count(figures.projects, "project")


def format_number(count: int) -> str:
    """Format a number with commas between thousands."""
    return f"{count:,}"


COURSE = (
    ("Rewinds", "rewinds", "rewound to an earlier prompt"),
    ("Retracted prompts", "retracted", "before they were answered"),
    ("Interruptions", "interruptions", "while Claude was working"),
    ("Compactions", "compactions", "of the context"),
    ("Rejected calls", "rejected", "by you"),
    ("Queued prompts", "queued", "while Claude was working"),
    ("Commands", "commands", "slash commands"),
    ("API errors", "api_errors", "instead of an answer"),
    ("API retries", "api_retries", "of failed requests"),
)


def _render_tools(insights: InsightsPage) -> str:
    tools = insights.figures.tools
    if not tools:
        return ""
    maximum = max(tool.calls for tool in tools)
    rows: list[str] = []
    for tool in tools:
        slice_ = insights.narrow("tools", tool.name)
        times = (format_hours(tool.total_ms), format_latency(tool.median_ms))
        failures = ""
        if tool.failed:
            share = tool.failed / tool.calls * 100
            percent = "&lt;1%" if share < 1 else f"{share:.0f}%"
            failed = insights.render_link(tool.failed, "tools", tool.name, "failed")
            failures = f'<span class="bad">{failed}</span> <small>{percent}</small>'
        rows.append(
            render_row(
                f'<span class="tool">{tool_icon(tool.name)}{esc(tool.name)}</span>',
                render_bar_cell(tool.calls, maximum, slice_),
                slice_.render_link(format_number(tool.calls), count=tool.calls),
                failures,
                insights.render_link(tool.rejected, "tools", tool.name, "rejected")
                if tool.rejected
                else "",
                *(slice_.render_link(duration) if duration else "" for duration in times),
            )
        )
    return render_section(
        "Tools",
        render_folded_table(TOOL_HEADS, rows, "Tool", css_class=STACKED),
        "time from the call to its result",
    )


def _render_models(insights: InsightsPage) -> str:
    models = insights.figures.models
    names = format_models_distinctly(model.model for model in models)
    maximum = max((model.responses for model in models), default=0)
    rows = [
        render_row(
            esc(names[model.model]),
            render_bar_cell(model.responses, maximum, insights.narrow("models", model.model)),
            insights.render_link(model.responses, "models", model.model),
            insights.narrow("models", model.model, "output").render_link(
                format_tokens(model.tokens.output), count=model.tokens.output
            ),
        )
        for model in models
    ]
    return render_section(
        "Models", render_folded_table(("Model", "Responses", "Output"), rows, "Model")
    )


def _render_agents(insights: InsightsPage) -> str:
    types = insights.figures.agent_types
    if not types:
        return ""
    rows = (
        render_row(
            esc(type_.type),
            insights.render_link(type_.agents, "agents", type_.type),
            insights.render_link(type_.calls, "agents", type_.type, "calls"),
            insights.narrow("agents", type_.type, "tokens").render_link(
                format_tokens(type_.tokens.total), count=type_.tokens.total
            ),
        )
        for type_ in types[:MOST_ROWS]
    )
    return render_section("Agents", render_table(("Type", "Runs", "Calls", "Tokens"), rows))


def _render_files(insights: InsightsPage) -> str:
    files = [file for file in insights.figures.files if file.changes]
    if not files:
        return ""
    maximum, link = max(file.changes for file in files), insights.render_link
    rows = [
        render_row(
            f"<code>{break_path(file.path)}</code>",
            render_bar_cell(file.changes, maximum, insights.narrow("files", file.path)),
            link(file.changes, "files", file.path),
            ("plus", f"+{link(file.added, 'files', file.path, 'added')}"),
            ("minus", f"−{link(file.removed, 'files', file.path, 'removed')}"),
            link(file.reads, "files", file.path, "reads"),
        )
        for file in files
    ]
    heads = ("File", "Changes", "Added", "Removed", "Reads")
    return render_section(
        "Most changed files", render_folded_table(heads, rows, "File", css_class=STACKED)
    )


def _render_turn(turn: LongTurn, session: ListedSession | None) -> str:
    title = esc(shorten(turn.words, 140) or "No text")
    duration = format_duration(turn.working_ms)
    if session is None:
        name, project = title, ""
    else:
        url = f"{session_url(session.name)}?turn={turn.turn}"
        if turn.conversation != turn.session:
            url += f"#line-{quote_url(turn.conversation)}"
        name, project = f'<a href="{esc(url)}">{title}</a>', esc(format_project(session.place))
        duration = f'<a class="fig" href="{esc(url)}">{duration}</a>'
    return render_row(name, project, duration)


MAX_SESSION_TITLE, MOST_SHOWN = 90, 5
NARROW = "\u202f"
"""A non-breaking space."""


def render_waste_figures(
    waste: Waste | None, sessions: Mapping[str, ListedSession], base: Slice, *, is_counting: bool
) -> str:
    """Render the findings with their totals."""
    if waste is None:
        return render_uncounted(is_counting=is_counting)
    counting = '<p class="state" data-counting="1">Counting …</p>' if is_counting else ""
    if not waste.findings:
        message = "No avoidable spending found."
        return f"{render_nothing('waste', message, is_all=base.is_everything)}{counting}"
    rendered: list[str] = []
    for finding in waste.findings:
        title = WASTE_TITLES[finding.kind]
        entrypoints = sorted(finding.entrypoints.items(), key=lambda pair: -pair[1])
        by_entrypoint = join_dotted(*(f"{name} {format_money(cost)}" for name, cost in entrypoints))
        entrypoints_html = (
            f'<p class="held">{esc(by_entrypoint)}</p>' if len(entrypoints) > 1 else ""
        )
        rows = "".join(
            _render_waste_evidence(evidence, sessions) for evidence in finding.evidence[:MOST_SHOWN]
        )
        rest = finding.count - MOST_SHOWN
        slice_ = _build_waste_slice(base, finding.kind)
        more_html = (
            f'<p class="onward">{slice_.render_link(f"{rest:,} more")}</p>' if rest > 0 else ""
        )
        tip = WASTE_TIPS[finding.kind]
        advice = tip[:1].upper() + tip[1:]
        saving = esc(format_saving(finding.least_usd, finding.cost_usd))
        cost = _build_waste_slice(base, finding.kind, "cost").render_link(
            saving, count=finding.cost_usd
        )
        note = f"{cost}, {slice_.render_link(f'{finding.count}{NARROW}×', count=finding.count)}"
        content = (
            f'<p class="advice">{render_code_spans(advice)}.</p>{entrypoints_html}'
            f'<ol class="short">{rows}</ol>{more_html}'
        )
        rendered.append(render_section(esc(title[:1].upper() + title[1:]), content, note))
    findings = "".join(rendered)
    return f'{_render_waste_totals(waste, base)}<div class="wasted" id="findings">{findings}</div>{counting}'


def _render_waste_totals(waste: Waste, base: Slice) -> str:
    share = format_saving_share(waste.least_usd, waste.total_usd, waste.input_usd)
    definite = format_money(waste.least_usd) if waste.least_usd else "$0"
    occurrences = sum(finding.count for finding in waste.findings)
    sent = f"{format_money(waste.input_usd)} in total"
    total = _build_waste_slice(base, part="cost").render_link(
        format_money(waste.total_usd), count=waste.total_usd
    )
    occurrences_link = _build_waste_slice(base).render_link(
        format_count(occurrences, "occurrence"), count=occurrences
    )
    return render_totals(
        (
            ("Potential savings", total, "at most"),
            (
                "Definitely wasted",
                _build_waste_slice(base, part="least").render_link(definite),
                "at least",
            ),
            (
                "Share of input cost",
                _build_waste_slice(base, part="cost").render_link(share or "–"),
                _build_waste_slice(base, part="sent").render_link(sent, count=waste.input_usd),
            ),
            (
                "Findings",
                f'<a class="fig" href="#findings">{len(waste.findings)}</a>',
                occurrences_link,
            ),
        )
    )


def _build_waste_slice(base: Slice, name: str = "", part: str = "") -> Slice:
    return replace(base, of="waste", name=name, part=part)


def _render_waste_evidence(evidence: Evidence, sessions: Mapping[str, ListedSession]) -> str:
    session = sessions.get(evidence.session)
    title = shorten(session.display_title, MAX_SESSION_TITLE) if session else evidence.session
    url = session_url(evidence.session, "read") + (
        f"#{quote_url(evidence.uuid)}" if evidence.uuid else ""
    )
    subject = f"<small>{esc(shorten(evidence.about))}</small>" if evidence.about else ""
    time = format_utc(evidence.time) if evidence.time else None
    return (
        f'<li><a class="fig cost" href="{esc(url)}">{format_money(evidence.cost_usd)}</a>'
        f'<a href="{esc(url)}">{esc(title)}{subject}</a>'
        f'<span class="when">{render_time(time)}</span></li>'
    )
