"""Stretches of time, as addresses name them and people choose them."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from plait.view.page.markup import esc
from plait.view.text import shortened

RANGES = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "1y": "Year", "all": "All time"}
DAYS = {"7d": 7, "30d": 30, "90d": 90, "1y": 365}
STEPS = {"day": "Day", "week": "Week", "month": "Month"}
MEASURES = {"cost": "Cost", "tokens": "Tokens"}
LONGEST = 300
CHOSEN = ' aria-current="true"'


class Period(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an address asks figures of."""

    range: str = ""
    """One of the ranges; empty for the usual one, or where days are given."""
    since: str = ""
    until: str = ""
    by: str = ""
    of: str = "cost"
    project: str = ""

    def address(self, path: str, **changes: object) -> str:
        """Returns the address that asks for this, with some things changed."""
        asked = msgspec.to_builtins(msgspec.structs.replace(self, **changes))
        return f"{path}?{urlencode(asked)}" if asked else path

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
    told = {
        name: query[name][:LONGEST]
        for name in ("since", "until", "project")
        if query.get(name) and (name == "project" or midnight(query[name], 1))
    }
    known = {"range": RANGES, "by": STEPS, "of": MEASURES}
    told |= {name: query[name] for name, names in known.items() if query.get(name) in names}
    return Period(**told)


def chooser(path: str, span: Period, usual: str, projects: Mapping[str, str]) -> str:
    """Returns what chooses the range and the project."""
    has_days = bool(span.since or span.until)
    here = "" if has_days else span.range or usual
    ranges = switch(
        "Range",
        [
            (span.address(path, range=name, since="", until=""), words, name == here)
            for name, words in RANGES.items()
        ],
    )
    options = "".join(
        f'<option value="{esc(name)}"{" selected" if name == span.project else ""}>'
        f"{esc(shortened(words, 60))}</option>"
        for name, words in sorted(projects.items(), key=lambda pair: pair[1].casefold())
    )
    kept = "".join(
        f'<input type="hidden" name="{name}" value="{esc(value)}">'
        for name in ("range", "by", "of")
        if (value := getattr(span, name)) and value != "cost" and not (name == "range" and has_days)
    )
    return (
        f'<form class="range filters" action="{path}" data-chosen>{ranges}'
        f"{day('since', 'From', span.since)}{day('until', 'to', span.until)}"
        '<select name="project" aria-label="Project"><option value="">All projects</option>'
        f'{options}</select>{kept}<button class="quiet" data-unscripted>Show</button></form>'
    )


def day(name: str, words: str, value: str) -> str:
    """Returns a choice of a day."""
    field = f'<input type="date" name="{name}" value="{esc(value)}">'
    return f'<label class="day">{words} {field}</label>'


def uncounted(*, is_counting: bool) -> str:
    """Says that figures are being counted, or could not be."""
    if is_counting:
        return '<p class="counting" role="status" data-counting="1">Counting …</p>'
    return (
        '<p class="counting" role="status">This could not be counted: the terminal that Plait was '
        "started in says why.</p>"
    )


def switch(name: str, ways: list[tuple[str, str, bool]]) -> str:
    """Returns a few ways of which one is chosen."""
    links = "".join(
        f'<a href="{esc(href)}"{CHOSEN if is_chosen else ""}>{esc(words)}</a>'
        for href, words, is_chosen in ways
    )
    return f'<div class="switch" role="group" aria-label="{esc(name)}">{links}</div>'
