"""A cross table to its part of the page: projects and their models down, times across."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from plait.conversation.cross import CrossTable
from plait.conversation.spending import NO_MODEL, SpendingSum
from plait.view.page.figures.charts import cells, scrolled, section
from plait.view.page.figures.period import Period
from plait.view.page.figures.slices import UNTIMED, Slice, narrowed, step_days
from plait.view.page.figures.spent import Usage
from plait.view.page.lists.rows import short_place
from plait.view.page.markup import esc

MOST_COLUMNS = 8
"""Times that have a column of their own: the last ones."""
MOST_PROJECTS = 12


def cross_section(usage: Usage) -> str:
    """Returns the table with its sums to the right and below, and the way to all of it as CSV."""
    told = _Told(usage, usage.cross)
    words = f"Project × model × {usage.step}"
    inner = scrolled(told.table(), words) + told.onward()
    return section(words, inner, csv_link(usage.span, "cross"))


def csv_link(span: Period, rows: str) -> str:
    """Returns the way to the figures of a page as CSV."""
    page = span.address("usage").replace("/usage", "/usage.csv", 1)
    href = f"{page}{'&' if '?' in page else '?'}rows={rows}"
    return f'<a class="csv" href="{esc(href)}" download>CSV</a>'


class _Told:
    """Puts a cross table into a page."""

    def __init__(self, usage: Usage, table: CrossTable) -> None:
        self._usage, self._table = usage, table
        times = table.names(table.dimensions[2])
        self._times = times[-MOST_COLUMNS:]
        self._before = times[:-MOST_COLUMNS]
        self._names = usage.models
        self._pairs = table.along("project", "model")

    def table(self) -> str:
        """Returns the table."""
        heads = [*(["before"] if self._before else []), *map(self._time, self._times), "Total"]
        names = "".join(f'<th scope="col">{esc(one)}</th>' for one in heads)
        head = f'<thead><tr><th scope="col">Project, model</th>{names}</tr></thead>'
        foot = f"<tfoot>{self._line('Total', self._sums(None, None), self._usage.base)}</tfoot>"
        rows = "".join(self._rows())
        return f'<table class="figures cross">{head}<tbody>{rows}</tbody>{foot}</table>'

    def onward(self) -> str:
        """Returns the way to the projects that are not shown."""
        rest = len(self._table.names("project")) - MOST_PROJECTS
        if rest <= 0:
            return ""
        words = f"{rest} more projects are in the sums, and in the CSV"
        return f'<p class="note-line">{words}</p>'

    def _time(self, key: str | None) -> str:
        if key is None:
            return "no date"
        first = step_days(key, self._usage.step)[0]
        return key if self._usage.step == "month" else first[5:]

    def _rows(self) -> Iterator[str]:
        for key in self._table.names("project")[:MOST_PROJECTS]:
            to = replace(self._usage.base, project=key or "")
            place = self._usage.places.get(key or "", key or "unknown")
            name = f'<a href="{esc(self._address(key))}">{esc(short_place(place))}</a>'
            yield self._line(name, self._sums(key, None), to, "whole")
            models = [one for one in self._table.names("model") if (key, one) in self._pairs]
            for model in models if len(models) > 1 else ():
                named = self._names[model or NO_MODEL]
                only = replace(to, model=model or NO_MODEL)
                yield self._line(esc(named), self._sums(key, model or NO_MODEL), only)

    def _address(self, project: str | None) -> str:
        return self._usage.span.address("usage", project=project or "")

    def _sums(self, project: str | None, model: str | None) -> dict[str | None, SpendingSum]:
        """Returns what stands in a row: of a project or all, of a model or all."""
        found: dict[str | None, SpendingSum] = {}
        for keys, tally in self._table.cells.items():
            is_row = project is None or keys[0] == project
            if is_row and model in (None, keys[1] or NO_MODEL):
                found.setdefault(keys[2], SpendingSum()).take(tally)
        return found

    def _line(
        self, name: str, sums: dict[str | None, SpendingSum], to: Slice, kind: str = ""
    ) -> str:
        total = SpendingSum()
        for tally in sums.values():
            total.take(tally)
        told = [self._cell(sums, [one], to) for one in self._times]
        if self._before:
            told.insert(0, self._cell(sums, self._before, to))
        whole = self._figure(total, to)
        mark = f' class="{kind}"' if kind else ""
        return f'<tr{mark}><th scope="row">{name}</th>{cells(*told, whole)}</tr>'

    def _cell(
        self, sums: dict[str | None, SpendingSum], times: Sequence[str | None], to: Slice
    ) -> str:
        found = SpendingSum()
        for time in times:
            if time in sums:
                found.take(sums[time])
        if not found.responses:
            return ""
        return self._figure(found, self._within(to, times))

    def _within(self, to: Slice, times: Sequence[str | None]) -> Slice:
        if times[0] is None:
            return replace(to, part=UNTIMED)
        first = narrowed(to, times[0], self._usage.step)["since"]
        last = narrowed(to, times[-1], self._usage.step)["until"]
        return replace(to, since=first, until=last)

    def _figure(self, tally: SpendingSum, to: Slice) -> str:
        usage = self._usage
        star = "*" if tally.unpriced and usage.span.of == "cost" else ""
        value = usage.amount(tally)
        figure = value if usage.span.of == "cost" else int(value)
        return to.link(f"{usage.write(value)}{star}", **{usage.span.of: figure})
