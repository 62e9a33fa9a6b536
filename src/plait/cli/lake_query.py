"""`plait lake sql` and `ask`: query results as a table, CSV, Parquet or JSON."""

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any

from plait.cli import shared
from plait.cli.lake import lake_option, open_lake
from plait.cli.options import OptionGroup, Request, argument, command, option
from plait.errors import SourceError, UserError
from plait.lake.query import QueryResult, open_query_engine
from plait.lake.saved_queries import FILE_NAME, SavedQuery, find_saved_query, load_saved_queries
from plait.lake.values import format_csv, plain_value
from plait.record.time_words import parse_time_option
from plait.settings import find_config_file
from plait.terminal.output import Output, format_json, select_fields, write_bytes
from plait.terminal.text import format_number, now, safe_line
from plait.view.summaries import to_single_line
from plait.view.text import shorten_to_width

FORMATS = ("table", "csv", "parquet", "json")
MOST_SHOWN = 1000
"""Rows of a table for people; all are written in the other formats."""
DECIMALS = 6
WORDS = 16
"""The least width of a column of text; figures are never cut."""
FIGURE_TYPES = ("int", "uint", "double", "float", "decimal")
GAP = 2


class AnswerOptions(OptionGroup):
    """How the result of a query is written."""

    format_: str = option(
        "--format",
        "-f",
        choices=FORMATS,
        default="table",
        show_default=True,
        help="A table, CSV, Parquet, or JSON as with `--json`.",
    )
    output: str | None = option("--output", "-o", metavar="FILE", help="Write to this file.")
    as_json: bool = shared.as_json

    def write(self, request: Request, answer: "QueryResult") -> None:
        """Write the result of a query in the format that was asked for."""
        kind = "json" if self.as_json else self.format_
        if kind == "table":
            if self.output:
                raise UserError(
                    "a table cannot be written to a file", "add `--format csv`, `parquet` or `json`"
                )
            _print_table(request.output, answer)
            return
        if kind == "parquet" and self.output is None and sys.stdout.isatty():
            raise UserError("Parquet cannot be printed on a terminal", "add `--output FILE`")
        with _open_sink(self.output) as sink:
            if kind == "csv":
                sink.write(format_csv([answer.columns]))
                for batch in answer.row_batches():
                    sink.write(format_csv(batch))
            elif kind == "json":
                names = answer.columns
                rows = [
                    dict(zip(names, map(plain_value, row), strict=True)) for row in answer.rows()
                ]
                sink.write(format_json({"columns": names, "rows": rows}) + b"\n")
            else:
                from pyarrow.parquet import ParquetWriter

                with ParquetWriter(sink, answer.schema, compression="zstd") as writer:
                    for part in answer.batches():
                        writer.write_batch(part)


def _print_table(output: Output, answer: "QueryResult") -> None:
    """Print the first rows: as a table, or with a line for each value if it would be too wide."""
    rows = list(islice(answer.rows(), MOST_SHOWN + 1))
    shown = [[_format_cell(value) for value in row] for row in rows[:MOST_SHOWN]]
    names = [safe_line(name) for name in answer.columns]
    are_figures = [str(field.type).startswith(FIGURE_TYPES) for field in answer.schema]
    widths = []
    for at, (name, is_figure) in enumerate(zip(answer.columns, are_figures, strict=True)):
        widest = max(len(name), *(len(row[at]) for row in shown), 0)
        widths.append(widest if is_figure else min(widest, WORDS))
    room = output.width - sum(widths) - GAP * (len(widths) - 1)
    with output.paged():
        if room < 0:
            widest = max(map(len, names))
            for row in shown:
                for name, value in zip(names, row, strict=True):
                    line = f"{name:<{widest}}  {value}"
                    output.print(shorten_to_width(line.rstrip(), output.width))
                output.print("")
        else:
            table = output.table(*names)
            share = room // max(are_figures.count(False), 1)
            for column, is_figure, width in zip(table.columns, are_figures, widths, strict=True):
                column.justify = "right" if is_figure else "left"
                column.min_width, column.max_width = width, width if is_figure else width + share
            for row in shown:
                table.add_row(*row)
            output.print(table)
    if not rows:
        output.note("no rows")
    elif len(rows) > MOST_SHOWN:
        output.note(f"only the first {format_number(MOST_SHOWN)} rows; `--format csv` writes all")


def _format_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return format_number(value)
        case float() | Decimal():
            return f"{value:,.{DECIMALS}f}".rstrip("0").rstrip(".")
        case _:
            return safe_line(to_single_line(str(plain_value(value))))


class _Stdout(io.RawIOBase):
    """A binary file that writes to stdout as all other output is written."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        write_bytes(bytes(data))
        return len(data)


@contextmanager
def _open_sink(output: str | None) -> Iterator[IO[bytes]]:
    """Yield a file to write to, or stdout; an incomplete file is removed."""
    if output is None:
        yield _Stdout()  # type: ignore[misc]
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


@command(
    examples='plait lake sql "select model, sum(cost_usd) from responses group by 1"\n'
    "plait lake sql - --format csv < query.sql",
)
def sql_command(
    request: Request,
    how: AnswerOptions,
    sql: str = argument(metavar="SQL"),
    url: str | None = lake_option,
) -> None:
    """Query a lake with SQL; `-` reads the query from stdin.

    The tables are sessions, logs, records, turns, responses, waste, tool_calls, files, findings,
    and text and raw if the lake has texts. A query can only read these tables: no files, no
    URLs, no changes. DuckDB runs it; times are in UTC.
    """
    asked = sys.stdin.read() if sql == STDIN else sql
    how.write(request, open_query_engine(open_lake(request, url)).stream(asked))


@command(examples="plait lake ask\nplait lake ask cost by=model since=7d")
def ask_command(
    request: Request,
    how: AnswerOptions,
    name: str | None = argument(metavar="[QUESTION]"),
    parameters: tuple[str, ...] = argument(metavar="[PARAMETER=VALUE]..."),
    url: str | None = lake_option,
    is_sql: bool = option("--sql", help="Print the SQL of the query instead of running it."),
) -> None:
    """Run a saved query; without a name, list them with their parameters.

    Your own queries are in `questions.toml` next to config.toml.
    """
    known = load_saved_queries(find_config_file().with_name(FILE_NAME))
    if name is None:
        _list_queries(request.output, known, as_json=how.as_json or how.format_ == "json")
        return
    given: dict[str, str] = {}
    for word in parameters:
        key, equals, value = word.partition("=")
        problem = f"'{key}' is given twice" if key in given else ""
        if not equals or not key:
            problem = f"'{word}' is not of the form PARAMETER=VALUE"
        if problem:
            raise UserError(problem, "`plait lake ask` lists queries and their parameters")
        given[key] = value
    query = find_saved_query(name, known)
    values = query.parse_values(given, lambda text: parse_time_option(text, now()))
    if is_sql:
        request.output.write_text(f"{query.sql.strip()}\n")
        return
    engine = open_query_engine(open_lake(request, url))
    how.write(request, engine.stream(query.sql, values))


def _list_queries(output: Output, known: Mapping[str, SavedQuery], *, as_json: bool) -> None:
    if as_json:
        details = ("says", "kind", "default", "one_of")
        rows = [
            {
                "name": name,
                **select_fields(query, "asks", "is_own"),
                "parameters": [
                    {"name": key, **select_fields(parameter, *details)}
                    for key, parameter in query.parameters.items()
                ],
                "sql": query.sql.strip(),
            }
            for name, query in known.items()
        ]
        output.json({"questions": rows})
        return
    for name, query in known.items():
        output.print(safe_line(f"{name}{'  (your own)' if query.is_own else ''}"), style="bold")
        output.print(f"  {safe_line(query.asks)}")
        for key, parameter in query.parameters.items():
            choices = f": {', '.join(parameter.one_of)}" if parameter.one_of else ""
            default = "" if parameter.default is None else f" (default: {parameter.default})"
            line = f"{key:<10} {parameter.says or parameter.kind}{choices}{default}"
            output.print(f"  {safe_line(line)}", style="dim")
    output.print_message("`plait lake ask cost by=model since=7d` runs one", style="dim")
