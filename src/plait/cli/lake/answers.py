"""Rows of an answer to a table, CSV, Parquet or JSON, on the screen or in a file."""

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from plait.cli.options import Request, grouped, json_option
from plait.cli.output import as_json, write_bytes
from plait.cli.text import clipped, number, safe_line
from plait.errors import SourceError, UserError
from plait.view.forms import stamp_of
from plait.view.usage_csv import cell_text
from plait.view.words import one_line

if TYPE_CHECKING:
    from plait.lake.asking import Answer

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("table", "csv", "parquet", "json")
MOST_SHOWN = 1000
"""Rows of a table for people; all are written in the other formats."""
DECIMALS = 6
WORDS = 16
"""Columns of the screen that a column of words needs at least; figures are never cut."""
GAP = 2

answer_options: Callable[[F], F] = grouped(
    click.option(
        "--format",
        "-f",
        "format_",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="A table to read, CSV, Parquet, or JSON as `--json` prints it.",
    ),
    click.option("--output", "-o", metavar="FILE", help="Write to this file."),
    json_option,
)


def write_answer(
    request: Request, answer: "Answer", format_: str, output: str | None, *, as_json: bool
) -> None:
    """Writes an answer as it was asked for."""
    match "json" if as_json else format_:
        case "csv":
            _write_csv(answer, output)
        case "parquet":
            _write_parquet(answer, output)
        case "json":
            _write_json(answer, output)
        case _:
            _print_table(request, answer, output)


def _print_table(request: Request, answer: "Answer", output: str | None) -> None:
    if output:
        raise UserError("a table is for the screen", "add `--format csv`, `parquet` or `json`")
    rows = list(islice(answer.rows(), MOST_SHOWN + 1))
    shown = [[_shown(value) for value in row] for row in rows[:MOST_SHOWN]]
    widths = _widths(answer, shown)
    with request.output.paged():
        if sum(widths) + GAP * (len(widths) - 1) > request.output.width:
            _print_records(request, answer.columns, shown)
        else:
            _print_rows(request, answer, shown, widths)
    if not rows:
        request.output.note("no rows")
    elif len(rows) > MOST_SHOWN:
        request.output.note(f"the first {number(MOST_SHOWN)} rows: `--format csv` writes all")


def _widths(answer: "Answer", rows: list[list[str]]) -> list[int]:
    """Returns how wide each column must be for the table to be of use."""
    found = []
    for at, (name, field) in enumerate(zip(answer.columns, answer.schema, strict=True)):
        widest = max(len(name), *(len(row[at]) for row in rows), 0)
        found.append(widest if _is_figure(str(field.type)) else min(widest, WORDS))
    return found


def _print_rows(
    request: Request, answer: "Answer", rows: list[list[str]], widths: list[int]
) -> None:
    table = request.output.table(*(safe_line(name) for name in answer.columns))
    are_figures = [_is_figure(str(field.type)) for field in answer.schema]
    room = request.output.width - sum(widths) - GAP * (len(widths) - 1)
    share = room // max(are_figures.count(False), 1)
    for column, is_figure, width in zip(table.columns, are_figures, widths, strict=True):
        column.justify = "right" if is_figure else "left"
        column.min_width, column.max_width = width, width if is_figure else width + share
    for row in rows:
        table.add_row(*row)
    request.output.print(table)


def _print_records(request: Request, columns: tuple[str, ...], rows: list[list[str]]) -> None:
    """Writes a line a value: so many columns stand in no line."""
    names = [safe_line(name) for name in columns]
    widest = max(map(len, names))
    for row in rows:
        for name, value in zip(names, row, strict=True):
            line = f"{name:<{widest}}  {value}"
            request.output.print(clipped(line.rstrip(), request.output.width))
        request.output.print("")


def _is_figure(kind: str) -> bool:
    return kind.startswith(("int", "uint", "double", "float", "decimal"))


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return number(value)
        case float() | Decimal():
            return f"{value:,.{DECIMALS}f}".rstrip("0").rstrip(".").replace(",", " ")
        case _:
            return safe_line(one_line(str(_told(value))))


def _told(value: object) -> object:
    """Returns what programs are told: moments by their stamps, bytes as the text that they are."""
    match value:
        case datetime():
            return stamp_of(value) if value.tzinfo else value.isoformat()
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return float(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case list() | tuple():
            return [_told(one) for one in value]
        case dict():
            return {str(key): _told(one) for key, one in value.items()}
        case _:
            return value


def _write_json(answer: "Answer", output: str | None) -> None:
    names = answer.columns
    rows = [dict(zip(names, map(_told, row), strict=True)) for row in answer.rows()]
    data = as_json({"columns": names, "rows": rows}) + b"\n"
    _write(data, output)


def _write_csv(answer: "Answer", output: str | None) -> None:
    with _sink(output) as sink:
        sink.write(_csv_lines([answer.columns]))
        for some in answer.groups():
            sink.write(_csv_lines(some))


def _csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([_cell(one) for one in row] for row in rows)
    return written.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> object:
    told = _told(value)
    return told if told is None or isinstance(told, int | float) else cell_text(str(told))


def _write_parquet(answer: "Answer", output: str | None) -> None:
    if output is None and sys.stdout.isatty():
        raise UserError("Parquet is no text for a screen", "add `--output FILE`")
    from pyarrow.parquet import ParquetWriter

    with _sink(output) as sink, ParquetWriter(sink, answer.schema, compression="zstd") as writer:
        for batch in answer.batches():
            writer.write_batch(batch)


def _write(data: bytes, output: str | None) -> None:
    if output is None:
        write_bytes(data)
        return
    with _sink(output) as sink:
        sink.write(data)


class _Screen(io.RawIOBase):
    """Writes as everything else is written that goes to stdout."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        write_bytes(bytes(data))
        return len(data)


@contextmanager
def _sink(output: str | None) -> Iterator[IO[bytes]]:
    """Gives where bytes go; a file that could not be written whole does not stay."""
    if output is None:
        yield _Screen()  # type: ignore[misc]
        return
    path = Path(output)
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{output}': {said}") from error
    finally:
        beside.unlink(missing_ok=True)
