"""`plait search`: words, phrases, fields and regular expressions over all sessions."""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import click
from msgspec import structs, to_builtins

from plait.cli import shared
from plait.cli.options import GroupedHelp, Request, argument, command, option
from plait.cli.selection import Filters, format_show_command
from plait.cli.stars import starred_filter
from plait.errors import UserError
from plait.index.model import Hit, SearchResult, SearchSort
from plait.index.query import Field
from plait.terminal.output import make_text
from plait.terminal.text import (
    SEPARATOR,
    format_number,
    join_fitting,
    local_time,
    now,
    safe,
    shell_command,
    short_id,
)
from plait.view.formats import (
    format_age,
    format_count,
    format_count_if_any,
    format_day,
    format_minute,
)
from plait.view.text import count_columns, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text

LIMIT = 10
MARKED = "bold red"
"""Colours of matches, readable on dark and light backgrounds."""
INDENT = "  "
STYLES = {"prompt": "bold green", "answer": "bold", "title": "bold magenta", "command": "green"}
OUTCOMES = {
    "failed": "bold red",
    "rejected": "yellow",
    "interrupted": "yellow",
    "launched": "cyan",
}
LINE_STATES = ("abandoned", "agent", "service", "recovered")
FACETS = {
    "project": "project:",
    "tool": "tool:",
    "kind": "in:",
    "outcome": "outcome:",
    "month": "after:",
}
"""Fields that a facet counts."""
MOST_FACETS = 4
MOST = 1000
EXCLUDED = re.compile(r"-[^\W\d]|-[\"(*]")
"""The prefix of an excluded part of a query, and of a short option."""
PLACEHOLDER = "\ue000"
"""Replaces that prefix while options are separated from the query."""


class QueryCommand(GroupedHelp):
    """A command whose words may begin with `-`, like its short options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options and words; what is no short option is an excluded word."""
        short = {name[1] for param in self.get_params(ctx) for name in param.opts}

        def is_unwanted(word: str) -> bool:
            is_option = word[1:2] in short and re.fullmatch(r"\d*", word[2:])
            return bool(EXCLUDED.match(word)) and not is_option

        def restore(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(restore, value))
            is_hidden = isinstance(value, str) and value.startswith(PLACEHOLDER)
            return f"-{value.removeprefix(PLACEHOLDER)}" if is_hidden else value

        words = [PLACEHOLDER + word[1:] if is_unwanted(word) else word for word in args]
        rest = super().parse_args(ctx, words)
        ctx.params.update({name: restore(value) for name, value in ctx.params.items()})
        return rest


@command(
    cls=QueryCommand,
    examples="plait search parser error\n"
    'plait search "rate limit" tool:Bash outcome:failed\n'
    'plait search --exact "def load(" --since 30d',
)
def search_command(
    request: Request,
    filters: Filters,
    query: tuple[str, ...] = argument(),
    tool: str | None = option(
        "--tool", metavar="NAME", help="Only the input and output of this tool."
    ),
    kind: str | None = option(
        "--in", metavar="KIND", help="Only this kind: prompt, answer, output and so on."
    ),
    outcome: str | None = option(
        "--outcome",
        metavar="OUTCOME",
        help="Only tool calls that failed or were rejected, interrupted or launched.",
    ),
    branch: str | None = option(
        "--branch", metavar="STATE", help="Only active, abandoned, agent or service branches."
    ),
    exact: bool = option(
        "--exact", help="Search for the exact text, including punctuation and case."
    ),
    regex: bool = option("--regex", help="Search for a regular expression."),
    context: int = option(
        "--context", metavar="N", least=0, default=0, help="Show N lines of context."
    ),
    limit: int = option(
        "-n", "--limit", least=1, most=MOST, default=LIMIT, help="Show at most this many turns."
    ),
    sort: "SearchSort | None" = option(
        "--sort",
        choices=["relevance", "time"],
        help="Sort by relevance, or newest first; default: relevance if QUERY has words.",
    ),
    each: bool = option("--each", help="List every matching passage, not just one per turn."),
    starred: bool = option("--starred", help="Only in starred sessions."),
    is_open: bool = option("--open", help="Show the turn of the first match."),
    as_json: bool = shared.as_json,
) -> None:
    """Search everything that was said, run or printed in any session.

    All words must occur in one passage. Also: "quotes" for phrases, star*, OR, NOT, ( ) and
    similar~ words. Fields narrow the search: tool:Bash outcome:failed in:prompt project:shop
    branch:abandoned before:2026-11 after:7d file:app.py model:opus session:3f2a. Fields
    alone list all their matches, newest first.
    """
    if exact and regex:
        raise UserError("use either `--exact` or `--regex`")
    way: Literal["exact", "regex", "words"] = "exact" if exact else "regex" if regex else "words"
    given = {
        "project": filters.project,
        "after": filters.since,
        "before": filters.until,
        "tool": tool,
        "kind": kind,
        "outcome": outcome,
        "branch": branch,
    }
    fields = [Field(name, value) for name, value in given.items() if value]
    output = request.output
    with output.byte_progress() as watch:
        found = request.indexed_archive.search(
            " ".join(query),
            [*fields, *([starred_filter(request)] if starred else ())],
            way=way,
            limit=limit,
            context=context,
            has_facets=not is_open,
            sort=sort,
            is_each=each or None,
            watch=watch,
        )
    output.warn_lost_workers(request.archive)
    words = " ".join((*query, *(f"{field.name}:{field.value}" for field in fields)))
    if is_open:
        if not found.hits:
            raise UserError(f"nothing matches '{words}'", "use fewer words, or `word*`")
        from plait.cli.show import show_command

        hit = found.hits[0]
        branch = hit.branch if hit.branch != hit.session else None
        turn = None if hit.turn is None else str(hit.turn)
        click.get_current_context().invoke(
            show_command, session=hit.session, branch=branch, turn=turn
        )
    elif as_json:
        hits: list[dict[str, Any]] = []
        for hit in found.hits:
            resume: tuple[str, ...] = ("claude", "--resume", hit.session)
            if request.roots:  # Claude Code would not find it by its id
                resume = ("plait", "resume", hit.session, "--run", *request.root_options)
            commands = {"open": _open_command(request, hit), "resume": shell_command(*resume)}
            hits.append(to_builtins(hit) | commands)
        output.json(structs.asdict(found) | {"hits": hits})
    else:
        _print_found(request, found, words)


def _open_command(request: Request, hit: Hit) -> str:
    branch = hit.branch if hit.branch != hit.session else None
    return format_show_command(request, hit.session, branch, hit.turn)


def _print_found(request: Request, found: SearchResult, query: str) -> None:
    """Print the matches by session, or that there are none and what to try."""
    output = request.output
    if not found.hits:
        where = f" in {format_count(found.sessions, 'session')}" if found.sessions else ""
        output.print(f"nothing matches '{safe(shorten_to_width(query, 200))}'{where}")
        if found.near:
            output.print(f"did you mean {' or '.join(f'`{near}`' for near in found.near)}?")
        elif found.note:
            output.print(found.note)
        elif found.sort == "time" and found.by == "index":
            output.print("try fewer fields", style="dim")
        else:
            output.print("try fewer words, `word*` or `--exact`", style="dim")
        return
    if found.note:
        output.note(found.note)
    sessions: dict[str, list[Hit]] = {}
    for hit in found.hits:
        sessions.setdefault(hit.session, []).append(hit)
    with output.paged():
        for hits in sessions.values():
            hit = hits[0]
            project = hit.project.strip("-") or hit.project
            kept = f"{SEPARATOR}kept" if request.archive.inventory.is_kept(hit.path) else ""
            details = f"  {short_id(hit.session)}{SEPARATOR}{safe(project)}{kept}"
            title = safe(" ".join((hit.title or "(no title)").split()))
            room = max(output.width - count_columns(details), output.width // 2)
            line = make_text(shorten_to_width(title, room), style="bold")
            line.append(details, style="dim not bold")
            line.truncate(output.width, overflow="ellipsis")
            output.print_lines([line])
            for hit in hits:
                _print_hit(request, hit)
            output.print("")
        first = short_id(found.hits[0].session)
        parts = (
            *_iter_counts(found),
            "`--open` shows the first",
            f"`{shell_command('plait', 'resume', first, *request.root_options)}` resumes it",
        )
        output.print(join_fitting(parts, output.width), style="dim")
        for name, field in FACETS.items() if not found.is_whole else ():
            counts = list(found.facets.get(name, {}).items())
            if len(counts) < 2:
                continue
            if name == "month":  # a field narrows to what came after: totals from the newest
                counts.sort(reverse=True)
                sums = accumulate(count for _, count in counts)
                counts = [(month, total) for (month, _), total in zip(counts, sums, strict=True)]
            parts = tuple(
                f"{field}{safe(value.strip('-'))} {format_number(count)}"
                for value, count in counts[:MOST_FACETS]
            )
            output.print(join_fitting(parts, output.width), style="dim")


def _print_hit(request: Request, hit: Hit) -> None:
    """Print the location of a match, the command that opens it, and its text."""
    output, width = request.output, request.output.width
    command = _open_command(request, hit)
    time = local_time(hit.time)
    age = format_age(time, now()) if time else ""
    if time and age == format_day(time):
        age = format_minute(time)
    heading = make_text(INDENT).append(hit.kind, style=STYLES.get(hit.kind, "cyan"))
    if hit.outcome:
        heading.append(f"{SEPARATOR}{hit.outcome}", style=OUTCOMES[hit.outcome])
    for part in (
        f"turn {hit.turn}" if hit.turn is not None else "",
        hit.tool,
        hit.state if hit.state in LINE_STATES else "",
        age,
        format_count_if_any(hit.more, "more match", "more matches"),
    ):
        if part:
            heading.append(f"{SEPARATOR}{safe(part)}", style="dim")
    room = width - heading.cell_len - len(command)
    if room >= 2:
        lines = [heading.append(" " * room + command, style="dim italic")]
    else:
        heading.truncate(width, overflow="ellipsis")
        lines = [heading, make_text(f"{INDENT}{command}", style="dim italic", overflow="fold")]

    def iter_context(context: tuple[str, ...]) -> "Iterator[Text]":
        for line in context:
            words = shorten_to_width(safe(line.expandtabs(4).rstrip()), max(width - 5, 10))
            yield make_text(f"{INDENT * 2}{words}".rstrip(), style="dim")

    room = max(width - len(INDENT) * 2, 10)
    text = make_text(safe(hit.snippet) or "(the log has changed since)", overflow="fold")
    for start, end in hit.marks:
        text.stylize(MARKED, start, end)
    words = [*text.wrap(output.console, room)]
    if hit.result:
        words += make_text(safe(hit.result), style=OUTCOMES["failed"]).wrap(output.console, room)
    for line in words:
        line.rstrip()
    indented = [make_text(INDENT * 2).append_text(line) for line in words]
    output.print_lines([*lines, *iter_context(hit.before), *indented, *iter_context(hit.after)])


def _iter_counts(found: SearchResult) -> Iterator[str]:
    """Yield how much is listed of how much there is, and how to see the rest."""
    are_calls = all(hit.kind == "input" for hit in found.hits)
    noun = ("call" if are_calls else "passage") if found.is_each else "turn"
    if found.is_whole:
        yield format_count(len(found.hits), noun)
        if found.listed > len(found.hits):
            yield f"{format_number(found.listed)} passages match"
        if found.total > found.listed:
            yield f"{format_number(found.total - found.listed)} more in copies of these sessions"
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
