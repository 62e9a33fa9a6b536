"""Formatting numbers, times and strings."""

from datetime import UTC, date, datetime, timedelta

import pytest

from plait.errors import UserError
from plait.record.time_words import parse_time_option
from plait.terminal.text import format_number, safe
from plait.view.formats import format_age, format_bytes, format_count, format_days_until
from plait.view.text import count_columns, shorten_to_width

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOON = datetime(2026, 11, 15, 12).astimezone()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (43_000_000, "43 MB"), (10**13, "10 TB")],
)
def test_sizes(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5, "just now"),
        (300, "5 min ago"),
        (7200, "2 h ago"),
        (86400 * 1.5, "yesterday"),
        (86400 * 5, "5 days ago"),
        (86400 * 40, "2026-10-06"),
        (-86400, "2026-11-16"),
    ],
)
def test_relative_past_times(seconds: float, text: str) -> None:
    assert format_age(NOW - timedelta(seconds=seconds), NOW) == text


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("2026-11-15T12:00", "any time"),
        ("2026-11-15T23:59", "today"),
        ("2026-11-16T00:00", "tomorrow"),
        ("2026-11-16T23:59", "tomorrow"),
        ("2026-11-18T01:00", "in 3 days"),
        ("9999-12-31T23:59", "in 2912124 days"),
    ],
)
def test_relative_future_days(time: str, text: str) -> None:
    assert format_days_until(datetime.fromisoformat(time).astimezone(), NOON) == text


def test_plurals() -> None:
    assert format_number(1234567) == "1,234,567"
    assert format_count(1, "entry", "entries") == "1 entry"
    assert format_count(2, "entry", "entries") == "2 entries"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("a longer sentence", 10, "a longer…"),
        ("abcdefghijkl", 6, "abcde…"),
        ("漢字漢字漢字", 7, "漢字漢…"),
    ],
)
def test_clipping_at_word_boundaries(text: str, width: int, expected: str) -> None:
    assert shorten_to_width(text, width) == expected
    assert count_columns(expected) <= width


def test_control_characters_are_removed() -> None:
    assert safe("a\x1b]0;x\x07b\nc\td\x9b\u202e") == "a\ufffd]0;x\ufffdb\nc\td\ufffd\ufffd"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", NOW - timedelta(days=7)),
        ("12h", NOW - timedelta(hours=12)),
        ("2026-11-01T10:00:00Z", datetime(2026, 11, 1, 10, tzinfo=UTC)),
        ("2 weeks ago", NOW - timedelta(days=14)),
        ("an hour ago", NOW - timedelta(hours=1)),
        (None, None),
    ],
)
def test_times(text: str | None, moment: datetime | None) -> None:
    assert parse_time_option(text, NOW) == moment


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday", date(2026, 3, 30)),
        ("monday", date(2026, 3, 30)),
        ("tue", date(2026, 3, 31)),
        ("last tuesday", date(2026, 3, 24)),
        ("this week", date(2026, 3, 30)),
        ("last week", date(2026, 3, 23)),
        ("last  month", date(2026, 2, 1)),
        ("this year", date(2026, 1, 1)),
        ("last year", date(2025, 1, 1)),
        ("2026-02", date(2026, 2, 1)),
        ("march", date(2026, 3, 1)),
        ("last march", date(2025, 3, 1)),
        ("april", date(2025, 4, 1)),
        ("apr 2024", date(2024, 4, 1)),
    ],
)
def test_days_as_people_type_them(text: str, day: date) -> None:
    tuesday = datetime(2026, 3, 31, 15, 30, tzinfo=UTC)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert parse_time_option(text, tuesday, UTC) == midnight


def test_month_ago_is_a_valid_day() -> None:
    last = datetime(2026, 3, 31, 15, 30, tzinfo=UTC)
    assert parse_time_option("1 month ago", last, UTC) == datetime(2026, 2, 28, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "ma", "99999 years ago", "2026-13", "monday 2026"])
def test_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not a time"):
        parse_time_option(text, NOW)
