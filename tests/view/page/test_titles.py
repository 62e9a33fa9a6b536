"""Shortening long texts to whole words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.view.formats import format_first_models
from plait.view.text import shorten


@pytest.mark.parametrize(
    ("text", "most", "words"),
    [
        ("short", 10, "short"),
        ("two\n  lines", 10, "two lines"),
        ("words are never cut", 12, "words are …"),
        ("words, are", 8, "words …"),
        ("unbrokenunbroken", 6, "unbrok …"),
        ("", 5, ""),
    ],
)
def test_text_is_shortened_between_words(text: str, most: int, words: str) -> None:
    assert shorten(text, most) == words


@given(st.text(max_size=200), st.integers(1, 40))
def test_shortened_text_is_one_short_line(text: str, most: int) -> None:
    words = shorten(text, most)
    assert len(words) <= most + 2
    assert words.splitlines() in ([words], [])


def test_model_names_have_no_date() -> None:
    assert format_first_models(("claude-opus-4-5-20251101",)) == "opus-4-5"
    assert format_first_models(("a-20250101", "a-20260101", "b", "c")) == "a, b +1"
    assert format_first_models(()) == ""
