"""`plait search`: words, phrases, fields and expressions to the turns that answer."""

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, filter_options, global_options, json_option
from plait.cli.stars import among_starred
from plait.cli.text import (
    SEPARATOR,
    ago,
    clipped,
    columns,
    counted,
    fitting,
    local,
    now,
    number,
    safe,
    short,
    to_type,
)
from plait.errors import UserError
from plait.index.model import Hit, SearchResult, SearchSort
from plait.index.query import Field
from plait.view.forms import day_of, minute_of

if TYPE_CHECKING:
    from rich.text import Text

    from plait.archive import SearchWay

LIMIT = 10
MARKED = "bold red"
"""As other programs mark what they found: it can be read on dark and on light."""
INDENT = "  "
STYLES = {"prompt": "bold green", "answer": "bold", "title": "bold magenta", "command": "green"}
OUTCOMES = {
    "failed": "bold red",
    "rejected": "yellow",
    "interrupted": "yellow",
    "launched": "cyan",
}
ASIDE = {name: name for name in ("abandoned", "agent", "service", "recovered")}
NARROWED = {
    "project": "project:",
    "tool": "tool:",
    "kind": "in:",
    "outcome": "outcome:",
    "month": "after:",
}
"""Fields that say what a facet counts."""
MOST_FACETS = 4
MOST = 1000
WITHOUT = re.compile(r"-[^\W\d]|-[\"(*]")
"""How a part of a query begins that is not wanted, and how a short option does."""
HELD = "\ue000"
"""Stands for the sign of such a part, while the options are told from the query."""


class QueryCommand(click.Command):
    """A command whose words may begin with `-`, as its short options do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads options and words; what is no short option is a word that is not wanted."""
        short = {
            name[1]: one for one in self.get_params(ctx) for name in one.opts if name[1] != "-"
        }
        held = [HELD + word[1:] if _is_unwanted(word, short) else word for word in args]
        rest = super().parse_args(ctx, held)
        for name, value in ctx.params.items():
            ctx.params[name] = _with_signs(value)
        return rest


def _is_unwanted(word: str, short: Mapping[str, click.Parameter]) -> bool:
    if not WITHOUT.match(word):
        return False
    return word[1] not in short or not re.fullmatch(r"\d*", word[2:])


def _with_signs(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_with_signs, value))
    is_held = isinstance(value, str) and value.startswith(HELD)
    return f"-{value.removeprefix(HELD)}" if is_held else value


@click.command("search", cls=QueryCommand)
@click.argument("query", nargs=-1)
@filter_options
@click.option("--tool", metavar="NAME", help="Only what this tool was given or answered.")
@click.option("--in", "kind", metavar="KIND", help="Only prompts, answers, outputs and so on.")
@click.option(
    "--outcome", metavar="OUTCOME", help="Only calls that failed, rejected, interrupted, launched."
)
@click.option("--branch", metavar="STATE", help="Only active, abandoned, agent or service lines.")
@click.option("--exact", is_flag=True, help="This very text, signs and case too, in the logs.")
@click.option("--regex", is_flag=True, help="A regular expression, in the logs.")
@click.option(
    "--context", metavar="N", type=click.IntRange(0), default=0, help="So many lines around."
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, MOST), default=LIMIT, help="At most so many turns."
)
@click.option(
    "--sort",
    type=click.Choice(["relevance", "time"]),
    help="The best first, or the newest; without words it is the newest.",
)
@click.option("--each", is_flag=True, help="Every passage by itself, not one for each turn.")
@click.option("--starred", is_flag=True, help="Only in sessions that are starred.")
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
    outcome: str | None,
    branch: str | None,
    exact: bool,
    regex: bool,
    context: int,
    limit: int,
    sort: "SearchSort | None",
    each: bool,
    starred: bool,
    is_open: bool,
    as_json: bool,
) -> None:
    """Find what was said, run and printed in any session.

    Words are found together in one passage; "quotes" keep them together; star*, OR, NOT, ( )
    and almost~ do what they look like. Fields narrow it down: tool:Bash outcome:failed in:prompt
    project:shop branch:abandoned before:2026-11 after:7d file:app.py model:opus session:3f2a.
    Without words, what they say is listed, the newest first.
    """
    request: Request = ctx.obj
    asked = {
        "project": project,
        "after": since,
        "before": until,
        "tool": tool,
        "kind": kind,
        "outcome": outcome,
        "branch": branch,
    }
    filters = [Field(name, value) for name, value in asked.items() if value]
    with request.output.watched() as watch:
        found = request.indexed.search(
            " ".join(query),
            [*filters, *([among_starred(request)] if starred else ())],
            way=_way_of(exact=exact, regex=regex),
            limit=limit,
            context=context,
            has_facets=not is_open,
            sort=sort,
            is_each=each or None,
            watch=watch,
        )
    request.output.note_losses(request.archive)
    words = " ".join((*query, *(f"{one.name}:{one.value}" for one in filters)))
    if is_open:
        _open_first(ctx, found, words)
    elif as_json:
        request.output.json(_as_object(request, found))
    else:
        _print_found(request, found, words)


def _way_of(*, exact: bool, regex: bool) -> "SearchWay":
    if exact and regex:
        raise UserError("a text is either exact or an expression", "leave out `--exact`")
    return "exact" if exact else "regex" if regex else "words"


def _as_object(request: Request, found: SearchResult) -> dict[str, Any]:
    from msgspec import structs, to_builtins

    hits = [
        to_builtins(hit) | {"open": _opening(request, hit), "resume": _resuming(request, hit)}
        for hit in found.hits
    ]
    return structs.asdict(found) | {"hits": hits}


def _resuming(request: Request, hit: Hit) -> str:
    if not request.roots:
        return to_type("claude", "--resume", hit.session)
    return to_type("plait", "resume", hit.session, "--run", *request.root_options)


def _opening(request: Request, hit: Hit) -> str:
    parts = ["plait", "show", short(hit.session)]
    if hit.branch and hit.branch != hit.session:
        parts += ["--branch", hit.branch.rpartition("@")[2].rpartition("#")[2]]
    if hit.turn is not None:
        parts += ["--turn", str(hit.turn)]
    return to_type(*parts, *request.root_options)


def _open_first(ctx: click.Context, found: SearchResult, text: str) -> None:
    from plait.cli.show import command as show

    if not found.hits:
        raise UserError(f"nothing matches '{text}'", "fewer words, or `word*`, find more")
    hit = found.hits[0]
    branch = hit.branch if hit.branch != hit.session else None
    turn = None if hit.turn is None else str(hit.turn)
    ctx.invoke(show, session=hit.session, branch=branch, turn=turn)


def _print_found(request: Request, found: SearchResult, query: str) -> None:
    output = request.output
    if not found.hits:
        _print_nothing(request, found, query)
        return
    if found.note:
        output.note(found.note)
    with output.paged():
        for place, hits in enumerate(_by_session(found)):
            if place:
                output.print("")
            _print_session(request, hits[0])
            for hit in hits:
                _print_hit(request, hit)
        _print_total(request, found)


def _print_nothing(request: Request, found: SearchResult, query: str) -> None:
    output = request.output
    where = f" in {counted(found.sessions, 'session')}" if found.sessions else ""
    output.print(f"nothing matches '{safe(clipped(query, 200))}'{where}")
    if found.near:
        output.print(f"did you mean {' or '.join(f'`{one}`' for one in found.near)}?")
    elif found.note:
        output.print(found.note)
    elif found.sort == "time" and found.by == "index":
        output.print("fewer fields may find more", style="dim")
    else:
        output.print("fewer words, `word*` or `--exact` may find more", style="dim")


def _by_session(found: SearchResult) -> list[list[Hit]]:
    sessions: dict[str, list[Hit]] = {}
    for hit in found.hits:
        sessions.setdefault(hit.session, []).append(hit)
    return list(sessions.values())


def _print_session(request: Request, hit: Hit) -> None:
    from rich.text import Text

    output = request.output
    project = hit.project.strip("-") or hit.project
    kept = f"{SEPARATOR}kept" if request.archive.inventory.is_kept(hit.path) else ""
    beside = f"  {short(hit.session)}{SEPARATOR}{safe(project)}{kept}"
    title = safe(" ".join((hit.title or "(no title)").split()))
    room = max(output.width - columns(beside), output.width // 2)
    line = Text(clipped(title, room), style="bold").append(beside, style="dim not bold")
    line.truncate(output.width, overflow="ellipsis")
    output.lines([line])


def _print_hit(request: Request, hit: Hit) -> None:
    output, width = request.output, request.output.width
    words = _marked(hit).wrap(output.console, max(width - len(INDENT) * 2, 10))
    output.lines(
        (
            *_heading(request, hit, width),
            *(_aside(line, width) for line in hit.before),
            *(_indented(line) for line in words),
            *(_aside(line, width) for line in hit.after),
        ),
    )


def _heading(request: Request, hit: Hit, width: int) -> "Iterator[Text]":
    from rich.text import Text

    command = _opening(request, hit)
    more = counted(hit.more, "more match", "more matches") if hit.more else ""
    text = _what_and_where(hit, more)
    room = width - text.cell_len - len(command)
    if room >= 2:
        yield text.append(" " * room + command, style="dim italic")
        return
    text.truncate(width, overflow="ellipsis")
    yield text
    yield Text(f"{INDENT}{command}", style="dim italic", overflow="fold")


def _what_and_where(hit: Hit, more: str = "") -> "Text":
    from rich.text import Text

    turn = f"turn {hit.turn}" if hit.turn is not None else ""
    parts = (turn, hit.tool or "", ASIDE.get(hit.state or "", ""), _when(hit), more)
    text = Text(INDENT).append(hit.kind, style=STYLES.get(hit.kind, "cyan"))
    if hit.outcome:
        text.append(f"{SEPARATOR}{hit.outcome}", style=OUTCOMES[hit.outcome])
    for part in parts:
        if part:
            text.append(f"{SEPARATOR}{safe(part)}", style="dim")
    return text


def _when(hit: Hit) -> str:
    time = local(hit.time)
    if time is None:
        return ""
    passed = ago(time, now())
    return minute_of(time) if passed == day_of(time) else passed


def _marked(hit: Hit) -> "Text":
    from rich.text import Text

    text = Text(safe(hit.snippet) or "(the log has changed since)", overflow="fold")
    for start, end in hit.marks:
        text.stylize(MARKED, start, end)
    return text


def _indented(line: "Text") -> "Text":
    from rich.text import Text

    line.rstrip()
    return Text(INDENT * 2).append_text(line)


def _aside(line: str, width: int) -> "Text":
    from rich.text import Text

    words = clipped(safe(line.expandtabs(4).rstrip()), max(width - 5, 10))
    return Text(f"{INDENT * 2}{words}".rstrip(), style="dim")


def _print_total(request: Request, found: SearchResult) -> None:
    output, first = request.output, short(found.hits[0].session)
    going_on = to_type("plait", "resume", first, *request.root_options)
    parts = (
        *_counts_in_words(found),
        "`--open` shows the first",
        f"`{going_on}` goes on with it",
    )
    output.print("")
    output.print(fitting(parts, output.width), style="dim")
    for counts in [] if found.is_whole else _narrowing(found):
        output.print(fitting(counts, output.width), style="dim")


def _counts_in_words(found: SearchResult) -> Iterator[str]:
    """Yields how much is listed of how much there is, and the way to the rest."""
    are_calls = all(hit.kind == "input" for hit in found.hits)
    noun = ("call" if are_calls else "passage") if found.is_each else "turn"
    if found.is_whole:
        yield counted(len(found.hits), noun)
        if found.listed > len(found.hits):
            yield f"{number(found.listed)} passages match"
        if found.total > found.listed:
            yield f"{number(found.total - found.listed)} more in copies"
        return
    first = f"first {number(len(found.hits))}" if len(found.hits) > 1 else "first"
    if found.is_each:
        yield f"{first} of {number(found.total)} {noun}s"
    else:
        yield f"{first} {noun}{'s' if len(found.hits) > 1 else ''}"
        yield f"{number(found.total)} passages match"
    more = min(MOST, found.total, 5 * len(found.hits))
    if more > len(found.hits):
        yield f"`-n {more}` lists more"


def _narrowing(found: SearchResult) -> Iterator[list[str]]:
    for name, field in NARROWED.items():
        counts = found.facets.get(name, {})
        if len(counts) > 1:
            chosen = _since_months(counts) if name == "month" else list(counts.items())
            yield [
                f"{field}{safe(value.strip('-'))} {number(count)}"
                for value, count in chosen[:MOST_FACETS]
            ]


def _since_months(counts: dict[str, int]) -> list[tuple[str, int]]:
    newest = sorted(counts, reverse=True)
    return list(zip(newest, accumulate(counts[month] for month in newest), strict=True))
