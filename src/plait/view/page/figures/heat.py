"""Days, and hours of the week, and how much was done in them to maps of squares."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from plait.view.amounts import many
from plait.view.forms import day_of, month_name, weekday_of
from plait.view.page.figures.charts import behind, row, scrolled, table
from plait.view.page.figures.slices import Slice
from plait.view.page.markup import esc

GAP, SHADES = 2, 4
MOST_WEEKS, LEAST_WEEKS = 53, 12
HOURS = 24
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class BegunTurn(NamedTuple):
    """A turn that a person began."""

    name: str
    """Of its session, in addresses."""
    time: datetime
    """By the clock of this machine."""
    turn: int
    uuid: str


class Grid(NamedTuple):
    """Squares side by side, a row for each day of the week, names at the left and above."""

    wide: int
    tall: int
    left: int
    top: int
    base: int
    """How far down in its row a name stands."""

    def across(self, column: int) -> int:
        """Returns where a column begins."""
        return self.left + column * (self.wide + GAP)

    def down(self, row: int) -> int:
        """Returns where a row begins."""
        return self.top + row * (self.tall + GAP)

    def square(
        self, column: int, row: int, count: int, most: int, words: str, to: Slice | None = None
    ) -> str:
        """Returns one square, darker where there is more, that leads to what it counts."""
        place = f'x="{self.across(column)}" y="{self.down(row)}"'
        size = f'width="{self.wide}" height="{self.tall}" rx="2"'
        if not count:
            return f"<rect {place} {size}></rect>"
        shade = min(SHADES, 1 + count * SHADES // (most + 1))
        drawn = f'<rect class="h{shade}" {place} {size}><title>{words}</title></rect>'
        if to is None:
            return drawn
        href, told = esc(to.address()), f'tabindex="-1" aria-label="{words}"'
        return f'<a href="{href}" {told} data-figure="count={count}">{drawn}</a>'

    def names(self, rows: Iterable[int]) -> str:
        """Returns the names of some days."""
        return "".join(
            f'<text x="0" y="{self.down(row) + self.base}">{DAYS[row]}</text>' for row in rows
        )

    def drawing(self, kind: str, columns: int, label: str, inner: str) -> str:
        """Returns the whole map."""
        width, height = self.across(columns), self.down(len(DAYS))
        role = "group" if "<a " in inner else "img"
        return (
            f'<svg class="{kind}" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="{role}" aria-label="{label}">{inner}</svg>'
        )


YEAR = Grid(11, 11, 28, 16, 9)
WEEK = Grid(26, 20, 36, 20, 14)


DaySlice = Callable[[date], Slice]


def heat_map(
    prompts: Mapping[date, int],
    today: date | None = None,
    noun: str = "prompt",
    to: DaySlice | None = None,
) -> str:
    """Returns the last year in which something was asked, darker where more was.

    It ends today where that is said, and with the last day on which something was.
    """
    if not prompts and today is None:
        return ""
    last = today or max(prompts)
    end = last + timedelta(days=6 - last.weekday())
    weeks = MOST_WEEKS
    if today is None:
        weeks = min(MOST_WEEKS, max(LEAST_WEEKS, ((end - min(prompts)).days // 7) + 1))
    start = end - timedelta(days=weeks * 7 - 1)
    days = [start + timedelta(days=number) for number in range((last - start).days + 1)]
    most = max((count for day, count in prompts.items() if day >= start), default=0)
    squares = "".join(
        YEAR.square(*divmod(number, 7), count, most, _day(day, count, noun), to and to(day))
        for number, day in enumerate(days)
        for count in (prompts.get(day, 0),)
    )
    label = f"{noun.capitalize()}s by day, up to {day_of(last)}"
    inner = f"{_months(days[::7])}{YEAR.names((0, 2, 4))}{squares}"
    return YEAR.drawing("heat", weeks, label, inner)


def days_table(counts: Mapping[date, int], noun: str, to: DaySlice) -> str:
    """Returns the days on which something was, the last first, as a table behind their map."""
    rows = (
        row(weekday_of(day), to(day).link(str(count), count=count))
        for day, count in sorted(counts.items(), reverse=True)
    )
    return behind(table(("Day", f"{noun.capitalize()}s"), rows), "Days")


def _day(day: date, count: int, noun: str) -> str:
    if not count:  # most days of a year say nothing
        return ""
    return f"{weekday_of(day)}: {many(count, noun)}"


def _months(weeks: Iterable[date]) -> str:
    """Returns the names of the months above the weeks in which they begin."""
    return "".join(
        f'<text x="{YEAR.across(week)}" y="10">{month_name(day)}</text>'
        for week, day in enumerate(weeks)
        if day.day <= 7
    )


def _hour(day: str, hour: int, count: int) -> str:
    return f"{day} {hour:02}:00: {many(count, 'prompt')}" if count else ""


def hours_map(counts: Mapping[tuple[int, int], int], to: Callable[[int, int], Slice]) -> str:
    """Returns the hours of the week, darker where more was typed, with their table."""
    most = max(counts.values(), default=0)
    squares = "".join(
        WEEK.square(hour, weekday, count, most, _hour(name, hour, count), to(weekday, hour))
        for weekday, name in enumerate(DAYS)
        for hour in range(HOURS)
        for count in (counts.get((weekday, hour), 0),)
    )
    clock = "".join(
        f'<text x="{WEEK.across(hour)}" y="12">{hour:02}</text>' for hour in range(0, HOURS, 3)
    )
    title = "Prompts by weekday and hour"
    label = f"{title}; the table below has the figures"
    inner = f"{clock}{WEEK.names(range(len(DAYS)))}{squares}"
    drawn = WEEK.drawing("heat hours", HOURS, label, inner)
    rows = (
        row(
            f"{hour:02}:00", *(_told(counts.get((day, hour), 0), to(day, hour)) for day in range(7))
        )
        for hour in range(HOURS)
    )
    return scrolled(drawn, "Hours of the week") + behind(table(("Hour", *DAYS), rows), title)


def _told(count: int, to: Slice) -> str:
    return to.link(str(count), count=count) if count else ""
