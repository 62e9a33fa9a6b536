"""Charts and tables of a page, heat maps of days and hours.

A chart is drawn in its own coordinates and stretched to the available width; text is placed beside
it as HTML, so that it keeps its size.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from plait.view.formats import format_count, format_day, format_month_name, format_weekday
from plait.view.page.markup import esc
from plait.view.page.slices import Slice

WIDTH, HEIGHT = 1000, 200
MOST_SERIES = 5
"""Further series are merged."""
REST = "other"
MOST_ROWS, MOST_FOLDED = 12, 112
"""Rows of a table that are shown at once, and in all."""
THIN = 0.4
"""Minimum size of a bar, so that small values stay visible."""
ValueFormatter: TypeAlias = Callable[[float], str]
Cell: TypeAlias = str | tuple[str, str]
"""The markup of a cell, after its class if it has one."""


class Series(Struct, frozen=True):
    """One series of amounts, column by column."""

    name: str
    values: tuple[float, ...]
    key: str = ""
    """Its name in URLs: several names are separated by commas."""

    @property
    def total(self) -> float:
        """The sum of all columns."""
        return sum(self.values)


class Chart(Struct, frozen=True, kw_only=True):
    """Stacked columns of amounts."""

    title: str
    labels: tuple[str, ...]
    """Of the columns; the first, the middle and the last are shown below them."""
    series: tuple[Series, ...]
    """Largest first, drawn from the bottom."""
    write: ValueFormatter
    heading: str = "When"
    """The heading of the first column of the table."""
    to: Callable[[int | None, str], Slice]
    """The slice for one column or all, and one series or all."""
    unit: str
    """The measure: `cost` or `tokens`."""

    def render_link(self, words: str, value: float, column: int | None, key: str = "") -> str:
        """Return a figure linked to what it counts."""
        return self.to(column, key).render_link(esc(words), **{self.unit: value})


def merge_small_series(series: Sequence[Series]) -> tuple[Series, ...]:
    """Return the largest series first, with those beyond the limit merged."""
    ordered = sorted(series, key=lambda series_item: (-series_item.total, series_item.name))
    if len(ordered) <= MOST_SERIES:
        return tuple(ordered)
    largest, smallest = ordered[: MOST_SERIES - 1], ordered[MOST_SERIES - 1 :]
    values = tuple(
        sum(column)
        for column in zip(*(series_item.values for series_item in smallest), strict=True)
    )
    return (*largest, Series(REST, values, ",".join(series_item.key for series_item in smallest)))


def render_columns_chart(chart: Chart) -> str:
    """Render a chart of columns with its legend and its table."""
    totals = [
        sum(column) for column in zip(*(series.values for series in chart.series), strict=True)
    ]
    maximum = round_up(max(totals, default=0))
    is_stacked = len(chart.series) > 1
    heads = [series.name for series in chart.series] if is_stacked else []
    rows = [
        render_row(
            esc(label),
            *(
                chart.render_link(
                    chart.write(series.values[column]), series.values[column], column, series.key
                )
                if series.values[column]
                else ""
                for series in chart.series
                if is_stacked
            ),
            chart.render_link(chart.write(totals[column]), totals[column], column),
        )
        for column, label in enumerate(chart.labels)
        if totals[column]
    ]
    chart_table = render_folded(render_table([chart.heading, *heads, "Total"], rows), chart.title)
    pitch = WIDTH / max(len(totals), 1)
    width = pitch * (0.8 if len(totals) <= 60 else 0.9)
    columns = "".join(
        _render_column(chart, index, total, maximum, index * pitch + (pitch - width) / 2, width)
        for index, total in enumerate(totals)
        if total > 0
    )
    lines = f'<path class="grid" d="M0 0H{WIDTH}M0 {HEIGHT / 2:g}H{WIDTH}M0 {HEIGHT}H{WIDTH}"/>'
    columns_html = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="group" '
        f'aria-label="{esc(chart.title)}; the table below has the figures">{lines}{columns}</svg>'
    )
    legend = ""
    if is_stacked:
        keys = _render_legend_items(
            (
                series.name,
                chart.render_link(chart.write(series.total), series.total, None, series.key),
                "",
            )
            for series in chart.series
        )
        legend = f"<figcaption>{keys}</figcaption>"
    ticks = chart.labels
    if len(ticks) > 2:
        ticks = (ticks[0], ticks[len(ticks) // 2], ticks[-1])
    axis = "".join(f"<span>{esc(tick)}</span>" for tick in ticks)
    axis = f'<div class="xs" aria-hidden="true">{axis}</div>' if ticks else ""
    return (
        f'<figure class="chart">{legend}<div class="plot">'
        f'<div class="ys" aria-hidden="true"><span>{esc(chart.write(maximum))}</span>'
        f"<span>{esc(chart.write(maximum / 2))}</span><span>{esc(chart.write(0))}</span></div>"
        f"{columns_html}</div>{axis}{chart_table}</figure>"
    )


def round_up(maximum: float) -> float:
    """Return a round number at or above the maximum whose half is round too."""
    if maximum <= 0:
        return 1.0
    magnitude = 1.0
    while magnitude * 10 <= maximum:
        magnitude *= 10
    while magnitude > maximum:
        magnitude /= 10
    return next(step * magnitude for step in (1, 2, 4, 6, 8, 10, 20) if step * magnitude >= maximum)


def _render_column(
    chart: Chart, column: int, total: float, maximum: float, x: float, width: float
) -> str:
    bars, y = [], float(HEIGHT)
    for number, series in enumerate(chart.series):
        height = series.values[column] / maximum * HEIGHT
        if height <= 0:
            continue
        y -= height
        rect = (
            f'<rect class="c{number}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"/>'
        )
        words = esc(f"{chart.labels[column]}, {series.name}: {chart.write(series.values[column])}")
        bars.append(
            f'<a href="{esc(chart.to(column, series.key).url())}" tabindex="-1" '
            f'aria-label="{words}" data-figure="{chart.unit}={series.values[column]!r}">{rect}</a>'
        )
    details = "".join(
        f"\n{series.name}: {chart.write(series.values[column])}"
        for series in chart.series
        if series.values[column] and len(chart.series) > 1
    )
    title = f"{chart.labels[column]}: {chart.write(total)}{details}"
    return f"<g><title>{esc(title)}</title>{''.join(bars)}</g>"


def render_folded(inner: str, title: str) -> str:
    """Render a table folded behind a drawing that shows the same."""
    content = render_scroll_area(inner, title)
    return f'<details class="behind"><summary>Table</summary>{content}</details>'


STACKED = "figures stacked"
"""A table of long names: on a narrow page each name has a line to itself, with its figures below."""


def render_folded_table(
    heads: Sequence[str],
    rows: Sequence[str],
    name: str,
    all_rows: Slice | None = None,
    css_class: str = "figures",
) -> str:
    """Render a table with bars in its second column, with only the first rows open."""
    names = (heads[0], None, *heads[1:])
    first, rest = rows[:MOST_ROWS], rows[MOST_ROWS:MOST_FOLDED]
    html = render_scroll_area(render_table(names, first, css_class), f"{name}s")
    if not rest:
        return html
    hidden_count = len(rows) - len(first) - len(rest)
    words = f"{len(rest)} more" + (f", {hidden_count} not shown" if hidden_count else "")
    rest_html = render_scroll_area(render_table(names, rest, css_class), f"More {name.lower()}s")
    if hidden_count and all_rows:
        rest_html += f'<p class="onward">{all_rows.render_link("Show all")}</p>'
    return f'{html}<details class="behind"><summary>{words}</summary>{rest_html}</details>'


def render_table(
    heads: Sequence[str | None],
    rows: Iterable[str],
    css_class: str = "figures",
    *,
    is_head_hidden: bool = False,
) -> str:
    """Render a table; a hidden head is there for screen readers."""
    names = "".join(f'<th scope="col">{esc(head)}</th>' if head else "<td></td>" for head in heads)
    state = ' class="state"' if is_head_hidden else ""
    head = f"<thead{state}><tr>{names}</tr></thead>" if heads else ""
    return f'<table class="{css_class}">{head}<tbody>{"".join(rows)}</tbody></table>'


def render_row(label: str, *figures: Cell) -> str:
    """Render a row: its label and its cells, all of them markup."""
    return f'<tr><th scope="row">{label}</th>{render_cells(*figures)}</tr>'


def render_cells(*values: Cell) -> str:
    """Render cells side by side."""
    return "".join(
        f"<td>{cell}</td>" if isinstance(cell, str) else f'<td class="{cell[0]}">{cell[1]}</td>'
        for cell in values
    )


def render_bar_cell(value: float, maximum: float, target: Slice | None = None) -> Cell:
    """Render a cell with a bar for the value's share of the maximum."""
    share = 0.0 if maximum <= 0 or value <= 0 else max(value / maximum * 100, 0.8)
    drawn = (
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rest" width="100" height="8"/><rect class="c0" width="{share:.1f}" '
        'height="8"/></svg>'
    )
    if target is not None:
        href = esc(target.url())
        drawn = f'<a href="{href}" tabindex="-1" aria-hidden="true">{drawn}</a>'
    return "bar-cell", drawn


def render_section(title: str, inner: str, note: str = "") -> str:
    """Render a section of a page with its title and a note."""
    subtitle = f" <small>{note}</small>" if note else ""
    return f"<section><h2>{title}{subtitle}</h2>{inner}</section>"


def render_scroll_area(inner: str, name: str, css_class: str = "scroll") -> str:
    """Render content that may be wider than the page, scrollable by keys too."""
    return f'<div class="{css_class}" tabindex="0" role="region" aria-label="{esc(name)}">{inner}</div>'


def render_totals(
    figures: Iterable[tuple[str, str, str]], css_class: str = "strip", *, is_counting: bool = False
) -> str:
    """Render totals in one line: label, figure, note, all of them markup."""
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{note}</small></dd></div>"
        for name, value, note in figures
    )
    counting = ' data-counting="1"' if is_counting else ""
    return f'<dl class="{css_class}"{counting}>{cells}</dl>'


class BarPart(NamedTuple):
    """A part of a bar, and what it counts."""

    name: str
    value: float
    to: Slice
    unit: str


def render_parts_bar(parts: Sequence[BarPart], write: ValueFormatter, title: str) -> str:
    """Render one bar made of parts, with a legend below it."""
    total = sum(part.value for part in parts)
    x, drawn_parts = 0.0, []
    for number, part in enumerate(parts):
        width = part.value / total * WIDTH if total else 0.0
        if part.value:
            label = f"{esc(part.name)}: {esc(write(part.value))}"
            drawn_parts.append(
                f'<a href="{esc(part.to.url())}" tabindex="-1" aria-label="{label}">'
                f'<rect class="c{number}" x="{x:.1f}" width="{width:.1f}" height="16">'
                f"<title>{label}</title></rect></a>"
            )
        x += width
    keys = _render_legend_items(
        (
            part.name,
            part.to.render_link(esc(write(part.value)), **{part.unit: part.value}),
            f" <small>{format_share(part.value, total)}</small>",
        )
        for part in parts
    )
    return (
        f'<figure class="parts"><svg viewBox="0 0 {WIDTH} 16" preserveAspectRatio="none" '
        f'role="group" aria-label="{esc(title)}">{"".join(drawn_parts)}</svg>{keys}</figure>'
    )


def _render_legend_items(parts: Iterable[tuple[str, str, str]]) -> str:
    items = "".join(
        f'<li><i class="key c{number}"></i>{esc(name)} <b>{figure}</b>{note}</li>'
        for number, (name, figure, note) in enumerate(parts)
    )
    return f'<ul class="legend">{items}</ul>'


def format_share(value: float, total: float) -> str:
    """Format a share; a small one is never shown as 0%, nor a part as 100%."""
    if total <= 0:
        return ""
    share = value / total * 100
    if 0 < share < 1:
        return "<1%".replace("<", "&lt;")
    return "99%" if 99 < share < 100 else f"{share:.0f}%"


def render_bar(share: float, css_class: str = "") -> str:
    """Render one bar."""
    return render_stacked_bar([(css_class, share)])


def render_stacked_bar(parts: Iterable[tuple[str, float]]) -> str:
    """Render bars end to end."""
    bars, x = "", 0.0
    for css_class, share in parts:
        if share > 0:
            width = min(max(100 * share, THIN), 100 - x)
            bars += f'<rect class="{esc(css_class)}" x="{x:.2f}" width="{width:.2f}" height="8"/>'
            x += width
    return render_drawing(bars)


def render_drawing(inner: str, height: int = 8, width: int = 100) -> str:
    """Render a drawing that fills its place; the text beside it has the same information."""
    return (
        f'<svg class="shares" viewBox="0 0 {width} {height}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{inner}</svg>'
    )


def render_legend(parts: Iterable[tuple[str, str, str]]) -> str:
    """Render the legend of bars: kind, name, figure."""
    items = "".join(
        f'<li><svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="{esc(css_class)}" '
        f'width="8" height="8"/></svg>{esc(name)}{f" <b>{esc(figure)}</b>" if figure else ""}</li>'
        for css_class, name, figure in parts
    )
    return f'<ul class="swatches">{items}</ul>'


GAP, SHADES = 2, 4
MOST_WEEKS, LEAST_WEEKS = 53, 12
HOURS = 24
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class StartedTurn(NamedTuple):
    """A turn that a user started."""

    name: str
    """The name of its session in URLs."""
    time: datetime
    """In local time of this machine."""
    turn: int
    uuid: str


class Grid(NamedTuple):
    """Squares in rows, one for each day of the week, with labels at the left and on top."""

    wide: int
    tall: int
    left: int
    top: int
    base: int
    """The vertical offset of a label in its row."""

    def get_x(self, column: int) -> int:
        """Return the x position of a column."""
        return self.left + column * (self.wide + GAP)

    def get_y(self, row: int) -> int:
        """Return the y position of a row."""
        return self.top + row * (self.tall + GAP)

    def render_square(
        self,
        column: int,
        row: int,
        count: int,
        maximum: int,
        label: str,
        target: Slice | None = None,
    ) -> str:
        """Render one square, darker for larger values, linked to what it counts."""
        position = f'x="{self.get_x(column)}" y="{self.get_y(row)}"'
        size = f'width="{self.wide}" height="{self.tall}" rx="2"'
        if not count:
            return f"<rect {position} {size}></rect>"
        shade = min(SHADES, 1 + count * SHADES // (maximum + 1))
        drawn = f'<rect class="h{shade}" {position} {size}><title>{label}</title></rect>'
        if target is None:
            return drawn
        href, attributes = esc(target.url()), f'tabindex="-1" aria-label="{label}"'
        return f'<a href="{href}" {attributes} data-figure="count={count}">{drawn}</a>'

    def render_day_names(self, rows: Iterable[int]) -> str:
        """Render the names of some weekdays."""
        return "".join(
            f'<text x="0" y="{self.get_y(row) + self.base}">{DAYS[row]}</text>' for row in rows
        )

    def render(self, css_class: str, columns: int, label: str, inner: str) -> str:
        """Render the whole map."""
        width, height = self.get_x(columns), self.get_y(len(DAYS))
        role = "group" if "<a " in inner else "img"
        return (
            f'<svg class="{css_class}" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="{role}" aria-label="{label}">{inner}</svg>'
        )


YEAR = Grid(11, 11, 28, 16, 9)
WEEK = Grid(26, 20, 36, 20, 14)


DaySlice = Callable[[date], Slice]
FIRST_DAY, LAST_DAY = date.min + timedelta(weeks=MOST_WEEKS), date.max - timedelta(days=6)


def render_year_map(
    prompts: Mapping[date, int],
    today: date | None = None,
    noun: str = "prompt",
    slice_of_day: DaySlice | None = None,
) -> str:
    """Render the last year, darker for more activity.

    It ends today if that is given, else with the last active day.
    """
    # days of wrong clocks, around which no year exists
    prompts = {day: count for day, count in prompts.items() if FIRST_DAY <= day <= LAST_DAY}
    if not prompts and today is None:
        return ""
    last = today or max(prompts)
    end = last + timedelta(days=6 - last.weekday())
    weeks = MOST_WEEKS
    if today is None:
        weeks = min(MOST_WEEKS, max(LEAST_WEEKS, ((end - min(prompts)).days // 7) + 1))
    start = end - timedelta(days=weeks * 7 - 1)
    days = [start + timedelta(days=number) for number in range((last - start).days + 1)]
    maximum = max((count for day, count in prompts.items() if day >= start), default=0)
    squares = "".join(
        YEAR.render_square(
            *divmod(number, 7),
            count,
            maximum,
            f"{format_weekday(day)}: {format_count(count, noun)}" if count else "",
            slice_of_day and slice_of_day(day),
        )
        for number, day in enumerate(days)
        for count in (prompts.get(day, 0),)
    )
    label = f"{noun.capitalize()}s by day, up to {format_day(last)}"
    months = "".join(
        f'<text x="{YEAR.get_x(week)}" y="10">{format_month_name(day)}</text>'
        for week, day in enumerate(days[::7])
        if day.day <= 7
    )
    inner = f"{months}{YEAR.render_day_names((0, 2, 4))}{squares}"
    return YEAR.render("heat", weeks, label, inner)


def render_days_table(counts: Mapping[date, int], noun: str, slice_of_day: DaySlice) -> str:
    """Render the active days, last first, folded behind their map."""
    rows = (
        render_row(format_weekday(day), slice_of_day(day).render_link(str(count), count=count))
        for day, count in sorted(counts.items(), reverse=True)
    )
    return render_folded(render_table(("Day", f"{noun.capitalize()}s"), rows), "Days")


def render_week_map(
    counts: Mapping[tuple[int, int], int], slice_of_hour: Callable[[int, int], Slice]
) -> str:
    """Render the hours of the week, darker for more prompts, with their table."""
    maximum = max(counts.values(), default=0)
    squares = "".join(
        WEEK.render_square(
            hour,
            weekday,
            count,
            maximum,
            f"{weekday_name} {hour:02}:00: {format_count(count, 'prompt')}" if count else "",
            slice_of_hour(weekday, hour),
        )
        for weekday, weekday_name in enumerate(DAYS)
        for hour in range(HOURS)
        for count in (counts.get((weekday, hour), 0),)
    )
    hour_names = "".join(
        f'<text x="{WEEK.get_x(hour)}" y="12">{hour:02}</text>' for hour in range(0, HOURS, 3)
    )
    title = "Prompts by weekday and hour"
    label = f"{title}; the table below has the figures"
    inner = f"{hour_names}{WEEK.render_day_names(range(len(DAYS)))}{squares}"
    drawn = WEEK.render("heat hours", HOURS, label, inner)
    rows = (
        render_row(
            f"{hour:02}:00",
            *(
                slice_of_hour(day, hour).render_link(str(count), count=count) if count else ""
                for day in range(7)
                for count in (counts.get((day, hour), 0),)
            ),
        )
        for hour in range(HOURS)
    )
    return render_scroll_area(drawn, "Hours of the week") + render_folded(
        render_table(("Hour", *DAYS), rows), title
    )
