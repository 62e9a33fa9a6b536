"""Rows of figures to CSV: a line each under the names of the JSON, sums left to who reads it."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

from plait.conversation.cross import CrossTable
from plait.conversation.spending import BillingBlock, SpendingRow, SpendingSum
from plait.view.forms import stamp_of
from plait.view.usage import figures_value

FIGURES = (
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
"""How a text begins that a spreadsheet would work out: it gets a mark before it."""


def cell_text(found: str | None) -> str:
    """Returns a text on one line that a spreadsheet takes as text."""
    words = "".join(one if one.isprintable() else " " for one in found or "")
    return f"'{words}" if FORMULA.match(found or "") else words


def csv_text(heads: Sequence[str], rows: Iterable[tuple[Sequence[str | None], SpendingSum]]) -> str:
    """Returns lines of names and figures below their heads."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow((*heads, *FIGURES))
    for names, tally in rows:
        figures = figures_value(tally)
        told = [_decimal(figures[one]) for one in FIGURES]
        writer.writerow((*map(cell_text, names), *told))
    return written.getvalue()


def _decimal(figure: float) -> str:
    return str(figure) if isinstance(figure, int) else f"{figure:.9f}".rstrip("0").rstrip(".")


def cross_csv(table: CrossTable) -> str:
    """Returns the cells of a cross table, one a line."""
    return csv_text(table.dimensions, table.ordered())


def rows_csv(
    name: str, rows: Iterable[SpendingRow], titles: Mapping[str, str | None] | None = None
) -> str:
    """Returns the rows of a report, one a line; sessions with their titles."""
    if titles is None:
        return csv_text((name,), (((row.key,), row.total) for row in rows))
    told = (((row.key, titles.get(row.key or "")), row.total) for row in rows)
    return csv_text((name, "title"), told)


def blocks_csv(blocks: Iterable[BillingBlock]) -> str:
    """Returns blocks, one a line; gaps have no figures and are left out."""
    found = (one for one in blocks if not one.is_gap)
    spans = (((stamp_of(one.start), stamp_of(one.end)), one.total) for one in found)
    return csv_text(("start", "end"), spans)
