"""`plait lake ask`: a saved question and its parameters to rows of a lake; without one, a list."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from plait.cli.lake.answers import answer_options, write_answer
from plait.cli.lake.options import lake_option, opened_lake
from plait.cli.options import Request, global_options
from plait.cli.settings import config_file
from plait.cli.text import now, safe_line
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.lake.questions import Parameter, Question


@click.command("ask")
@click.argument("name", metavar="[QUESTION]", required=False)
@click.argument("told", metavar="[PARAMETER=VALUE]...", nargs=-1)
@lake_option
@click.option("--sql", "is_sql", is_flag=True, help="Print the SQL of the question; ask nothing.")
@answer_options
@global_options
@click.pass_obj
def command(
    request: Request,
    /,
    name: str | None,
    told: tuple[str, ...],
    url: str | None,
    is_sql: bool,
    **how: Any,
) -> None:
    """Ask a lake a saved question; without one, list them with their parameters.

    Questions of your own stand in `questions.toml` beside config.toml.
    """
    from plait.lake.asking import asking
    from plait.lake.questions import OWN, question_named, questions

    known = questions(config_file().with_name(OWN))
    if name is None:
        _list(request, known, **how)
        return
    question = question_named(name, known)
    values = question.values(_given(told), _moment)
    if is_sql:
        request.output.text(f"{question.sql.strip()}\n")
        return
    write_answer(request, asking(opened_lake(request, url)).stream(question.sql, values), **how)


def _given(told: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for one in told:
        name, equals, value = one.partition("=")
        if not equals or not name or name in given:
            said = "twice" if name in given else "as PARAMETER=VALUE"
            problem = f"'{name}' is said {said}" if name in given else f"'{one}' is not {said}"
            raise UserError(problem, "`plait lake ask` lists questions and their parameters")
        given[name] = value
    return given


def _moment(text: str) -> datetime | None:
    from plait.cli.selection import point_in_time

    return point_in_time(text, now())


def _list(
    request: Request,
    known: "Mapping[str, Question]",
    format_: str,
    output: str | None,
    *,
    as_json: bool,
) -> None:
    if as_json or format_ == "json":
        request.output.json({"questions": [_as_object(*one) for one in known.items()]})
        return
    for name, question in known.items():
        own = "  (your own)" if question.is_own else ""
        request.output.print(safe_line(f"{name}{own}"), style="bold")
        request.output.print(f"  {safe_line(question.asks)}")
        for parameter, one in question.parameters.items():
            request.output.print(f"  {safe_line(_described(parameter, one))}", style="dim")
    request.output.say("`plait lake ask cost by=model since=7d` asks one", style="dim")


def _described(name: str, one: "Parameter") -> str:
    choices = f": {', '.join(one.one_of)}" if one.one_of else ""
    default = "" if one.default is None else f" (else {one.default})"
    return f"{name:<10} {one.says or one.kind}{choices}{default}"


def _as_object(name: str, question: "Question") -> dict[str, Any]:
    parameters = [
        {
            "name": parameter,
            "says": one.says,
            "kind": one.kind,
            "default": one.default,
            "one_of": list(one.one_of),
        }
        for parameter, one in question.parameters.items()
    ]
    return {
        "name": name,
        "asks": question.asks,
        "is_own": question.is_own,
        "parameters": parameters,
        "sql": question.sql.strip(),
    }
