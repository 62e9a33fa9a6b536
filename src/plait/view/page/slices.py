"""What the pages of figures count, as URLs say it: a period, and slices of its figures.

A figure on a page links to its slice: the same responses, turns or parts of sessions that were
added up for it, so that the sum on the linked page is the figure.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.record.time import parse_time
from plait.view.page.markup import (
    build_url,
    esc,
    read_count,
    read_query,
    render_date_input,
    render_hidden_input,
    render_select,
    render_switch,
)

FiguresPage: TypeAlias = Literal["usage", "insights", "waste"]
DEFAULT_RANGES: dict[FiguresPage, str] = {"usage": "30d", "insights": "all", "waste": "7d"}
"""The range of a page whose URL has none."""
PAGE_TABS: dict[FiguresPage, str] = {"insights": "Overview", "waste": "Waste"}
"""The pages of Insights, which share its place in the menu."""
RANGES = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "1y": "Year", "all": "All time"}
RANGE_DAYS = {"7d": 7, "30d": 30, "90d": 90, "1y": 365}
STEPS = {"day": "Day", "week": "Week", "month": "Month"}
INSIDE = {"model": "Models", "session": "Sessions"}
MEASURES = {"cost": "Cost", "tokens": "Tokens"}
MAX_QUERY = 300
MAX_NAME = 1000
"""Characters of a field of a slice: a path may be long."""
STEP, MOST = 200, 10_000
"""Sessions listed at first, and at most."""
UNTIMED = "untimed"
"""The part of a slice whose responses have no time."""


class Period(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The period and the options of a page of figures."""

    range: str = ""
    """One of the ranges; empty for the default one, or if days are given."""
    since: str = ""
    until: str = ""
    by: str = ""
    of: str = "cost"
    project: str = ""
    inside: str = "model"
    """What the areas of projects consist of."""

    def url(self, page: FiguresPage, **changes: object) -> str:
        """Return the URL of a page for this period, with some fields changed."""
        return build_url(f"/{page}", self, **changes)

    def bounds(self, now: datetime, default: str) -> tuple[datetime | None, datetime | None]:
        """Return start and end of the period in local days."""
        if self.since or self.until:
            return parse_day(self.since), parse_day(self.until, days_later=1)
        days = RANGE_DAYS.get(self.range or default)
        if days is None:
            return None, None
        today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        return today - timedelta(days=days - 1), None


def parse_day(day: str, *, days_later: int = 0) -> datetime | None:
    """Return the local midnight that starts a day, or a later one; None for anything else."""
    try:
        parsed = date.fromisoformat(day) + timedelta(days=days_later)
        return datetime(parsed.year, parsed.month, parsed.day).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def read_period(query: Mapping[str, str]) -> Period:
    """Read a period from a URL's query, ignoring invalid fields."""
    fields = read_query(query, ("since", "until", "project"), MAX_QUERY)
    fields = {
        name: value
        for name, value in fields.items()
        if name == "project" or parse_day(value, days_later=1)
    }
    choices = {"range": RANGES, "by": STEPS, "of": MEASURES, "inside": INSIDE}
    fields |= {name: query[name] for name, known in choices.items() if query.get(name) in known}
    return Period(**fields)


def render_figures_page(
    page: FiguresPage, period: Period, figures: str, projects: Mapping[str, str]
) -> str:
    """Render a page of figures with the switches for page, range and project."""
    has_days = bool(period.since or period.until)
    chosen_range = "" if has_days else period.range or DEFAULT_RANGES[page]
    pages = ""
    if page in PAGE_TABS:
        tabs = (
            (
                period.url(
                    other, range="" if chosen_range == DEFAULT_RANGES[other] else chosen_range
                ),
                name,
                other == page,
            )
            for other, name in PAGE_TABS.items()
        )
        pages = render_switch("Insights", tabs)
    ranges = render_switch(
        "Range",
        (
            (period.url(page, range=name, since="", until=""), label, name == chosen_range)
            for name, label in RANGES.items()
        ),
    )
    form = (
        f'<form class="range filters" action="/{page}" data-chosen>{ranges}'
        f"{render_date_input('since', 'From', period.since)}"
        f"{render_date_input('until', 'to', period.until)}"
        f"{render_select('project', 'Project', 'All projects', projects, period.project)}"
        f"{render_hidden_input('range', '' if has_days else period.range)}"
        f"{render_hidden_input('by', period.by)}{render_hidden_input('of', period.of, 'cost')}"
        f"{render_hidden_input('inside', period.inside, 'model')}"
        '<button class="quiet" data-unscripted>Show</button></form>'
    )
    return (
        f'<main class="page" id="main" data-live="{page}"><div class="heading">'
        f'<h1 class="state">{page.capitalize()}</h1>{pages}{form}</div>'
        f"<div data-results>{figures}</div></main>"
    )


def render_nothing(page: FiguresPage, message: str, *, is_all: bool) -> str:
    """Render an empty state, with a link to all time unless that is shown already."""
    if is_all:
        return f'<div class="empty" role="status"><p>{message}</p></div>'
    all_time = Period(range="" if DEFAULT_RANGES[page] == "all" else "all").url(page)
    return (
        f'<div class="empty" role="status"><p>{message}</p>'
        f'<p><a href="{esc(all_time)}">Show all time</a></p></div>'
    )


def render_uncounted(*, is_counting: bool) -> str:
    """Render the state in which figures are being counted, or could not be."""
    if is_counting:
        return '<p class="counting" role="status" data-counting="1">Counting …</p>'
    return (
        '<p class="counting" role="status">Counting failed. For the reason, see the terminal '
        "where Plait was started.</p>"
    )


class Slice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of the figures that one number represents."""

    of: str = "responses"
    """What is counted: `responses`, `begun` turns, costs `beyond` the logs, or a figure."""
    since: str = ""
    until: str = ""
    project: str = ""
    model: str = ""
    """Names separated by commas."""
    who: str = ""
    branch: str = ""
    after: str = ""
    before: str = ""
    """The end of its time, inclusive."""
    session: str = ""
    name: str = ""
    """Of a tool, a type of agent or a file; among responses, of a model without a price."""
    part: str = ""
    """An outcome, or one of several figures of the same thing."""
    weekday: str = ""
    hour: str = ""
    n: int = STEP

    def url(self, **changes: object) -> str:
        """Return the URL of the page that lists this, with some fields changed."""
        return build_url("/counted", self, **changes)

    def render_link(self, words: str, **figures: float) -> str:
        """Render markup as a link to this slice; tests compare the figures with its sums."""
        values = " ".join(f"{name}={value!r}" for name, value in figures.items())
        data = f' data-figure="{values}"' if values else ""
        return f'<a class="fig" href="{esc(self.url())}"{data}>{words}</a>'

    @property
    def is_everything(self) -> bool:
        """Whether neither days nor a project restrict it."""
        return not (self.since or self.until or self.project)

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Start and end of its days."""
        return parse_day(self.since), parse_day(self.until, days_later=1)


def read_slice(query: Mapping[str, str]) -> Slice:
    """Read a slice from a URL's query, ignoring invalid fields."""
    names = set(Slice.__struct_fields__) - {"n"}
    fields = read_query(query, names, MAX_NAME)
    is_valid: dict[str, Callable[[str], object]] = {
        "since": partial(parse_day, days_later=1),
        "until": partial(parse_day, days_later=1),
        "after": parse_time,
        "before": parse_time,
    }
    fields = {
        name: value
        for name, value in fields.items()
        if name not in is_valid or is_valid[name](value)
    }
    return Slice(**fields, n=read_count(query, STEP, MOST))


def slice_for_period(period: Period, now: datetime, default: str) -> Slice:
    """Return the slice that a page of figures counts."""
    start, end = period.bounds(now, default)
    last = end - timedelta(days=1) if end else None
    return Slice(
        since=start.date().isoformat() if start else "",
        until=last.date().isoformat() if last else "",
        project=period.project,
    )
