"""Requests: model, cache breakpoints, output limit, system prompt."""

from datetime import date
from pathlib import Path

import pytest

from plait.chat.context import (
    CACHE_CONTROL,
    ROLE,
    LiveContext,
    RequestBuilder,
    add_cache_mark,
    build_system_prompt,
    describe_environment,
)
from plait.chat.model_info import Capacity, get_capacity
from tests.write.stories import USAGE, writer


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_request_is_system_prompt_plus_log(tmp_path: Path) -> None:
    session = writer(tmp_path)
    memory = RequestBuilder(LiveContext(session), "claude-opus-5-5", [text("Be."), text("Here.")])
    session.prompt("Hello.")
    session.answer("Hi.", usage=USAGE)
    session.prompt("Go on.")
    tool = {"name": "Read"}
    request = memory.build([tool])
    assert request.model == "claude-opus-5-5"
    assert request.max_tokens == 128_000
    assert list(request.tools) == [tool]
    assert list(request.system) == [text("Be."), text("Here.") | {"cache_control": CACHE_CONTROL}]
    assert list(request.messages) == [
        {"role": "user", "content": [text("Hello.")]},
        {"role": "assistant", "content": [text("Hi.")]},
        {"role": "user", "content": [text("Go on.") | {"cache_control": CACHE_CONTROL}]},
    ]
    assert "cache_control" not in str(memory.context.messages())


def test_requests_have_limits_and_extra_fields(tmp_path: Path) -> None:
    extra = {"thinking": {"type": "adaptive"}}
    context = LiveContext(writer(tmp_path))
    memory = RequestBuilder(context, "claude-sonnet-4-5[1m]", max_tokens=9, extra=extra)
    request = memory.build()
    assert (request.model, request.max_tokens, request.extra) == ("claude-sonnet-4-5", 9, extra)
    assert list(request.system) == []


def test_the_cache_mark_is_on_the_last_block_that_can_carry_one() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    hidden = {"type": "redacted_thinking", "data": "d"}
    first = {"role": "user", "content": [text("a"), text("b"), text("")]}
    last = {"role": "assistant", "content": [thought, hidden]}
    marked = [text("a"), text("b") | {"cache_control": CACHE_CONTROL}, text("")]
    assert add_cache_mark([first, last]) == [{"role": "user", "content": marked}, last]
    assert add_cache_mark([last]) == [last]
    assert add_cache_mark([]) == []


@pytest.mark.parametrize(
    ("model", "capacity"),
    [
        ("claude-opus-5-5", Capacity(1_000_000, 128_000)),
        ("us.anthropic.claude-sonnet-5-5-v1:0", Capacity(1_000_000, 128_000)),
        ("claude-opus-5", Capacity(1_000_000, 64_000)),
        ("claude-opus-4-7-20260101", Capacity(1_000_000, 64_000)),
        ("claude-opus-4-6", Capacity(200_000, 64_000)),
        ("claude-sonnet-4-5-20250929", Capacity(200_000, 32_000)),
        ("claude-sonnet-4-5[1m]", Capacity(1_000_000, 32_000)),
        ("claude-3-5-haiku-latest", Capacity(200_000, 8_192)),
        ("claude-3-opus-20240229", Capacity(200_000, 4_096)),
        ("somebody-else", Capacity(200_000, 32_000)),
    ],
)
def test_model_limits(model: str, capacity: Capacity) -> None:
    assert get_capacity(model) == capacity


def test_compaction_happens_before_a_summary_would_not_fit() -> None:
    assert get_capacity("claude-sonnet-4-5").compaction_threshold == 167_000
    assert get_capacity("claude-opus-5-5").compaction_threshold == 967_000
    assert get_capacity("claude-3-5-haiku").compaction_threshold == 200_000 - 8_192 - 13_000


def test_system_prompt_has_place_and_date(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    other = tmp_path / "other"
    found = build_system_prompt(describe_environment(tmp_path, date(2026, 11, 16), [other]))
    assert found[0]["text"] == ROLE
    lines = found[1]["text"].splitlines()
    assert lines[:4] == [
        "Environment:",
        f"- Working directory: {tmp_path}",
        f"- Additional directory: {other}",
        "- Git repository: yes, on branch topic",
    ]
    assert lines[4].startswith("- Platform: ")
    assert lines[5] == "- Today's date: 2026-11-16"


def test_system_prompt_can_be_replaced_or_extended(tmp_path: Path) -> None:
    place = describe_environment(tmp_path, date(2026, 11, 16))
    assert "- Git repository: no\n- Platform: " in place
    assert build_system_prompt(place, replacement="Only this.", appended="And this.") == [
        text("Only this."),
        text("And this."),
    ]
    assert build_system_prompt(place, replacement="") == []
    assert len(build_system_prompt(place, appended=" ")) == 2
