"""Moments as users name them to seconds since 1970, and moments of the clock to what has passed."""

import time
from datetime import UTC, datetime, timedelta

from plait.errors import UserError

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def second_named(text: str, now: datetime) -> int:
    """Returns the second of `2026-11-15`, `2026-11`, `2026-11-15T10:00`, `7d`, `today`."""
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return int((midnight - timedelta(days=text == "yesterday")).timestamp())
    try:
        if text[:-1].isdigit() and text[-1] in UNITS:
            return int((now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})).timestamp())
        whole = {4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text)
        return int(datetime.fromisoformat(whole).astimezone(UTC).timestamp())
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "say a day (2026-11-15), a month (2026-11), a time (2026-11-15T10:00), 7d or today",
        ) from None


def ms_since(started: float) -> float:
    """Returns the milliseconds since the clock stood so."""
    return round((time.perf_counter() - started) * 1000, 3)
