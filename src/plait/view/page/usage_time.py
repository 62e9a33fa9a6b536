"""Rows by day, week or month to a chart over time in which no step is left out."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from plait.conversation.spending import Spending, Tally
from plait.view.page.plots import Chart, Series, Writer, together
from plait.view.usage import told_apart

MOST_STEPS = 400
NOTHING = Tally()


def over_time(
    spent: Spending, step: str, amount: Callable[[Tally], float], write: Writer
) -> Chart | None:
    """Returns what was spent over time, model upon model; None where no day is known."""
    rows = {row.key: row for row in spent.rows if row.key}
    if not rows:
        return None
    steps = list(between(min(rows), max(rows), step))[-MOST_STEPS:]
    names = told_apart(spent.totals.models)
    series = [
        Series(
            names[model],
            tuple(
                amount(rows[key].models[model])
                if key in rows and model in rows[key].models
                else 0.0
                for key in steps
            ),
        )
        for model in spent.totals.models
    ]
    return Chart(
        title="Spent over time, by model",
        labels=tuple(label(key, step) for key in steps),
        ticks=tuple(label(key, step) for key in steps),
        series=together(series),
        write=write,
        heading={"day": "Day", "week": "Week of", "month": "Month"}[step],
    )


def between(first: str, last: str, step: str) -> Iterator[str]:
    """Yields the names of all steps from the first to the last."""
    if step == "month":
        year, month = int(first[:4]), int(first[5:7])
        while f"{year:04}-{month:02}" <= last:
            yield f"{year:04}-{month:02}"
            year, month = year + month // 12, month % 12 + 1
        return
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += timedelta(days=7 if step == "week" else 1)


def label(key: str, step: str) -> str:
    """Names a step for people."""
    if step == "month":
        return f"{date.fromisoformat(f'{key}-01'):%b %Y}"
    day = date.fromisoformat(key)
    return f"{day.day} {day:%b %Y}"
