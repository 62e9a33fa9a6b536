"""Numbers to short words: how many, how large, how long, how much."""

from collections.abc import Sequence
from datetime import date, datetime

MINUTE, HOUR, DAY = 60, 3600, 86400
RECENT = 14 * DAY
THOUSAND, MILLION = 1000, 1_000_000
UNITS = ("B", "KB", "MB", "GB", "TB")


def many(count: int, noun: str, plural: str | None = None) -> str:
    """Writes a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}".replace(",", " ")


def some_of(count: int, total: int, noun: str) -> str:
    """Writes a number of a larger one with its noun; only one of them where both are the same."""
    return (
        many(count, noun)
        if count == total
        else f"{count:,} of ".replace(",", " ") + many(total, noun)
    )


def some(count: int | None, noun: str, plural: str | None = None) -> str:
    """Writes a number with its noun, "" where there is none."""
    return many(count, noun, plural) if count else ""


def dotted(*parts: str) -> str:
    """Writes the parts that there are on one line, a dot between two."""
    return " · ".join(filter(None, parts))


def bytes_in_words(count: int) -> str:
    """Writes a number of bytes."""
    value, unit = float(max(count, 0)), UNITS[0]
    for unit in UNITS:
        if value < THOUSAND or unit == UNITS[-1]:
            break
        value /= THOUSAND
    return f"{count} B" if unit == "B" else f"{value:.{1 if value < 10 else 0}f} {unit}"


def tokens_in_words(count: int) -> str:
    """Writes a number of tokens."""
    if count < THOUSAND:
        return str(count)
    if count < MILLION:
        return f"{count / THOUSAND:.{1 if count < 10 * THOUSAND else 0}f}k"
    return f"{count / MILLION:.1f}M"


def thousands_in_words(count: int | None) -> str:
    """Writes how large a conversation was at a compaction: whole thousands, cut, "" for none."""
    if not count or count < 0:
        return ""
    return f"{count // THOUSAND}k" if count >= THOUSAND else str(count)


def time_in_words(milliseconds: float | None) -> str:
    """Writes how long something took, "" where nobody knows or it took no time."""
    seconds = (milliseconds or 0) / THOUSAND
    if seconds < 1:
        return ""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        minutes, rest = divmod(int(seconds), MINUTE)
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    if seconds < DAY:
        hours, rest = divmod(int(seconds), HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    return f"{int(seconds // DAY)} d"


def hours_in_words(milliseconds: float) -> str:
    """Writes how long things took together: in hours where it took days."""
    seconds = milliseconds / THOUSAND
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds >= 0.1 else ""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds >= 10 * HOUR:
        return f"{round(seconds / HOUR):,} h".replace(",", " ")
    hours, rest = divmod(round(seconds / MINUTE), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def moments_in_words(milliseconds: float | None) -> str:
    """Writes how long something usually took, however short, "" where nobody knows."""
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f} ms" if milliseconds < THOUSAND else hours_in_words(milliseconds)


def duration_in_words(milliseconds: float | None, asking: float) -> str:
    """Writes how long a turn took, and how much of it was waiting for a person."""
    waiting = time_in_words(asking)
    return time_in_words(milliseconds) + (f", {waiting} waiting for you" if waiting else "")


def money_in_words(dollars: float) -> str:
    """Writes a sum of money, with as many places as it needs."""
    if dollars >= 0.995:
        return f"${dollars:,.2f}"
    return f"${dollars:.2f}" if dollars >= 0.01 else f"${dollars:.4f}"


def sums_in_words(sums: Sequence[float | None], unknown: str) -> list[str]:
    """Writes sums of money that are compared, all with as many places as the smallest needs."""
    is_small = any(one and one < 0.1 for one in sums)
    return [
        unknown if one is None else f"${one:.4f}" if is_small else money_in_words(one)
        for one in sums
    ]


def lines_in_words(text: str) -> str:
    """Says how many lines a text has."""
    return many(text.strip("\n").count("\n") + 1, "line") if text.strip() else "no output"


def since(time: datetime, now: datetime) -> str:
    """Says how long ago a moment was, "" where only its day says it well."""
    seconds = (now - time).total_seconds()
    if abs(seconds) < MINUTE:
        return "just now"
    if seconds < 0 or seconds >= RECENT:
        return ""
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min ago"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h ago"
    days = int(seconds // DAY)
    return "yesterday" if days == 1 else f"{days} days ago"


def until(time: datetime, now: datetime) -> str:
    """Says on which day from now a moment will be, by the days of the calendar here."""
    if time <= now:
        return "any time"
    days = (_day_here(time) - _day_here(now)).days
    return ("today", "tomorrow")[days] if days < 2 else f"in {days} days"


def _day_here(time: datetime) -> date:
    try:
        return time.astimezone().date()
    except (OverflowError, ValueError):  # a year that the system's clock does not know
        return time.date()
