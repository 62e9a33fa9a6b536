"""Timestamps of the log to moments."""

from datetime import UTC, datetime

MILLISECONDS_FROM = 1e11
LENGTH = len("2026-11-15T10:00:00.000Z")


def moment(stamp: str | int | float | None) -> datetime | None:
    """Returns the moment a timestamp names: ISO 8601, or seconds or milliseconds since 1970."""
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


def sortable(time: str | None) -> str | None:
    """Returns a time in the one form that sorts as text."""
    if time is None or (len(time) == LENGTH and time[-1] == "Z" and time[10] == "T"):
        return time
    return stamp_of(moment(time)) or None


def stamp_of(time: datetime | None) -> str:
    """Returns a moment in the form that the log has, and "" for none."""
    if time is None:
        return ""
    utc = time.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03}Z"
