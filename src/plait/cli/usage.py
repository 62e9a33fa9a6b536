"""`plait usage`: tokens and cost by time, session, project, model or 5-hour block, and cross tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from plait.archive import CountedResponses, format_marked_title, gc_paused
from plait.cli.options import (
    Request,
    command,
    filter_options,
    fold_option,
    json_option,
    no_index_option,
    timezone_option,
)
from plait.cli.selection import parse_time_option, parse_zone, sessions_in_project
from plait.cli.settings import load_prices
from plait.cli.text import SEPARATOR, format_number, now, safe_line, short_id
from plait.conversation.prices import Prices
from plait.conversation.usage import DECIMALS, BilledResponse
from plait.errors import UserError
from plait.usage.formats import (
    UNLOGGED_LABEL,
    block_to_json,
    format_dollars,
    format_row_cost,
    row_to_json,
    sum_to_json,
)
from plait.usage.spending import (
    BLOCK_LENGTH,
    DIMENSIONS,
    TIMES,
    BillingBlock,
    CellKey,
    CrossTable,
    Dimension,
    GroupBy,
    Spending,
    SpendingRow,
    SpendingSum,
    build_billing_blocks,
    build_cross_table,
    build_untimed_row,
    filter_by_time,
    find_unlogged_costs,
    format_iso_day,
    group_spending,
)
from plait.usage.spending import GROUP_BY as REPORTS_BY_DIMENSION
from plait.view.formats import (
    CACHE_READ,
    CACHE_WRITE,
    INPUT,
    OUTPUT,
    READ,
    WRITE,
    format_clock,
    format_count,
    format_count_of,
    format_day,
    format_minute,
    format_models,
    format_models_distinctly,
    format_tokens,
)
from plait.view.text import count_columns, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text

T = TypeVar("T")
LITTLE = 50_000_000
"""Bytes of sessions up to which abandoned branches are always counted apart."""
REPORTS = ("daily", "weekly", "monthly", "session", "project", "model", "blocks")
TIME_REPORTS = ("daily", "weekly", "monthly", "blocks")
KEY_NAMES = {"daily": "date", "weekly": "week", "monthly": "month"}
ENOUGH_FOR_TODAY = timedelta(days=2)
"""In every time zone, today began less than this long ago."""
GAP = INDENT = "  "
BILLION = 1_000_000_000
LEAST_TEXT = 12
CENT = 0.01
TWO_DAYS = 48
FRAME = 6
"""Lines around the rows of a table: heading, rule, total, notes."""
PARTS = (("agents", "agents"), ("service", "service agents"), ("abandoned", "abandoned branches"))
HEADINGS = {
    "daily": ("date", "models"),
    "weekly": ("week of", "models"),
    "monthly": ("month", "models"),
    "session": ("session", "title", "last"),
    "project": ("project",),
    "model": ("model",),
    "blocks": ("block", "", "models"),
}
MOST_DIMENSIONS = 3
WIDEST_NAME, LEAST_NAME = 40, 16
EARLIER, OTHER = "before", "other"
UNKNOWN = {"model": "unnamed", "day": "no date", "week": "no date", "month": "no date"}


@dataclass(frozen=True)
class Report:
    """What is counted, and how it is shown."""

    request: Request
    prices: Prices
    name: str
    zone: tzinfo | None
    time: datetime
    since: datetime | None
    until: datetime | None
    project: str | None
    is_full: bool
    order: str | None
    limit: int | None
    of: str
    form: str
    """`text`, `json` or `csv`."""

    @property
    def is_newest_last(self) -> bool:
        """Whether rows run from the oldest to the newest by default."""
        return self.order is None and self.name in TIME_REPORTS

    def read_responses(self) -> CountedResponses:
        """Read the responses of all sessions."""
        output, archive = self.request.output, self.request.archive
        output.warn_unread(archive)
        counted = archive.responses(output.progress_for("reading sessions"))
        output.warn_lost_workers(archive)
        return counted

    def select(self, responses: Iterable[T]) -> list[T]:
        """Return the responses of the period and the project."""
        timely: Sequence[Any] = filter_by_time(cast(Any, responses), self.since, self.until)
        if self.project is None:
            return list(timely)
        sessions = self.request.archive.sessions
        members = {
            session.id for session in sessions_in_project(self.request, sessions, self.project)
        }
        if not members:
            raise UserError(f"no project named '{self.project}'", "`plait ls` lists the projects")
        return [response for response in timely if response.session in members]

    def fold_projects(self, responses: Sequence[BilledResponse]) -> Sequence[BilledResponse]:
        """Assign the responses of worktrees and sub-directories to their project."""
        from plait.archive import assign_projects

        return assign_projects(responses, self.request.archive.folding)

    def arrange(self, rows: Iterable[T], total: Callable[[T], SpendingSum]) -> list[T]:
        """Sort rows, by cost unless they are times; a limit keeps the newest or the largest."""
        ordered = list(rows)
        order = self.order or ("asc" if self.name in TIME_REPORTS else "cost")
        if order == "cost":

            def key(row: T) -> Any:
                spent = total(row)
                return spent.cost, spent.tokens.total

            return sorted(ordered, key=key, reverse=True)[: self.limit]
        ordered = ordered[-self.limit :] if self.limit else ordered
        return ordered[::-1] if order == "desc" else ordered


@command(
    "usage",
    click.argument("report", type=click.Choice(REPORTS), required=False),
    filter_options,
    timezone_option,
    click.option(
        "--breakdown", "-b", "is_full", is_flag=True, help="Split by model, agents and branches."
    ),
    click.option("--statusline", is_flag=True, help="One short line: today, this block, the pace."),
    click.option("--prices", "own", metavar="FILE", help="Your own prices, as TOML or JSON."),
    click.option("--order", type=click.Choice(["asc", "desc", "cost"]), help="Order of the rows."),
    click.option(
        "-n", "--limit", type=click.IntRange(1), help="Only this many rows: the newest or largest."
    ),
    click.option("--by", metavar="LIST", help="A cross table: project,model,week."),
    click.option(
        "--of", type=click.Choice(["cost", "tokens"]), default="cost", help="Content of its cells."
    ),
    click.option("--csv", "as_csv", is_flag=True, help="Print CSV."),
    fold_option,
    no_index_option,
    json_option,
    examples="plait usage\nplait usage session -n 10\nplait usage --by project,week",
)
def usage_command(
    request: Request,
    /,
    report: str | None,
    since: str | None,
    until: str | None,
    timezone: str | None,
    statusline: bool,
    own: str | None,
    by: str | None,
    no_index: bool,
    as_json: bool,
    as_csv: bool,
    **choices: Any,
) -> None:
    """Show tokens and cost by day, week, month, session, project, model or 5-hour block.

    Each response is counted once over all files, at the prices of its day. Models without a known
    price are listed and not part of the sum.
    """
    zone, time = parse_zone(timezone), now()
    start, end = parse_time_option(since, time, zone), parse_time_option(until, time, zone)
    if as_csv and as_json:
        raise UserError("use either `--csv` or `--json`")
    if by is not None and report is not None:
        raise UserError(f"use either '{report}' or `--by`", "`plait usage --by project,week`")
    own = own or (str(request.settings.prices) if request.settings.prices else None)
    options = Report(
        request=request,
        prices=load_prices(Path(own) if own else None),
        name=report or "daily",
        zone=zone,
        time=time,
        since=start,
        until=end,
        form="csv" if as_csv else "json" if as_json else "text",
        **choices,
    )
    if statusline:
        _print_statusline(options)
        return
    with gc_paused(), request.open_archive(no_index=no_index):
        if by is not None:
            _show_cross(options, parse_dimensions(by))
        elif options.name == "blocks":
            _show_blocks(options)
        else:
            _show_rows(options)


def _print_statusline(report: Report) -> None:
    since = report.time - ENOUGH_FOR_TODAY
    responses = report.request.archive.responses(since=since.timestamp()).responses
    recent = filter_by_time(responses, since - BLOCK_LENGTH, None)
    today = format_iso_day(report.time.astimezone(report.zone))
    days = group_spending(recent, "daily", report.prices, report.zone).rows
    costs = [format_row_cost(row.total).strip() for row in days if row.key == today]
    parts = [f"today {costs[0] if costs else format_dollars(0)}"]
    blocks = build_billing_blocks(recent, report.prices, report.time)
    block = next((block for block in blocks if block.is_active), None)
    if block:
        left = format_time_left(block, report.time)
        parts.append(f"block {format_row_cost(block.total).strip()}, {left} left")
        if block.rate:
            parts.append(f"{format_dollars(block.rate.cost_per_hour)}/h")
    report.request.output.print(SEPARATOR.join(parts))


def _show_rows(report: Report) -> None:
    request, output = report.request, report.request.output
    counted = report.read_responses()
    responses = report.select(counted.responses)
    abandoned = _find_abandoned(report, responses)
    by = cast(GroupBy, report.name)
    spending = group_spending(
        report.fold_projects(responses) if by == "project" else responses,
        by,
        report.prices,
        report.zone,
        abandoned or (),
    )
    # What Claude Code itself counted beyond its logs, at its own prices.
    unlogged: dict[str, float] = {}
    if counted.own_costs:
        costs = find_unlogged_costs(counted.responses, counted.own_costs, load_prices(None))
        unlogged = {cost.session: cost.cost for cost in report.select(costs)}
    shown = report.arrange(spending.rows, lambda row: row.total)
    sessions = request.archive.sessions
    if report.form == "csv":
        from plait.usage.formats import format_rows_csv

        titles = None
        if report.name == "session":
            titles = {session.id: request.archive.facts(session).title for session in sessions}
        key = KEY_NAMES.get(report.name, report.name)
        output.write_text(format_rows_csv(key, shown, titles))
        return
    answered = {response.session for response in responses}
    coverage = {
        "sessions": sum(session.id in answered for session in sessions),
        "all_sessions": len(sessions),
    }
    if report.form == "json":
        rows = _rows_to_json(report, shown, counted, unlogged)
        totals = row_to_json(spending.totals, is_full=report.is_full)
        totals["beyond_log_usd"] = round(sum(unlogged.values()), DECIMALS)
        value: dict[str, Any] = {"rows": rows, "totals": totals} | coverage
        output.json(_without_abandoned(value) if abandoned is None else value)
        return
    hidden = len(spending.rows) - len(shown)
    _print_spending(
        report,
        Spending(tuple(shown), spending.totals),
        hidden=hidden,
        unlogged=sum(unlogged.values()),
        coverage=coverage if report.name == "session" else None,
    )


def _find_abandoned(report: Report, responses: Sequence[BilledResponse]) -> frozenset[str] | None:
    """Return the responses on abandoned branches, or None if finding them would take too long.

    Building the graphs of a gigabyte takes several times as long as counting its tokens, so a
    large archive is only searched for a breakdown.
    """
    ids = {response.session for response in responses}
    sessions = [session for session in report.request.archive.sessions if session.id in ids]
    if not report.is_full and sum(session.bytes for session in sessions) > LITTLE:
        return None
    watch = report.request.output.progress_for("following branches")
    return report.request.archive.abandoned(responses, sessions, watch)


def _rows_to_json(
    report: Report,
    rows: Iterable[SpendingRow],
    counted: CountedResponses,
    unlogged: Mapping[str, float],
) -> list[dict[str, Any]]:
    archive, values = report.request.archive, []
    sessions = {session.id: session for session in archive.sessions}
    for row in rows:
        value: dict[str, Any] = {KEY_NAMES.get(report.name, report.name): row.key}
        if report.name == "session":
            session = sessions.get(row.key or "")
            if session is not None:
                value |= {
                    "project": archive.folding.project(session.project),
                    "folder": session.project,
                    "title": archive.facts(session).title,
                    "path": session.path,
                    "kept": session.is_kept,
                    "client_cost_usd": counted.client_costs.get(session.id),
                }
            value["beyond_log_usd"] = round(unlogged.get(row.key or "", 0.0), DECIMALS)
        values.append(value | row_to_json(row, is_full=report.is_full))
    return values


def _without_abandoned(value: dict[str, Any]) -> dict[str, Any]:
    for row in (*value["rows"], value["totals"]):
        row["abandoned"] = None
    return value


def _show_blocks(report: Report) -> None:
    output = report.request.output
    responses = report.select(report.read_responses().responses)
    blocks = build_billing_blocks(responses, report.prices, report.time)
    untimed = build_untimed_row(responses, report.prices)
    totals = SpendingRow(None)
    for block in blocks:
        totals.merge(block.row)
    if report.order == "cost":
        blocks = [block for block in blocks if not block.is_gap]
    shown = report.arrange(blocks, lambda block: block.total)
    if report.form == "csv":
        from plait.usage.formats import format_blocks_csv

        output.write_text(format_blocks_csv(shown))
    elif report.form == "json":
        is_full = report.is_full
        rows = [block_to_json(block, report.time, is_full=is_full) for block in shown]
        value = {"rows": rows, "totals": row_to_json(totals, is_full=is_full)}
        output.json(_without_abandoned(value) | {"untimed": row_to_json(untimed, is_full=False)})
    else:
        _print_blocks(report, shown, totals)
        if untimed.total.responses:
            count = format_count(untimed.total.responses, "response")
            output.note(f"{count} without a time, in no block")


class Line(NamedTuple):
    """A line of a table: texts on the left, figures on the right."""

    texts: tuple[str, ...]
    total: SpendingSum
    style: str = ""


def _print_spending(
    report: Report,
    spending: Spending,
    *,
    hidden: int,
    unlogged: float,
    coverage: Mapping[str, int] | None,
) -> None:
    """Print a report; its totals include hidden rows, but not what is missing in the logs.

    A pager shows the first lines: there the totals and the newest rows come first.
    """
    output, headings = report.request.output, HEADINGS[report.name]
    if not spending.rows:
        output.print("no usage")
        return
    name_row = _make_row_namer(report, spending.rows)
    is_paged = output.will_page(len(spending.rows) + FRAME)
    rows = reversed(spending.rows) if is_paged and report.is_newest_last else spending.rows
    by_model = report.name != "model"
    lines: list[Line] = []
    for row in rows:
        lines.append(Line(name_row(row), row.total))
        lines += _iter_parts(row, len(headings), by_model=by_model) if report.is_full else ()
    totals = [Line(("total", *[""] * (len(headings) - 1)), spending.totals.total, "bold")]
    if report.is_full:
        totals += _iter_parts(spending.totals, len(headings), by_model=True)
    with output.paged():
        _print_table(report, lines, totals, totals_first=is_paged)
        if coverage:
            count, total = coverage["sessions"], coverage["all_sessions"]
            words = format_count_of(count, total, "session")
            if total > count:
                words += f": {format_count(total - count, 'session')} without usage"
            output.print("")
            output.print(words, style="dim")
        _print_notes(report, spending.totals, hidden=hidden)
        if unlogged >= CENT / 2:
            more = f"{format_dollars(unlogged)} more by Claude Code's own count, not in the total:"
            output.print(f"{more} {UNLOGGED_LABEL}")


def _make_row_namer(
    report: Report, rows: Sequence[SpendingRow]
) -> Callable[[SpendingRow], tuple[str, ...]]:
    request = report.request
    if report.name == "model":
        names = format_models_distinctly(row.key or "unnamed" for row in rows)
        return lambda row: (names[row.key or "unnamed"],)
    if report.name == "project":
        directory = request.archive.folding.directory
        return lambda row: (directory(row.key or "") or row.key or "",)
    if report.name != "session":
        return lambda row: (row.key or "no date", format_models(row.models))
    sessions = {session.id: session for session in request.archive.sessions}
    wanted = [sessions[row.key or ""] for row in rows if row.key in sessions]
    titles = {}
    for session in request.output.progress(wanted, "reading titles"):
        facts = request.archive.facts(session)
        titles[session.id] = format_marked_title(facts.mark, facts.title or "(no title)")

    def name_session(row: SpendingRow) -> tuple[str, ...]:
        last, title = row.total.last, titles.get(row.key or "") or "(no title)"
        day = format_day(last.astimezone(report.zone)) if last else ""
        return short_id(row.key or ""), " ".join(title.split()), day

    return name_session


def _iter_parts(row: SpendingRow, columns: int, *, by_model: bool) -> Iterator[Line]:
    empty = ("",) * (columns - 1)
    if by_model and len(row.models) > 1:
        names = format_models_distinctly(row.models)
        for model, total in row.models.items():
            yield Line((f"{INDENT}{names[model]}", *empty), total, "dim")
    for attribute, label in PARTS:
        part: SpendingSum = getattr(row, attribute)
        if part.responses:
            yield Line((f"{INDENT}{label}", *empty), part, "dim italic")


def _format_billions(tokens: int) -> str:
    return f"{tokens / BILLION:.1f}B" if tokens >= BILLION else format_tokens(tokens)


LONG = (INPUT, OUTPUT, CACHE_WRITE, CACHE_READ, "tokens", "cost ")
SHORT = (INPUT, OUTPUT, WRITE, READ, "tokens", "cost ")
LAYOUTS: tuple[tuple[tuple[str, ...], Callable[[int], str], int, Sequence[int]], ...] = (
    (LONG, format_number, 24, range(6)),
    (SHORT, _format_billions, 16, range(6)),
    (SHORT, _format_billions, 0, (1, 4, 5)),
)
"""Headings, format of tokens, least width of the widest text, columns: the first that fits."""


def _print_table(
    report: Report, rows: list[Line], totals: list[Line], *, totals_first: bool
) -> None:
    from rich.text import Text

    headings, room, lines = HEADINGS[report.name], report.request.output.width, [*rows, *totals]
    texts = [line.texts for line in lines if not line.texts[0].startswith(INDENT)]
    for names, format_figure, least, columns in LAYOUTS:
        cells = []
        for line in lines:
            tokens, figures = line.total.tokens, [""] * len(names)
            if line.total.responses:
                counts = (tokens.input, tokens.output, tokens.cache_write, tokens.cache_read)
                figures = [format_figure(count) for count in (*counts, tokens.total)]
                figures.append(format_row_cost(line.total))
            cells.append([figures[column] for column in columns])
        names = tuple(names[column] for column in columns)
        widths = [max(map(count_columns, column)) for column in zip(names, *cells, strict=True)]
        left = room - sum(widths) - len(GAP) * len(widths)
        text_widths = _fit_texts(headings, texts, left, least)
        if text_widths:
            break
    text_widths = text_widths or [LEAST_TEXT // 2] * len(headings)

    def join_texts(words: tuple[str, ...]) -> str:
        if len(words) > 1 and not any(words[1:]):
            return pad(words[0], sum(text_widths) + len(GAP) * (len(text_widths) - 1))
        return GAP.join(pad(word, width) for word, width in zip(words, text_widths, strict=True))

    def format_line(line: Line, figures: Sequence[str]) -> Text:
        text = Text(join_texts(line.texts), style=line.style, no_wrap=True)
        for place, (figure, width) in enumerate(zip(figures, widths, strict=True)):
            is_cost = place == len(figures) - 1 and "dim" not in line.style
            colour = "yellow" if "*" in figure else "green"
            text.append(GAP + figure.rjust(width), style=colour if is_cost else None)
        text.rstrip()
        return text

    drawn = [format_line(line, figures) for line, figures in zip(lines, cells, strict=True)]
    rule = Text("─" * min(max(line.cell_len for line in drawn), room), style="dim")
    body, sums = drawn[: len(rows)], drawn[len(rows) :]
    right = [name.rjust(width) for name, width in zip(names, widths, strict=True)]
    head = Text(GAP.join([join_texts(headings), *right]).rstrip(), style="dim")
    parts = [*sums, rule, *body] if totals_first else [*body, rule, *sums]
    report.request.output.print_lines([head, *parts])


def _fit_texts(
    headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], room: int, least: int
) -> list[int]:
    """Return the widths of the text columns, the widest one cut; empty if that is too narrow."""
    widths = [max(map(count_columns, column)) for column in zip(headings, *rows, strict=True)]
    widest = widths.index(max(widths))
    spare = room - sum(widths) - len(GAP) * (len(widths) - 1)
    if spare < 0:
        if widths[widest] + spare < least:
            return []
        widths[widest] = max(widths[widest] + spare, LEAST_TEXT)
    return widths


def pad(text: str, width: int) -> str:
    """Fit a text into a width; of a path that is too long the end stays."""
    text = safe_line(text)
    if count_columns(text) > width:
        is_path = text.startswith("/") and " " not in text and width > 1
        text = f"…{text[1 - width :]}" if is_path else shorten_to_width(text, width)
    return text + " " * (width - count_columns(text))


def _print_notes(report: Report, totals: SpendingRow, *, hidden: int = 0) -> None:
    output, total = report.request.output, totals.total
    notes = [format_count(total.responses, "response")]
    if hidden:
        notes.append(f"{format_count(hidden, 'row')} not shown")
    if total.tokens.web_searches:
        notes.append(format_count(total.tokens.web_searches, "web search", "web searches"))
    for attribute, label in PARTS:
        part: SpendingSum = getattr(totals, attribute)
        if part.responses and not (report.is_full and report.name != "blocks"):
            notes.append(f"{label} {format_row_cost(part).strip()}")
    if total.logged is not None:
        notes.append(f"the log says {format_dollars(total.logged)}")
    output.print("")
    output.print(SEPARATOR.join(notes), style="dim")
    _print_unpriced(report, total)
    if total.unpriced:
        output.print("  `--prices FILE` adds your own prices", style="dim")


def _print_unpriced(report: Report, total: SpendingSum) -> None:
    for name, count in sorted(total.unpriced.items()):
        responses = format_count(count, "response")
        report.request.output.print(f"* no known price for {safe_line(name)} ({responses})")


def _print_blocks(report: Report, blocks: Sequence[BillingBlock], totals: SpendingRow) -> None:
    """Print blocks and the gaps between them; in a pager the newest first."""
    output = report.request.output
    if not blocks:
        output.print("no usage")
        return
    is_paged = output.will_page(len(blocks) + FRAME)
    lines = []
    for block in reversed(blocks) if is_paged and report.is_newest_last else blocks:
        start, end = block.start.astimezone(report.zone), block.end.astimezone(report.zone)
        state, details = format_clock(end), format_models(block.row.models)
        style = ""
        if block.is_gap:
            state, details = "gap", f"{format_gap(end - start)} without a response"
            style = "dim"
        elif block.is_active:
            state, style = "now", "bold"
        lines.append(Line((format_minute(start), state, details), block.total, style))
    with output.paged():
        total = Line(("total", "", ""), totals.total, "bold")
        _print_table(report, lines, [total], totals_first=is_paged)
        _print_notes(report, totals)
        for block in blocks:
            if not block.is_active:
                continue
            parts = [f"{format_time_left(block, report.time)} left"]
            rate, projected = block.rate, block.projected(report.time)
            if rate and projected:
                tokens, cost = format_tokens(projected[0]), format_dollars(projected[1])
                parts.append(f"{format_tokens(round(rate.tokens_per_minute))} tokens/min")
                parts.append(f"{format_dollars(rate.cost_per_hour)}/h")
                parts.append(f"by the end {tokens} tokens, {cost}")
            output.print(f"this block: {SEPARATOR.join(parts)}")


def format_gap(length: timedelta) -> str:
    """Format a time without responses in hours or days."""
    hours = round(length / timedelta(hours=1))
    return f"{hours} h" if hours < TWO_DAYS else format_count(round(hours / 24), "day")


def format_time_left(block: BillingBlock, now: datetime) -> str:
    """Format how long a block still lasts."""
    hours, minutes = divmod(int(block.time_left(now).total_seconds()) // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def parse_dimensions(text: str) -> tuple[Dimension, ...]:
    """Parse the dimensions of a cross table: `project,model,week`."""
    example = "`--by project,model,week`"
    dimensions: list[Dimension] = []
    for word in text.split(","):
        dimension = next((known for known in DIMENSIONS if known == word.strip()), None)
        if dimension is None:
            known = ", ".join(DIMENSIONS)
            raise UserError(f"cannot group by '{word.strip()}'", f"possible are {known}")
        if dimension in dimensions:
            raise UserError(f"'{dimension}' is named twice", example)
        dimensions.append(dimension)
    if sum(dimension in TIMES for dimension in dimensions) > 1:
        raise UserError("use only one of day, week and month", "`--by project,week`")
    if len(dimensions) > MOST_DIMENSIONS:
        raise UserError(f"at most {MOST_DIMENSIONS} dimensions", example)
    return tuple(dimensions)


def _show_cross(report: Report, dimensions: tuple[Dimension, ...]) -> None:
    request = report.request
    if len(dimensions) == 1:
        _show_rows(replace(report, name=REPORTS_BY_DIMENSION[dimensions[0]]))
        return
    responses: Sequence[BilledResponse] = report.select(report.read_responses().responses)
    if "project" in dimensions:
        responses = report.fold_projects(responses)
    table = build_cross_table(responses, dimensions, report.prices, report.zone)
    if report.form == "json":

        def cell_to_json(names: Sequence[str], keys: CellKey, total: SpendingSum) -> dict[str, Any]:
            return dict(zip(names, keys, strict=True)) | sum_to_json(total)

        request.output.json(
            {
                "by": list(dimensions),
                "rows": [cell_to_json(dimensions, *cell) for cell in table.sorted_cells()],
                "sums": {
                    name: [cell_to_json((name,), *cell) for cell in table.sums_by(name).items()]
                    for name in dimensions
                },
                "totals": sum_to_json(table.totals),
            }
        )
    elif report.form == "csv":
        from plait.usage.formats import format_cross_csv

        request.output.write_text(format_cross_csv(table))
    else:
        _print_cross(report, table)


class CrossRow(NamedTuple):
    """A row of a cross table: its cells by their key in the last dimension."""

    name: str
    cells: Mapping[str | None, SpendingSum]
    total: SpendingSum
    style: str = ""


def _print_cross(report: Report, table: CrossTable) -> None:
    """Print a cross table: the last dimension across, the others down, sums right and below."""
    output = report.request.output
    if not table.cells:
        output.print("no usage")
        return
    rows = _build_cross_rows(report, table)
    shown = rows
    starts = [place for place, row in enumerate(rows) if not row.name.startswith(INDENT)]
    if report.limit is not None and report.limit < len(starts):
        shown = rows[: starts[report.limit]]
    *down, across = table.dimensions
    cells = {keys[0]: total for keys, total in table.sums_by(across).items()}
    last = CrossRow("total", cells, table.totals, "bold")
    with output.paged():
        output.print_lines(_format_cross(report, table, [*shown, last], ", ".join(down)))
        responses = format_count(table.totals.responses, "response")
        note = f"{responses}, {format_number(table.totals.tokens.total)} tokens"
        if len(shown) < len(rows):
            note += f", {format_count(len(rows) - len(shown), 'row')} not shown"
        output.print("")
        output.print(note, style="dim")
        _print_unpriced(report, table.totals)


def _make_key_namer(report: Report, table: CrossTable) -> Callable[[Dimension, str | None], str]:
    archive, names = report.request.archive, dict[str, Mapping[str, str]]()
    if "model" in table.dimensions:
        names["model"] = format_models_distinctly(key or "unnamed" for key in table.names("model"))
    if "project" in table.dimensions:
        directory, keys = archive.folding.directory, table.names("project")
        names["project"] = {key: directory(key) or key for key in keys if key}
    if "session" in table.dimensions:
        keys = table.names("session")
        names["session"] = {
            session.id: f"{short_id(session.id)}  "
            + " ".join((archive.facts(session).title or "").split())
            for session in archive.sessions
            if session.id in keys
        }

    def name_key(dimension: Dimension, key: str | None) -> str:
        plain = key or UNKNOWN.get(dimension, "unknown")
        return safe_line(names.get(dimension, {}).get(plain, plain))

    return name_key


def _build_cross_rows(report: Report, table: CrossTable) -> list[CrossRow]:
    """Return a row for each key of the first dimension, each followed by those of the second."""
    name_key = _make_key_namer(report, table)
    *down, across = table.dimensions
    cells: dict[CellKey, dict[str | None, SpendingSum]] = {}
    for depth in range(1, len(down) + 1):
        for keys, total in table.sums_by(*down[:depth], across).items():
            cells.setdefault(keys[:-1], {})[keys[-1]] = total
    pairs = table.sums_by(*down)
    rows = []
    for (key,), total in table.sums_by(down[0]).items():
        rows.append(CrossRow(name_key(down[0], key), cells[(key,)], total))
        for below in table.names(down[1]) if len(down) > 1 else ():
            if (key, below) in pairs:
                name = INDENT + name_key(down[1], below)
                rows.append(CrossRow(name, cells[(key, below)], pairs[(key, below)], "dim"))
    return rows


def _format_cross(
    report: Report, table: CrossTable, rows: Sequence[CrossRow], heading: str
) -> "Iterator[Text]":
    """Yield the lines of a cross table; columns without room are summed up in one.

    Those are the oldest ones of times, else those that cost least.
    """
    from rich.text import Text

    name_key, room = _make_key_namer(report, table), report.request.output.width
    across, is_time = table.dimensions[-1], table.dimensions[-1] in TIMES

    def write(total: SpendingSum) -> str:
        tokens = f"{format_tokens(total.tokens.total)} "
        return format_row_cost(total) if report.of == "cost" else tokens

    def make_column(keys: Sequence[str | None], name: str) -> list[str]:
        column = [f"{name} "]
        for row in rows:
            total = SpendingSum()
            for key in keys:
                if key in row.cells:
                    total.merge(row.cells[key])
            column.append(write(total) if total.responses else "")
        return column

    keys = table.names(across)[::-1] if is_time else table.names(across)
    columns = {key: make_column([key], name_key(across, key)) for key in keys}
    sums = ["total ", *(write(row.total) for row in rows)]
    names = [heading, *(row.name for row in rows)]
    width = min(max(count_columns(row.name) for row in rows), WIDEST_NAME)
    width = max(width, min(LEAST_NAME, count_columns(heading)))

    def measure(column: Iterable[str]) -> int:
        return len(GAP) + max(map(count_columns, column))

    left = room - width - measure(sums)
    spare = len(GAP) + max(len(EARLIER), count_columns(write(table.totals)))
    fitting: list[str | None] = []
    for place, key in enumerate(keys):
        left -= measure(columns[key])
        if fitting and left < (spare if place < len(keys) - 1 else 0):
            break
        fitting.append(key)
    drawn = [columns[key] for key in fitting]
    if len(fitting) < len(keys):
        drawn.append(make_column(keys[len(fitting) :], EARLIER if is_time else OTHER))
    drawn = [*(drawn[::-1] if is_time else drawn), sums]
    sizes = [max(map(count_columns, column)) for column in drawn]
    lines = []
    for place, name in enumerate(names):
        name = shorten_to_width(name, width) if count_columns(name) > width else name
        figures = [
            " " * (size - count_columns(column[place])) + column[place]
            for column, size in zip(drawn, sizes, strict=True)
        ]
        lines.append(GAP.join([name + " " * (width - count_columns(name)), *figures]))
    yield Text(lines[0].rstrip(), style="dim")
    for row, line in zip(rows, lines[1:], strict=True):
        if row is rows[-1]:
            rule = max(count_columns(line) for line in lines[1:])
            yield Text("─" * min(rule, room), style="dim")
        yield Text(line.rstrip(), style=row.style, no_wrap=True)
