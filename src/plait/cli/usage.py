"""`plait usage`: tokens and cost by time, session, project, model or 5-hour block, and cross tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

from plait.archive import CountedResponses, assign_projects, format_marked_title, gc_paused
from plait.cli import shared
from plait.cli.options import Request, argument, command, option
from plait.cli.selection import Filters
from plait.conversation.prices import Prices
from plait.conversation.usage import DECIMALS, BilledResponse
from plait.errors import UserError
from plait.record.time_words import parse_zone
from plait.settings import load_prices
from plait.terminal.output import make_text
from plait.terminal.text import (
    GAP,
    SEPARATOR,
    align_cells,
    fit_to_width,
    format_number,
    now,
    safe_line,
    short_id,
)
from plait.usage.formats import (
    UNLOGGED_LABEL,
    block_to_json,
    format_blocks_csv,
    format_cross_csv,
    format_dollars,
    format_gap,
    format_row_cost,
    format_rows_csv,
    format_time_left,
    row_to_json,
    sum_to_json,
)
from plait.usage.spending import (
    BLOCK_LENGTH,
    TIMES,
    CellKey,
    CrossTable,
    Dimension,
    GroupBy,
    SpendingRow,
    SpendingSum,
    build_billing_blocks,
    build_cross_table,
    build_untimed_row,
    filter_by_time,
    find_unlogged_costs,
    format_iso_day,
    group_spending,
    parse_dimensions,
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

T = TypeVar("T")
LITTLE = 50_000_000
"""Bytes of sessions up to which abandoned branches are always counted separately."""
TIME_REPORTS = ("daily", "weekly", "monthly", "blocks")
KEY_NAMES = {"daily": "date", "weekly": "week", "monthly": "month"}
ENOUGH_FOR_TODAY = timedelta(days=2)
"""In every time zone, today began less than this long ago."""
INDENT = "  "
BILLION = 1_000_000_000
LEAST_TEXT = 6
CENT = 0.01
FRAME = 6
"""Lines around the rows of a table: heading, rule, total, notes."""
PARTS = (
    ("agents", "agents"),
    ("service", "background requests"),
    ("abandoned", "abandoned branches"),
)
HEADINGS = {
    "daily": ("date", "models"),
    "weekly": ("week of", "models"),
    "monthly": ("month", "models"),
    "session": ("session", "title", "last"),
    "project": ("project",),
    "model": ("model",),
    "agent": ("agent",),
    "blocks": ("block", "", "models"),
}
"""The text columns of each report."""
WIDEST_NAME, LEAST_NAME = 40, 16
EARLIER, OTHER = "before", "other"
UNKNOWN = {"model": "unnamed", "day": "no date", "week": "no date", "month": "no date"}


class UsageOptions(Filters):
    """What is counted, and how it is shown."""

    report: str | None = argument(choices=tuple(HEADINGS))
    timezone: str | None = shared.timezone
    is_full: bool = option("--breakdown", "-b", help="Split by model, agents and branches.")
    statusline: bool = option(
        "--statusline", help="Print one short line: today's cost, this block, the hourly rate."
    )
    own: str | None = option(
        "--prices", metavar="FILE", help="A file with your own prices, as TOML or JSON."
    )
    order: Literal["asc", "desc", "cost"] | None = option(
        "--order", help="Sort rows by key, ascending or descending, or by cost."
    )
    limit: int | None = option(
        "-n", "--limit", least=1, help="Show only this many rows: the newest or largest."
    )
    by: str | None = option("--by", metavar="LIST", help="Show a cross table: project,model,week.")
    of: Literal["cost", "tokens"] = option(
        "--of", default="cost", help="With --by: show cost or tokens."
    )
    as_csv: bool = option("--csv", help="Print CSV.")
    no_fold: bool = shared.no_fold
    no_index: bool = shared.no_index
    as_json: bool = shared.as_json


@dataclass(frozen=True)
class Report:
    """A report on some responses, in the form that was asked for."""

    request: Request
    asked: UsageOptions
    prices: Prices
    name: str
    zone: tzinfo | None
    time: datetime
    since: datetime | None
    until: datetime | None

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
        if self.asked.project is None:
            return list(timely)
        members = {session.id for session in self.asked.require_project(self.request)}
        return [response for response in timely if response.session in members]

    def fold_projects(self, responses: Sequence[BilledResponse]) -> Sequence[BilledResponse]:
        """Assign the responses of worktrees and sub-directories to their project."""
        return assign_projects(responses, self.request.archive.folding)

    def arrange(self, rows: Iterable[T], total: Callable[[T], SpendingSum]) -> list[T]:
        """Sort rows, by cost unless they are times; a limit keeps the newest or the largest."""
        ordered = list(rows)
        order = self.asked.order or ("asc" if self.name in TIME_REPORTS else "cost")
        if order == "cost":
            ordered.sort(key=lambda row: (total(row).cost, total(row).tokens.total), reverse=True)
            return ordered[: self.asked.limit]
        ordered = ordered[-self.asked.limit :] if self.asked.limit else ordered
        return ordered[::-1] if order == "desc" else ordered


@command(examples="plait usage\nplait usage session -n 10\nplait usage --by project,week")
def usage_command(request: Request, asked: UsageOptions) -> None:
    """Show tokens and cost by day, week, month, session, project, model, agent or 5-hour block.

    Each response is counted once across all logs, at the prices of its day. Models without a known
    price are listed but not included in the total.
    """
    request.is_folding, zone = not asked.no_fold, parse_zone(asked.timezone)
    if asked.as_csv and asked.as_json:
        raise UserError("use either `--csv` or `--json`")
    if asked.by is not None and asked.report is not None:
        raise UserError(f"use either '{asked.report}' or `--by`", "`plait usage --by project,week`")
    prices = load_prices(Path(asked.own)) if asked.own else request.prices
    name = asked.report or "daily"
    report = Report(request, asked, prices, name, zone, now(), *asked.period(zone))
    if asked.statusline:
        _print_statusline(report)
        return
    with gc_paused(), request.open_archive(no_index=asked.no_index):
        if asked.by is not None:
            _show_cross(report, parse_dimensions(asked.by))
        elif name == "blocks":
            _show_blocks(report)
        else:
            _show_rows(report)


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
    output, archive = report.request.output, report.request.archive
    counted = report.read_responses()
    responses = report.select(counted.responses)
    abandoned = _find_abandoned(report, responses)
    spending = group_spending(
        report.fold_projects(responses) if report.name == "project" else responses,
        cast(GroupBy, report.name),
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
    key_name = KEY_NAMES.get(report.name, report.name)
    if report.asked.as_csv:
        titles = None
        if report.name == "session":
            titles = {session.id: archive.facts(session).title for session in archive.sessions}
        output.write_text(format_rows_csv(key_name, shown, titles))
        return
    answered = {response.session for response in responses}
    count, all_sessions = sum(each.id in answered for each in archive.sessions), archive.sessions
    if report.asked.as_json:
        by_id = {session.id: session for session in all_sessions}
        rows = []
        for row in shown:
            value: dict[str, Any] = {key_name: row.key}
            if report.name == "session":
                if session := by_id.get(row.key or ""):
                    value |= {
                        "project": archive.folding.project(session.project),
                        "folder": session.project,
                        "title": archive.facts(session).title,
                        "path": session.path,
                        "kept": session.is_kept,
                        "client_cost_usd": counted.client_costs.get(session.id),
                    }
                value["beyond_log_usd"] = round(unlogged.get(row.key or "", 0.0), DECIMALS)
            rows.append(value | row_to_json(row, is_full=report.asked.is_full))
        totals = row_to_json(spending.totals, is_full=report.asked.is_full)
        totals["beyond_log_usd"] = round(sum(unlogged.values()), DECIMALS)
        if abandoned is None:
            _remove_abandoned([*rows, totals])
        coverage = {"sessions": count, "all_sessions": len(all_sessions)}
        output.json({"rows": rows, "totals": totals} | coverage)
        return
    notes = []
    if report.name == "session":
        words = format_count_of(count, len(all_sessions), "session")
        if silent := len(all_sessions) - count:
            words += f": {format_count(silent, 'session')} without usage"
        notes += [("", ""), (words, "dim")]
    notes += _iter_notes(report, spending.totals, hidden=len(spending.rows) - len(shown))
    if sum(unlogged.values()) >= CENT / 2:
        more = f"{format_dollars(sum(unlogged.values()))} more by Claude Code's own count"
        notes.append((f"{more}, not in the total: {UNLOGGED_LABEL}", ""))
    name_row = _make_row_namer(report, shown)

    def list_lines(texts: tuple[str, ...], row: SpendingRow, style: str = "") -> list[Line]:
        lines = [Line(texts, row.total, style)]
        # A row of the report by model has one model, its totals have several.
        if report.asked.is_full and len(row.models) > 1:
            names = format_models_distinctly(row.models)
            lines += [
                Line((INDENT + names[model],), total, "dim") for model, total in row.models.items()
            ]
        for label, part in _iter_parts(row) if report.asked.is_full else ():
            lines.append(Line((INDENT + label,), part, "dim italic"))
        return lines

    _print_report(
        report,
        [list_lines(name_row(row), row) for row in shown],
        list_lines(("total",), spending.totals, "bold"),
        notes,
    )


def _find_abandoned(report: Report, responses: Sequence[BilledResponse]) -> frozenset[str] | None:
    """Return the responses on abandoned branches, or None if finding them would take too long.

    Building the graphs of a gigabyte takes several times as long as counting its tokens, so a
    large archive is only searched for a breakdown.
    """
    ids = {response.session for response in responses}
    sessions = [session for session in report.request.archive.sessions if session.id in ids]
    if not report.asked.is_full and sum(session.bytes for session in sessions) > LITTLE:
        return None
    watch = report.request.output.progress_for("finding abandoned branches")
    return report.request.archive.abandoned(responses, sessions, watch)


def _remove_abandoned(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        row["abandoned"] = None


def _make_row_namer(
    report: Report, rows: Sequence[SpendingRow]
) -> Callable[[SpendingRow], tuple[str, ...]]:
    if report.name in KEY_NAMES:
        return lambda row: (row.key or "no date", format_models(row.models))
    dimension = cast(Dimension, report.name)
    names = _name_keys(report, dimension, [row.key for row in rows])
    if dimension != "session":
        return lambda row: (names[row.key],)

    def name_session(row: SpendingRow) -> tuple[str, ...]:
        last = row.total.last
        day = format_day(last.astimezone(report.zone)) if last else ""
        return short_id(row.key or ""), names[row.key], day

    return name_session


def _name_keys(
    report: Report, dimension: Dimension, keys: Sequence[str | None]
) -> dict[str | None, str]:
    """Return how the keys of a dimension are shown: short models, directories, titles."""
    archive = report.request.archive
    names = {key: key or UNKNOWN.get(dimension, "unknown") for key in keys}
    if dimension == "model":
        distinct = format_models_distinctly(names.values())
        names = {key: distinct[name] for key, name in names.items()}
    elif dimension == "project":
        names |= {key: archive.folding.directory(key) or key for key in keys if key}
    elif dimension == "session":
        names = dict.fromkeys(keys, "(no title)")
        sessions = [session for session in archive.sessions if session.id in names]
        for session in report.request.output.progress(sessions, "reading titles"):
            facts = archive.facts(session)
            title = format_marked_title(facts.mark, facts.title or "(no title)")
            names[session.id] = " ".join(title.split())
    return names


def _show_blocks(report: Report) -> None:
    output, zone = report.request.output, report.zone
    responses = report.select(report.read_responses().responses)
    blocks = build_billing_blocks(responses, report.prices, report.time)
    untimed = build_untimed_row(responses, report.prices)
    totals = SpendingRow(None)
    for block in blocks:
        totals.merge(block.row)
    if report.asked.order == "cost":
        blocks = [block for block in blocks if not block.is_gap]
    shown = report.arrange(blocks, lambda block: block.total)
    if report.asked.as_csv:
        output.write_text(format_blocks_csv(shown))
        return
    if report.asked.as_json:
        is_full = report.asked.is_full
        rows = [block_to_json(block, report.time, is_full=is_full) for block in shown]
        sums = row_to_json(totals, is_full=is_full)
        _remove_abandoned([*rows, sums])
        without_time = row_to_json(untimed, is_full=False)
        output.json({"rows": rows, "totals": sums, "untimed": without_time})
        return
    lines, notes = [], [*_iter_notes(report, totals)]
    for block in shown:
        start, end = block.start.astimezone(zone), block.end.astimezone(zone)
        state, details, style = format_clock(end), format_models(block.row.models), ""
        if block.is_gap:
            details = f"{format_gap(end - start)} without a response"
            state, style = "gap", "dim"
        elif block.is_active:
            state, style = "now", "bold"
            parts = [f"{format_time_left(block, report.time)} left"]
            rate, projected = block.rate, block.projected(report.time)
            if rate and projected:
                tokens, cost = format_tokens(projected[0]), format_dollars(projected[1])
                parts.append(f"{format_tokens(round(rate.tokens_per_minute))} tokens/min")
                parts.append(f"{format_dollars(rate.cost_per_hour)}/h")
                parts.append(f"projected for this block: {tokens} tokens, {cost}")
            notes.append((f"this block: {SEPARATOR.join(parts)}", ""))
        lines.append([Line((format_minute(start), state, details), block.total, style)])
    _print_report(report, lines, [Line(("total",), totals.total, "bold")], notes)
    if untimed.total.responses:
        count = format_count(untimed.total.responses, "response")
        output.note(f"{count} without a time, not in any block")


class Line(NamedTuple):
    """A line of a table: texts on the left, figures on the right."""

    texts: tuple[str, ...]
    total: SpendingSum
    style: str = ""
    cells: Mapping[str | None, SpendingSum] = {}
    """In a cross table: the figures by their key in the last dimension."""


def _iter_parts(row: SpendingRow) -> Iterator[tuple[str, SpendingSum]]:
    for attribute, label in PARTS:
        part: SpendingSum = getattr(row, attribute)
        if part.responses:
            yield label, part


def _iter_notes(
    report: Report, totals: SpendingRow, *, hidden: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the notes below a table, with styles."""
    total = totals.total
    notes = [f"{format_count(total.responses, 'response')} with usage"]
    if hidden:
        notes.append(f"{format_count(hidden, 'row')} not shown")
    if total.tokens.web_searches:
        notes.append(format_count(total.tokens.web_searches, "web search", "web searches"))
    if not report.asked.is_full or report.name == "blocks":
        notes += [f"{label} {format_row_cost(part).strip()}" for label, part in _iter_parts(totals)]
    if total.logged is not None:
        notes.append(f"{format_dollars(total.logged)} according to the logs")
    if total.units is not None:
        notes.append(f"{total.units:,.2f} of Copilot's AI units")
    yield "", ""
    yield SEPARATOR.join(notes), "dim"
    yield from _iter_unpriced(total)
    if total.unpriced:
        yield "  `--prices FILE` adds your own prices", "dim"


def _iter_unpriced(total: SpendingSum) -> Iterator[tuple[str, str]]:
    for name, count in sorted(total.unpriced.items()):
        responses = format_count(count, "response")
        yield f"* no known price for {safe_line(name)} ({responses})", ""


def _print_report(
    report: Report,
    rows: Sequence[Sequence[Line]],
    totals: Sequence[Line],
    notes: Iterable[tuple[str, str]],
) -> None:
    """Print rows, each with its breakdown, their totals and notes.

    A pager shows the first lines: there the totals and the newest rows come first.
    """
    output = report.request.output
    if not rows:
        output.print("no usage")
        return
    is_paged = output.will_page(len(rows) + FRAME)
    if is_paged and report.asked.order is None and report.name in TIME_REPORTS:
        rows = rows[::-1]
    with output.paged():
        _print_table(report, [line for row in rows for line in row], totals, first=is_paged)
        for words, style in notes:
            output.print(words, style=style)


def _format_billions(tokens: int) -> str:
    return f"{tokens / BILLION:.1f}B" if tokens >= BILLION else format_tokens(tokens)


LONG = (INPUT, OUTPUT, CACHE_WRITE, CACHE_READ, "tokens", "cost ")
SHORT = (INPUT, OUTPUT, WRITE, READ, "tokens", "cost ")
LAYOUTS: tuple[tuple[tuple[str, ...], Callable[[int], str], int, Sequence[int]], ...] = (
    (LONG, format_number, 24, range(6)),
    (SHORT, _format_billions, 16, range(6)),
    (SHORT, _format_billions, 0, (1, 4, 5)),
)
"""Headings, format of tokens, minimum width of the widest text, columns: the first that fits."""


def _print_table(
    report: Report, rows: Sequence[Line], totals: Sequence[Line], *, first: bool
) -> None:
    """Print lines below headings; the widest text column gets the remaining space."""
    headings, room, lines = HEADINGS[report.name], report.request.output.width, [*rows, *totals]
    full_texts = [line.texts for line in lines if len(line.texts) == len(headings)]
    text_widths = [
        max(map(count_columns, column)) for column in zip(headings, *full_texts, strict=True)
    ]
    widest = max(range(len(headings)), key=text_widths.__getitem__)
    others = sum(text_widths) - text_widths[widest]
    for names, format_figure, least, columns in LAYOUTS:
        cells = [[names[column] for column in columns]]
        for line in lines:
            tokens, figures = line.total.tokens, [""] * len(names)
            if line.total.responses:
                counts = (tokens.input, tokens.output, tokens.cache_write, tokens.cache_read)
                figures = [format_figure(count) for count in (*counts, tokens.total)]
                figures.append(format_row_cost(line.total))
            cells.append([figures[column] for column in columns])
        figures_width = sum(len(GAP) + max(map(count_columns, c)) for c in zip(*cells, strict=True))
        left = room - figures_width - others - len(GAP) * (len(headings) - 1)
        if left >= min(text_widths[widest], least):
            break
    text_widths[widest] = max(min(left, text_widths[widest]), LEAST_TEXT)
    drawn = []
    for line, row in zip(
        [Line(headings, SpendingSum(), "dim"), *lines],
        align_cells(cells, range(len(columns))),
        strict=True,
    ):
        widths = text_widths
        if len(line.texts) < len(headings):  # a name alone takes the space of all texts
            widths = [sum(text_widths) + len(GAP) * (len(headings) - 1)]
        words = map(fit_to_width, map(safe_line, line.texts), widths)
        text = make_text(GAP.join(words), style=line.style, no_wrap=True)
        text.append("".join(GAP + figure for figure in row[:-1]))
        colour = "yellow" if "*" in row[-1] else "green"
        text.append(GAP + row[-1], None if "dim" in line.style else colour)
        text.rstrip()
        drawn.append(text)
    head, *drawn = drawn
    rule = make_text("─" * min(max(line.cell_len for line in drawn), room), style="dim")
    body, sums = drawn[: len(rows)], drawn[len(rows) :]
    parts = [*sums, rule, *body] if first else [*body, rule, *sums]
    report.request.output.print_lines([head, *parts])


def _show_cross(report: Report, dimensions: tuple[Dimension, ...]) -> None:
    output = report.request.output
    if len(dimensions) == 1:
        _show_rows(replace(report, name=REPORTS_BY_DIMENSION[dimensions[0]]))
        return
    responses: Sequence[BilledResponse] = report.select(report.read_responses().responses)
    if "project" in dimensions:
        responses = report.fold_projects(responses)
    table = build_cross_table(responses, dimensions, report.prices, report.zone)
    if report.asked.as_csv:
        output.write_text(format_cross_csv(table))
        return
    if report.asked.as_json:

        def cell_to_json(names: Sequence[str], keys: CellKey, total: SpendingSum) -> dict[str, Any]:
            return dict(zip(names, keys, strict=True)) | sum_to_json(total)

        output.json(
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
        return
    if not table.cells:
        output.print("no usage")
        return
    names = {
        dimension: {
            key: safe_line(
                f"{short_id(key)}{GAP}{name}" if key and dimension == "session" else name
            )
            for key, name in _name_keys(report, dimension, table.names(dimension)).items()
        }
        for dimension in dimensions
    }
    rows = _build_cross_rows(table, names)
    shown = rows
    starts = [place for place, row in enumerate(rows) if not row.texts[0].startswith(INDENT)]
    if report.asked.limit is not None and report.asked.limit < len(starts):
        shown = rows[: starts[report.asked.limit]]
    count = format_count(table.totals.responses, "response")
    note = f"{count} with usage, {format_number(table.totals.tokens.total)} tokens"
    if len(shown) < len(rows):
        note += f", {format_count(len(rows) - len(shown), 'row')} not shown"
    with output.paged():
        _print_cross(report, table, shown, names[dimensions[-1]])
        output.print("")
        output.print(note, style="dim")
        for words, style in _iter_unpriced(table.totals):
            output.print(words, style=style)


def _build_cross_rows(
    table: CrossTable, names: Mapping[Dimension, Mapping[str | None, str]]
) -> list[Line]:
    """Return a row for each key of the first dimension, each followed by those of the second."""
    *down, across = table.dimensions
    cells: dict[CellKey, dict[str | None, SpendingSum]] = {}
    for depth in range(1, len(down) + 1):
        for keys, total in table.sums_by(*down[:depth], across).items():
            cells.setdefault(keys[:-1], {})[keys[-1]] = total
    pairs = table.sums_by(*down)
    rows = []
    for (key,), total in table.sums_by(down[0]).items():
        rows.append(Line((names[down[0]][key],), total, "", cells[(key,)]))
        for below in table.names(down[1]) if len(down) > 1 else ():
            if (key, below) in pairs:
                name = INDENT + names[down[1]][below]
                rows.append(Line((name,), pairs[(key, below)], "dim", cells[(key, below)]))
    return rows


def _print_cross(
    report: Report, table: CrossTable, rows: Sequence[Line], names: Mapping[str | None, str]
) -> None:
    """Print rows with the last dimension across; columns that do not fit are merged into one.

    Those are the oldest periods, else those with the lowest cost.
    """
    room, (*down, across) = report.request.output.width, table.dimensions
    is_time, keys = across in TIMES, table.names(across)
    keys = keys[::-1] if is_time else keys
    totals = {key[0]: total for key, total in table.sums_by(across).items()}
    lines = [*rows, Line(("total",), table.totals, "bold", totals)]

    def write(total: SpendingSum) -> str:
        tokens = f"{format_tokens(total.tokens.total)} "
        return format_row_cost(total) if report.asked.of == "cost" else tokens

    def make_column(keys: Sequence[str | None], name: str) -> list[str]:
        column = [f"{name} "]
        for line in lines:
            total = SpendingSum()
            for key in keys:
                if key in line.cells:
                    total.merge(line.cells[key])
            column.append(write(total) if total.responses else "")
        return column

    def measure(column: Iterable[str]) -> int:
        return len(GAP) + max(map(count_columns, column))

    columns = {key: make_column([key], names[key]) for key in keys}
    sums = ["total ", *(write(line.total) for line in lines)]
    heading = ", ".join(down)
    width = min(max(count_columns(line.texts[0]) for line in lines), WIDEST_NAME)
    width = max(width, min(LEAST_NAME, count_columns(heading)))
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
    labels = [shorten_to_width(label, width) for label in (heading, *(x.texts[0] for x in lines))]
    cells = align_cells(zip(labels, *drawn, strict=True), range(1, len(drawn) + 1))
    head, *texts = [
        make_text(GAP.join(row).rstrip(), style=style, no_wrap=True)
        for row, style in zip(cells, ("dim", *(line.style for line in lines)), strict=True)
    ]
    rule = make_text("─" * min(count_columns(GAP.join(cells[0])), room), style="dim")
    report.request.output.print_lines([head, *texts[:-1], rule, texts[-1]])
