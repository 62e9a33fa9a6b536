"""Hours of the week and how much was begun in them to a map: a row a day, a column an hour."""

from collections.abc import Mapping

from plait.view.amounts import many
from plait.view.page.plots import plain_table, scrolled

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WIDE, TALL, GAP, LEFT, TOP = 26, 20, 2, 36, 20
HOURS = 24
SHADES = 4


def hours_map(counts: Mapping[tuple[int, int], int]) -> str:
    """Returns the map, darker where more was begun, with its table."""
    most = max(counts.values(), default=0)
    squares = "".join(
        square(weekday, hour, counts.get((weekday, hour), 0), most)
        for weekday in range(len(DAYS))
        for hour in range(HOURS)
    )
    names = "".join(
        f'<text x="0" y="{TOP + place * (TALL + GAP) + 14}">{name}</text>'
        for place, name in enumerate(DAYS)
    )
    clock = "".join(
        f'<text x="{LEFT + hour * (WIDE + GAP)}" y="12">{hour:02}</text>'
        for hour in range(0, HOURS, 3)
    )
    width, height = LEFT + HOURS * (WIDE + GAP), TOP + len(DAYS) * (TALL + GAP)
    drawn = (
        f'<svg class="heat hours" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Turns begun by weekday and hour; '
        f'the table below has the figures">{clock}{names}{squares}</svg>'
    )
    return scrolled(drawn, "Hours of the week") + behind(counts)


def square(weekday: int, hour: int, count: int, most: int) -> str:
    """Returns one hour of one day of the week."""
    shade = f' class="h{min(SHADES, 1 + count * SHADES // (most + 1))}"' if count else ""
    across, down = LEFT + hour * (WIDE + GAP), TOP + weekday * (TALL + GAP)
    title = f"<title>{DAYS[weekday]} {hour:02}:00: {many(count, 'turn')}</title>" if count else ""
    return (
        f'<rect{shade} x="{across}" y="{down}" width="{WIDE}" height="{TALL}" rx="2">{title}</rect>'
    )


def behind(counts: Mapping[tuple[int, int], int]) -> str:
    """Returns the figures of the map as a table, folded."""
    rows = [
        [f"{hour:02}:00", *(str(counts.get((weekday, hour), 0) or "") for weekday in range(7))]
        for hour in range(HOURS)
    ]
    table = plain_table(["Hour", *DAYS], rows, "Turns begun by weekday and hour")
    return f'<details class="behind"><summary>Table</summary>{table}</details>'
