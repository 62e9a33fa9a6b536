"""Lists and charts: order, nesting, scales and labels."""

from datetime import UTC, datetime

import pytest

from plait.usage.page import iter_steps
from plait.view.formats import format_age, format_days_until, format_short_age
from plait.view.page.charts import (
    Chart,
    Series,
    format_share,
    merge_small_series,
    render_columns_chart,
    round_up,
)
from plait.view.page.session_rows import (
    ListedSession,
    format_cost,
    format_project,
    render_title_link,
)
from plait.view.page.slices import Period, Slice, read_period
from plait.web.pages.session_list import (
    SessionFilter,
    filter_sessions,
    nest_sessions,
    read_session_filter,
)

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def make_session(name: str, parent: str | None = None, **facts: object) -> ListedSession:
    """Return a session of a list."""
    plain = {"title": name, "prompt": None, "project": "p", "place": "/home/dev/p"}
    plain |= {"folder": "p", "root": plain["place"]}
    return ListedSession(name=name, parent=parent, **{**plain, **facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("drawn", "wanted"),
    [
        ("a b c", "a0 b0 c0"),
        ("a b<a c<b d<a", "a0 b1 c2 d1"),
        ("c<b b<a a", "a0 b1 c2"),
        ("a<gone b", "a0 b0"),
        ("a<a", "a0"),
        ("a<b b<a c", "c0 a0 b0"),
    ],
)
def test_no_session_is_lost_in_any_nesting(drawn: str, wanted: str) -> None:
    rows = [make_session(*piece.split("<")) for piece in drawn.split()]
    assert " ".join(f"{row.name}{depth}" for row, depth in nest_sessions(rows)) == wanted


def test_parameters_round_trip() -> None:
    choice = SessionFilter(q="a & b", branches="1", sort="cost", turned="1", n=400)
    assert choice.url() == "/sessions?q=a+%26+b&branches=1&sort=cost&turned=1&n=400"
    assert read_session_filter(
        {"q": "a & b", "branches": "1", "sort": "cost", "turned": "1", "n": "400"}
    ) == (choice)
    assert (
        read_session_filter({"n": "999999", "sort": "__class__", "until": "x"}) == SessionFilter()
    )


def test_unpriced_sessions_sort_as_cheapest() -> None:
    rows = [make_session("a"), make_session("b", cost=0.0), make_session("c", cost=2.0)]
    assert [row.name for row in filter_sessions(rows, SessionFilter(sort="cost"))] == [
        "c",
        "b",
        "a",
    ]


def test_title_is_plain_text_cut_between_words() -> None:
    hostile = render_title_link(make_session("x", title="<b>'\"&\u202e" + " word" * 60), 40)
    assert "<b>" not in hostile
    assert "\u202e" not in hostile
    assert hostile.endswith("word&nbsp;…</a>")


@pytest.mark.parametrize(
    ("most", "top"), [(0, 1), (0.03, 0.04), (1, 1), (7, 8), (83, 100), (101, 200), (1999, 2000)]
)
def test_scale_ends_with_a_round_number(most: float, top: float) -> None:
    assert round_up(most) == pytest.approx(top)
    assert round_up(most) >= most


def test_chart_has_a_table() -> None:
    chart = Chart(
        title="Walks",
        labels=("Monday", "Tuesday", "Wednesday"),
        series=(Series("long", (1.0, 0.0, 3.0), "l"), Series("short", (2.0, 0.0, 0.0), "s")),
        write=lambda value: f"{value:g} km",
        to=lambda place, key: Slice(model=key, name="" if place is None else str(place)),
        unit="cost",
    )
    html = render_columns_chart(chart)
    assert html.count("<rect") == 3
    assert "<title>Monday: 3 km\nlong: 1 km\nshort: 2 km</title>" in html
    cells = ("model=l&amp;name=0", 1.0), ("model=s&amp;name=0", 2.0), ("name=0", 3.0)
    result = "".join(
        f'<td><a class="fig" href="/counted?{to}" data-figure="cost={km!r}">{km:g} km</a></td>'
        for to, km in cells
    )
    assert f'<th scope="row">Monday</th>{result}' in html
    assert 'href="/counted?model=l" data-figure="cost=4.0">4 km</a>' in html
    assert '<th scope="row">Tuesday</th>' not in html


def test_many_series_are_combined() -> None:
    found = merge_small_series([Series(f"m{n}", (float(n), 1.0), f"m-{n}") for n in range(9)])
    assert found[-1].key == "m-4,m-3,m-2,m-1,m-0"
    assert [series.name for series in found] == ["m8", "m7", "m6", "m5", "other"]
    assert found[-1].values == (10.0, 5.0)
    assert sum(series.total for series in found) == 45


def test_no_time_step_is_missing() -> None:
    assert list(iter_steps("2026-10-30", "2026-11-02", "day"))[1:3] == ["2026-10-31", "2026-11-01"]
    assert list(iter_steps("2026-10-26", "2026-11-09", "week")) == [
        "2026-10-26",
        "2026-11-02",
        "2026-11-09",
    ]
    assert list(iter_steps("2026-11", "2027-02", "month")) == [
        "2026-11",
        "2026-12",
        "2027-01",
        "2027-02",
    ]


def test_range_is_local_days_including_today() -> None:
    start, end = Period(range="7d").bounds(NOW, "30d")
    assert start is not None
    assert (NOW.astimezone().date() - start.date()).days == 6
    assert (start.hour, start.minute, end) == (0, 0, None)
    assert Period().bounds(NOW, "all") == (None, None)
    assert read_period({"range": "eternity", "since": "x", "by": "hour", "of": "sand"}) == Period()


@pytest.mark.parametrize(
    ("value", "whole", "words"),
    [(0, 5, "0%"), (1, 5, "20%"), (1, 500, "&lt;1%"), (999, 1000, "99%"), (5, 5, "100%")],
)
def test_rounding_never_gives_zero_or_all_percent(value: float, whole: float, words: str) -> None:
    assert format_share(value, whole) == words


def test_times_places_and_prices_in_words() -> None:
    assert format_age(datetime(2026, 11, 15, 11, 30, tzinfo=UTC), NOW) == "30 min ago"
    assert format_age(datetime(2026, 11, 14, 11, 0, tzinfo=UTC), NOW) == "yesterday"
    assert format_age(datetime(2025, 1, 2, 12, 0, tzinfo=UTC), NOW) == "2025-01-02"
    assert format_days_until(datetime(2026, 11, 17, 13, 0, tzinfo=UTC), NOW) == "in 2 days"
    assert format_days_until(datetime(2026, 11, 1, tzinfo=UTC), NOW) == "any time"
    assert format_project("/home/dev/shop/") == format_project("C:\\dev\\shop") == "shop"
    assert format_cost(None) == ""
    assert format_cost(0.0) == "$0"
    assert "no price" in format_cost(None, is_partly=True)


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime(2026, 11, 15, 11, 30, tzinfo=UTC), "30 min"),
        (datetime(2026, 11, 15, 9, 0, tzinfo=UTC), "3 h"),
        (datetime(2026, 11, 14, 11, 0, tzinfo=UTC), "1 d"),
        (datetime(2026, 11, 11, 11, 0, tzinfo=UTC), "4 d"),
        (datetime(2026, 10, 12, 12, 0, tzinfo=UTC), "10-12"),
        (datetime(2025, 11, 20, 12, 0, tzinfo=UTC), "2025-11"),
        (datetime(2027, 1, 2, 12, 0, tzinfo=UTC), "2027-01"),
    ],
)
def test_short_ages_fit_seven_columns(time: datetime, text: str) -> None:
    assert format_short_age(time, NOW) == text
    assert len(text) <= 7
