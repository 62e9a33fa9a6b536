"""`plait search`: words, phrases, fields and expressions to the turns that answer."""

from typing import TYPE_CHECKING, Any

import click

from plait.archive.search import Way, search
from plait.cli.figures import short
from plait.cli.index_progress import watched
from plait.cli.options import Request, filter_options, global_options, json_option
from plait.errors import UserError
from plait.index.model import Found, Hit
from plait.index.query import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 10


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@filter_options
@click.option("--tool", metavar="NAME", help="Only what this tool was given or answered.")
@click.option("--in", "kind", metavar="KIND", help="Only prompts, answers, outputs and so on.")
@click.option("--branch", metavar="STATE", help="Only active, abandoned, agent or service lines.")
@click.option("--exact", is_flag=True, help="This very text, signs and case too, in the logs.")
@click.option("--regex", is_flag=True, help="A regular expression, in the logs.")
@click.option(
    "--context", metavar="N", type=click.IntRange(0), default=0, help="So many lines around."
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=LIMIT, help="At most so many turns."
)
@click.option("--open", "is_open", is_flag=True, help="Show the turn of the first hit.")
@json_option
@global_options
@click.pass_context
def command(
    ctx: click.Context,
    query: tuple[str, ...],
    project: str | None,
    since: str | None,
    until: str | None,
    tool: str | None,
    kind: str | None,
    branch: str | None,
    exact: bool,
    regex: bool,
    context: int,
    limit: int,
    is_open: bool,
    as_json: bool,
) -> None:
    """Find what was said, run and printed in any session.

    Words are found together in one passage; "quotes" keep them together; star*, OR, NOT, ( )
    and almost~ do what they look like. Fields narrow it down: tool:Bash in:prompt project:shop
    branch:abandoned before:2026-11 after:7d file:app.py model:opus session:3f2a.
    """
    request: Request = ctx.obj
    asked = {
        "project": project,
        "after": since,
        "before": until,
        "tool": tool,
        "kind": kind,
        "branch": branch,
    }
    filters = [Field(name, value) for name, value in asked.items() if value]
    with watched(request) as watch:
        found = search(
            request.archive,
            request.settings.index,
            " ".join(query),
            filters,
            way=way_of(exact=exact, regex=regex),
            limit=limit,
            context=context,
            has_facets=not is_open,
            watch=watch,
        )
    if is_open:
        open_first(ctx, found, " ".join(query))
    elif as_json:
        request.output.json(as_object(found))
    else:
        from plait.cli.search_page import print_found

        print_found(request, found, " ".join(query))


def way_of(*, exact: bool, regex: bool) -> Way:
    """Returns how is looked for what was asked."""
    if exact and regex:
        raise UserError("a text is either exact or an expression", "leave out `--exact`")
    return "exact" if exact else "regex" if regex else "words"


def as_object(found: Found) -> dict[str, Any]:
    """Returns the answer as `--json` has it."""
    return {
        "hits": [hit_value(hit) for hit in found.hits],
        "total": found.total,
        "took_ms": found.took_ms,
        "facets": found.facets,
        "by": found.by,
        "note": found.note,
        "near": found.near,
        "sessions": found.sessions,
    }


def hit_value(hit: Hit) -> dict[str, Any]:
    """Returns a hit as `--json` has it, with what opens it."""
    import msgspec

    value: dict[str, Any] = msgspec.to_builtins(hit)
    return {**value, "open": " ".join(opening(hit)), "resume": f"claude --resume {hit.session}"}


def opening(hit: Hit) -> "Sequence[str]":
    """Returns the command that shows the turn of a hit."""
    parts = ["plait", "show", short(hit.session)]
    if hit.branch and hit.branch != hit.session:
        parts += ["--branch", hit.branch.rpartition("@")[2].rpartition("#")[2]]
    if hit.turn is not None:
        parts += ["--turn", str(hit.turn)]
    return parts


def open_first(ctx: click.Context, found: Found, text: str) -> None:
    """Shows the turn of the first hit."""
    from plait.cli.show import command as show

    if not found.hits:
        raise UserError(f"nothing matches '{text}'", "fewer words, or `word*`, find more")
    hit = found.hits[0]
    branch = hit.branch if hit.branch != hit.session else None
    turn = None if hit.turn is None else str(hit.turn)
    ctx.invoke(show, session=hit.session, branch=branch, turn=turn)
