"""`plait search`: words, phrases, fields and regular expressions over all sessions."""

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import GroupedHelp, Request, command, filter_options, json_option
from plait.cli.stars import starred_filter
from plait.cli.text import (
    SEPARATOR,
    format_number,
    join_fitting,
    local_time,
    now,
    safe,
    shell_command,
    short_id,
)
from plait.errors import UserError
from plait.index.model import Hit, SearchResult, SearchSort
from plait.index.query import Field
from plait.view.formats import format_age, format_count, format_day, format_minute
from plait.view.text import count_columns, shorten_to_width

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
LINE_STATES = {name: name for name in ("abandoned", "agent", "service", "recovered")}
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
EXCLUDED = re.compile(r"-[^\W\d]|-[\"(*]")
"""How a part of a query begins that is not wanted, and how a short option does."""
PLACEHOLDER = "\ue000"
"""Stands for the sign of such a part, while the options are told from the query."""


class QueryCommand(GroupedHelp):
    """A command whose words may begin with `-`, as its short options do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options and words; what is no short option is a word that is not wanted."""
        short = {
            name[1]: param
            for param in self.get_params(ctx)
            for name in param.opts
            if name[1] != "-"
        }
        held = [PLACEHOLDER + word[1:] if _is_unwanted(word, short) else word for word in args]
        rest = super().parse_args(ctx, held)
        for name, value in ctx.params.items():
            ctx.params[name] = _with_signs(value)
        return rest


def _is_unwanted(word: str, short: Mapping[str, click.Parameter]) -> bool:
    if not EXCLUDED.match(word):
        return False
    return word[1] not in short or not re.fullmatch(r"\d*", word[2:])


def _with_signs(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_with_signs, value))
    is_held = isinstance(value, str) and value.startswith(PLACEHOLDER)
    return f"-{value.removeprefix(PLACEHOLDER)}" if is_held else value


@command(
    "search",
    click.argument("query", nargs=-1),
    filter_options,
    click.option("--tool", metavar="NAME", help="Only input and output of this tool."),
    click.option("--in", "kind", metavar="KIND", help="Only prompts, answers, outputs and so on."),
    click.option(
        "--outcome",
        metavar="OUTCOME",
        help="Only calls that were failed, rejected, interrupted or launched.",
    ),
    click.option(
        "--branch", metavar="STATE", help="Only active, abandoned, agent or service branches."
    ),
    click.option("--exact", is_flag=True, help="This exact text, with punctuation and case."),
    click.option("--regex", is_flag=True, help="A regular expression."),
    click.option(
        "--context", metavar="N", type=click.IntRange(0), default=0, help="Lines of context."
    ),
    click.option(
        "-n",
        "--limit",
        type=click.IntRange(1, MOST),
        default=LIMIT,
        help="Show at most this many turns.",
    ),
    click.option(
        "--sort",
        type=click.Choice(["relevance", "time"]),
        help="Best or newest first; without words newest.",
    ),
    click.option("--each", is_flag=True, help="Every passage, not field per turn."),
    click.option("--starred", is_flag=True, help="Only in starred sessions."),
    click.option("--open", "is_open", is_flag=True, help="Show the turn of the first match."),
    json_option,
    cls=QueryCommand,
    pass_context=True,
)
def search_command(
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
    """Search everything that was said, run or printed in any session.

    All words must occur in one passage. Also: "quotes" for phrases, star*, OR, NOT, ( ) and
    similar~ words. Fields narrow it down: tool:Bash outcome:failed in:prompt
    project:shop branch:abandoned before:2026-11 after:7d file:app.py model:opus session:3f2a.
    With fields alone, all their matches are listed, the newest first.
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
    with request.output.byte_progress() as watch:
        found = request.indexed_archive.search(
            " ".join(query),
            [*filters, *([starred_filter(request)] if starred else ())],
            way=_way_of(exact=exact, regex=regex),
            limit=limit,
            context=context,
            has_facets=not is_open,
            sort=sort,
            is_each=each or None,
            watch=watch,
        )
    request.output.warn_lost_workers(request.archive)
    words = " ".join((*query, *(f"{field.name}:{field.value}" for field in filters)))
    if is_open:
        _open_first(ctx, found, words)
    elif as_json:
        request.output.json(_result_to_json(request, found))
    else:
        _print_found(request, found, words)


def _way_of(*, exact: bool, regex: bool) -> "SearchWay":
    if exact and regex:
        raise UserError("use either `--exact` or `--regex`")
    return "exact" if exact else "regex" if regex else "words"


def _result_to_json(request: Request, found: SearchResult) -> dict[str, Any]:
    from msgspec import structs, to_builtins

    hits = [
        to_builtins(hit)
        | {"open": _open_command(request, hit), "resume": _resume_command(request, hit)}
        for hit in found.hits
    ]
    return structs.asdict(found) | {"hits": hits}


def _resume_command(request: Request, hit: Hit) -> str:
    if not request.roots:
        return shell_command("claude", "--resume", hit.session)
    return shell_command("plait", "resume", hit.session, "--run", *request.root_options)


def _open_command(request: Request, hit: Hit) -> str:
    parts = ["plait", "show", short_id(hit.session)]
    if hit.branch and hit.branch != hit.session:
        parts += ["--branch", hit.branch.rpartition("@")[2].rpartition("#")[2]]
    if hit.turn is not None:
        parts += ["--turn", str(hit.turn)]
    return shell_command(*parts, *request.root_options)


def _open_first(ctx: click.Context, found: SearchResult, text: str) -> None:
    from plait.cli.show import show_command as show

    if not found.hits:
        raise UserError(f"nothing matches '{text}'", "use fewer words, or `word*`")
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
    where = f" in {format_count(found.sessions, 'session')}" if found.sessions else ""
    output.print(f"nothing matches '{safe(shorten_to_width(query, 200))}'{where}")
    if found.near:
        output.print(f"did you mean {' or '.join(f'`{suggestion}`' for suggestion in found.near)}?")
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
    details = f"  {short_id(hit.session)}{SEPARATOR}{safe(project)}{kept}"
    title = safe(" ".join((hit.title or "(no title)").split()))
    room = max(output.width - count_columns(details), output.width // 2)
    line = Text(shorten_to_width(title, room), style="bold").append(details, style="dim not bold")
    line.truncate(output.width, overflow="ellipsis")
    output.print_lines([line])


def _print_hit(request: Request, hit: Hit) -> None:
    from rich.text import Text

    output, width = request.output, request.output.width
    room = max(width - len(INDENT) * 2, 10)
    words = [*_highlighted(hit).wrap(output.console, room)]
    if hit.result:
        words += Text(safe(hit.result), style=OUTCOMES["failed"]).wrap(output.console, room)
    output.print_lines(
        (
            *_heading(request, hit, width),
            *(_context_line(line, width) for line in hit.before),
            *(_indented(line) for line in words),
            *(_context_line(line, width) for line in hit.after),
        ),
    )


def _heading(request: Request, hit: Hit, width: int) -> "Iterator[Text]":
    from rich.text import Text

    command = _open_command(request, hit)
    more = format_count(hit.more, "more match", "more matches") if hit.more else ""
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
    parts = (turn, hit.tool or "", LINE_STATES.get(hit.state or "", ""), _when(hit), more)
    text = Text(INDENT).append(hit.kind, style=STYLES.get(hit.kind, "cyan"))
    if hit.outcome:
        text.append(f"{SEPARATOR}{hit.outcome}", style=OUTCOMES[hit.outcome])
    for part in parts:
        if part:
            text.append(f"{SEPARATOR}{safe(part)}", style="dim")
    return text


def _when(hit: Hit) -> str:
    time = local_time(hit.time)
    if time is None:
        return ""
    passed = format_age(time, now())
    return format_minute(time) if passed == format_day(time) else passed


def _highlighted(hit: Hit) -> "Text":
    from rich.text import Text

    text = Text(safe(hit.snippet) or "(the log has changed since)", overflow="fold")
    for start, end in hit.marks:
        text.stylize(MARKED, start, end)
    return text


def _indented(line: "Text") -> "Text":
    from rich.text import Text

    line.rstrip()
    return Text(INDENT * 2).append_text(line)


def _context_line(line: str, width: int) -> "Text":
    from rich.text import Text

    words = shorten_to_width(safe(line.expandtabs(4).rstrip()), max(width - 5, 10))
    return Text(f"{INDENT * 2}{words}".rstrip(), style="dim")


def _print_total(request: Request, found: SearchResult) -> None:
    output, first = request.output, short_id(found.hits[0].session)
    going_on = shell_command("plait", "resume", first, *request.root_options)
    parts = (
        *_counts_in_words(found),
        "`--open` shows the first",
        f"`{going_on}` resumes it",
    )
    output.print("")
    output.print(join_fitting(parts, output.width), style="dim")
    for counts in [] if found.is_whole else _narrowing(found):
        output.print(join_fitting(counts, output.width), style="dim")


def _counts_in_words(found: SearchResult) -> Iterator[str]:
    """Yield how much is listed of how much there is, and the way to the rest."""
    are_calls = all(hit.kind == "input" for hit in found.hits)
    noun = ("call" if are_calls else "passage") if found.is_each else "turn"
    if found.is_whole:
        yield format_count(len(found.hits), noun)
        if found.listed > len(found.hits):
            yield f"{format_number(found.listed)} passages match"
        if found.total > found.listed:
            yield f"{format_number(found.total - found.listed)} more in copies"
        return
    first = f"first {format_number(len(found.hits))}" if len(found.hits) > 1 else "first"
    if found.is_each:
        yield f"{first} of {format_number(found.total)} {noun}s"
    else:
        yield f"{first} {noun}{'s' if len(found.hits) > 1 else ''}"
        yield f"{format_number(found.total)} passages match"
    more = min(MOST, found.total, 5 * len(found.hits))
    if more > len(found.hits):
        yield f"`-n {more}` lists more"


def _narrowing(found: SearchResult) -> Iterator[list[str]]:
    for name, field in NARROWED.items():
        counts = found.facets.get(name, {})
        if len(counts) > 1:
            chosen = _since_months(counts) if name == "month" else list(counts.items())
            yield [
                f"{field}{safe(value.strip('-'))} {format_number(count)}"
                for value, count in chosen[:MOST_FACETS]
            ]


def _since_months(counts: dict[str, int]) -> list[tuple[str, int]]:
    newest = sorted(counts, reverse=True)
    return list(zip(newest, accumulate(counts[month] for month in newest), strict=True))
