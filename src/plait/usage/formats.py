"""Spending as JSON, as CSV and as cells of a table."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from plait.conversation.usage import DECIMALS, tokens_to_json
from plait.usage.spending import BillingBlock, CrossTable, SpendingRow, SpendingSum
from plait.view.formats import format_count, format_utc

UNLOGGED_LABEL = "compactions and other requests not in the logs"
"""What the client counts without logging it."""
CSV_FIGURES = (
    "responses",
    "input_tokens",
    "output_tokens",
    "cache_creation_tokens",
    "cache_creation_1h_tokens",
    "cache_read_tokens",
    "total_tokens",
    "web_searches",
    "web_fetches",
    "cost_usd",
    "unpriced_responses",
)
FORMULA = re.compile(r"[=+@\t\r]|-(?![\w./-]*$)")
"""The start of a text that a spreadsheet would evaluate: an apostrophe is put before it."""


def sum_to_json(tally: SpendingSum) -> dict[str, Any]:
    """Return a sum under the names that it has in all JSON."""
    return {
        "responses": tally.responses,
        **tokens_to_json(tally.tokens),
        "cost_usd": round(tally.cost, DECIMALS),
        "unpriced": sorted(tally.unpriced),
        "unpriced_responses": sum(tally.unpriced.values()),
        "logged_cost_usd": None if tally.logged is None else round(tally.logged, DECIMALS),
        **({} if tally.units is None else {"agent_units": round(tally.units, DECIMALS)}),
    }


def row_to_json(row: SpendingRow, *, is_full: bool) -> dict[str, Any]:
    """Return a row with its parts; in full, also model by model."""
    value = {
        **sum_to_json(row.total),
        "models": list(row.models),
        "agents": sum_to_json(row.agents),
        "service": sum_to_json(row.service),
        "abandoned": sum_to_json(row.abandoned),
    }
    if is_full:
        value["breakdown"] = {name: sum_to_json(tally) for name, tally in row.models.items()}
    return value


def block_to_json(block: BillingBlock, now: datetime, *, is_full: bool) -> dict[str, Any]:
    """Return a billing block or a gap."""
    rate, projected = block.rate, block.projected(now)
    minutes_left = round(block.time_left(now).total_seconds() / 60) if block.is_active else None
    return {
        "start": block.start,
        "end": block.end,
        "active": block.is_active,
        "gap": block.is_gap,
        "first": block.total.first,
        "last": block.total.last,
        "minutes_left": minutes_left,
        "tokens_per_minute": round(rate.tokens_per_minute, 1) if rate else None,
        "cost_usd_per_hour": round(rate.cost_per_hour, DECIMALS) if rate else None,
        "projected_tokens": projected[0] if projected else None,
        "projected_cost_usd": round(projected[1], DECIMALS) if projected else None,
        **row_to_json(block.row, is_full=is_full),
    }


def format_dollars(amount: float) -> str:
    """Return dollars with two decimals."""
    return f"${amount:,.2f}"


def format_row_cost(tally: SpendingSum) -> str:
    """Return the cost of a row; a star marks a sum with unpriced responses."""
    if not tally.unpriced:
        return f"{format_dollars(tally.cost)} "
    return "?*" if tally.known_cost is None else f"{format_dollars(tally.cost)}*"


def escape_cell(text: str | None) -> str:
    """Return a text on one line that a spreadsheet does not evaluate."""
    line = "".join(letter if letter.isprintable() else " " for letter in text or "")
    return f"'{line}" if FORMULA.match(text or "") else line


def format_csv(
    heads: Sequence[str], rows: Iterable[tuple[Sequence[str | None], SpendingSum]]
) -> str:
    """Return rows of names and figures below their heads."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow((*heads, *CSV_FIGURES))
    for names, tally in rows:
        figures = sum_to_json(tally)
        cells = [
            str(figure) if isinstance(figure, int) else f"{figure:.9f}".rstrip("0").rstrip(".")
            for figure in map(figures.__getitem__, CSV_FIGURES)
        ]
        writer.writerow((*map(escape_cell, names), *cells))
    return buffer.getvalue()


def format_cross_csv(table: CrossTable) -> str:
    """Return the cells of a cross table, one per line."""
    return format_csv(table.dimensions, table.sorted_cells())


def format_rows_csv(
    name: str, rows: Iterable[SpendingRow], titles: Mapping[str, str | None] | None = None
) -> str:
    """Return the rows of a report as CSV; sessions with their titles."""
    if titles is None:
        return format_csv((name,), (((row.key,), row.total) for row in rows))
    titled = (((row.key, titles.get(row.key or "")), row.total) for row in rows)
    return format_csv((name, "title"), titled)


def format_blocks_csv(blocks: Iterable[BillingBlock]) -> str:
    """Return the blocks, one per line; gaps are left out."""
    rows = (
        ((format_utc(block.start), format_utc(block.end)), block.total)
        for block in blocks
        if not block.is_gap
    )
    return format_csv(("start", "end"), rows)


TWO_DAYS = 48


def format_gap(length: timedelta) -> str:
    """Format a time without responses in hours or days."""
    hours = round(length / timedelta(hours=1))
    return f"{hours} h" if hours < TWO_DAYS else format_count(round(hours / 24), "day")


def format_time_left(block: BillingBlock, now: datetime) -> str:
    """Format the remaining time of a block."""
    hours, minutes = divmod(int(block.time_left(now).total_seconds()) // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
