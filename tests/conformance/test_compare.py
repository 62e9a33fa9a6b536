"""Normalising requests for comparison."""

import pytest

from conformance.client import PROBE, probe_request
from conformance.compare import (
    comparable,
    explanation,
    mark,
    without_joined,
    without_stopped,
)
from conformance.model import Json, Mark, Message
from tests.standin import Asked

REMINDER = "<system-reminder>today is\nSunday</system-reminder>"


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def result(content: object) -> Json:
    return {"type": "tool_result", "tool_use_id": "t", "content": content}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(("user", "hello"), [("user", [text("hello")])], id="a string is one text"),
        pytest.param(("system", "be brief"), [], id="no system messages"),
        pytest.param(("user", REMINDER), [], id="no reminders"),
        pytest.param(("user", f"a{REMINDER}b"), [("user", [text("ab")])], id="nor inside a text"),
        pytest.param(("user", [text(" \n"), text("x")]), [("user", [text("x")])], id="no blanks"),
        pytest.param(
            ("user", [{**text("x"), "cache_control": {"type": "ephemeral"}}]),
            [("user", [text("x")])],
            id="no marks for the cache",
        ),
        pytest.param(
            ("assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}]),
            [("assistant", [{"type": "thinking", "thinking": "hm"}])],
            id="no signatures",
        ),
        pytest.param(
            ("user", [result(f"out\n\n{REMINDER}")]),
            [("user", [result(f"out\n\n{REMINDER}")])],
            id="but those joined to a result",
        ),
        pytest.param(
            ("user", [result([text("out"), text(REMINDER)])]),
            [("user", [result([text("out"), text(REMINDER)])])],
            id="and those inside its blocks",
        ),
        pytest.param(
            ("user", [1, {"type": "text", "text": 5}, text("x")]),
            [("user", [text("x")])],
            id="what is no block",
        ),
    ],
)
def test_varying_parts_are_removed(message: tuple[str, object], expected: list[Message]) -> None:
    role, content = message
    assert comparable([{"role": role, "content": content}]) == expected


def asked(path: str, *contents: str) -> Asked:
    messages = [{"role": "user", "content": content} for content in contents]
    return Asked("POST", path, {}, {"messages": messages})


def test_probe_request_is_selected() -> None:
    counting = asked("/v1/messages/count_tokens", PROBE)
    title = asked("/v1/messages", "a title for this")
    real = asked("/v1/messages?beta=true", "old", PROBE)
    assert probe_request([counting, title, real]) == real.messages
    assert probe_request([counting, title]) is None


def test_values_compare_as_json() -> None:
    assert mark(("a", [1]), ["a", [1]]) is Mark.EQUAL
    assert mark({"a": 1, "b": 2}, {"b": 2, "a": 1}) is Mark.EQUAL
    assert mark(["a"], ["b"]) is Mark.DIFFERENT


def test_missing_tools_explain_a_difference() -> None:
    loaded = {"type": "tool_reference", "tool_name": "WebFetch"}
    gone = text("[Tool references removed - tools no longer available]")
    ours: list[Message] = [("user", [result([loaded]), text("Tool loaded.")])]
    theirs: list[Message] = [("user", [result([gone])])]
    assert explanation(ours, theirs).startswith("the resuming client lacks tools")
    assert explanation(ours, [("user", [text("other")])]) == ""


def test_too_long_session_is_summarised_without_its_last_answer() -> None:
    ours: list[Message] = [("user", [text("a")]), ("assistant", [text("b")])]
    assert explanation(ours, ours[:1]) == ""
    assert explanation(ours, ours[:1], is_summarized=True).startswith("too long")
    assert explanation(ours, [], is_summarized=True) == ""


def test_client_messages_are_not_differences() -> None:
    ours: list[Message] = [("user", [result("out"), result([text("a")])])]
    joined = [result(f"out\n\n{REMINDER}"), result([text("a\n"), text(REMINDER)])]
    assert without_joined([("user", joined)]) == ours
    assert without_joined([("user", [text(REMINDER)])]) == [("user", [text(REMINDER)])]


def test_unfinished_task_is_reported_only_by_the_client() -> None:
    words = "<task-notification>it didn't finish before the previous session ended"
    theirs: list[Message] = [("user", [text("a")]), ("user", [text(words)])]
    assert without_stopped(theirs) == theirs[:1]
    assert without_stopped([("user", [text("a"), text(words)])]) == theirs[:1]
    ended: list[Message] = [("user", [text("<task-notification>it ended")])]
    assert without_stopped(ended) == ended
