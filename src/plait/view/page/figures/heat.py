"""Days, and hours of the week, and how much was done in them to maps of squares."""

from collections.abc import Mapping
from datetime import date, timedelta

from plait.view.amounts import many
from plait.view.page.figures.charts import plain_table, scrolled
from plait.view.page.markup import esc

SQUARE, GAP, LEFT, TOP = 11, 2, 28, 16
MOST_WEEKS = 53
SHADES = 4
NAMED_DAYS = ("Mon", "", "Wed", "", "Fri", "", "")


def heat_map(prompts: Mapping[date, int], today: date | None = None, noun: str = "prompt") -> str:
    """Returns the last year in which something was asked, darker where more was.

    It ends today where that is said, and with the last day on which something was.
    """
    if not prompts and today is None:
        return ""
    last = today or max(prompts)
    end = last + timedelta(days=6 - last.weekday())
    weeks = MOST_WEEKS
    if today is None:
        weeks = min(MOST_WEEKS, max(12, ((end - min(prompts)).days // 7) + 1))
    start = end - timedelta(days=weeks * 7 - 1)
    most = max((count for day, count in prompts.items() if day >= start), default=0)
    step = SQUARE + GAP
    squares = "".join(
        _day_square(start + timedelta(days=number), prompts, most, number, noun)
        for number in range(weeks * 7)
        if start + timedelta(days=number) <= last
    )
    width, height = LEFT + weeks * step, TOP + 7 * step
    names = "".join(
        f'<text x="0" y="{TOP + place * step + 9}">{name}</text>'
        for place, name in enumerate(NAMED_DAYS)
        if name
    )
    return (
        f'<svg class="heat" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{noun.capitalize()}s by day, up to {last:%d %B %Y}">'
        f"{_months(start, weeks, step)}{names}{squares}</svg>"
    )


def _day_square(day: date, prompts: Mapping[date, int], most: int, number: int, noun: str) -> str:
    count, step = prompts.get(day, 0), SQUARE + GAP
    shade = f' class="h{min(SHADES, 1 + count * SHADES // (most + 1))}"' if count else ""
    across, down = LEFT + number // 7 * step, TOP + number % 7 * step
    title = f"<title>{day:%a %d %b %Y}: {esc(many(count, noun))}</title>" if count else ""
    named = f' data-day="{day}"' if count else ""
    return (
        f'<rect{shade}{named} x="{across}" y="{down}" width="{SQUARE}" height="{SQUARE}" rx="2">'
        f"{title}</rect>"
    )


def _months(start: date, weeks: int, step: int) -> str:
    found = []
    for week in range(weeks):
        day = start + timedelta(days=week * 7)
        if day.day <= 7:
            found.append(f'<text x="{LEFT + week * step}" y="10">{day:%b}</text>')
    return "".join(found)


DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WIDE, TALL, HOURS_LEFT, HOURS_TOP = 26, 20, 36, 20
HOURS = 24


def hours_map(counts: Mapping[tuple[int, int], int]) -> str:
    """Returns the map, darker where more was begun, with its table."""
    most = max(counts.values(), default=0)
    squares = "".join(
        _hour_square(weekday, hour, counts.get((weekday, hour), 0), most)
        for weekday in range(len(DAYS))
        for hour in range(HOURS)
    )
    names = "".join(
        f'<text x="0" y="{HOURS_TOP + place * (TALL + GAP) + 14}">{name}</text>'
        for place, name in enumerate(DAYS)
    )
    clock = "".join(
        f'<text x="{HOURS_LEFT + hour * (WIDE + GAP)}" y="12">{hour:02}</text>'
        for hour in range(0, HOURS, 3)
    )
    width, height = HOURS_LEFT + HOURS * (WIDE + GAP), HOURS_TOP + len(DAYS) * (TALL + GAP)
    drawn = (
        f'<svg class="heat hours" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Turns begun by weekday and hour; '
        f'the table below has the figures">{clock}{names}{squares}</svg>'
    )
    return scrolled(drawn, "Hours of the week") + _behind(counts)


def _hour_square(weekday: int, hour: int, count: int, most: int) -> str:
    shade = f' class="h{min(SHADES, 1 + count * SHADES // (most + 1))}"' if count else ""
    across, down = HOURS_LEFT + hour * (WIDE + GAP), HOURS_TOP + weekday * (TALL + GAP)
    title = f"<title>{DAYS[weekday]} {hour:02}:00: {many(count, 'turn')}</title>" if count else ""
    return (
        f'<rect{shade} x="{across}" y="{down}" width="{WIDE}" height="{TALL}" rx="2">{title}</rect>'
    )


def _behind(counts: Mapping[tuple[int, int], int]) -> str:
    rows = [
        [f"{hour:02}:00", *(str(counts.get((weekday, hour), 0) or "") for weekday in range(7))]
        for hour in range(HOURS)
    ]
    table = plain_table(["Hour", *DAYS], rows, "Turns begun by weekday and hour")
    return f'<details class="behind"><summary>Table</summary>{table}</details>'
