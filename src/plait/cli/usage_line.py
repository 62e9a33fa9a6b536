"""Today and the present block to one short line, for a prompt or a status line."""

from datetime import datetime, timedelta, tzinfo

from plait.archive.usage import count
from plait.cli.figures import SEPARATOR
from plait.cli.options import Request
from plait.cli.usage_table import time_left
from plait.conversation.prices import Prices
from plait.conversation.spending import day, spending, within
from plait.conversation.windows import LENGTH, blocks
from plait.view.usage import cost_of, money

ENOUGH = timedelta(days=2)
"""Whatever the zone, today began less than so long ago."""


def print_statusline(request: Request, now: datetime, zone: tzinfo | None, prices: Prices) -> None:
    """Prints the line; only files that were written lately are read."""
    since = now - ENOUGH
    found = count(request.archive.sessions, since=since.timestamp()).responses
    recent = within(found, since - LENGTH, None)
    today = day(now.astimezone(zone))
    rows = {row.key: row.total for row in spending(recent, "daily", prices, zone).rows}
    said = [f"today {cost_of(rows[today]).strip() if today in rows else money(0)}"]
    active = next((one for one in blocks(recent, prices, now) if one.is_active), None)
    if active:
        said.append(f"block {cost_of(active.total).strip()}, {time_left(active, now)} left")
        if active.rate:
            said.append(f"{money(active.rate.cost_per_hour)}/h")
    request.output.print(SEPARATOR.join(said))
