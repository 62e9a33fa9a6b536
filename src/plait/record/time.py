"""Timestamps of the log to moments."""

from datetime import UTC, datetime

MILLISECONDS_FROM = 1e11


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
