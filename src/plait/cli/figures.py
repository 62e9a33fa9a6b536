"""Durations, moments and tokens of the log to short text."""

from collections.abc import Iterable
from datetime import datetime

from plait.record.time import moment
from plait.view.amounts import tokens_in_words

MINUTE, HOUR, DAY = 60, 3600, 86400
SEPARATOR = " · "
SHORT = 8
thousands = tokens_in_words


def lasting(started: str | None, ended: str | None) -> str:
    """Says how long something took, "" where nobody knows or it took no time."""
    first, last = moment(started), moment(ended)
    seconds = (last - first).total_seconds() if first and last else 0
    if seconds < 1:
        return ""
    if seconds < MINUTE:
        return f"{int(seconds)} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min"
    if seconds < DAY:
        hours, rest = divmod(int(seconds), HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    return f"{int(seconds // DAY)} d"


def short(session: str) -> str:
    """Returns the beginning of a session's id; what tells it from a namesake stays."""
    name, mark, number = session.partition("~")
    return f"{name[:SHORT]}{mark}{number}"


def local(stamp: str | None) -> datetime | None:
    """Returns a moment of the log in the user's own time."""
    time = moment(stamp)
    try:
        return time.astimezone() if time else None
    except (OverflowError, OSError, ValueError):  # a year that no clock knows
        return None


def fitting(parts: Iterable[str], room: int) -> str:
    """Joins as many parts as there is room for, the first at least."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and len(SEPARATOR.join(kept)) > room:
        kept.pop()
    return SEPARATOR.join(kept)
