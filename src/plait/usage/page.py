"""The Usage page: totals, over time, by project, model, session and five-hour block."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from plait.conversation.prices import Prices
from plait.conversation.usage import BilledResponse
from plait.usage.formats import UNLOGGED_LABEL, format_cross_csv, format_rows_csv
from plait.usage.spending import (
    GROUP_BY,
    NO_MODEL,
    BillingBlock,
    CrossTable,
    Dimension,
    GroupBy,
    Spending,
    SpendingRow,
    SpendingSum,
    UnloggedCost,
    build_billing_blocks,
    build_cross_table,
    filter_by_time,
    group_spending,
)
from plait.view.formats import (
    CACHE_READ,
    CACHE_WRITE,
    INPUT,
    OUTPUT,
    format_count,
    format_day,
    format_duration,
    format_minute,
    format_models_distinctly,
    format_tokens,
)
from plait.view.page.charts import (
    MOST_ROWS,
    STACKED,
    BarPart,
    Cell,
    Chart,
    Series,
    ValueFormatter,
    format_share,
    merge_small_series,
    render_bar_cell,
    render_cells,
    render_columns_chart,
    render_folded,
    render_folded_table,
    render_parts_bar,
    render_row,
    render_scroll_area,
    render_section,
    render_table,
    render_totals,
)
from plait.view.page.markup import esc, render_switch, session_url
from plait.view.page.session_rows import ListedSession, format_cost, format_project
from plait.view.page.slices import (
    DEFAULT_RANGES,
    INSIDE,
    MEASURES,
    RANGE_DAYS,
    STEPS,
    UNTIMED,
    Period,
    Slice,
    render_nothing,
    render_uncounted,
    slice_for_period,
)
from plait.view.text import shorten

STEP_REPORTS: dict[str, GroupBy] = {"day": "daily", "week": "weekly", "month": "monthly"}
STEP_DIMENSIONS: dict[str, Dimension] = {"day": "day", "week": "week", "month": "month"}
INSIDE_DIMENSIONS: dict[str, Dimension] = {"model": "model", "session": "session"}
MANY_DAYS = 120


class CacheSavings(NamedTuple):
    """What the cache saved."""

    paid: float
    """Of what could be priced both ways."""
    without: float
    """What the same tokens would have cost without a cache."""


class UsagePage(NamedTuple):
    """Everything the page shows."""

    period: Period
    now: datetime
    step: str
    periods: Spending
    projects: Spending
    sessions: Spending
    cross: CrossTable
    """By project, model and step of time."""
    areas: CrossTable
    """By project, and by the selected dimension inside."""
    blocks: Sequence[BillingBlock]
    saved: CacheSavings
    listed_sessions: Mapping[str, ListedSession]
    """All sessions by id."""
    project_directories: Mapping[str, str]
    is_counting: bool = False
    beyond: float = 0.0
    """Dollars that Claude Code counted beyond the responses in its logs."""

    @property
    def billed_sessions(self) -> int:
        """How many sessions have responses in this period."""
        keys = {row.key for row in self.sessions.rows}
        return sum(name.partition("~")[0] in keys for name in self.candidates)

    @property
    def candidates(self) -> list[str]:
        """The names of all sessions, or of those of the chosen project."""
        project = self.period.project
        return [
            name
            for name, session in self.listed_sessions.items()
            if not project or session.project == project
        ]

    @property
    def total(self) -> SpendingRow:
        """The totals of the period."""
        return self.periods.totals

    @property
    def models(self) -> Mapping[str, str]:
        """The names of all models on this page."""
        return format_models_distinctly(name or NO_MODEL for name in self.cross.names("model"))

    @property
    def base(self) -> Slice:
        """The slice that the page counts."""
        return slice_for_period(self.period, self.now, DEFAULT_RANGES["usage"])

    def narrow(self, **changes: str) -> Slice:
        """Return the slice of a part of it."""
        return replace(self.base, **changes)

    def amount(self, sum_: SpendingSum) -> float:
        """Return what is measured: cost or tokens."""
        return sum_.cost if self.period.of == "cost" else float(sum_.tokens.total)

    def format(self, value: float) -> str:
        """Format what is measured."""
        return format_cost(value) if self.period.of == "cost" else format_tokens(round(value))


def find_latest_period(
    responses: Sequence[BilledResponse], period: Period, now: datetime
) -> Period:
    """Return the period to open: the default number of days, up to the last usage if that is older.

    A requested period stays as it is.
    """
    days = RANGE_DAYS.get(DEFAULT_RANGES["usage"])
    if period.range or period.since or period.until or days is None:
        return period
    times = [
        response.time
        for response in responses
        if response.time and period.project in ("", response.project)
    ]
    start, _ = period.bounds(now, DEFAULT_RANGES["usage"])
    if not times or start is None or max(times) >= start:
        return period
    last = max(times).astimezone()
    first = last - timedelta(days=days - 1)
    return replace(period, since=format_day(first), until=format_day(last))


def compute_usage_page(
    responses: Sequence[BilledResponse],
    abandoned: frozenset[str],
    period: Period,
    now: datetime,
    prices: Prices,
    listed_sessions: Mapping[str, ListedSession],
    project_directories: Mapping[str, str],
    *,
    is_counting: bool,
    beyond: Sequence[UnloggedCost] = (),
) -> UsagePage:
    """Compute what was spent in a period; `abandoned` are the ids of responses on abandoned
    branches.
    """
    bounds = period.bounds(now, DEFAULT_RANGES["usage"])
    chosen, unlogged = filter_by_time(responses, *bounds), filter_by_time(beyond, *bounds)
    if period.project:
        chosen = [item for item in chosen if item.project == period.project]
        unlogged = [item for item in unlogged if item.project == period.project]
    step = period.by or _choose_step(chosen)
    return UsagePage(
        period=period,
        now=now,
        step=step,
        periods=group_spending(chosen, STEP_REPORTS[step], prices, None, abandoned),
        projects=group_spending(chosen, "project", prices),
        sessions=group_spending(chosen, "session", prices),
        cross=build_cross_table(chosen, ("project", "model", STEP_DIMENSIONS[step]), prices),
        areas=build_cross_table(chosen, ("project", INSIDE_DIMENSIONS[period.inside]), prices),
        blocks=build_billing_blocks(chosen, prices, now),
        saved=compute_cache_savings(chosen, prices),
        listed_sessions=listed_sessions,
        project_directories=project_directories,
        is_counting=is_counting,
        beyond=sum(item.cost for item in unlogged),
    )


def _choose_step(responses: Sequence[BilledResponse]) -> str:
    times = [response.time for response in responses if response.time]
    is_long = times and (max(times) - min(times)).days > MANY_DAYS
    return "week" if is_long else "day"


def compute_cache_savings(responses: Sequence[BilledResponse], prices: Prices) -> CacheSavings:
    """Compute what responses cost, and what they would have cost without a cache."""
    paid = without = 0.0
    for response in responses:
        tokens = response.tokens
        cost = prices.cost(response.model, tokens, response.time)
        uncached = replace(
            tokens, input=tokens.total_input, cache_write_5m=0, cache_write_1h=0, cache_read=0
        )
        uncached_cost = prices.cost(response.model, uncached, response.time)
        if cost is not None and uncached_cost is not None:
            paid += cost
            without += uncached_cost
    return CacheSavings(paid, without)


def narrow_to_step(slice_: Slice, key: str | None, step: str) -> dict[str, str]:
    """Return the days of one step of time, as far as they are in a slice."""
    if key is None:
        return {"part": UNTIMED}
    first, last = get_step_days(key, step)
    since = max(slice_.since, first) if slice_.since else first
    until = min(slice_.until, last) if slice_.until else last
    return {"since": since, "until": until}


def get_step_days(key: str, step: str) -> tuple[str, str]:
    """Return the first and the last day of a day, a week or a month."""
    if step == "month":
        year, month = int(key[:4]), int(key[5:7])
        following = date(year + month // 12, month % 12 + 1, 1)
        return f"{key}-01", (following - timedelta(days=1)).isoformat()
    first = date.fromisoformat(key)
    return key, (first + timedelta(days=6 if step == "week" else 0)).isoformat()


def format_moment(time: datetime) -> str:
    """Format a time for URLs, to the microsecond."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def render_usage_csv(
    responses: Sequence[BilledResponse],
    period: Period,
    now: datetime,
    prices: Prices,
    rows: str,
    titles: Mapping[str, str],
) -> str:
    """Render what was spent in a period as CSV: by one dimension, or as a cross table."""
    chosen = filter_by_time(responses, *period.bounds(now, DEFAULT_RANGES["usage"]))
    if period.project:
        chosen = [response for response in chosen if response.project == period.project]
    step = period.by or _choose_step(chosen)
    group_by = next((report for name, report in GROUP_BY.items() if name == rows), None)
    if group_by is None:
        return format_cross_csv(
            build_cross_table(chosen, ("project", "model", STEP_DIMENSIONS[step]), prices)
        )
    spending_rows = group_spending(chosen, group_by, prices).rows
    return format_rows_csv(rows, spending_rows, titles if rows == "session" else None)


MOST_COLUMNS = 8
"""Columns of a time dimension: the latest ones."""
MOST_PROJECTS = 12


def render_csv_link(period: Period, rows: str) -> str:
    """Render the link to the figures of a page as CSV."""
    url = period.url("usage").replace("/usage", "/usage.csv", 1)
    href = f"{url}{'&' if '?' in url else '?'}rows={rows}"
    return f'<a class="csv" href="{esc(href)}" download>CSV</a>'


class _CrossTableRenderer:
    """Renders a cross table of projects, models and times."""

    def __init__(self, usage: UsagePage, table: CrossTable) -> None:
        self._usage, self._table = usage, table
        times = table.names(table.dimensions[2])
        self._times = times[-MOST_COLUMNS:]
        self._before = times[:-MOST_COLUMNS]
        self._names = usage.models
        self._pairs = table.sums_by("project", "model")

    def render_table(self) -> str:
        """Render the table."""
        heads = [
            *(["before"] if self._before else []),
            *map(self._format_time, self._times),
            "Total",
        ]
        names = "".join(f'<th scope="col">{esc(head)}</th>' for head in heads)
        head = f'<thead><tr><th scope="col">Project, model</th>{names}</tr></thead>'
        foot = f"<tfoot>{self._render_row('Total', self._sum_by_time(None, None), self._usage.base)}</tfoot>"
        rows = "".join(self._iter_rows())
        return f'<table class="figures cross">{head}<tbody>{rows}</tbody>{foot}</table>'

    def render_note(self) -> str:
        """Return a note on how many projects are not shown."""
        rest = len(self._table.names("project")) - MOST_PROJECTS
        if rest <= 0:
            return ""
        note = f"{rest} more projects are included in the totals and the CSV"
        return f'<p class="note-line">{note}</p>'

    def _format_time(self, key: str | None) -> str:
        if key is None:
            return "no date"
        first = get_step_days(key, self._usage.step)[0]
        return key if self._usage.step == "month" else first[5:]

    def _iter_rows(self) -> Iterator[str]:
        for key in self._table.names("project")[:MOST_PROJECTS]:
            slice_ = replace(self._usage.base, project=key or "")
            directory = self._usage.project_directories.get(key or "", key or "unknown")
            project_url = self._usage.period.url("usage", project=key or "")
            name = f'<a href="{esc(project_url)}">{esc(format_project(directory))}</a>'
            yield self._render_row(name, self._sum_by_time(key, None), slice_, "whole")
            models = [
                model_key
                for model_key in self._table.names("model")
                if (key, model_key) in self._pairs
            ]
            for model in models if len(models) > 1 else ():
                model_name = self._names[model or NO_MODEL]
                model_slice = replace(slice_, model=model or NO_MODEL)
                yield self._render_row(
                    esc(model_name), self._sum_by_time(key, model or NO_MODEL), model_slice
                )

    def _sum_by_time(self, project: str | None, model: str | None) -> dict[str | None, SpendingSum]:
        """Return the sums of a row: of a project or all, of a model or all."""
        sums: dict[str | None, SpendingSum] = {}
        for keys, sum_ in self._table.cells.items():
            is_row = project is None or keys[0] == project
            if is_row and model in (None, keys[1] or NO_MODEL):
                sums.setdefault(keys[2], SpendingSum()).merge(sum_)
        return sums

    def _render_row(
        self, name: str, sums: dict[str | None, SpendingSum], slice_: Slice, css_class: str = ""
    ) -> str:
        total = SpendingSum()
        for sum_ in sums.values():
            total.merge(sum_)
        row_cells = [self._render_cell(sums, [time], slice_) for time in self._times]
        if self._before:
            row_cells.insert(0, self._render_cell(sums, self._before, slice_))
        total_figure = self._render_figure(total, slice_)
        css = f' class="{css_class}"' if css_class else ""
        return f'<tr{css}><th scope="row">{name}</th>{render_cells(*row_cells, total_figure)}</tr>'

    def _render_cell(
        self, sums: dict[str | None, SpendingSum], times: Sequence[str | None], slice_: Slice
    ) -> str:
        sum_ = SpendingSum()
        for time in times:
            if time in sums:
                sum_.merge(sums[time])
        if not sum_.responses:
            return ""
        return self._render_figure(sum_, self._narrow(slice_, times))

    def _narrow(self, slice_: Slice, times: Sequence[str | None]) -> Slice:
        if times[0] is None:
            return replace(slice_, part=UNTIMED)
        first = narrow_to_step(slice_, times[0], self._usage.step)["since"]
        last = narrow_to_step(slice_, times[-1], self._usage.step)["until"]
        return replace(slice_, since=first, until=last)

    def _render_figure(self, sum_: SpendingSum, slice_: Slice) -> str:
        usage = self._usage
        star = "*" if sum_.unpriced and usage.period.of == "cost" else ""
        value = usage.amount(sum_)
        figure = value if usage.period.of == "cost" else int(value)
        return slice_.render_link(f"{usage.format(value)}{star}", **{usage.period.of: figure})


# The treemap is drawn twice, for wide and for narrow pages, so that text keeps its size; the table
# below it has the same information.


WIDE, NARROW = (1120.0, 400.0), (358.0, 520.0)
HEAD = 22.0
"""Height of a group's name."""
LETTER, LINE = 7.2, 18.0
"""Width of a character and height of a line."""
GAP = 1.0


class Area(NamedTuple):
    """A rectangle of the treemap, and what it counts."""

    name: str
    value: float
    to: Slice


class Group(NamedTuple):
    """Areas that belong together."""

    area: Area
    parts: Sequence[Area]


class Box(NamedTuple):
    """Where something is drawn."""

    x: float
    y: float
    width: float
    height: float


def lay_out_squarified(values: Sequence[float], box: Box) -> list[Box]:
    """Return a box for each value, largest first, as square as possible."""
    boxes: list[Box] = []
    remaining, values_left = box, list(values)
    total = sum(values_left)
    if total <= 0 or box.width <= 0 or box.height <= 0:
        return [Box(box.x, box.y, 0, 0) for _ in values]
    scale = box.width * box.height / total
    while values_left:
        side, count = min(remaining.width, remaining.height), 1
        while count < len(values_left):  # as many as make the strip more square
            longer = _get_worst_ratio(values_left[: count + 1], side, scale)
            if longer > _get_worst_ratio(values_left[:count], side, scale):
                break
            count += 1
        strip, values_left = values_left[:count], values_left[count:]
        strip_boxes, remaining = _lay_out_strip(strip, remaining, scale)
        boxes += strip_boxes
    return boxes


def _get_worst_ratio(values: Sequence[float], side: float, scale: float) -> float:
    area = sum(values) * scale
    smallest, largest = min(values) * scale, max(values) * scale
    if area <= 0 or smallest <= 0 or side <= 0:
        return float("inf")
    return max(side * side * largest / (area * area), area * area / (side * side * smallest))


def _lay_out_strip(values: Sequence[float], box: Box, scale: float) -> tuple[list[Box], Box]:
    """Return the boxes of a strip along the shorter side, and the remaining box."""
    area = sum(values) * scale
    is_wide = box.width >= box.height
    depth = area / (box.height if is_wide else box.width) if area else 0.0
    boxes, position = [], box.y if is_wide else box.x
    for value in values:
        length = value * scale / depth if depth else 0.0
        boxes.append(
            Box(box.x, position, depth, length) if is_wide else Box(position, box.y, length, depth)
        )
        position += length
    if is_wide:
        return boxes, Box(box.x + depth, box.y, max(box.width - depth, 0), box.height)
    return boxes, Box(box.x, box.y + depth, box.width, max(box.height - depth, 0))


def render_treemap(
    groups: Sequence[Group], format_value: ValueFormatter, unit: str, title: str
) -> str:
    """Render the drawing for wide and for narrow pages, with its table."""
    visible = [group for group in groups if group.area.value > 0]
    drawings = ""
    for css_class, size in (("wide", WIDE), ("narrow", NARROW)):
        boxes = lay_out_squarified([group.area.value for group in visible], Box(0, 0, *size))
        areas = (
            _render_group(group, box, format_value)
            for group, box in zip(visible, boxes, strict=True)
        )
        drawings += (
            f'<svg class="{css_class}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="group" '
            f'aria-label="{esc(title)}; the table below has the figures">{"".join(areas)}</svg>'
        )
    rows = []
    for group in groups:
        for area in (area for area in group.parts if area.value > 0):
            value = area.value if unit == "cost" else int(area.value)
            figure = area.to.render_link(esc(format_value(area.value)), **{unit: value})
            name = f"{esc(group.area.name)}<small> {esc(area.name)}</small>"
            rows.append(render_row(name, figure))
    treemap_table = render_folded(render_table(("Area", "Amount"), rows), title)
    return f'<figure class="treemap">{drawings}{treemap_table}</figure>'


def _render_group(group: Group, box: Box, format_value: ValueFormatter) -> str:
    has_head = box.height > 2 * HEAD and box.width > 6 * LETTER
    name = _fit_words(
        f"{group.area.name} {format_value(group.area.value)}", group.area.name, box.width
    )
    head = f'<text x="{box.x + 6:.1f}" y="{box.y + 15:.1f}">{esc(name)}</text>' if has_head else ""
    offset = HEAD if has_head else 0.0
    content_box = Box(box.x, box.y + offset, box.width, box.height - offset)
    parts = [area for area in group.parts if area.value > 0]
    boxes = lay_out_squarified([area.value for area in parts], content_box)
    rendered: list[str] = []
    for area, part_box in zip(parts, boxes, strict=True):
        name = _fit_words(f"{area.name} {format_value(area.value)}", area.name, part_box.width)
        fits = name and part_box.height >= LINE
        text = (
            f'<text x="{part_box.x + 6:.1f}" y="{part_box.y + 15:.1f}">{esc(name)}</text>'
            if fits
            else ""
        )
        rendered.append(
            _render_area_link(
                area,
                f"{group.area.name}, {area.name}",
                format_value,
                f'<rect {_format_box(part_box)} rx="2"/>{text}',
            )
        )
    parts_html = "".join(rendered)
    frame = f'<rect class="whole" {_format_box(box)}/>'
    return (
        f"{_render_area_link(group.area, group.area.name, format_value, frame + head)}{parts_html}"
    )


def _render_area_link(area: Area, label: str, format_value: ValueFormatter, content: str) -> str:
    tooltip = esc(f"{label}: {format_value(area.value)}")
    return (
        f'<a href="{esc(area.to.url())}" tabindex="-1" aria-label="{tooltip}">'
        f"<title>{tooltip}</title>{content}</a>"
    )


def _format_box(box: Box) -> str:
    width, height = max(box.width - GAP, 0.5), max(box.height - GAP, 0.5)
    return f'x="{box.x:.1f}" y="{box.y:.1f}" width="{width:.1f}" height="{height:.1f}"'


def _fit_words(label: str, name: str, width: float) -> str:
    """Return as much of the label as fits; nothing if that is hardly any."""
    letters = int((width - 10) / LETTER)
    if len(label) <= letters:
        return label
    if len(name) <= letters:
        return name
    return shorten(name, letters) if letters >= 5 else ""


MOST_STEPS = 400
CENT = 0.01
MOST_AREAS = 20
BEYOND_THE_LOGS = "Cost not in logs"
HEADINGS = {"day": "Day", "week": "Week of", "month": "Month"}


def render_usage_figures(usage: UsagePage | None, *, is_counting: bool) -> str:
    """Render the figures, or a note that nothing is counted yet."""
    if usage is None:
        return render_uncounted(is_counting=is_counting)
    if not usage.total.total.responses:
        is_all = usage.base.is_everything
        return render_nothing("usage", "No usage in this period.", is_all=is_all)
    renderer = _CrossTableRenderer(usage, usage.cross)
    title = f"Project × model × {usage.step}"
    content = render_scroll_area(renderer.render_table(), title) + renderer.render_note()
    cross_section = render_section(title, content, render_csv_link(usage.period, "cross"))
    steps = render_switch("Step", _iter_choices(usage, "by", STEPS, usage.step))
    measures = render_switch("Measure", _iter_choices(usage, "of", MEASURES, usage.period.of))
    chart = _build_chart(usage)
    chart_html = render_columns_chart(chart) if chart else ""
    over_time = render_section(
        "Over time", f'<div class="status-text">{measures}{steps}</div>{chart_html}'
    )
    rows = [
        (
            f'<a href="{esc(usage.period.url("usage", project=row.key or ""))}">'
            f"{esc(format_project(usage.project_directories.get(row.key or '', row.key or 'unknown')))}</a>",
            row.total,
            usage.narrow(project=row.key or ""),
        )
        for row in _sort_rows(usage.projects, usage)
    ]
    projects = _render_sums("Project", rows, usage)
    return (
        f"{_render_usage_totals(usage)}{over_time}{_render_areas(usage)}{cross_section}"
        f'<div class="columns2">{_render_models(usage)}<div>{_render_parts(usage)}{_render_cache(usage)}</div></div>'
        f'<div class="columns2">{projects}{_render_blocks(usage)}</div>'
        f"{_render_sessions(usage)}{_render_unpriced(usage)}"
    )


def _render_usage_totals(usage: UsagePage) -> str:
    total = usage.total.total
    tokens = total.tokens
    saved = usage.saved.without - usage.saved.paid
    cost = format_cost(total.cost) + ("*" if total.unpriced else "")
    written = format_tokens(tokens.output)
    cache_share = (
        f"{tokens.cache_read / tokens.total_input * 100:.1f}%" if tokens.total_input else "0%"
    )
    link = usage.base.render_link
    count = f"{format_count(total.responses, 'response')} with usage"
    responses = link(count, responses=total.responses)
    saved_link = link(format_cost(max(saved, 0)), saved=saved)
    cost_per_step = ""
    if steps := sum(1 for row in usage.periods.rows if row.key):
        cost_per_step = f"{format_cost(total.cost / steps)} per active {STEPS[usage.step].lower()}"
    figures = [
        ("Cost", link(cost, cost=total.cost), cost_per_step),
        ("Tokens", link(format_tokens(tokens.total), tokens=tokens.total), responses),
        (OUTPUT.capitalize(), link(written, output=tokens.output), "by the model"),
        (
            CACHE_READ.capitalize(),
            link(cache_share, cache_read=tokens.cache_read),
            "of input",
        ),
        ("Saved by the cache", saved_link, "compared with no cache"),
        (
            "Sessions",
            link(str(usage.billed_sessions), sessions=usage.billed_sessions),
            _format_session_counts(usage),
        ),
    ]
    if usage.beyond >= CENT / 2:
        beyond = usage.narrow(of="beyond").render_link(
            format_cost(usage.beyond), count=usage.beyond
        )
        figures.append((BEYOND_THE_LOGS, beyond, esc(UNLOGGED_LABEL)))
    return render_totals(figures, is_counting=usage.is_counting)


def _format_session_counts(usage: UsagePage) -> str:
    total = len(usage.candidates)
    unbilled = total - usage.billed_sessions
    prefix = f"of {total}, {unbilled} without usage; " if unbilled else ""
    return prefix + format_count(len(usage.projects.rows), "project")


def _iter_choices(
    usage: UsagePage, name: str, choices: Mapping[str, str], chosen: str
) -> Iterator[tuple[str, str, bool]]:
    for choice, label in choices.items():
        yield usage.period.url("usage", **{name: choice}), label, choice == chosen


def _build_chart(usage: UsagePage) -> Chart | None:
    """Build the chart over time, by model; None if no day is known."""
    spending, step = usage.periods, usage.step
    rows = {row.key: row.models for row in spending.rows if row.key}
    if not rows:
        return None
    steps = list(iter_steps(min(rows), max(rows), step))[-MOST_STEPS:]
    names = usage.models
    series = [
        Series(
            names[model],
            tuple(
                usage.amount(rows[key][model]) if model in rows.get(key, {}) else 0.0
                for key in steps
            ),
            model,
        )
        for model in spending.totals.models
    ]
    return Chart(
        title="Cost over time, by model",
        labels=tuple(steps),
        series=merge_small_series(series),
        write=usage.format,
        heading=HEADINGS[step],
        to=lambda column, model: _get_column_slice(usage, steps, column, model),
        unit=usage.period.of,
    )


def _get_column_slice(
    usage: UsagePage, steps: Sequence[str], column: int | None, model: str
) -> Slice:
    """Return what a column counts, or all columns: responses without a time are in none."""
    if column is not None:
        return usage.narrow(model=model, **narrow_to_step(usage.base, steps[column], usage.step))
    first = narrow_to_step(usage.base, steps[0], usage.step)["since"]
    last = narrow_to_step(usage.base, steps[-1], usage.step)["until"]
    return usage.narrow(model=model, since=first, until=last)


def iter_steps(first: str, last: str, step: str) -> Iterator[str]:
    """Yield the names of all steps from the first to the last without gaps."""
    if step == "month":
        year, month = int(first[:4]), int(first[5:7])
        while f"{year:04}-{month:02}" <= last:
            yield f"{year:04}-{month:02}"
            year, month = year + month // 12, month % 12 + 1
        return
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += timedelta(days=7 if step == "week" else 1)


def _render_areas(usage: UsagePage) -> str:
    """Render the projects as areas, made of models or of sessions."""
    groups: list[Group] = []
    for key in usage.areas.names("project"):
        dimension = usage.areas.dimensions[1]
        items = [(keys[1], item) for keys, item in usage.areas.cells.items() if keys[0] == key]
        items.sort(key=lambda item: -usage.amount(item[1]))
        slice_ = usage.narrow(project=key or "")
        parts = [
            Area(
                _get_part_name(usage, name),
                usage.amount(sum_),
                replace(slice_, **{dimension: name or NO_MODEL}),
            )
            for name, sum_ in items
        ]
        project = format_project(usage.project_directories.get(key or "", key or "unknown"))
        groups.append(Group(Area(project, sum(item.value for item in parts), slice_), parts))
    groups.sort(key=lambda group: -group.area.value)
    switch = render_switch(
        "Within projects", _iter_choices(usage, "inside", INSIDE, usage.period.inside)
    )
    title = f"Projects and their {INSIDE[usage.period.inside].lower()}"
    if small := groups[MOST_AREAS:]:
        total = sum(group.area.value for group in small)
        rest = Group(Area(f"{len(small)} more projects", total, usage.base), ())
        groups = [*groups[:MOST_AREAS], rest]
    treemap = render_treemap(groups, usage.format, usage.period.of, title)
    return render_section("By project", f'<div class="status-text">{switch}</div>{treemap}')


def _get_part_name(usage: UsagePage, name: str | None) -> str:
    if usage.period.inside == "model":
        return usage.models[name or NO_MODEL]
    session = usage.listed_sessions.get(name or "")
    return shorten(session.display_title, 60) if session else name or "unknown"


def _render_models(usage: UsagePage) -> str:
    names = usage.models
    rows = [
        (esc(names[name]), sum_, usage.narrow(model=name))
        for name, sum_ in usage.total.models.items()
    ]
    return _render_sums("Model", rows, usage)


def _render_sessions(usage: UsagePage) -> str:
    rows = []
    for row in _sort_rows(usage.sessions, usage):
        session, name = usage.listed_sessions.get(row.key or ""), esc(row.key or "unknown")
        if session:
            title = esc(shorten(session.display_title, 100))
            name = f'<a href="{session_url(session.name)}/usage">{title}</a>'
            name += f"<small> {esc(format_project(session.place))}</small>"
        rows.append((name, row.total, usage.narrow(session=row.key or "")))
    return _render_sums("Session", rows, usage)


def _sort_rows(spending: Spending, usage: UsagePage) -> list[SpendingRow]:
    return sorted(spending.rows, key=lambda row: (-usage.amount(row.total), row.key or ""))


def _render_sums(
    name: str, rows: Sequence[tuple[str, SpendingSum, Slice]], usage: UsagePage
) -> str:
    """Render what each of something cost; labels are markup already."""
    csv = render_csv_link(usage.period, name.lower())
    maximum = max((usage.amount(sum_) for _, sum_, _ in rows), default=0)
    table_rows = [
        render_row(label, *_render_sum_cells(sum_, maximum, usage, slice_))
        for label, sum_, slice_ in rows
    ]
    css_class = STACKED if name == "Session" else "figures"
    table = render_folded_table((name, "Tokens", "Cost"), table_rows, name, usage.base, css_class)
    return render_section(f"{name}s", table, csv)


def _render_sum_cells(
    sum_: SpendingSum, maximum: float, usage: UsagePage, slice_: Slice
) -> tuple[Cell, ...]:
    cost = format_cost(sum_.known_cost, is_partly=bool(sum_.unpriced))
    total = sum_.tokens.total
    return (
        render_bar_cell(usage.amount(sum_), maximum, slice_),
        slice_.render_link(format_tokens(total), tokens=total),
        slice_.render_link(cost, cost=sum_.cost) if cost else "",
    )


def _render_blocks(usage: UsagePage) -> str:
    blocks = [block for block in usage.blocks if not block.is_gap][::-1]
    maximum = max((usage.amount(block.total) for block in blocks[:MOST_ROWS]), default=0)
    rows = [_render_block(block, maximum, usage) for block in blocks]
    heads = ("Started", "Tokens", "Cost", "Per hour")
    table = render_folded_table(heads, rows, "Five-hour block", css_class=STACKED)
    return render_section("Five-hour blocks", table, "like the usage windows of Claude plans")


def _render_block(block: BillingBlock, maximum: float, usage: UsagePage) -> str:
    rate = block.rate
    first, last = block.total.first or block.start, block.total.last or block.end
    slice_ = usage.narrow(after=format_moment(first), before=format_moment(last))
    pace = (
        slice_.render_link(format_cost(rate.cost_per_hour)) if rate and rate.cost_per_hour else ""
    )
    active_block = ""
    if block.is_active:
        remaining = format_duration(block.time_left(usage.now).total_seconds() * 1000)
        projected = block.projected(usage.now)
        projection = f", projected {format_cost(projected[1])}" if projected else ""
        active_block = f' <small><span class="live"></span>{remaining} left{projection}</small>'
    started = f"{format_minute(block.start.astimezone())}{active_block}"
    return render_row(started, *_render_sum_cells(block.total, maximum, usage, slice_), pace)


def _render_parts(usage: UsagePage) -> str:
    totals = usage.total
    total = usage.amount(totals.total)
    agents, service = usage.amount(totals.agents), usage.amount(totals.service)
    abandoned = usage.amount(totals.abandoned)
    unit = usage.period.of
    requesters = [
        BarPart(
            "Main conversations",
            max(total - agents - service, 0.0),
            usage.narrow(who="main"),
            unit,
        ),
        BarPart("Agents", agents, usage.narrow(who="agents"), unit),
        BarPart("Background requests", service, usage.narrow(who="service"), unit),
    ]
    branches = [
        BarPart("Active branches", max(total - abandoned, 0.0), usage.narrow(branch="kept"), unit),
        BarPart("Abandoned branches", abandoned, usage.narrow(branch="abandoned"), unit),
    ]
    return render_section(
        "By type",
        render_parts_bar(
            requesters, usage.format, "Main conversations, agents and background requests"
        )
        + render_parts_bar(branches, usage.format, "Active and abandoned branches"),
    )


def _render_cache(usage: UsagePage) -> str:
    tokens = usage.total.total.tokens
    parts = [
        BarPart(CACHE_READ.capitalize(), float(tokens.cache_read), usage.base, "cache_read"),
        BarPart(CACHE_WRITE.capitalize(), float(tokens.cache_write), usage.base, "cache_write"),
        BarPart(INPUT.capitalize(), float(tokens.input), usage.base, "input"),
    ]
    saved = usage.saved.without - usage.saved.paid
    explanation = (
        f"The same tokens would have cost {format_cost(usage.saved.without)} without a cache: "
        f"the cache saved {format_cost(saved)}, or {format_share(saved, usage.saved.without)}."
        if saved > 0
        else "The cache saved nothing in this period."
    )
    bar = render_parts_bar(parts, lambda value: format_tokens(round(value)), "Input tokens")
    return render_section("Cache", f'{bar}<p class="note-line">{explanation}</p>')


def _render_unpriced(usage: UsagePage) -> str:
    models = usage.total.total.unpriced
    if not models:
        return ""
    ordered = sorted(models.items(), key=lambda item: -item[1])
    rows = (
        render_row(
            esc(name),
            usage.narrow(name=name).render_link(format_count(count, "response"), responses=count),
        )
        for name, count in ordered
    )
    note = (
        '<p class="note-line">Set your own prices: <code>prices = "prices.toml"</code> '
        "in config.toml.</p>"
    )
    return render_section("Without a price", render_table((), rows) + note, "not included in costs")
