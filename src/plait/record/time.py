"""Timestamps of the log, and the intervals between them."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

MILLISECONDS_FROM = 1e11
TIMESTAMP_LENGTH = len("2026-11-15T10:00:00.000Z")


def parse_time(stamp: str | int | float | None) -> datetime | None:
    """Return the moment of a timestamp: ISO 8601, or seconds or milliseconds since 1970."""
    try:
        if isinstance(stamp, str):
            parsed = datetime.fromisoformat(stamp)
            return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        if stamp is not None:
            seconds = stamp / 1000 if abs(stamp) >= MILLISECONDS_FROM else stamp
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def format_sortable(time: str | None) -> str | None:
    """Return a time in a form that sorts as text."""
    if time is None or (len(time) == TIMESTAMP_LENGTH and time[-1] == "Z" and time[10] == "T"):
        return time
    return format_timestamp(parse_time(time)) or None


def format_timestamp(time: datetime | None) -> str:
    """Return a moment in the form of the log; "" for none."""
    if time is None:
        return ""
    utc = time.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03}Z"


class Interval(NamedTuple):
    """Start and end of something; None if the log does not say."""

    start: datetime | None
    end: datetime | None
    """Never before the start: clocks sometimes step back."""


def make_interval(start: str | None, end: str | None) -> Interval:
    """Return the interval between two times."""
    first, last = parse_time(start), parse_time(end)
    return Interval(first, max(first, last) if first and last else last)


def compute_elapsed_ms(earlier: str | None, later: str | None) -> float | None:
    """Return the milliseconds between two times; 0 if the clock stepped back."""
    first, last = parse_time(earlier), parse_time(later)
    if first is None or last is None:
        return None
    return max((last - first).total_seconds() * 1000, 0)


def sum_covered_time(stretches: Iterable[tuple[float, float]]) -> float:
    """Return the total time covered by some intervals; parallel ones count once."""
    total, until = 0.0, float("-inf")
    for first, last in sorted(stretches):
        total += max(last - max(first, until), 0)
        until = max(until, last)
    return total


NO_TIME = float("-inf")
NONSENSE = float("nan")

ISO = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?")
LOOSE = re.compile(r"(?:[^\W\d_]+[\W_]+)*\d+(?!\d*:)[\s\d:/,.+-]*(?:[AaPp][Mm])?\s*(?:Z|UTC|GMT)?")
"""Words, then numbers: what JavaScript still accepts as a date."""


def parse_javascript_time(stamp: str | int | float | None) -> float:
    """Return a time as a JavaScript `Date` parses it, NO_TIME for none, NONSENSE for an invalid
    one.

    The client depends on that parser: it decides which leaf can be resumed and which entry is near
    enough to replace a missing parent.
    """
    if isinstance(stamp, str):
        if ISO.fullmatch(stamp):
            return _of_iso(stamp)
        if not LOOSE.fullmatch(stamp):
            return NONSENSE
        exact = _of_iso(stamp)
        return 0.0 if exact != exact else exact
    return NO_TIME if stamp is None else float(stamp)


def _of_iso(stamp: str) -> float:
    try:
        parsed = datetime.fromisoformat(stamp + {4: "-01-01", 7: "-01"}.get(len(stamp), ""))
    except ValueError:
        return NONSENSE
    known = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(known.timestamp() * 1000.0)
