"""Moments to how long ago they were, with the exact time for who asks."""

from datetime import datetime, timedelta

from plait.record.time import moment
from plait.view.page.escape import esc

MINUTE, HOUR, DAY = 60, 3600, 86400
RECENT = 14 * DAY


def ago(stamp: str | None, now: datetime) -> str:
    """Returns a time in a page: relative, kept so by the page, exact where one points at it."""
    time = moment(stamp)
    if time is None:
        return ""
    exact = f"{time:%Y-%m-%dT%H:%M:%SZ}"
    return f'<span class="ago" data-at="{exact}" title="{exact}">{esc(since(time, now))}</span>'


def since(time: datetime, now: datetime) -> str:
    """Says how long ago a moment was."""
    seconds = (now - time).total_seconds()
    if abs(seconds) < MINUTE:
        return "just now"
    if seconds < 0 or seconds >= RECENT:
        return day_of(time, now)
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min ago"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h ago"
    days = int(seconds // DAY)
    return "yesterday" if days == 1 else f"{days} days ago"


def day_of(time: datetime, now: datetime) -> str:
    """Names a day; its year where it is another one."""
    here, today = time.astimezone(), now.astimezone()
    year = "" if here.year == today.year else f" {here.year}"
    return f"{here.day} {here:%b}{year}"


def until(time: datetime, now: datetime) -> str:
    """Says how soon a moment will be."""
    left = time - now
    if left <= timedelta(0):
        return "any time"
    return "today" if left.days == 0 else "in 1 day" if left.days == 1 else f"in {left.days} days"
