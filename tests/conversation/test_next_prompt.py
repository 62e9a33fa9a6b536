"""Tokens of the next prompt: exact where usage gives them, otherwise estimated, and their price."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plait.conversation.next_prompt import (
    HOUR,
    MINUTES,
    NextPrompt,
    compute_break_even_turns,
    estimate_next_prompt,
)
from plait.conversation.prices import Prices
from plait.graph.client.tokens import AROUND, PICTURE, estimate_block_tokens
from plait.record import Record, parse_record

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
MODEL = "claude-sonnet-4-5-20250929"


class Session:
    """A session that is written line by line."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.offset = 0
        self.last: str | None = None

    def add(self, kind: str, message: Any = None, **more: Any) -> "Session":
        """Add a record behind the last one."""
        number = len(self.records) + 1
        time = START + timedelta(minutes=number)
        fields = {
            "parentUuid": self.last,
            "type": kind,
            "uuid": f"u{number}",
            "timestamp": time.isoformat(),
            **({"message": message} if message else {}),
            **more,
        }
        raw = json.dumps(fields, separators=(",", ":")).encode()
        self.records.append(parse_record(raw, number, self.offset))
        self.offset += len(raw) + 1
        self.last = fields["uuid"]
        return self

    def ask(self, words: str = "why?", **more: Any) -> "Session":
        """Add a prompt."""
        return self.add("user", {"role": "user", "content": words}, **more)

    def say(self, usage: dict[str, Any] | None, words: str = "so", **more: Any) -> "Session":
        """Add an answer."""
        block = more.pop("block", {"type": "text", "text": words})
        model = more.pop("model", MODEL)
        id_ = more.pop("id", f"m{len(self.records)}")
        told = {"usage": usage} if usage else {}
        message = {"role": "assistant", "id": id_, "model": model, "content": [block], **told}
        return self.add("assistant", message, **more)

    def call(self, usage: dict[str, Any] | None, answered: str, **more: Any) -> "Session":
        """Add a call and its result."""
        call = f"t{len(self.records)}"
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}
        self.say(usage, block=block, **more)
        result = {"type": "tool_result", "tool_use_id": call, "content": answered}
        return self.add("user", {"role": "user", "content": [result]})

    @property
    def next(self) -> NextPrompt:
        """What its next prompt sends."""
        return estimate_next_prompt(self.records, self.offset)


def read(cached: int, output: int = 10, written: int = 0, hour: int = 0) -> dict[str, Any]:
    """Return the usage of an answer."""
    return {
        "input_tokens": 3,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
        "cache_creation": {
            "ephemeral_5m_input_tokens": written - hour,
            "ephemeral_1h_input_tokens": hour,
        },
    }


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        ({"type": "text", "text": "x" * 390}, 100),
        ({"type": "text", "text": "x" * 390 + "é" * 7}, 107),
        ({"type": "tool_use", "name": "Bash", "input": "x" * 344}, AROUND + 100),
        ({"type": "tool_result", "content": "x" * 300}, AROUND + 100),
        ({"type": "tool_result", "content": [{"type": "text", "text": "x" * 300}]}, AROUND + 100),
        ({"type": "tool_result", "content": [{"type": "image"}]}, AROUND + PICTURE),
        ({"type": "tool_result"}, AROUND),
        ({"type": "thinking", "thinking": "x" * 390}, 100),
        ({"type": "thinking", "thinking": "x" * 390, "signature": "s" * 40}, 10),
        ({"type": "redacted_thinking", "data": "x" * 40}, 10),
        ({"type": "image", "source": {"data": "x" * 100_000}}, PICTURE),
        ({"type": "odd", "field": "x" * 300}, 93),
    ],
)
def test_blocks_are_estimated_by_type(block: dict[str, Any], tokens: int) -> None:
    assert estimate_block_tokens(block) == tokens


def test_last_usage_gives_the_tokens() -> None:
    found = Session().ask().say(read(1000)).ask().say(read(2000, output=50, written=100)).next
    assert found.tokens == 3 + 2000 + 100 + 50
    assert found.model == MODEL
    assert found.used
    assert found.used.cache_read == 2000


def test_without_usage_nothing_is_known() -> None:
    assert Session().ask().say(None).next.tokens is None
    assert Session().next.tokens is None
    made_up = Session().ask().say(read(1000), model="<synthetic>").next
    assert made_up.tokens is None
    assert made_up.warm_usd(Prices()) is made_up.cold_usd(Prices()) is None


def test_entries_after_the_last_usage_are_estimated() -> None:
    known = Session().ask().say(read(1000))
    asked = 3 + 1000 + 10
    assert known.next.tokens == asked
    assert known.ask("x" * 390).next.tokens == asked + 100


def test_usage_before_a_compaction_is_ignored() -> None:
    session = Session().ask().say(read(90_000), words="kept")
    kept = session.last
    metadata = {"trigger": "auto", "preservedMessages": {"anchorUuid": "u4", "uuids": [kept]}}
    session.last = None
    session.add("system", subtype="compact_boundary", compactMetadata=metadata)
    session.ask("summary", isCompactSummary=True)
    found = session.next
    assert found.tokens == 90_003 + found.weight
    assert found.model == MODEL
    assert session.ask().say(read(4000)).next.tokens == 4013


def test_lines_of_a_response_count_once() -> None:
    session = Session().ask().say(read(1000, output=1), id="m")
    session.say(read(1000, output=700), id="m", words="more" * 500)
    assert session.next.tokens == 1703
    session.say(read(1000, output=2), id="m")
    assert session.next.tokens == 1703
    assert session.next.requests_per_turn == 1


def grown(share: float, times: int, **more: Any) -> Session:
    """Return a session whose usage grows so many times faster than its weight."""
    session, cached = Session().ask(), 1000.0
    for _ in range(times):
        session.call(read(round(cached)), "x" * 3000, **more)
        weight = sum(map(estimate_block_tokens, _blocks(session.records[-2:])))
        cached += share * weight
    return session.say(read(round(cached)))


def _blocks(records: list[Record]) -> list[dict[str, Any]]:
    return [block for record in records for block in record.fields["message"]["content"]]


@pytest.mark.parametrize(
    ("share", "times", "measure"),
    [
        (1.3, 4, 1.3),
        (1.3, 3, 1.3),
        (1.3, 2, 1.0),  # too few to learn from
        (9.0, 5, 2.0),  # no tokenizer is that far off
        (0.1, 5, 0.5),
    ],
)
def test_estimates_are_calibrated_per_session(share: float, times: int, measure: float) -> None:
    session = grown(share, times)
    found = session.next
    assert found.measure == pytest.approx(min(measure, (found.tokens or 0) / found.weight), 0.02)
    longer = session.ask("x" * 3900).next
    assert (longer.tokens or 0) - (found.tokens or 0) == pytest.approx(1000 * found.measure, 0.01)


def test_usage_below_the_estimate_is_no_measure() -> None:
    session = Session().ask("x" * 39_000).say(read(0, output=1))
    assert session.next.tokens == 4
    assert session.ask("x" * 3900, trimmedTokens=500).next.tokens == 4


def test_trimmed_tokens_are_subtracted() -> None:
    session = Session().ask().call(read(9000), "gone", trimmedTokens=2).say(read(12_000))
    whole = session.next.tokens
    assert whole == 12_013 - 2
    noted = Session().ask().call(read(9000), "gone")
    result = noted.records[-1].replace(trimmedTokens=3000)
    noted.records[-1] = result
    noted.say(read(12_000))
    assert noted.next.tokens == 12_013 - 3000
    assert noted.next.trimmed == 3000


def test_tokens_trimmed_after_the_last_usage_are_not_subtracted() -> None:
    session = Session().ask().say(read(12_000)).ask("short", trimmedTokens=3000)
    assert session.next.tokens == 12_013 + 1


@pytest.mark.parametrize("noted", ["many", -5, None, True])
def test_invalid_trim_note_is_ignored(noted: Any) -> None:
    assert Session().ask(trimmedTokens=noted).records[0].trimmed_tokens == 0


def test_requests_per_turn_is_the_median() -> None:
    session = Session().ask().say(read(1)).ask()
    for _ in range(4):
        session.call(read(1), "ok")
    session.ask().call(read(1), "ok").say(read(1))
    assert session.next.requests_per_turn == 2
    assert Session().ask().next.requests_per_turn == 1


def test_price_follows_the_sessions_cache_lifetime() -> None:
    prices = Prices()
    short = Session().ask().say(read(999_987 - 500_000, written=500_000)).next
    assert short.tokens == 1_000_000
    assert short.lasts == MINUTES
    longer = {"input_tokens": 200_000, "cache_creation_input_tokens": 1000}
    found = Session().ask().say({**longer, "output_tokens": 0}).next
    assert found.warm_usd(prices) == pytest.approx(prices.cost(MODEL, _cached(201_000), START))
    hour = Session().ask().say(read(1000, written=100, hour=100)).ask().say(read(1100)).next
    assert hour.lasts == HOUR
    assert hour.tokens == 1113
    assert hour.cold_usd(prices) == pytest.approx(1113 * 3 * 2 / 1e6)
    assert hour.warm_usd(prices) == pytest.approx(1113 * 3 * 0.1 / 1e6)
    minutes = Session().ask().say(read(1100, written=3)).next
    assert minutes.cold_usd(prices) == pytest.approx(1116 * 3 * 1.25 / 1e6)


def _cached(count: int) -> Any:
    from plait.conversation.usage import Tokens

    return Tokens(cache_read=count)


def test_unpriced_model_has_no_cost() -> None:
    assert Session().ask().say(read(1000), model="nobody-knows").next.warm_usd(Prices()) is None


@pytest.mark.parametrize(
    ("after", "hour", "is_cold"),
    [
        (299, 0, False),
        (300, 0, False),
        (301, 0, True),
        (301, 9, False),
        (301, 5, True),  # the rest is held for five minutes
        (3599, 9, False),
        (3601, 9, True),
    ],
)
def test_cache_is_cold_after_its_lifetime(after: int, hour: int, is_cold: bool) -> None:
    found = Session().ask().say(read(1000, written=9, hour=hour)).next
    assert found.time
    assert found.is_cold(found.time + timedelta(seconds=after)) is is_cold


@pytest.mark.parametrize(
    ("before", "after", "cold", "later", "turns"),
    [
        (0.10, 0.05, 0.60, 1, 6.0),  # 0.60 to write, 0.05 saved by each of two requests
        (0.10, 0.05, 0.60, 600, 0.0),
        (0.10, 0.10, 0.60, 1, None),
        (0.05, 0.10, 0.60, 600, None),
        (None, 0.05, 0.60, 1, None),
        (0.10, None, 0.60, 1, None),
        (0.10, 0.05, None, 1, None),
    ],
)
def test_break_even_of_a_trim(
    before: float | None, after: float | None, cold: float | None, later: int, turns: float | None
) -> None:
    sent = Session().ask().call(read(1000), "ok").say(read(1100)).next
    assert sent.time
    now = sent.time + timedelta(seconds=later)
    found = compute_break_even_turns(sent, warm=before, warm_after=after, cold_after=cold, now=now)
    assert found == (None if turns is None else pytest.approx(turns))
