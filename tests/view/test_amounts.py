"""Amounts to words: how long a turn took, how large a conversation was at a compaction."""

import pytest

from plait.view.amounts import duration_in_words, thousands_in_words

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


# checklist: D84
@pytest.mark.parametrize(
    ("count", "words"),
    [(115_999, "115k"), (1000, "1k"), (999, "999"), (1_234_567, "1234k"), (0, ""), (None, "")],
)
def test_the_size_of_a_compaction_is_cut_to_thousands(count: int | None, words: str) -> None:
    assert thousands_in_words(count) == words
