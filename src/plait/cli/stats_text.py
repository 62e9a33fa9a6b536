"""Counts, times, days and paths of the figures to short text."""

import re
from collections.abc import Sequence
from datetime import date, tzinfo

from plait.cli.text import columns, number
from plait.record.time import moment

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
DAY_OF_MODEL = re.compile(r"-20\d{6}$")
MILLION, BILLION = 1_000_000, 1_000_000_000


def short_count(count: int) -> str:
    """Writes a number; a very large one shorter."""
    if count < MILLION:
        return number(count)
    return f"{count / BILLION:.1f} B" if count >= BILLION else f"{count / MILLION:.1f} M"


def hours_in_words(milliseconds: float) -> str:
    """Writes how long something took, in hours where it took days: they are added up."""
    if milliseconds < 10 * SECOND:
        return f"{milliseconds / SECOND:.1f} s" if milliseconds >= SECOND / 10 else ""
    if milliseconds < MINUTE:
        return f"{milliseconds / SECOND:.0f} s"
    if milliseconds < HOUR:
        return f"{milliseconds / MINUTE:.0f} min"
    hours = milliseconds / HOUR
    if hours >= 10:
        return f"{number(round(hours))} h"
    whole, rest = divmod(round(milliseconds / MINUTE), 60)
    return f"{whole} h {rest} min" if rest else f"{whole} h"


def moments_in_words(milliseconds: float | None) -> str:
    """Writes how long one of many took, to the millisecond where it was quick."""
    if milliseconds is None:
        return ""
    if milliseconds < SECOND:
        return f"{milliseconds:.0f} ms"
    return hours_in_words(milliseconds)


def percent(part: int, whole: int) -> str:
    """Writes a share, "" where there is none."""
    if not part or not whole:
        return ""
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 else "<1 %"


def local_day(stamp: str | None, zone: tzinfo | None) -> date | None:
    """Returns the day of a time of the log, in a zone or in this machine's."""
    time = moment(stamp)
    try:
        return time.astimezone(zone).date() if time else None
    except (OverflowError, OSError, ValueError):  # a year that no clock knows
        return None


def day_in_words(day: date) -> str:
    """Writes a day."""
    return f"{day.day} {day:%b} {day.year}"


def path_tail(path: str, room: int, ellipsis: str = "…") -> str:
    """Shortens a path at its beginning, between two names where that can be."""
    if columns(path) <= room:
        return path
    kept = path[-(room - len(ellipsis)) :]
    while columns(kept) > room - len(ellipsis):
        kept = kept[1:]
    cut = kept.find("/")
    return ellipsis + (kept[cut:] if 0 <= cut < len(kept) // 2 else kept)


def tool_name(name: str) -> str:
    """Returns what a tool is called, one of a server with the server's name."""
    server, parted, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}: {tool}" if name.startswith("mcp__") and parted else name


def model_names(names: Sequence[str]) -> list[str]:
    """Returns models without the day of their making, where that tells none from another."""
    shorter = [DAY_OF_MODEL.sub("", name) for name in names]
    return [
        short if shorter.count(short) == 1 else name
        for name, short in zip(names, shorter, strict=True)
    ]
