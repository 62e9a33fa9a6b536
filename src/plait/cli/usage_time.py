"""Zones and times that a user names to the moments they mean."""

from datetime import UTC, datetime, timedelta, tzinfo

from plait.cli.options import point_in_time
from plait.errors import UserError


def zone_named(name: str | None) -> tzinfo | None:
    """Returns a zone by its name, None for the machine's own."""
    if name is None:
        return None
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UserError(
            f"no time zone is called '{name}'", "say a name such as Europe/Rome, or UTC"
        ) from None


def point_in(text: str | None, now: datetime, zone: tzinfo | None) -> datetime | None:
    """Returns the moment that a user names, a day being a day of the zone."""
    if text is None or zone is None:
        return point_in_time(text, now)
    here = now.astimezone(zone)
    if text in ("today", "yesterday"):
        midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=text == "yesterday")).astimezone(UTC)
    try:
        named = datetime.fromisoformat(text)
    except ValueError:
        return point_in_time(text, now)
    return (named if named.tzinfo else named.replace(tzinfo=zone)).astimezone(UTC)
