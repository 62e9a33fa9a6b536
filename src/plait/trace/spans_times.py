"""Timestamps of the log to nanoseconds since 1970, as spans have them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from plait.record.time import moment

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MILLISECOND_NS = 1_000_000
LATEST = (1 << 63) - 1


def nanoseconds(stamp: str | None) -> int | None:
    """Returns a time in nanoseconds; None where there is none, or none that a span can have."""
    time = moment(stamp) if stamp else None
    if time is None:
        return None
    found = (time - EPOCH) // MICROSECOND * 1000
    return found if 0 <= found <= LATEST else None


def latest(stamps: Iterable[str | None], limit: int | None = None) -> int | None:
    """Returns the latest of some times that is not after the limit; None where none is known."""
    known = (nanoseconds(stamp) for stamp in stamps)
    return max((one for one in known if one is not None and within(one, limit)), default=None)


def within(time: int, limit: int | None) -> bool:
    """Tells whether a time is not after a limit, where there is one."""
    return limit is None or time <= limit


def not_before(end: int | None, start: int | None) -> int | None:
    """Returns an end that does not come before its start: clocks step back at times."""
    if end is None or start is None:
        return end
    return max(end, start)


def before(end: int | None, milliseconds: float | None) -> int | None:
    """Returns when something began that ended then and took so long."""
    if end is None or not milliseconds or milliseconds < 0:
        return end
    return max(end - int(milliseconds * MILLISECOND_NS), 0)
