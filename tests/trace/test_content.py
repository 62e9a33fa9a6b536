"""Limiting span content: cut, omitted, never invalid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.trace.model import Content, Span
from plait.trace.otlp import encode_json, encode_text, prepare_spans, shorten, truncate


def span(**facts: Any) -> Span:
    return Span(
        **{
            "trace": "0" * 31 + "1",
            "id": "0" * 15 + "1",
            "kind": "tool",
            "name": "Bash",
            "session": "s",
            "conversation": "s",
            "turn": 1,
            **facts,
        }
    )


def one(value: Span, **options: Any) -> Span:
    (found,) = prepare_spans([value], Content(**options))
    return found


def test_a_long_text_is_cut_and_the_length_noted() -> None:
    assert truncate("abcdef", 4) == "abcd… (cut, 2 more)"
    assert truncate("abcd", 4) == "abcd"
    found = one(span(output="x" * 1000), limit=300)
    assert found.output == "x" * 300 + "… (cut, 700 more)"


def test_long_texts_within_a_value_are_cut_and_its_shape_kept() -> None:
    given_ = {"file_path": "/a", "content": "y" * 5000, "n": 3, "edits": [{"old": "z" * 5000}]}
    found = one(span(input=given_), limit=2000).input
    assert (found["file_path"], found["n"]) == ("/a", 3)
    assert found["content"].endswith(" more)")
    assert found["edits"][0]["old"].startswith("zzz")
    assert len(encode_json(found)) <= 2000


def test_many_short_parts_become_truncated_json() -> None:
    found = one(span(output=[f"line {n}" for n in range(5000)]), limit=1000).output
    assert isinstance(found, str)
    assert found.startswith('["line 0","line 1"')
    assert found.endswith(" more)")


def test_thinking_is_sent_only_on_request() -> None:
    assert one(span(thinking="hm")).thinking is None
    assert one(span(thinking="hm" * 500), has_thinking=True, limit=100).thinking == truncate(
        "hm" * 500, 100
    )


def test_without_content_only_names_times_and_figures_are_sent() -> None:
    secret = "the words"
    full = span(
        input={"command": secret},
        output=secret,
        thinking=secret,
        level="ERROR",
        status=secret,
        metadata={"tool_name": "Bash", "command": secret, "description": secret},
        start=1,
        end=2,
    )
    found = one(full, has_content=False)
    assert secret not in repr(found)
    assert (found.name, found.level, found.status, found.start) == ("Bash", "ERROR", "error", 1)
    assert found.metadata == {"tool_name": "Bash"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.integers(min_value=200, max_value=2000))
def test_any_value_is_shortened_to_the_limit(value: Any, limit: int) -> None:
    found = shorten(value, limit)
    if value is None or isinstance(value, int):
        assert found == value
    else:
        assert len(encode_text(found)) <= limit + len("… (cut, 1000000 more)")


@given(st.text(st.characters()))
def test_any_text_can_be_encoded(text: str) -> None:
    encode_text(text).encode()
    assert "\0" not in encode_text(text)
    assert json.loads(encode_json({"text": text})) == {"text": text}


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "\udfff\ud800"])
def test_characters_no_server_accepts_are_replaced(text: str) -> None:
    assert encode_text(text).encode()
    assert "\0" not in encode_text(text)
