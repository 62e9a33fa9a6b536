"""`plait insights`: what stands out, as trends, habits and sessions that are far off."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import (
    Request,
    filter_options,
    global_options,
    json_option,
    name_argument,
    no_index_option,
)
from plait.cli.selection import point_in_time, selected, zone_named
from plait.cli.text import SHORT, clipped, columns, now, safe_line, short

if TYPE_CHECKING:
    from plait.archive import Session
    from plait.conversation.insights.model import Habit, Insights, Outlier, Trends

GAP = "  "
WIDE = 11
"""Columns for how often and for how much."""
STANDING = " ▁▂▃▄▅▆▇█"
PLAIN = "nothing stands out: there is too little to go by, or nothing is unusual"


@click.command("insights")
@name_argument
@filter_options
@click.option("--timezone", "-z", metavar="ZONE", help="Whose days: Europe/Rome, UTC.")
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    name: str | None,
    project: str | None,
    since: str | None,
    until: str | None,
    timezone: str | None,
    no_index: bool,
    as_json: bool,
) -> None:
    """Tell what stands out: trends, habits with their evidence, sessions and days far off.

    Over the whole archive, or one PROJECT. A period is set beside the one before it; what is
    far off is so against your own median; a habit is named only where there is enough of it.
    """
    zone, time = zone_named(timezone), now()
    start, end = point_in_time(since, time, zone), point_in_time(until, time, zone)
    with request.answering(no_index=no_index) as archive:
        chosen = selected(request, name, project)
        found = archive.insights(
            chosen, prices=request.prices, zone=zone, since=start, until=end, now=time
        )
    if as_json:
        request.output.json(_value(found))
        return
    _Told(request, chosen, found).print()


def _value(found: "Insights") -> dict[str, Any]:
    import msgspec

    from plait.view.habits import HABITS

    value: dict[str, Any] = msgspec.to_builtins(found)
    for habit, plain in zip(found.habits, value["habits"], strict=True):
        plain["rule"] = HABITS[habit.kind].rule
        plain["advice"] = HABITS[habit.kind].advice
    return value


class _Told:
    """Prints what stands out."""

    def __init__(self, request: Request, sessions: "list[Session]", found: "Insights") -> None:
        self._output, self._found = request.output, found
        self._facts = request.archive.facts
        self._sessions = {one.id: one for one in sessions}

    def print(self) -> None:
        """Prints all of it, or that there is nothing."""
        found = self._found
        if not (found.trends or found.habits or found.outliers):
            self._output.print(PLAIN)
            return
        with self._output.paged():
            if found.trends:
                self._trends(found.trends)
            for habit in found.habits:
                self._habit(habit)
            if found.outliers:
                self._outliers()

    def _trends(self, trends: "Trends") -> None:
        from plait.view.habits import MEASURES, amount_in_words, change_in_words

        heads = ("", f"since {trends.since}", f"since {trends.before_since}", "change", "12 weeks")
        rows = [
            (
                MEASURES[one.measure],
                amount_in_words(one.measure, one.now),
                amount_in_words(one.measure, one.before),
                change_in_words(one),
                _drawn(one.weeks),
            )
            for one in trends.measures
        ]
        self._output.print("Trends", style="bold")
        for line in _lined([heads, *rows]):
            self._output.print(line)
        self._output.print("")

    def _habit(self, habit: "Habit") -> None:
        from plait.view.habits import HABITS, habit_counts, habit_title

        self._output.print(safe_line(habit_title(habit)), style="bold")
        words = HABITS[habit.kind]
        self._output.print(f"{habit_counts(habit)}: {words.advice}")
        self._output.print(f"named from {words.rule}", style="dim")
        for name, what in _by_session(habit):
            told = f"{short(name).ljust(SHORT)}{GAP}{what.rjust(WIDE)}{GAP}{self._title(name)}"
            self._output.print(clipped(safe_line(told), self._output.width))
        self._output.print("")

    def _outliers(self) -> None:
        from plait.view.habits import FAR_OFF, outlier_in_words

        self._output.print("Far off", style="bold")
        for one in self._found.outliers:
            told = f"{self._outlying(one)}{GAP}{outlier_in_words(one)}"
            self._output.print(clipped(safe_line(told), self._output.width))
        self._output.print(FAR_OFF, style="dim")

    def _outlying(self, one: "Outlier") -> str:
        if one.of == "day":
            return one.name
        return f"{short(one.name)}{GAP}{clipped(self._title(one.name), 40)}"

    def _title(self, name: str) -> str:
        session = self._sessions.get(name)
        title = self._facts(session).title if session else None
        return " ".join((title or "(no title)").split())


def _by_session(habit: "Habit") -> Iterator[tuple[str, str]]:
    """Yields each session in which a habit shows most, with how often or for how much."""
    costs: dict[str, float] = {}
    counts: dict[str, int] = {}
    for one in habit.evidence:
        costs[one.session] = costs.get(one.session, 0.0) + (one.cost_usd or 0.0)
        counts[one.session] = counts.get(one.session, 0) + one.count
    for name in sorted(costs, key=lambda one: (-costs[one], -counts[one])):
        cost = costs[name]
        often = f"{counts[name]} ×" if counts[name] > 1 or not cost else ""
        yield name, GAP.join(filter(None, (often, f"${cost:.2f}" if cost else "")))


def _drawn(values: tuple[float, ...]) -> str:
    most = max(values) or 1
    steps = len(STANDING) - 1
    return "".join(STANDING[max(round(one / most * steps), 1) if one else 0] for one in values)


def _lined(rows: list[tuple[str, ...]]) -> list[str]:
    sizes = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(
            [
                row[0].ljust(sizes[0]),
                *(one.rjust(size) for one, size in zip(row[1:-1], sizes[1:-1], strict=True)),
                row[-1],
            ]
        ).rstrip()
        for row in rows
    ]
