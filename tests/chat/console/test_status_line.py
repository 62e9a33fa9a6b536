"""The status line, and what the next prompt costs."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from plait.chat.console.interactive import StatusLine
from plait.chat.console.openers import Engine
from plait.chat.events import Compacted, ResponseLogged, TurnEnded
from plait.chat.model_info import ContextFill
from plait.chat.usage import Meter
from plait.conversation.prices import Prices

NOW = datetime(2026, 11, 3, 12, tzinfo=UTC)
MODEL = "claude-opus-4-6"


@dataclass
class Held:
    """A session that stands somewhere."""

    context_fill: ContextFill | None = None
    model: str = MODEL
    mode: str = "default"
    meter: Meter = field(default_factory=lambda: Meter(Prices()))


def make_client(**known: Any) -> Engine:
    return cast("Engine", Held(**known))


def make_response(model: str = MODEL, **usage: Any) -> ResponseLogged:
    return ResponseLogged("m", "r", model, (), None, usage)


def make_status_line(minutes: float = 0, **usage: Any) -> StatusLine:
    """Return how it stands so many minutes after an answer."""
    times = [NOW, NOW + timedelta(minutes=minutes)]
    found = StatusLine(Prices(), 0.5, clock=lambda: times[0])
    found.record(make_response(**usage), make_client())
    found.clock = lambda: times[1]
    return found


HOUR = {"ephemeral_1h_input_tokens": 100_000, "ephemeral_5m_input_tokens": 0}


@pytest.mark.parametrize(
    ("minutes", "usage", "price", "doubt"),
    [
        (0, {"input_tokens": 100}, "", ""),
        (4, {"cache_read_input_tokens": 100_000}, "next prompt $0.05", ""),
        (
            6,
            {"cache_read_input_tokens": 100_000},
            "next prompt $0.62, cache expired",
            "the cache has expired; this sends 100k tokens for $0.62",
        ),
        (
            59,
            {"cache_creation_input_tokens": 100_000, "cache_creation": HOUR},
            "next prompt $0.05",
            "",
        ),
        (
            61,
            {"cache_creation_input_tokens": 100_000, "cache_creation": HOUR},
            "next prompt $1.00, cache expired",
            "the cache has expired; this sends 100k tokens for $1.00",
        ),
        (9, {"cache_read_input_tokens": 40_000}, "next prompt $0.25, cache expired", ""),
    ],
)
def test_next_prompt_cost(minutes: float, usage: dict[str, Any], price: str, doubt: str) -> None:
    found = make_status_line(minutes, **usage)
    assert (found.price(), found.price_warning()) == (price, doubt)


def test_cache_lifetime_follows_the_last_usage() -> None:
    found = make_status_line(cache_creation_input_tokens=100_000, cache_creation=HOUR)
    found.record(make_response(cache_read_input_tokens=100_000), make_client())
    found.clock = lambda: NOW + timedelta(minutes=30)
    assert found.price() == "next prompt $0.05"


def test_unknown_before_the_first_answer_and_after_compaction() -> None:
    assert StatusLine(Prices(), 0.5).price() == ""
    found = make_status_line(9, cache_read_input_tokens=100_000)
    found.record(make_response("<synthetic>", input_tokens=9), make_client())
    assert found.price()
    found.record(make_response(input_tokens=0), make_client())
    assert found.price()
    found.record(Compacted("manual", 1, ""), make_client())
    assert (found.price(), found.price_warning(), found.dollars) == ("", "", None)


def test_unpriced_model_shows_no_cost() -> None:
    found = StatusLine(Prices(), 0.5, clock=lambda: NOW)
    found.record(make_response("other", cache_read_input_tokens=900_000), make_client())
    assert (found.price(), found.price_warning()) == ("", "")


def ended() -> TurnEnded:
    return TurnEnded("done", "", 0, 1, {}, None)


def test_status_line() -> None:
    found = make_status_line(cache_read_input_tokens=100_000)
    assert found.render(make_client()) == f"{MODEL} · next prompt $0.05 · /help"
    found.record(ended(), make_client(context_fill=ContextFill(50_000, 200_000, 167_000)))
    spent = Meter(Prices())
    spent.dollars = 1.5
    shown = found.render(make_client(mode="plan", meter=spent), "2 agents")
    assert shown == f"{MODEL} · plan · context 25% · $1.50 · 2 agents · next prompt $0.03 · /help"


def test_engine_without_usage_shows_nothing() -> None:
    found = make_status_line(cache_read_input_tokens=100_000)
    found.record(ended(), make_client())
    assert found.render(make_client()) == f"{MODEL} · next prompt $0.05 · /help"
