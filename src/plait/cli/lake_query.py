"""`plait lake sql` and `ask`: query results as a table, CSV, Parquet or JSON."""

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from plait.cli.lake import lake_option, open_lake
from plait.cli.options import Request, combine_options, command, json_option
from plait.cli.output import format_json, write_bytes
from plait.cli.settings import config_file
from plait.cli.text import format_number, now, safe_line
from plait.errors import SourceError, UserError
from plait.usage.formats import escape_cell
from plait.view.formats import format_utc
from plait.view.summaries import to_single_line
from plait.view.text import shorten_to_width

if TYPE_CHECKING:
    from plait.lake.query import QueryResult
    from plait.lake.saved_queries import QueryParameter, SavedQuery


F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("table", "csv", "parquet", "json")
MOST_SHOWN = 1000
"""Rows of a table for people; all are written in the other formats."""
DECIMALS = 6
WORDS = 16
"""Columns of the screen that a column of words needs at least; figures are never cut."""
GAP = 2

answer_options: Callable[[F], F] = combine_options(
    click.option(
        "--format",
        "-f",
        "format_",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="A table, CSV, Parquet, or JSON as with `--json`.",
    ),
    click.option("--output", "-o", metavar="FILE", help="Write to this file."),
    json_option,
)


def write_answer(
    request: Request, answer: "QueryResult", format_: str, output: str | None, *, as_json: bool
) -> None:
    """Write an answer as it was asked for."""
    match "json" if as_json else format_:
        case "csv":
            with _open_sink(output) as sink:
                sink.write(_csv_lines([answer.columns]))
                for some in answer.row_batches():
                    sink.write(_csv_lines(some))
        case "parquet":
            _write_parquet(answer, output)
        case "json":
            _write_json(answer, output)
        case _:
            if output:
                raise UserError(
                    "a table cannot be written to a file", "add `--format csv`, `parquet` or `json`"
                )
            rows = list(islice(answer.rows(), MOST_SHOWN + 1))
            shown = [[_format_cell(value) for value in row] for row in rows[:MOST_SHOWN]]
            widths = _widths(answer, shown)
            with request.output.paged():
                if sum(widths) + GAP * (len(widths) - 1) > request.output.width:
                    _print_records(request, answer.columns, shown)
                else:
                    _print_rows(request, answer, shown, widths)
            if not rows:
                request.output.note("no rows")
            elif len(rows) > MOST_SHOWN:
                request.output.note(
                    f"only the first {format_number(MOST_SHOWN)} rows; `--format csv` writes all"
                )


def _widths(answer: "QueryResult", rows: list[list[str]]) -> list[int]:
    """Return how wide each column must be for the table to be of use."""
    found = []
    for at, (name, field) in enumerate(zip(answer.columns, answer.schema, strict=True)):
        widest = max(len(name), *(len(row[at]) for row in rows), 0)
        found.append(widest if _is_figure(str(field.type)) else min(widest, WORDS))
    return found


def _print_rows(
    request: Request, answer: "QueryResult", rows: list[list[str]], widths: list[int]
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
    """Write a line a value: so many columns stand in no line."""
    names = [safe_line(name) for name in columns]
    widest = max(map(len, names))
    for row in rows:
        for name, value in zip(names, row, strict=True):
            line = f"{name:<{widest}}  {value}"
            request.output.print(shorten_to_width(line.rstrip(), request.output.width))
        request.output.print("")


def _is_figure(kind: str) -> bool:
    return kind.startswith(("int", "uint", "double", "float", "decimal"))


def _format_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return format_number(value)
        case float() | Decimal():
            return f"{value:,.{DECIMALS}f}".rstrip("0").rstrip(".").replace(",", " ")
        case _:
            return safe_line(to_single_line(str(_plain_value(value))))


def _plain_value(value: object) -> object:
    """Return what programs are told: moments by their stamps, bytes as the text that they are."""
    match value:
        case datetime():
            return format_utc(value) if value.tzinfo else value.isoformat()
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return float(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case list() | tuple():
            return [_plain_value(item) for item in value]
        case dict():
            return {str(key): _plain_value(item) for key, item in value.items()}
        case _:
            return value


def _write_json(answer: "QueryResult", output: str | None) -> None:
    names = answer.columns
    rows = [dict(zip(names, map(_plain_value, row), strict=True)) for row in answer.rows()]
    data = format_json({"columns": names, "rows": rows}) + b"\n"
    _write_file(data, output)


def _csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(
        [_cell(value) for value in row] for row in rows
    )
    return written.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> object:
    plain = _plain_value(value)
    return plain if plain is None or isinstance(plain, int | float) else escape_cell(str(plain))


def _write_parquet(answer: "QueryResult", output: str | None) -> None:
    if output is None and sys.stdout.isatty():
        raise UserError("Parquet cannot be printed on a terminal", "add `--output FILE`")
    from pyarrow.parquet import ParquetWriter

    with (
        _open_sink(output) as sink,
        ParquetWriter(sink, answer.schema, compression="zstd") as writer,
    ):
        for batch in answer.batches():
            writer.write_batch(batch)


def _write_file(data: bytes, output: str | None) -> None:
    if output is None:
        write_bytes(data)
        return
    with _open_sink(output) as sink:
        sink.write(data)


class _Screen(io.RawIOBase):
    """Write as everything else is written that goes to stdout."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        write_bytes(bytes(data))
        return len(data)


@contextmanager
def _open_sink(output: str | None) -> Iterator[IO[bytes]]:
    """Yield where bytes go; a file that could not be written whole does not stay."""
    if output is None:
        yield _Screen()  # type: ignore[misc]
        return
    path = Path(output)
    partial = path.with_name(f".{path.name}.part")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{output}': {reason}") from error
    finally:
        partial.unlink(missing_ok=True)


STDIN = "-"


@command("sql", click.argument("sql", metavar="SQL"), lake_option, answer_options)
def sql_command(request: Request, /, sql: str, url: str | None, **how: Any) -> None:
    """Query a lake with SQL; `-` reads the query from stdin.

    The tables are sessions, logs, records, turns, responses, waste, tool_calls, files, findings,
    and text and raw if the lake has texts. A query can read these tables and nothing else: no
    file, no address, no changes. DuckDB runs it; times are in UTC.
    """
    from plait.lake.query import open_query_engine

    asked = sys.stdin.read() if sql == STDIN else sql
    write_answer(request, open_query_engine(open_lake(request, url)).stream(asked), **how)


@command(
    "ask",
    click.argument("name", metavar="[QUESTION]", required=False),
    click.argument("parameters", metavar="[PARAMETER=VALUE]...", nargs=-1),
    lake_option,
    click.option(
        "--sql", "is_sql", is_flag=True, help="Print the SQL of the query instead of running it."
    ),
    answer_options,
)
def ask_command(
    request: Request,
    /,
    name: str | None,
    parameters: tuple[str, ...],
    url: str | None,
    is_sql: bool,
    **how: Any,
) -> None:
    """Run a saved query; without a name, list them with their parameters.

    Your own queries are in `questions.toml` next to config.toml.
    """
    from plait.lake.query import open_query_engine
    from plait.lake.saved_queries import FILE_NAME, find_saved_query, load_saved_queries

    known = load_saved_queries(config_file().with_name(FILE_NAME))
    if name is None:
        _list_questions(request, known, **how)
        return
    question = find_saved_query(name, known)
    values = question.parse_values(_parse_parameters(parameters), _parse_moment)
    if is_sql:
        request.output.write_text(f"{question.sql.strip()}\n")
        return
    write_answer(
        request, open_query_engine(open_lake(request, url)).stream(question.sql, values), **how
    )


def _parse_parameters(words: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        problem = ""
        if not equals or not name:
            problem = f"'{word}' is not of the form PARAMETER=VALUE"
        elif name in given:
            problem = f"'{name}' is given twice"
        if problem:
            raise UserError(problem, "`plait lake ask` lists queries and their parameters")
        given[name] = value
    return given


def _parse_moment(text: str) -> datetime | None:
    from plait.cli.selection import parse_time_option

    return parse_time_option(text, now())


def _list_questions(
    request: Request,
    known: "Mapping[str, SavedQuery]",
    format_: str,
    output: str | None,
    *,
    as_json: bool,
) -> None:
    if as_json or format_ == "json":
        request.output.json({"questions": [_question_to_json(*item) for item in known.items()]})
        return
    for name, question in known.items():
        own = "  (your own)" if question.is_own else ""
        request.output.print(safe_line(f"{name}{own}"), style="bold")
        request.output.print(f"  {safe_line(question.asks)}")
        for key, parameter in question.parameters.items():
            request.output.print(f"  {safe_line(_format_parameter(key, parameter))}", style="dim")
    request.output.print_message("`plait lake ask cost by=model since=7d` runs one", style="dim")


def _format_parameter(name: str, parameter: "QueryParameter") -> str:
    choices = f": {', '.join(parameter.one_of)}" if parameter.one_of else ""
    default = "" if parameter.default is None else f" (else {parameter.default})"
    return f"{name:<10} {parameter.says or parameter.kind}{choices}{default}"


def _question_to_json(name: str, question: "SavedQuery") -> dict[str, Any]:
    parameters = [
        {
            "name": key,
            "says": parameter.says,
            "kind": parameter.kind,
            "default": parameter.default,
            "one_of": list(parameter.one_of),
        }
        for key, parameter in question.parameters.items()
    ]
    return {
        "name": name,
        "asks": question.asks,
        "is_own": question.is_own,
        "parameters": parameters,
        "sql": question.sql.strip(),
    }
