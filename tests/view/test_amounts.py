"""Amounts to words: how long a turn took, and how much of it a person was waited for."""

import pytest

from plait.view.amounts import duration_in_words

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
def test_how_long_a_turn_took(duration: float | None, asking: float, words: str) -> None:
    assert duration_in_words(duration, asking) == words
