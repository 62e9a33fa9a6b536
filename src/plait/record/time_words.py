"""Times as people write them: `2026-11-15`, `7d`, `monday`, `last week`."""

import calendar
import re
from datetime import UTC, datetime, timedelta, tzinfo

from plait.errors import UserError

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

AGO = re.compile(r"(an?|one|\d+) ?(m|h|d|w|(?:min(?:ute)?|hour|day|week|month|year)s?)(?: ago)?")

PERIOD = re.compile(r"(this|last) (week|month|year)")

NAMED_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

NAMED_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


def parse_zone(name: str | None) -> tzinfo | None:
    """Return a time zone by name; None means local time."""
    if name is None:
        return None
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UserError(
            f"unknown time zone '{name}'", "use a name such as Europe/Rome, or UTC"
        ) from None


def parse_time_option(
    text: str | None, now: datetime, zone: tzinfo | None = None
) -> datetime | None:
    """Parse a day or time as people write it: `2026-11-15T10:00`, `7d`, `monday`, `last week`.

    A period means its beginning. Days are days of the zone, or of local time without one.
    """
    if text is None:
        return None
    try:
        words = " ".join(text.casefold().split())
        today = now.astimezone(zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
        time = _parse_ago(words, now.astimezone(zone)) or _parse_day(words, today)
        time = time or datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UserError(
            f"'{text}' is not a time",
            "use a day (2026-11-15), a time (2026-11-15T10:00), a month (2026-10), 7d, today, "
            "monday, 'last week' or '2 weeks ago'",
        ) from None


def _parse_ago(words: str, now: datetime) -> datetime | None:
    match = AGO.fullmatch(words)
    if not match:
        return None
    count = int(match[1]) if match[1].isdigit() else 1
    unit = match[2].removesuffix("s")
    if unit in ("month", "year"):
        return _months_before(now, count * (12 if unit == "year" else 1))
    return now - timedelta(**{UNITS[unit[0]]: count})


def _parse_day(words: str, today: datetime) -> datetime | None:
    """Parse the name of a day or of a period up to today."""
    if words in ("today", "yesterday"):
        return today - timedelta(days=words == "yesterday")
    if match := PERIOD.fullmatch(words):
        is_last = match[1] == "last"
        if match[2] == "week":
            return today - timedelta(days=today.weekday() + 7 * is_last)
        first = today.replace(day=1, month=1 if match[2] == "year" else today.month)
        return _months_before(first, (12 if match[2] == "year" else 1) * is_last)
    if re.fullmatch(r"\d{4}-\d\d", words):
        return datetime.strptime(words, "%Y-%m")
    match = re.fullmatch(r"(last )?([a-z]{3,})(?: (\d{4}))?", words)
    if not match:
        return None
    weekday, month = (_find_name(match[2], names) for names in (NAMED_DAYS, NAMED_MONTHS))
    if weekday is not None and not match[3]:
        days = (today.weekday() - weekday) % 7
        return today - timedelta(days=days or (7 if match[1] else 0))
    if month is not None and not (match[1] and match[3]):
        first = today.replace(month=month + 1, day=1)
        is_later = first > today or (match[1] and month + 1 == today.month)
        return first.replace(year=int(match[3]) if match[3] else today.year - bool(is_later))
    return None


def _find_name(word: str, names: tuple[str, ...]) -> int | None:
    """Return the place of a name or of its first letters."""
    return next((place for place, name in enumerate(names) if name.startswith(word)), None)


def _months_before(day: datetime, count: int) -> datetime:
    """Return the same day of an earlier month, or its last day if there is none."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return day.replace(year=year, month=month + 1, day=min(day.day, last))
