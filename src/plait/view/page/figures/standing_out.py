"""Trends, outliers and habits to their part of the page, each leading to what it tells of."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from msgspec.structs import replace

from plait.conversation.insights.model import Habit, HabitEvidence, Insights, Outlier, Trend, Trends
from plait.view.amounts import many, money_in_words
from plait.view.forms import told_apart, weekday_of
from plait.view.habits import (
    FAR_OFF,
    HABITS,
    MEASURES,
    OUTLYING,
    amount_in_words,
    change_in_words,
    habit_counts,
    habit_title,
)
from plait.view.page.figures.charts import STACKED, row, scrolled, section, table
from plait.view.page.figures.slices import Slice, slice_at
from plait.view.page.lists.rows import ListedSession, short_place
from plait.view.page.markup import esc, session_address
from plait.view.text import shortened

SPENT = ("cost", "tokens", "sessions")
"""What is measured by responses."""
OF = {"prompts": "prompts", "calls": "calls", "failed": "failed"}
WIDE, TALL = 8, 28
LONGEST = 90


def standing_out(found: Insights, base: Slice, known: Mapping[str, ListedSession]) -> str:
    """Returns all that stands out; nothing where nothing does."""
    trends = _trends(found.trends, base) if found.trends else ""
    habits = "".join(_habit(one, base, known) for one in found.habits)
    told = section("Habits", f'<div class="habits">{habits}</div>') if habits else ""
    return f"{trends}{told}{_outliers(found.outliers, base, known)}"


def _trends(found: Trends, base: Slice) -> str:
    now, before = (found.since, found.until), (found.before_since, found.before_until)
    heads = (None, _days(*now), _days(*before), "Change", "Last 12 weeks")
    rows = [
        row(
            MEASURES[one.measure],
            _amount(one, one.now, base, *now),
            _amount(one, one.before, base, *before),
            _amount(one, one.now, base, *now, change_in_words(one)),
            ("weeks-cell", _weeks(one, found.weeks, found.until, base)),
        )
        for one in found.measures
    ]
    note = "this period against the one before it"
    return section("Trends", scrolled(table(heads, rows, "figures trends"), "Trends"), note)


def _days(first: str, last: str) -> str:
    """Writes days; the lines are kept where a page is narrow."""
    return first if first == last else f"{first}\nto\n{last}"


def _to(one: Trend, base: Slice, first: str, last: str) -> Slice:
    of = "responses" if one.measure in SPENT else OF[one.measure]
    return replace(base, of=of, since=first, until=last)


def _amount(
    one: Trend, value: float, base: Slice, first: str, last: str, words: str | None = None
) -> str:
    name = one.measure if one.measure in SPENT else "count"
    told = amount_in_words(one.measure, value) if words is None else words
    figures = {name: value} if words is None else {}
    return _to(one, base, first, last).link(esc(told), **figures)


def _weeks(one: Trend, weeks: Sequence[str], last: str, base: Slice) -> str:
    most = max(one.weeks) or 1
    bars = "".join(
        _week(one, value, most, place, week, last, base)
        for place, (week, value) in enumerate(zip(weeks, one.weeks, strict=True))
        if value
    )
    label = f"{MEASURES[one.measure]} by week: " + ", ".join(
        amount_in_words(one.measure, value) for value in one.weeks
    )
    width = WIDE * len(weeks)
    return (
        f'<svg class="spark" width="{width}" height="{TALL}" viewBox="0 0 {width} {TALL}" '
        f'role="group" aria-label="{esc(label)}">{bars}</svg>'
    )


def _week(
    one: Trend, value: float, most: float, place: int, week: str, last: str, base: Slice
) -> str:
    end = min((date.fromisoformat(week) + timedelta(days=6)).isoformat(), last)
    tall = max(value / most * TALL, 1.5)
    words = esc(f"Week of {week}: {amount_in_words(one.measure, value)}")
    return (
        f'<a href="{esc(_to(one, base, week, end).address())}" tabindex="-1" aria-label="{words}">'
        f'<rect class="c0" x="{place * WIDE}" y="{TALL - tall:.1f}" width="{WIDE - 2}" '
        f'height="{tall:.1f}"><title>{words}</title></rect></a>'
    )


def _outliers(found: Sequence[Outlier], base: Slice, known: Mapping[str, ListedSession]) -> str:
    if not found:
        return ""
    rows = [
        row(
            _outlying(one, base, known),
            OUTLYING[one.measure],
            _outlier_link(one, base).link(amount_in_words(one.measure, one.value)),
            _outlier_link(one, base).link(f"{one.times:.1f} ×"),
            _outlier_link(one, base, is_all=True).link(amount_in_words(one.measure, one.median)),
        )
        for one in found
    ]
    heads = ("Session or day", "What", "How much", "Of the median", "Median")
    inner = scrolled(table(heads, rows, f"{STACKED} outliers"), "Far off")
    return section("Far off", f'{inner}<p class="note-line">{esc(FAR_OFF)}.</p>')


def _outlier_link(one: Outlier, base: Slice, *, is_all: bool = False) -> Slice:
    of = {"cost": "responses", "time": "working_ms", "failed": "failed", "prompts": "prompts"}
    if is_all:
        return replace(base, of=of[one.measure])
    if one.of == "day":
        return replace(base, of=of[one.measure], since=one.name, until=one.name)
    return replace(base, of=of[one.measure], session=one.name)


def _outlying(one: Outlier, base: Slice, known: Mapping[str, ListedSession]) -> str:
    if one.of == "day":
        day = date.fromisoformat(one.name)
        to = _outlier_link(one, base)
        return f'<a href="{esc(to.address())}">{weekday_of(day)}</a>'
    return _session(one.name, None, known)


def _session(name: str, uuid: str | None, known: Mapping[str, ListedSession]) -> str:
    one = known.get(name)
    place = session_address(name) + (f"#{esc(uuid)}" if uuid else "")
    if one is None:
        return f'<a href="{esc(place)}">{esc(name)}</a>'
    words = esc(shortened(one.words, LONGEST))
    return f'<a href="{esc(place)}">{words}</a> <small>{esc(short_place(one.place))}</small>'


def _habit(one: Habit, base: Slice, known: Mapping[str, ListedSession]) -> str:
    words = HABITS[one.kind]
    subject = one.subject
    if one.kind == "dear model":
        (subject,) = told_apart([one.subject]).values()
    rows = "".join(_evidence(each, known) for each in one.evidence)
    advice = words.advice[:1].upper() + words.advice[1:]
    return (
        f'<article class="habit"><h3>{esc(habit_title(one, subject))}</h3>'
        f'<p class="held">{slice_at(one, base).link(esc(habit_counts(one)))}</p>'
        f'<p class="advice">{esc(advice)}. <small>Named from {esc(words.rule)}.</small></p>'
        f'<ol class="short">{rows}</ol></article>'
    )


def _evidence(one: HabitEvidence, known: Mapping[str, ListedSession]) -> str:
    told = money_in_words(one.cost_usd) if one.cost_usd else many(one.count, "time")
    about = f" <small>{esc(shortened(one.about))}</small>" if one.about else ""
    place = session_address(one.session) + (f"#{one.uuid}" if one.uuid else "")
    figure = f'<a class="fig num" href="{esc(place)}">{told}</a>'
    return f"<li>{_session(one.session, one.uuid, known)}{about}{figure}</li>"
