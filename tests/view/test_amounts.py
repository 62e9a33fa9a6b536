"""Formatting of durations and compaction sizes."""

import pytest

from plait.view.formats import format_money_column, format_thousands, format_turn_duration

SECOND, HOUR = 1000, 3_600_000


@pytest.mark.parametrize(
    ("duration", "asking", "words"),
    [
        (5 * SECOND, 0, "5 s"),
        (2 * HOUR, HOUR, "2 h, 1 h waiting for you"),
        (5 * SECOND, 900, "5 s"),
        (None, 0, ""),
    ],
)
def test_turn_duration(duration: float | None, asking: float, words: str) -> None:
    assert format_turn_duration(duration, asking) == words


# checklist: D84
@pytest.mark.parametrize(
    ("count", "words"),
    [(115_999, "115k"), (1000, "1k"), (999, "999"), (1_234_567, "1234k"), (0, ""), (None, "")],
)
def test_compaction_size_is_in_thousands(count: int | None, words: str) -> None:
    assert format_thousands(count) == words


@pytest.mark.parametrize(
    ("sums", "words"),
    [
        ((0.0133, 0.0087), ["$0.0133", "$0.0087"]),
        ((1.5, 0.09), ["$1.5000", "$0.0900"]),
        ((1.5, 0.1), ["$1.50", "$0.10"]),
        ((1.5, 0.0), ["$1.50", "$0.0000"]),
        ((None, 0.5), ["?", "$0.50"]),
    ],
)
def test_compared_sums_have_the_same_decimals(
    sums: tuple[float | None, ...], words: list[str]
) -> None:
    assert format_money_column(sums, "?") == words
