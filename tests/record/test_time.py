"""Timestamps and durations."""

from datetime import UTC, datetime

import pytest

from plait.record.time import compute_elapsed_ms, make_interval, parse_time

NOON, LATER = "2026-11-15T12:00:00.000Z", "2026-11-15T12:00:01.500Z"


@pytest.mark.parametrize(
    ("start", "end", "took"),
    [
        (NOON, LATER, 1500.0),
        (NOON, NOON, 0.0),
        (LATER, NOON, 0.0),  # the clock stepped back
        (NOON, None, None),
        (None, LATER, None),
        (NOON, "soon", None),
    ],
)
def test_time_between_two_timestamps(start: str | None, end: str | None, took: float) -> None:
    assert compute_elapsed_ms(start, end) == took


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (NOON, LATER, NOON, LATER),
        (LATER, NOON, LATER, LATER),
        (NOON, None, NOON, None),
        (None, NOON, None, NOON),
        ("soon", NOON, None, NOON),
    ],
)
def test_no_negative_durations(
    start: str | None, end: str | None, first: str | None, last: str | None
) -> None:
    assert make_interval(start, end) == (parse_time(first), parse_time(last))


def test_timestamp_is_text_or_seconds_or_milliseconds() -> None:
    noon = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
    assert (
        parse_time(NOON)
        == parse_time(noon.timestamp())
        == parse_time(noon.timestamp() * 1000)
        == noon
    )
    assert parse_time("2026-11-15T13:00:00+01:00") == noon
    assert parse_time("2026-11-15T12:00:00") == noon
    assert parse_time(1e300) is None
