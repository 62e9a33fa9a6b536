"""Small charts: bars, columns and grouped days."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.view.charts import draw_axis, draw_bar, draw_columns, group_counts, justify_ends
from plait.view.page.charts import render_year_map

DAY = date(2026, 11, 2)


@pytest.mark.parametrize("wrong", [date.min, date.max])
def test_days_of_wrong_clocks_are_not_in_the_calendar(wrong: date) -> None:
    assert render_year_map({wrong: 3}) == ""
    assert render_year_map({wrong: 3, DAY: 1}) == render_year_map({DAY: 1})


@pytest.mark.parametrize(
    ("value", "most", "width", "shown"),
    [
        (8, 8, 4, "████"),
        (4, 8, 4, "██"),
        (1, 8, 4, "▌"),
        (1, 1000, 4, "▏"),
        (0, 8, 4, ""),
        (9, 8, 4, "████"),
        (3, 0, 4, ""),
        (5, 8, 2, "█▎"),
    ],
)
def test_bar_length_is_its_share(value: int, most: int, width: int, shown: str) -> None:
    assert draw_bar(value, most, width) == shown


def test_ascii_bar_has_no_fractions() -> None:
    assert draw_bar(3, 8, 8, ascii_only=True) == "###"
    assert draw_bar(1, 1000, 8, ascii_only=True) == "#"


def test_columns_share_a_baseline() -> None:
    assert draw_columns([0, 1, 4, 8], 2, 2) == ["      ██", "  ▂▂████"]
    assert draw_columns([0, 1, 2, 4, 8]) == [" ▁▂▄█"]
    assert draw_columns([0, 7], 1, ascii_only=True) == [" #"]
    assert draw_columns([0, 0], 1) == ["  "]
    assert draw_columns([], 2) == ["", ""]


@given(st.lists(st.integers(0, 10**9), max_size=40), st.integers(1, 5), st.booleans())
def test_column_is_empty_only_for_zero(values: list[int], height: int, ascii_only: bool) -> None:
    lines = draw_columns(values, height, ascii_only=ascii_only)
    assert [len(line) for line in lines] == [len(values)] * height
    assert [item != " " for item in lines[-1]] == [value > 0 for value in values]


@given(st.dictionaries(st.integers(0, 3000), st.integers(1, 9), min_size=1), st.integers(1, 200))
def test_days_are_grouped_until_they_fit(counts: dict[int, int], width: int) -> None:
    found = group_counts({DAY + timedelta(days=day): n for day, n in counts.items()}, width)
    assert found is not None
    assert len(found.counts) <= width
    if found.span != "month" or len(found.counts) < width:
        assert sum(found.counts) == sum(counts.values())
    assert found.first == DAY + timedelta(days=min(counts))


def test_no_days_give_no_chart() -> None:
    assert group_counts({}, 10) is None
    first = group_counts({DAY: 3}, 10)
    assert first is not None
    assert (first.span, first.counts) == ("day", (3,))


def test_labels_do_not_touch() -> None:
    assert draw_axis({0: "0:00", 3: "x", 12: "6:00"}, 16) == "0:00        6:00"
    assert draw_axis({14: "6:00"}, 16) == ""
    assert justify_ends("a", "b", 5) == "a   b"
    assert justify_ends("aaa", "bbb", 6) == "aaa"
