"""The small model to compare a model with."""

import pytest

from plait.conversation.prices import Prices, find_smaller_model
from plait.conversation.usage import Tokens


@pytest.mark.parametrize(
    ("model", "small"),
    [
        ("claude-opus-5-5", "claude-haiku-5-5"),
        ("claude-opus-5-5[1m]", "claude-haiku-5-5"),
        ("claude-opus-5", "claude-haiku-4-5"),
        ("claude-fable-5-1", "claude-haiku-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-haiku-4-5"),
        ("claude-opus-4-20250514", "claude-3-5-haiku"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-haiku"),
        ("claude-3-opus-20240229", "claude-3-haiku"),
        ("claude-haiku-5-5", None),
        ("claude-3-haiku-20240307", None),
        ("claude-2.1", None),
        ("gpt-5", None),
        ("us.anthropic.claude-opus-4-6-v1", None),
        ("claude-opus-4-6@20260101", None),
        ("", None),
    ],
)
def test_newest_small_model_of_the_same_or_an_earlier_generation(
    model: str, small: str | None
) -> None:
    assert find_smaller_model(model) == small
    if small:
        assert Prices().unit(small, Tokens(input=1), None) is not None
