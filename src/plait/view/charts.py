"""Small charts in text: horizontal bars, columns, and counts grouped to fit a width."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple, TypeAlias

HORIZONTAL = " ▏▎▍▌▋▊▉█"
VERTICAL = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#"
FULL, PLAIN_BAR = "█", "#"
EIGHTHS = 8
Step: TypeAlias = Literal["day", "week", "month"]


class GroupedCounts(NamedTuple):
    """Counts by day, week or month, without gaps between the first and the last day."""

    span: Step
    counts: tuple[int, ...]
    first: date
    last: date


def draw_bar(value: float, most: float, width: int, *, ascii_only: bool = False) -> str:
    """Return a bar for the value's share of the maximum; it is never empty for a value above zero."""
    if value <= 0 or most <= 0 or width <= 0:
        return ""
    share = min(value / most, 1) * width
    if ascii_only:
        return PLAIN_BAR * max(round(share), 1)
    full, eighths = divmod(max(round(share * EIGHTHS), 1), EIGHTHS)
    return FULL * full + HORIZONTAL[eighths].strip()


def draw_columns(
    values: Sequence[float], height: int = 1, width: int = 1, *, ascii_only: bool = False
) -> list[str]:
    """Return lines with one column per value, topmost line first."""
    most = max(values, default=0)
    glyphs = PLAIN if ascii_only else VERTICAL
    steps = len(glyphs) - 1
    filled = [max(round(value / most * height * steps), 1) if value > 0 else 0 for value in values]
    return [
        "".join(
            glyphs[min(max(height_in_steps - row * steps, 0), steps)] * width
            for height_in_steps in filled
        )
        for row in reversed(range(height))
    ]


def group_counts(counts: Mapping[date, int], width: int) -> GroupedCounts | None:
    """Group counts by day if they fit the width, else by week, else by month."""
    if not counts:
        return None
    first, last = min(counts), max(counts)
    if (last - first).days < width:
        return GroupedCounts("day", _sum_periods(counts, _list_days(first, last), 1), first, last)
    monday = first - timedelta(days=first.weekday())
    if (last - monday).days // 7 < width:
        return GroupedCounts(
            "week", _sum_periods(counts, _list_days(monday, last, 7), 7), first, last
        )
    by_month = [0] * (_count_months(first, last) + 1)
    for day, count in counts.items():
        by_month[_count_months(first, day)] += count
    return GroupedCounts("month", tuple(by_month[-width:]), first, last)


def _sum_periods(
    counts: Mapping[date, int], starts: Iterable[date], length: int
) -> tuple[int, ...]:
    return tuple(
        sum(counts.get(start + timedelta(days=day), 0) for day in range(length)) for start in starts
    )


def _list_days(first: date, last: date, step: int = 1) -> list[date]:
    return [first + timedelta(days=day) for day in range(0, (last - first).days + 1, step)]


def _count_months(first: date, day: date) -> int:
    return (day.year - first.year) * 12 + day.month - first.month


def draw_axis(labels: Mapping[int, str], width: int) -> str:
    """Return a line with labels at their columns, leaving out those that would touch."""
    line = ""
    for column, label in sorted(labels.items()):
        if (not line or column > len(line)) and column + len(label) <= width:
            line = line.ljust(column) + label
    return line


def justify_ends(left: str, right: str, width: int) -> str:
    """Return a line with a label at each end, or only the left one if both do not fit."""
    room = width - len(left)
    return left + right.rjust(room) if room > len(right) else left
