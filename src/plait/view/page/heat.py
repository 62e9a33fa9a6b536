"""Days and how much was done on them to a map of a year: one square a day, one column a week."""

from collections.abc import Mapping
from datetime import date, timedelta

from plait.view.amounts import many
from plait.view.page.escape import esc

SQUARE, GAP, LEFT, TOP = 11, 2, 28, 16
MOST_WEEKS = 53
SHADES = 4
DAYS = ("Mon", "", "Wed", "", "Fri", "", "")


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
        square(start + timedelta(days=number), prompts, most, number, noun)
        for number in range(weeks * 7)
        if start + timedelta(days=number) <= last
    )
    width, height = LEFT + weeks * step, TOP + 7 * step
    names = "".join(
        f'<text x="0" y="{TOP + place * step + 9}">{name}</text>'
        for place, name in enumerate(DAYS)
        if name
    )
    return (
        f'<svg class="heat" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{noun.capitalize()}s by day, up to {last:%d %B %Y}">'
        f"{months(start, weeks, step)}{names}{squares}</svg>"
    )


def square(day: date, prompts: Mapping[date, int], most: int, number: int, noun: str) -> str:
    """Returns one day."""
    count, step = prompts.get(day, 0), SQUARE + GAP
    shade = f' class="h{min(SHADES, 1 + count * SHADES // (most + 1))}"' if count else ""
    across, down = LEFT + number // 7 * step, TOP + number % 7 * step
    title = f"<title>{day:%a %d %b %Y}: {esc(many(count, noun))}</title>" if count else ""
    named = f' data-day="{day}"' if count else ""
    return (
        f'<rect{shade}{named} x="{across}" y="{down}" width="{SQUARE}" height="{SQUARE}" rx="2">'
        f"{title}</rect>"
    )


def months(start: date, weeks: int, step: int) -> str:
    """Returns the names of the months above the weeks in which they begin."""
    found = []
    for week in range(weeks):
        day = start + timedelta(days=week * 7)
        if day.day <= 7:
            found.append(f'<text x="{LEFT + week * step}" y="10">{day:%b}</text>')
    return "".join(found)
