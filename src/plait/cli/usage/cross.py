"""A cross table to lines that fit the page, to JSON and to CSV.

The last of what is asked for stands in columns, the rest below one another. Columns that find
no room are put together: the older ones, or those that cost least.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.cli.text import clipped, columns, counted, number, safe_line, thousands
from plait.conversation.cross import DIMENSIONS, TIMES, CrossTable, Dimension, Keys
from plait.conversation.spending import SpendingSum
from plait.errors import UserError
from plait.view.forms import told_apart
from plait.view.usage import cost_of, figures_value

if TYPE_CHECKING:
    from rich.text import Text

    from plait.cli.options import Request

MOST = 3
"""Things that a table can be by at once."""
GAP, INDENT = "  ", "  "
WORDS = 40
LEAST = 16
"""Columns of the screen that the names get at most and at least."""
EARLIER, OTHER = "before", "other"
UNKNOWN = {"model": "unnamed", "day": "no date", "week": "no date", "month": "no date"}
Write = Callable[[SpendingSum], str]


def dimensions_in(text: str) -> tuple[Dimension, ...]:
    """Returns what a table is to be by, as a user writes it: `project,model,week`."""
    found: list[Dimension] = []
    for word in text.split(","):
        name = next((one for one in DIMENSIONS if one == word.strip()), None)
        if name is None:
            known = ", ".join(DIMENSIONS)
            raise UserError(f"nothing can be counted by '{word.strip()}'", f"there are {known}")
        if name in found:
            raise UserError(f"'{name}' is named twice", "each of them once: `project,model,week`")
        found.append(name)
    if sum(one in TIMES for one in found) > 1:
        raise UserError("only one of day, week and month", "`--by project,week`")
    if len(found) > MOST:
        raise UserError(f"at most {MOST} at once", "`--by project,model,week`")
    return tuple(found)


def cross_value(table: CrossTable) -> dict[str, Any]:
    """Returns a table as JSON has it: its cells, the sums along each thing, and all of it."""
    return {
        "by": list(table.dimensions),
        "rows": [_named(table.dimensions, *cell) for cell in table.ordered()],
        "sums": {
            one: [_named((one,), *cell) for cell in table.along(one).items()]
            for one in table.dimensions
        },
        "totals": figures_value(table.totals),
    }


def _named(dimensions: Sequence[str], keys: Keys, tally: SpendingSum) -> dict[str, Any]:
    return {**dict(zip(dimensions, keys, strict=True)), **figures_value(tally)}


class _Row(NamedTuple):
    words: str
    cells: Mapping[str | None, SpendingSum]
    total: SpendingSum
    style: str = ""


def print_cross(
    request: "Request",
    table: CrossTable,
    names: Mapping[str, Mapping[str, str]],
    of: str,
    limit: int | None,
) -> None:
    """Prints a table with its sums to the right and below; names are those of projects."""
    if not table.cells:
        request.output.print("no responses")
        return
    write: Write = cost_of if of == "cost" else lambda tally: f"{thousands(tally.tokens.total)} "
    told = _Told(table, names)
    rows = list(told.rows())
    shown = rows if limit is None else _first(rows, limit)
    with request.output.paged():
        request.output.lines(told.lines([*shown, told.last()], write, request.output.width))
        request.output.print("")
        request.output.print(_note(table, len(rows) - len(shown)), style="dim")
        for name, count in sorted(table.totals.unpriced.items()):
            words = f"* no price is known for {safe_line(name)} ({counted(count, 'response')})"
            request.output.print(words)


def _first(rows: Sequence[_Row], limit: int) -> Sequence[_Row]:
    """Returns the first groups of rows, each with those below it."""
    heads = [at for at, row in enumerate(rows) if not row.words.startswith(INDENT)]
    return rows if limit >= len(heads) else rows[: heads[limit]]


def _note(table: CrossTable, hidden: int) -> str:
    said = f"{counted(table.totals.responses, 'response')}, {number(table.totals.tokens.total)}"
    rest = f", {counted(hidden, 'row')} not shown" if hidden else ""
    return f"{said} tokens{rest}"


class _Told:
    """Puts a table into words."""

    def __init__(self, table: CrossTable, names: Mapping[str, Mapping[str, str]]) -> None:
        self._table = table
        *self._down, self._across = table.dimensions
        models = table.names("model") if "model" in table.dimensions else []
        self._names = {**names, "model": told_apart(one or "unnamed" for one in models)}
        self._pairs = table.along(*self._down)
        self._columns: dict[Keys, dict[str | None, SpendingSum]] = {}
        for count in range(1, len(self._down) + 1):
            for keys, tally in table.along(*self._down[:count], self._across).items():
                self._columns.setdefault(keys[:-1], {})[keys[-1]] = tally

    def _name(self, dimension: Dimension, key: str | None) -> str:
        found = key or UNKNOWN.get(dimension, "unknown")
        return safe_line(self._names.get(dimension, {}).get(found, found))

    def rows(self) -> Iterator[_Row]:
        """Yields a row for each of the first, and below it one for each that meets it."""
        table, down = self._table, self._down
        for (key,), total in table.along(down[0]).items():
            yield _Row(self._name(down[0], key), self._columns[(key,)], total)
            if len(down) == 1:
                continue
            for (below,), part in self._below(key):
                words = INDENT + self._name(down[1], below)
                yield _Row(words, self._columns[(key, below)], part, "dim")

    def _below(self, key: str | None) -> Iterator[tuple[Keys, SpendingSum]]:
        for below in self._table.names(self._down[1]):
            if (key, below) in self._pairs:
                yield (below,), self._pairs[(key, below)]

    def last(self) -> _Row:
        """Returns the sums of all rows."""
        cells = {keys[0]: tally for keys, tally in self._table.along(self._across).items()}
        return _Row("total", cells, self._table.totals, "bold")

    def lines(self, rows: Sequence[_Row], write: Write, room: int) -> "Iterator[Text]":
        """Yields the lines of a table, its heads before them and a rule before the last."""
        from rich.text import Text

        wide = min(max(columns(row.words) for row in rows), WORDS)
        wide = max(wide, min(LEAST, columns(self._heading())))
        shown, rest = self._fitting(rows, write, room - wide)
        heads, cells = self._told(rows, shown, rest, write)
        sizes = [max(map(columns, column)) for column in zip(heads, *cells, strict=True)]
        yield Text(_line(self._heading(), heads, wide, sizes).rstrip(), style="dim")
        drawn = [_line(row.words, one, wide, sizes) for row, one in zip(rows, cells, strict=True)]
        for row, line in zip(rows, drawn, strict=True):
            if row is rows[-1]:
                yield Text("─" * min(max(map(columns, drawn)), room), style="dim")
            yield Text(line.rstrip(), style=row.style, no_wrap=True)

    def _heading(self) -> str:
        return ", ".join(self._down)

    def _fitting(
        self, rows: Sequence[_Row], write: Write, room: int
    ) -> tuple[list[str | None], list[str | None]]:
        """Returns the columns that find room, and those that do not."""
        names = self._table.names(self._across)
        is_time = self._across in TIMES
        ordered = names[::-1] if is_time else names
        left = room - self._width(rows, None, write, is_total=True)
        spare = len(GAP) + max(len(EARLIER), columns(write(self._table.totals)))
        kept: list[str | None] = []
        for at, name in enumerate(ordered):
            left -= self._width(rows, name, write)
            if kept and left < (spare if at < len(ordered) - 1 else 0):
                break
            kept.append(name)
        rest = ordered[len(kept) :]
        return (kept[::-1], rest[::-1]) if is_time else (kept, rest)

    def _width(
        self, rows: Sequence[_Row], name: str | None, write: Write, *, is_total: bool = False
    ) -> int:
        cells = (row.total if is_total else row.cells.get(name) for row in rows)
        words = [write(one) for one in cells if one]
        head = "total " if is_total else f"{self._name(self._across, name)} "
        return len(GAP) + max(map(columns, [head, *words]))

    def _told(
        self,
        rows: Sequence[_Row],
        shown: Sequence[str | None],
        rest: Sequence[str | None],
        write: Write,
    ) -> tuple[list[str], list[list[str]]]:
        is_time = self._across in TIMES
        heads = [f"{self._name(self._across, one)} " for one in shown]
        cells = [[_written(row.cells.get(one), write) for one in shown] for row in rows]
        if rest:
            place = 0 if is_time else len(heads)
            heads.insert(place, f"{EARLIER if is_time else OTHER} ")
            for row, line in zip(rows, cells, strict=True):
                line.insert(place, _written(_together(row.cells, rest), write))
        heads.append("total ")
        for row, line in zip(rows, cells, strict=True):
            line.append(write(row.total))
        return heads, cells


def _written(tally: SpendingSum | None, write: Write) -> str:
    return write(tally) if tally and tally.responses else ""


def _together(cells: Mapping[str | None, SpendingSum], names: Sequence[str | None]) -> SpendingSum:
    found = SpendingSum()
    for name in names:
        if name in cells:
            found.take(cells[name])
    return found


def _line(words: str, cells: Sequence[str], wide: int, sizes: Sequence[int]) -> str:
    shown = clipped(words, wide) if columns(words) > wide else words
    figures = [" " * (size - columns(one)) + one for one, size in zip(cells, sizes, strict=True)]
    return GAP.join([shown + " " * (wide - columns(shown)), *figures])
