"""Formatting durations, times and token counts."""

import pytest

from plait.terminal.text import format_lapse, join_fitting, local_time
from plait.view.formats import format_tokens

START = "2026-11-02T09:00:00.000Z"


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        ("2026-11-02T09:00:00.400Z", ""),
        ("2026-11-02T09:00:59Z", "59 s"),
        ("2026-11-02T09:02:30Z", "2 min"),
        ("2026-11-02T10:00:10Z", "1 h"),
        ("2026-11-02T11:05:00Z", "2 h 5 min"),
        ("2026-11-05T09:00:00Z", "3 d"),
        ("2026-11-02T08:00:00Z", ""),
        (None, ""),
        ("nonsense", ""),
    ],
)
def test_durations(ended: str | None, text: str) -> None:
    assert format_lapse(START, ended) == text


def test_invalid_time_is_none() -> None:
    assert local_time("nonsense") is None
    assert local_time(None) is None
    assert local_time(START) is not None


@pytest.mark.parametrize(
    ("tokens", "text"), [(7, "7"), (1500, "1.5k"), (155_000, "155k"), (1_200_000, "1.2M")]
)
def test_tokens_are_rounded(tokens: int, text: str) -> None:
    assert format_tokens(tokens) == text


def test_trailing_parts_are_dropped_in_narrow_space() -> None:
    parts = ["3 prompts", "", "12 KB", "1 min"]
    assert join_fitting(parts, 40) == "3 prompts · 12 KB · 1 min"
    assert join_fitting(parts, 20) == "3 prompts · 12 KB"
    assert join_fitting(parts, 1) == "3 prompts"
    assert join_fitting([], 10) == ""
