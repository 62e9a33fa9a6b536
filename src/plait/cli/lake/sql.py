"""`plait lake sql`: a question in SQL to rows of a lake."""

import sys
from typing import Any

import click

from plait.cli.lake.answers import answer_options, write_answer
from plait.cli.lake.options import lake_option, opened_lake
from plait.cli.options import Request, global_options

STDIN = "-"


@click.command("sql")
@click.argument("sql", metavar="SQL")
@lake_option
@answer_options
@global_options
@click.pass_obj
def command(request: Request, /, sql: str, url: str | None, **how: Any) -> None:
    """Ask a lake in SQL; `-` reads what to ask from stdin.

    The tables are sessions, logs, records, turns, responses, waste, tool_calls, files, findings,
    and text and raw where the lake keeps words. What is asked reaches them and nothing else: no
    file, no address, and it changes nothing. DuckDB answers, times are in UTC.
    """
    from plait.lake.asking import asking

    asked = sys.stdin.read() if sql == STDIN else sql
    write_answer(request, asking(opened_lake(request, url)).stream(asked), **how)
