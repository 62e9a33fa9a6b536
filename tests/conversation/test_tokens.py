"""Token counts in the usage of a line."""

from typing import Any

import pytest

from plait.conversation.usage import Tokens, parse_tokens, supersedes
from plait.record.billing import Figures, make_bill
from plait.record.codec import convert_leniently
from plait.record.message import Usage

PLAIN = {"input_tokens": 100, "output_tokens": 10}
SAID: list[tuple[str, dict[str, Any], Tokens]] = [
    ("input and output", PLAIN, Tokens(100, 10)),
    (
        "a write without shares is kept for five minutes",
        {**PLAIN, "cache_creation_input_tokens": 7},
        Tokens(100, 10, cache_write_5m=7),
    ),
    (
        "the hour's share is a part of all that was written",
        {
            **PLAIN,
            "cache_creation_input_tokens": 7,
            "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5},
        },
        Tokens(100, 10, cache_write_5m=2, cache_write_1h=5),
    ),
    (
        "a share that is larger than the whole leaves nothing, not less",
        {
            **PLAIN,
            "cache_creation_input_tokens": 3,
            "cache_creation": {"ephemeral_1h_input_tokens": 5},
        },
        Tokens(100, 10, cache_write_1h=5),
    ),
    (
        "only the shares are given",
        {
            **PLAIN,
            "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5},
        },
        Tokens(100, 10, cache_write_5m=2, cache_write_1h=5),
    ),
    (
        "searches and fetches",
        {**PLAIN, "server_tool_use": {"web_search_requests": 7, "web_fetch_requests": 2}},
        Tokens(100, 10, web_searches=7, web_fetches=2),
    ),
    (
        "what is ordinary is not named",
        {**PLAIN, "service_tier": "standard", "speed": "standard", "inference_geo": ""},
        Tokens(100, 10),
    ),
    (
        "what is special is",
        {**PLAIN, "service_tier": "batch", "speed": "fast", "inference_geo": "us"},
        Tokens(100, 10, tier="batch", speed="fast", geo="us"),
    ),
    ("less than nothing is nothing", {"input_tokens": -5, "output_tokens": 10}, Tokens(0, 10)),
]


@pytest.mark.parametrize(("said", "tokens"), [case[1:] for case in SAID], ids=[c[0] for c in SAID])
def test_usage_fields(said: dict[str, Any], tokens: Tokens) -> None:
    assert parse_tokens(convert_leniently(said, Usage)) == tokens
    assert parse_tokens(convert_leniently(said, Figures)) == tokens


def test_numbers_in_any_form() -> None:
    usage = {
        "input_tokens": "100",
        "output_tokens": 10.0,
        "cache_read_input_tokens": "3e2",
        "cache_creation_input_tokens": None,
        "server_tool_use": {"web_search_requests": "7", "other": []},
        "speed": 5,
        "service_tier": ["standard"],
    }
    bill = make_bill({"type": "assistant", "message": {"id": 3, "model": "m", "usage": usage}})
    assert bill.figures is not None
    assert bill.message is not None and bill.message.id is None
    assert parse_tokens(bill.figures) == Tokens(100, 10, cache_read=300, web_searches=7)


def test_tokens_add_up() -> None:
    one = Tokens(1, 2, 3, 4, 5, 6, 7, tier="batch", speed="fast")
    both = one + Tokens(10, 20, 30, 40, 50, 60, 70, tier="batch")
    assert both == Tokens(11, 22, 33, 44, 55, 66, 77, tier="batch")
    assert both.cache_write == 77
    assert both.total_input == 11 + 77 + 55
    assert both.total == both.total_input + 22


# checklist: F37
@pytest.mark.parametrize(
    ("older", "newer", "is_it"), [(2, 480, True), (480, 480, True), (480, 2, False)]
)
def test_line_with_the_most_output_counts(older: int, newer: int, is_it: bool) -> None:
    assert supersedes(Figures(output_tokens=newer), Figures(output_tokens=older)) is is_it
