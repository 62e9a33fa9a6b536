"""The values of a query as programs get them: in JSON and in CSV."""

import csv
import io
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal

from plait.usage.formats import escape_cell
from plait.view.formats import format_utc


def plain_value(value: object) -> object:
    """Return a value as programs get it: times as text, bytes as the text that they are."""
    match value:
        case datetime():
            return format_utc(value) if value.tzinfo else value.isoformat()
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return float(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case list() | tuple():
            return [plain_value(item) for item in value]
        case dict():
            return {str(key): plain_value(item) for key, item in value.items()}
        case _:
            return value


def format_csv(rows: Iterable[Iterable[object]]) -> bytes:
    """Return rows as CSV in which no cell is a formula."""

    def format_cell(value: object) -> object:
        plain = plain_value(value)
        is_bare = plain is None or isinstance(plain, int | float)
        return plain if is_bare else escape_cell(str(plain))

    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(map(format_cell, row) for row in rows)
    return written.getvalue().encode("utf-8", "replace")
