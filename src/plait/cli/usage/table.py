"""Rows of figures to tables that fit the page: whole numbers where there is room, else short."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from plait.archive import marked
from plait.cli.options import Request
from plait.cli.text import SEPARATOR, clipped, columns, counted, number, safe_line, short, thousands
from plait.conversation.spending import BillingBlock, Spending, SpendingRow, SpendingSum
from plait.view.amounts import some_of
from plait.view.forms import (
    CACHE_READ,
    CACHE_WRITE,
    INPUT,
    OUTPUT,
    READ,
    WRITE,
    clock_of,
    day_of,
    minute_of,
    model_names,
    told_apart,
)
from plait.view.usage import BEYOND, cost_of, money

if TYPE_CHECKING:
    from rich.text import Text


GAP = "  "
INDENT = "  "
BILLION = 1_000_000_000
LEAST = 12
"""The narrowest that a column of words becomes."""
ROOMY = 24
CENT = 0.01
TWO_DAYS = 48
FRAME = 6
"""Lines around the rows of a table: its head, a rule, the total, what is said below."""
WHOLE = (INPUT, OUTPUT, CACHE_WRITE, CACHE_READ, "tokens", "cost ")
BRIEF = (INPUT, OUTPUT, WRITE, READ, "tokens", "cost ")
PARTS = (("agents", "agents"), ("service", "service agents"), ("abandoned", "abandoned branches"))
TITLES = {
    "daily": ("date", "models"),
    "weekly": ("week of", "models"),
    "monthly": ("month", "models"),
    "session": ("session", "title", "last"),
    "project": ("project",),
    "model": ("model",),
}


class Line(NamedTuple):
    """One line of a table: words on the left, figures on the right."""

    words: tuple[str, ...]
    tally: SpendingSum
    style: str = ""


def print_spending(
    request: Request,
    report: str,
    result: Spending,
    zone: tzinfo | None,
    *,
    is_full: bool,
    hidden: int = 0,
    beyond: float = 0.0,
    covered: Mapping[str, int] | None = None,
    newest_last: bool = False,
) -> None:
    """Prints a report; the totals are of the rows that are hidden, too, and not of what Claude
    Code counted beyond the logs.

    In a pager, which shows the first lines, those are the totals and the newest rows.
    """
    output = request.output
    if not result.rows:
        output.print("no responses")
        return
    name = _namer(request, report, result.rows, zone)
    is_paged = output.is_paged(len(result.rows) + FRAME)
    lines: list[Line] = []
    for row in reversed(result.rows) if is_paged and newest_last else result.rows:
        lines.append(Line(name(row), row.total))
        if is_full:
            lines.extend(_parts_of(row, len(TITLES[report]), by_model=report != "model"))
    total = Line(("total", *[""] * (len(TITLES[report]) - 1)), result.totals.total, "bold")
    extra = list(_parts_of(result.totals, len(TITLES[report]), by_model=True)) if is_full else []
    with output.paged():
        _print_lines(request, TITLES[report], lines, [total, *extra], totals_first=is_paged)
        if covered:
            output.print("")
            output.print(_covered_in_words(**covered), style="dim")
        _print_notes(request, result.totals, is_full=is_full, hidden=hidden)
        if beyond >= CENT / 2:
            said = f"{money(beyond)} more by Claude Code's own count, not in the total:"
            output.print(f"{said} {BEYOND}")


def _covered_in_words(sessions: int, all_sessions: int) -> str:
    told = some_of(sessions, all_sessions, "session")
    rest = all_sessions - sessions
    return told if not rest else f"{told}: {counted(rest, 'session')} without a response"


def _namer(
    request: Request, report: str, rows: Sequence[SpendingRow], zone: tzinfo | None
) -> Callable[[SpendingRow], tuple[str, ...]]:
    if report == "model":
        names = told_apart(row.key or "unnamed" for row in rows)
        return lambda row: (names[row.key or "unnamed"],)
    if report == "project":
        return lambda row: (_directory(request, row.key or ""),)
    if report != "session":
        return lambda row: (row.key or "no date", model_names(row.models))
    sessions = {one.id: one for one in request.archive.sessions}
    wanted = [sessions[row.key or ""] for row in rows if row.key in sessions]
    watched = request.output.progress(wanted, "reading titles")
    facts = {one.id: request.archive.facts(one) for one in watched}
    titles = {key: marked(one.mark, one.title or "(no title)") for key, one in facts.items()}

    def words(row: SpendingRow) -> tuple[str, ...]:
        key = row.key or ""
        last = row.total.last
        time = day_of(last.astimezone(zone)) if last else ""
        return short(key), " ".join((titles.get(key) or "(no title)").split()), time

    return words


def row_names(request: Request, dimension: str, keys: Sequence[str | None]) -> dict[str, str]:
    """Returns what projects and sessions are called in a table; of the rest nothing."""
    if dimension == "project":
        return {key: _directory(request, key) for key in keys if key}
    if dimension != "session":
        return {}
    return {
        one.id: f"{short(one.id)}  {' '.join((request.archive.facts(one).title or '').split())}"
        for one in request.archive.sessions
        if one.id in keys
    }


def _directory(request: Request, project: str) -> str:
    return request.archive.folding.directory(project) or project


def _parts_of(row: SpendingRow, width: int, *, by_model: bool) -> Iterator[Line]:
    empty = ("",) * (width - 1)
    if by_model and len(row.models) > 1:
        names = told_apart(row.models)
        for model, tally in row.models.items():
            yield Line((f"{INDENT}{names[model]}", *empty), tally, "dim")
    for attribute, words in PARTS:
        part: SpendingSum = getattr(row, attribute)
        if part.responses:
            yield Line((f"{INDENT}{words}", *empty), part, "dim italic")


def _print_lines(
    request: Request,
    titles: tuple[str, ...],
    rows: list[Line],
    totals: list[Line],
    *,
    totals_first: bool,
) -> None:
    from rich.text import Text

    every = [*rows, *totals]
    room = request.output.width
    heads, cells, words = _fitted(titles, every, room)
    widths = [max(map(columns, column)) for column in zip(heads, *cells, strict=True)]
    figures = [title.rjust(width) for title, width in zip(heads, widths, strict=True)]
    head = GAP.join([_laid_out(titles, words), *figures])
    drawn = [
        _styled(_laid_out(one.words, words), found, widths, one.style)
        for one, found in zip(every, cells, strict=True)
    ]
    rule = Text("─" * min(max(one.cell_len for one in drawn), room), style="dim")
    body, sums = drawn[: len(rows)], drawn[len(rows) :]
    parts = [*sums, rule, *body] if totals_first else [*body, rule, *sums]
    request.output.lines([Text(head.rstrip(), style="dim"), *parts])


def _fitted(
    titles: tuple[str, ...], lines: list[Line], room: int
) -> tuple[Sequence[str], list[Sequence[str]], list[int]]:
    words = [one.words for one in lines if not one.words[0].startswith(INDENT)]
    for heads, write, least, chosen in LAYOUTS:
        cells = [[_cells_of(one.tally, write)[at] for at in chosen] for one in lines]
        shown = [heads[at] for at in chosen]
        widths = [max(map(columns, column)) for column in zip(shown, *cells, strict=True)]
        left = room - sum(widths) - len(GAP) * len(widths)
        if found := _widths_of(titles, words, left, least):
            break
    return shown, list(cells), found or [LEAST // 2] * len(titles)


def _cells_of(tally: SpendingSum, write: Callable[[int], str]) -> tuple[str, ...]:
    if not tally.responses:
        return ("",) * len(WHOLE)
    tokens = tally.tokens
    counts = (tokens.input, tokens.output, tokens.cache_write, tokens.cache_read, tokens.total)
    return (*map(write, counts), cost_of(tally))


def _brief(tokens: int) -> str:
    return f"{tokens / BILLION:.1f}B" if tokens >= BILLION else thousands(tokens)


LAYOUTS: tuple[tuple[tuple[str, ...], Callable[[int], str], int, Sequence[int]], ...] = (
    (WHOLE, number, ROOMY, range(6)),
    (BRIEF, _brief, 16, range(6)),
    (BRIEF, _brief, 0, (1, 4, 5)),
)


def _widths_of(
    titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], room: int, least: int
) -> list[int]:
    """Returns the widths of the columns of words, the widest cut; none where that is too much."""
    widths = [max(map(columns, column)) for column in zip(titles, *rows, strict=True)]
    longest = widths.index(max(widths))
    spare = room - sum(widths) - len(GAP) * (len(widths) - 1)
    if spare < 0:
        if widths[longest] + spare < least:
            return []
        widths[longest] = max(widths[longest] + spare, LEAST)
    return widths


def _laid_out(words: tuple[str, ...], widths: list[int]) -> str:
    whole = sum(widths) + len(GAP) * (len(widths) - 1)
    if len(words) > 1 and not any(words[1:]):
        return _padded(words[0], whole)
    return GAP.join(_padded(one, width) for one, width in zip(words, widths, strict=True))


def _padded(text: str, width: int) -> str:
    text = safe_line(text)
    shown = _cut(text, width) if columns(text) > width else text
    return shown + " " * (width - columns(shown))


def _cut(text: str, width: int) -> str:
    """Shortens a text; of a path what tells it from others stays, its end."""
    is_path = text.startswith("/") and " " not in text
    return f"…{text[1 - width :]}" if is_path and width > 1 else clipped(text, width)


def _styled(words: str, figures: Sequence[str], widths: Sequence[int], style: str) -> "Text":
    from rich.text import Text

    text = Text(words, style=style, no_wrap=True)
    for place, (figure, width) in enumerate(zip(figures, widths, strict=True)):
        is_cost = place == len(figures) - 1
        colour = "yellow" if "*" in figure else "green"
        shown = Text(GAP + figure.rjust(width))
        if is_cost and "dim" not in style:
            shown.stylize(colour)
        text.append_text(shown)
    text.rstrip()
    return text


def _print_notes(request: Request, totals: SpendingRow, *, is_full: bool, hidden: int = 0) -> None:
    output = request.output
    output.print("")
    said = [counted(totals.total.responses, "response")]
    if hidden:
        said.append(f"{counted(hidden, 'row')} not shown")
    if totals.total.tokens.web_searches:
        said.append(counted(totals.total.tokens.web_searches, "web search", "web searches"))
    for attribute, words in PARTS:
        part: SpendingSum = getattr(totals, attribute)
        if part.responses and not is_full:
            said.append(f"{words} {cost_of(part).strip()}")
    if totals.total.logged is not None:
        said.append(f"the log says {money(totals.total.logged)}")
    output.print(SEPARATOR.join(said), style="dim")
    for name, count in sorted(totals.total.unpriced.items()):
        output.print(f"* no price is known for {safe_line(name)} ({counted(count, 'response')})")
    if totals.total.unpriced:
        output.print("  `--prices FILE` takes yours", style="dim")


def print_blocks(
    request: Request,
    found: Sequence[BillingBlock],
    totals: SpendingRow,
    now: datetime,
    zone: tzinfo | None,
    *,
    newest_last: bool = False,
) -> None:
    """Prints blocks and the gaps between them; in a pager the newest first."""
    output = request.output
    if not found:
        output.print("no responses")
        return
    is_paged = output.is_paged(len(found) + FRAME)
    shown = [*reversed(found)] if is_paged and newest_last else found
    with output.paged():
        lines = [Line(_block_words(one, now, zone), one.total, _block_style(one)) for one in shown]
        total = Line(("total", "", ""), totals.total, "bold")
        _print_lines(request, ("block", "", "models"), lines, [total], totals_first=is_paged)
        _print_notes(request, totals, is_full=False)
        for one in found:
            if one.is_active:
                output.print(_outlook(one, now))


def _block_words(block: BillingBlock, now: datetime, zone: tzinfo | None) -> tuple[str, ...]:
    start, end = block.start.astimezone(zone), block.end.astimezone(zone)
    if block.is_gap:
        return minute_of(start), "gap", f"{gap_in_words(end - start)} without a response"
    state = "now" if block.is_active else clock_of(end)
    return minute_of(start), state, model_names(block.row.models)


def gap_in_words(length: timedelta) -> str:
    """Says how long nothing was asked, as people say it: hours, then days."""
    hours = round(length / timedelta(hours=1))
    return f"{hours} h" if hours < TWO_DAYS else counted(round(hours / 24), "day")


def _block_style(block: BillingBlock) -> str:
    return "dim" if block.is_gap else "bold" if block.is_active else ""


def _outlook(block: BillingBlock, now: datetime) -> str:
    said = [f"{time_left(block, now)} left"]
    rate, projected = block.rate, block.projected(now)
    if rate and projected:
        said.append(f"{thousands(round(rate.tokens_per_minute))} tokens/min")
        said.append(f"{money(rate.cost_per_hour)}/h")
        said.append(f"by the end {thousands(projected[0])} tokens, {money(projected[1])}")
    return "this block: " + SEPARATOR.join(said)


def time_left(block: BillingBlock, now: datetime) -> str:
    """Says how long a block still lasts."""
    hours, minutes = divmod(int(block.left(now).total_seconds()) // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
