"""Numbers to small charts: bars that lie, columns that stand, days put together to fit."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple, TypeAlias

LYING = " ▏▎▍▌▋▊▉█"
STANDING = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#"
WHOLE, PLAIN_BAR = "█", "#"
EIGHTHS = 8
Step: TypeAlias = Literal["day", "week", "month"]


class SteppedCounts(NamedTuple):
    """Counts by day, week or month, with no day between the first and the last left out."""

    span: Step
    counts: tuple[int, ...]
    first: date
    last: date


def bar(value: float, most: float, width: int, *, ascii_only: bool = False) -> str:
    """Returns a bar as long as the value's share of the most; something is never nothing."""
    if value <= 0 or most <= 0 or width <= 0:
        return ""
    share = min(value / most, 1) * width
    if ascii_only:
        return PLAIN_BAR * max(round(share), 1)
    whole, rest = divmod(max(round(share * EIGHTHS), 1), EIGHTHS)
    return WHOLE * whole + LYING[rest].strip()


def columns(
    values: Sequence[float], height: int = 1, width: int = 1, *, ascii_only: bool = False
) -> list[str]:
    """Returns lines with one column a value, the topmost line first."""
    most = max(values, default=0)
    glyphs = PLAIN if ascii_only else STANDING
    steps = len(glyphs) - 1
    filled = [max(round(value / most * height * steps), 1) if value > 0 else 0 for value in values]
    return [
        "".join(glyphs[min(max(one - row * steps, 0), steps)] * width for one in filled)
        for row in reversed(range(height))
    ]


def stepped_counts(counts: Mapping[date, int], width: int) -> SteppedCounts | None:
    """Returns counts by day where they fit the width, else by week, else by month."""
    if not counts:
        return None
    first, last = min(counts), max(counts)
    if (last - first).days < width:
        return SteppedCounts("day", _summed(counts, _days_between(first, last), 1), first, last)
    monday = first - timedelta(days=first.weekday())
    if (last - monday).days // 7 < width:
        return SteppedCounts(
            "week", _summed(counts, _days_between(monday, last, 7), 7), first, last
        )
    by_month = [0] * (_months_since(first, last) + 1)
    for day, count in counts.items():
        by_month[_months_since(first, day)] += count
    return SteppedCounts("month", tuple(by_month[-width:]), first, last)


def _summed(counts: Mapping[date, int], starts: Iterable[date], length: int) -> tuple[int, ...]:
    return tuple(
        sum(counts.get(start + timedelta(days=day), 0) for day in range(length)) for start in starts
    )


def _days_between(first: date, last: date, step: int = 1) -> list[date]:
    return [first + timedelta(days=day) for day in range(0, (last - first).days + 1, step)]


def _months_since(first: date, day: date) -> int:
    return (day.year - first.year) * 12 + day.month - first.month


def scale(labels: Mapping[int, str], width: int) -> str:
    """Returns a line with labels at their places; one that would touch another is left out."""
    line = ""
    for place, label in sorted(labels.items()):
        if (not line or place > len(line)) and place + len(label) <= width:
            line = line.ljust(place) + label
    return line


def between_ends(left: str, right: str, width: int) -> str:
    """Returns a line with a label at each end, the left one alone where both do not fit."""
    room = width - len(left)
    return left + right.rjust(room) if room > len(right) else left
