"""Stretches of time, as addresses name them and people choose them, to pages of figures."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.view.page.markup import address, asked_in, day, esc, hidden, select, switch

FiguresPage: TypeAlias = Literal["usage", "insights", "waste"]
USUAL: dict[FiguresPage, str] = {"usage": "30d", "insights": "all", "waste": "7d"}
"""The range of a page where none is asked for."""
NAMES: dict[FiguresPage, str] = {"usage": "Usage", "insights": "Insights", "waste": "Waste"}
RANGES = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "1y": "Year", "all": "All time"}
DAYS = {"7d": 7, "30d": 30, "90d": 90, "1y": 365}
STEPS = {"day": "Day", "week": "Week", "month": "Month"}
INSIDE = {"model": "Models", "session": "Sessions"}
MEASURES = {"cost": "Cost", "tokens": "Tokens"}
LONGEST = 300


class Period(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an address asks figures of."""

    range: str = ""
    """One of the ranges; empty for the usual one, or where days are given."""
    since: str = ""
    until: str = ""
    by: str = ""
    of: str = "cost"
    project: str = ""
    inside: str = "model"
    """What the areas of projects are made up of."""

    def address(self, page: FiguresPage, **changes: object) -> str:
        """Returns the address that asks a page for this, with some things changed."""
        return address(f"/{page}", self, **changes)

    def bounds(self, now: datetime, usual: str) -> tuple[datetime | None, datetime | None]:
        """Returns the moments between which figures are asked for; days are those of here."""
        if self.since or self.until:
            return midnight(self.since, 0), midnight(self.until, 1)
        days = DAYS.get(self.range or usual)
        if days is None:
            return None, None
        here = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        return here - timedelta(days=days - 1), None


def midnight(day: str, later: int) -> datetime | None:
    """Returns the beginning of a day here, or of one some days later; None for no day."""
    try:
        found = date.fromisoformat(day) + timedelta(days=later)
        return datetime(found.year, found.month, found.day).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def period_in(query: Mapping[str, str]) -> Period:
    """Returns what an address asks for; what makes no sense is as if it were not said."""
    told = asked_in(query, ("since", "until", "project"), LONGEST)
    known = {"range": RANGES, "by": STEPS, "of": MEASURES, "inside": INSIDE}
    told = {name: one for name, one in told.items() if name == "project" or midnight(one, 1)}
    told |= {name: query[name] for name, names in known.items() if query.get(name) in names}
    return Period(**told)


def figures_page(
    page: FiguresPage, period: Period, figures: str, projects: Mapping[str, str]
) -> str:
    """Returns a page with its figures, and what chooses their range and their project."""
    return (
        f'<main class="page" id="main" data-live="{page}"><div class="heading">'
        f'<h1 class="state">{page.capitalize()}</h1>{_pages(page, period)}'
        f"{_chooser(page, period, projects)}</div>"
        f"<div data-results>{figures}</div></main>"
    )


def _pages(here: FiguresPage, period: Period) -> str:
    """Returns the ways to the other figures of the same time."""
    has_days = bool(period.since or period.until)
    span = "" if has_days else period.range or USUAL[here]
    links = (
        (
            period.address(name, range="" if span == USUAL[name] else span, by=""),
            words,
            name == here,
        )
        for name, words in NAMES.items()
    )
    return switch("Figures", links)


def _chooser(page: FiguresPage, period: Period, projects: Mapping[str, str]) -> str:
    has_days = bool(period.since or period.until)
    here = "" if has_days else period.range or USUAL[page]
    ranges = switch(
        "Range",
        (
            (period.address(page, range=name, since="", until=""), words, name == here)
            for name, words in RANGES.items()
        ),
    )
    kept = hidden("range", "" if has_days else period.range) + hidden("by", period.by)
    return (
        f'<form class="range filters" action="/{page}" data-chosen>{ranges}'
        f"{day('since', 'From', period.since)}{day('until', 'to', period.until)}"
        f"{select('project', 'Project', 'All projects', projects, period.project)}"
        f"{kept}{hidden('of', period.of, 'cost')}{hidden('inside', period.inside, 'model')}"
        '<button class="quiet" data-unscripted>Show</button></form>'
    )


def nothing_in(page: FiguresPage, words: str, *, is_all: bool) -> str:
    """Says that there is nothing, and the way to all time, where that is not all there is."""
    if is_all:
        return f'<div class="empty" role="status"><p>{words}</p></div>'
    everything = Period(range="" if USUAL[page] == "all" else "all").address(page)
    return (
        f'<div class="empty" role="status"><p>{words}</p>'
        f'<p><a href="{esc(everything)}">Show all time</a></p></div>'
    )


def uncounted(*, is_counting: bool) -> str:
    """Says that figures are being counted, or could not be."""
    if is_counting:
        return '<p class="counting" role="status" data-counting="1">Counting …</p>'
    return (
        '<p class="counting" role="status">This could not be counted: the terminal that Plait was '
        "started in says why.</p>"
    )
