"""Figures to charts and tables in a page.

A chart is drawn in a box of its own measure and stretched to the room there is; words stand
beside it as text, so that they keep their size.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from plait.view.page.figures.slices import Slice
from plait.view.page.markup import esc

WIDTH, HEIGHT = 1000, 200
MOST_SERIES = 5
"""What would be more is put together."""
REST = "other"
MOST_ROWS, MOST_FOLDED = 12, 112
"""Rows of a table that are shown at once, and in all."""
THIN = 0.4
"""What is there is seen, however little it is."""
Writer: TypeAlias = Callable[[float], str]
Cell: TypeAlias = str | tuple[str, str]
"""The markup of a cell, its class before it where it has one."""


class Series(Struct, frozen=True):
    """One kind of amounts, column by column."""

    name: str
    values: tuple[float, ...]
    key: str = ""
    """What it is called in addresses: names with commas between them where several are meant."""

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.values)


class Chart(Struct, frozen=True, kw_only=True):
    """Columns of amounts, one upon the other."""

    title: str
    labels: tuple[str, ...]
    """Of the columns; the first, the middle and the last are shown below them."""
    series: tuple[Series, ...]
    """The largest first, and at the bottom."""
    write: Writer
    heading: str = "When"
    """What the columns are, above the first column of the table."""
    to: Callable[[int | None, str], Slice]
    """What one column, or all of them, counts; of one series, or of all."""
    unit: str
    """What it measures: `cost` or `tokens`."""

    def link(self, words: str, value: float, column: int | None, key: str = "") -> str:
        """Returns a figure that leads to what it counts."""
        return self.to(column, key).link(esc(words), **{self.unit: value})


def largest_series(series: Sequence[Series]) -> tuple[Series, ...]:
    """Returns the largest series first, the small ones that are too many put together."""
    ordered = sorted(series, key=lambda one: (-one.total, one.name))
    if len(ordered) <= MOST_SERIES:
        return tuple(ordered)
    kept, rest = ordered[: MOST_SERIES - 1], ordered[MOST_SERIES - 1 :]
    values = tuple(sum(column) for column in zip(*(one.values for one in rest), strict=True))
    return (*kept, Series(REST, values, ",".join(one.key for one in rest)))


def columns_chart(chart: Chart) -> str:
    """Returns a chart of columns with its legend and its table."""
    totals = [sum(column) for column in zip(*(one.values for one in chart.series), strict=True)]
    top = ceiling(max(totals, default=0))
    return (
        f'<figure class="chart">{_legend(chart)}<div class="plot">'
        f'<div class="ys" aria-hidden="true"><span>{esc(chart.write(top))}</span>'
        f"<span>{esc(chart.write(top / 2))}</span><span>{esc(chart.write(0))}</span></div>"
        f"{_columns(chart, totals, top)}</div>{_tick_words(chart.labels)}"
        f"{_table_behind(chart, totals)}</figure>"
    )


def ceiling(most: float) -> float:
    """Returns a round number above all others, so that half of it is round too."""
    if most <= 0:
        return 1.0
    size = 1.0
    while size * 10 <= most:
        size *= 10
    while size > most:
        size /= 10
    return next(step * size for step in (1, 2, 4, 6, 8, 10, 20) if step * size >= most)


def _columns(chart: Chart, totals: Sequence[float], top: float) -> str:
    pitch = WIDTH / max(len(totals), 1)
    width = pitch * (0.8 if len(totals) <= 60 else 0.9)
    columns = "".join(
        _column(chart, place, total, top, place * pitch + (pitch - width) / 2, width)
        for place, total in enumerate(totals)
        if total > 0
    )
    lines = f'<path class="grid" d="M0 0H{WIDTH}M0 {HEIGHT / 2:g}H{WIDTH}M0 {HEIGHT}H{WIDTH}"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="group" '
        f'aria-label="{esc(chart.title)}; the table below has the figures">{lines}{columns}</svg>'
    )


def _column(chart: Chart, place: int, total: float, top: float, across: float, width: float) -> str:
    parts, base = [], float(HEIGHT)
    for number, one in enumerate(chart.series):
        height = one.values[place] / top * HEIGHT
        if height <= 0:
            continue
        base -= height
        rect = (
            f'<rect class="c{number}" x="{across:.1f}" y="{base:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"/>'
        )
        words = esc(f"{chart.labels[place]}, {one.name}: {chart.write(one.values[place])}")
        parts.append(
            f'<a href="{esc(chart.to(place, one.key).address())}" tabindex="-1" '
            f'aria-label="{words}" data-figure="{chart.unit}={one.values[place]!r}">{rect}</a>'
        )
    told = "".join(
        f"\n{one.name}: {chart.write(one.values[place])}"
        for one in chart.series
        if one.values[place] and len(chart.series) > 1
    )
    title = f"{chart.labels[place]}: {chart.write(total)}{told}"
    return f"<g><title>{esc(title)}</title>{''.join(parts)}</g>"


def _legend(chart: Chart) -> str:
    if len(chart.series) < 2:
        return ""
    keys = _keys(
        (one.name, chart.link(chart.write(one.total), one.total, None, one.key), "")
        for one in chart.series
    )
    return f"<figcaption>{keys}</figcaption>"


def _tick_words(ticks: Sequence[str]) -> str:
    if not ticks:
        return ""
    chosen = [ticks[0], ticks[len(ticks) // 2], ticks[-1]] if len(ticks) > 2 else list(ticks)
    return (
        '<div class="xs" aria-hidden="true">'
        + "".join(f"<span>{esc(one)}</span>" for one in chosen)
        + "</div>"
    )


def _table_behind(chart: Chart, totals: Sequence[float]) -> str:
    is_stacked = len(chart.series) > 1
    heads = [one.name for one in chart.series] if is_stacked else []
    rows = [
        row(
            esc(label),
            *(
                chart.link(chart.write(one.values[place]), one.values[place], place, one.key)
                if one.values[place]
                else ""
                for one in chart.series
                if is_stacked
            ),
            chart.link(chart.write(totals[place]), totals[place], place),
        )
        for place, label in enumerate(chart.labels)
        if totals[place]
    ]
    return behind(table([chart.heading, *heads, "Total"], rows), chart.title)


def behind(inner: str, title: str) -> str:
    """Returns a table folded away behind a drawing that shows the same."""
    told = scrolled(inner, title)
    return f'<details class="behind"><summary>Table</summary>{told}</details>'


STACKED = "figures stacked"
"""A table of long names: on a narrow page each has a line to itself, its figures below it."""


def folded_table(
    heads: Sequence[str],
    rows: Sequence[str],
    name: str,
    everything: Slice | None = None,
    kind: str = "figures",
) -> str:
    """Returns a table with bars in its second column, of which only the first rows are shown."""
    names = (heads[0], None, *heads[1:])
    first, rest = rows[:MOST_ROWS], rows[MOST_ROWS:MOST_FOLDED]
    shown = scrolled(table(names, first, kind), f"{name}s")
    if not rest:
        return shown
    left = len(rows) - len(first) - len(rest)
    words = f"{len(rest)} more" + (f", and {left} that are not shown" if left else "")
    more = scrolled(table(names, rest, kind), f"More {name.lower()}s")
    if left and everything:
        more += f'<p class="onward">{everything.link("All of them")}</p>'
    return f'{shown}<details class="behind"><summary>{words}</summary>{more}</details>'


def table(
    heads: Sequence[str | None],
    rows: Iterable[str],
    kind: str = "figures",
    *,
    is_silent: bool = False,
) -> str:
    """Returns a table of rows; the names of silent columns are for those who hear the page."""
    names = "".join(f'<th scope="col">{esc(one)}</th>' if one else "<td></td>" for one in heads)
    state = ' class="state"' if is_silent else ""
    head = f"<thead{state}><tr>{names}</tr></thead>" if heads else ""
    return f'<table class="{kind}">{head}<tbody>{"".join(rows)}</tbody></table>'


def row(about: str, *figures: Cell) -> str:
    """Returns a row: what it is about, and its figures, all of them markup."""
    return f'<tr><th scope="row">{about}</th>{cells(*figures)}</tr>'


def cells(*found: Cell) -> str:
    """Returns cells side by side."""
    return "".join(
        f"<td>{cell}</td>" if isinstance(cell, str) else f'<td class="{cell[0]}">{cell[1]}</td>'
        for cell in found
    )


def bar_cell(value: float, most: float, to: Slice | None = None) -> Cell:
    """Returns a cell with a bar as long as a value's share of the most."""
    share = 0.0 if most <= 0 or value <= 0 else max(value / most * 100, 0.8)
    drawn = (
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rest" width="100" height="8"/><rect class="c0" width="{share:.1f}" '
        'height="8"/></svg>'
    )
    if to is not None:
        href = esc(to.address())
        drawn = f'<a href="{href}" tabindex="-1" aria-hidden="true">{drawn}</a>'
    return "bar-cell", drawn


def section(title: str, inner: str, note: str = "") -> str:
    """Returns a part of a page with its title, and a word on it."""
    more = f" <small>{note}</small>" if note else ""
    return f"<section><h2>{title}{more}</h2>{inner}</section>"


def scrolled(inner: str, name: str, kind: str = "scroll") -> str:
    """Returns something that may be wider than the page; keys can move it too."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{esc(name)}">{inner}</div>'


def strip(
    figures: Iterable[tuple[str, str, str]], kind: str = "strip", *, is_counting: bool = False
) -> str:
    """Returns totals in one line: what they are, the figure, a word on it, all of them markup."""
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>"
        for name, value, more in figures
    )
    counting = ' data-counting="1"' if is_counting else ""
    return f'<dl class="{kind}"{counting}>{cells}</dl>'


class BarPart(NamedTuple):
    """A part of a bar, and what it counts."""

    name: str
    value: float
    to: Slice
    unit: str


def parts_bar(parts: Sequence[BarPart], write: Writer, title: str) -> str:
    """Returns one bar that is made up of parts, with what they are below it."""
    whole = sum(one.value for one in parts)
    across, drawn_parts = 0.0, []
    for number, one in enumerate(parts):
        width = one.value / whole * WIDTH if whole else 0.0
        if one.value:
            words = f"{esc(one.name)}: {esc(write(one.value))}"
            drawn_parts.append(
                f'<a href="{esc(one.to.address())}" tabindex="-1" aria-label="{words}">'
                f'<rect class="c{number}" x="{across:.1f}" width="{width:.1f}" height="16">'
                f"<title>{words}</title></rect></a>"
            )
        across += width
    keys = _keys(
        (
            one.name,
            one.to.link(esc(write(one.value)), **{one.unit: one.value}),
            f" <small>{share_in_words(one.value, whole)}</small>",
        )
        for one in parts
    )
    return (
        f'<figure class="parts"><svg viewBox="0 0 {WIDTH} 16" preserveAspectRatio="none" '
        f'role="group" aria-label="{esc(title)}">{"".join(drawn_parts)}</svg>{keys}</figure>'
    )


def _keys(parts: Iterable[tuple[str, str, str]]) -> str:
    items = "".join(
        f'<li><i class="key c{number}"></i>{esc(name)} <b>{figure}</b>{more}</li>'
        for number, (name, figure, more) in enumerate(parts)
    )
    return f'<ul class="legend">{items}</ul>'


def share_in_words(value: float, whole: float) -> str:
    """Writes a share; something is never nothing, and a part is never all."""
    if whole <= 0:
        return ""
    share = value / whole * 100
    if 0 < share < 1:
        return "<1 %".replace("<", "&lt;")
    return "99 %" if 99 < share < 100 else f"{share:.0f} %"


def bar(share: float, kind: str = "") -> str:
    """Returns one bar."""
    return stack([(kind, share)])


def stack(parts: Iterable[tuple[str, float]]) -> str:
    """Returns bars one behind the other, each with the name of its kind."""
    drawn, at = "", 0.0
    for kind, share in parts:
        if share > 0:
            width = min(max(100 * share, THIN), 100 - at)
            drawn += f'<rect class="{esc(kind)}" x="{at:.2f}" width="{width:.2f}" height="8"/>'
            at += width
    return drawing(drawn)


def drawing(inner: str, height: int = 8, width: int = 100) -> str:
    """Returns a drawing that fills its place; the words beside it say the same."""
    return (
        f'<svg class="shares" viewBox="0 0 {width} {height}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{inner}</svg>'
    )


def swatches(parts: Iterable[tuple[str, str, str]]) -> str:
    """Returns what the kinds of bars mean: the kind, its name, its figure."""
    items = "".join(
        f'<li><svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="{esc(kind)}" '
        f'width="8" height="8"/></svg>{esc(name)}{f" <b>{esc(figure)}</b>" if figure else ""}</li>'
        for kind, name, figure in parts
    )
    return f'<ul class="swatches">{items}</ul>'
