"""Errors of the model: retried, or reported in the words of Claude Code."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.events import RetryScheduled, TurnEnded
from plait.chat.responses import (
    LONGEST_DELAY,
    LONGEST_RETRY_AFTER,
    compute_retry_delay,
    describe_error,
)
from plait.chat.runtime import Limits
from plait.chat.streaming import ModelError
from tests.chat.scripted_client import ScriptedClient

TEMPORARY = (
    "This is a server-side issue, usually temporary — try again in a moment. If it persists, check"
)


def fault(status: int | None, text: str = "made up", **more: Any) -> ModelError:
    return ModelError(text, status=status, **more)


@pytest.mark.parametrize(
    ("failed", "words", "error"),
    [
        (fault(400), "API Error: 400 made up", "unknown"),
        (
            fault(400, "prompt is too long: 9 tokens > 8 maximum"),
            "Prompt is too long",
            "invalid_request",
        ),
        (
            fault(400, "Your credit balance is too low to access the API."),
            "Credit balance is too low",
            "billing_error",
        ),
        (fault(401), "Invalid API key · Fix external API key", "authentication_failed"),
        (fault(403), "Failed to authenticate. API Error: 403 made up", "authentication_failed"),
        (
            fault(404),
            "There's an issue with the selected model (claude-x). It may not exist or you may not"
            " have access to it. Run --model to pick a different model.",
            "model_not_found",
        ),
        (
            fault(413),
            "Request too large (max 32MB). Accumulated images and attachments in the conversation"
            " pushed the request over the limit. Remove older images or compact the conversation.",
            "invalid_request",
        ),
        (fault(429), "API Error: Request rejected (429) · made up", "rate_limit"),
        (
            fault(500),
            f"API Error: 500 made up. {TEMPORARY} https://status.claude.com.",
            "server_error",
        ),
        (
            fault(529, gateway="your inference gateway (127.0.0.1:1)"),
            f"API Error: 529 made up. {TEMPORARY} your inference gateway (127.0.0.1:1).",
            "server_error",
        ),
        (fault(None, kind="connection"), "API Error: made up", "server_error"),
    ],
)
def test_error_text_matches_the_client(failed: ModelError, words: str, error: str) -> None:
    assert describe_error(failed, "claude-x")[:2] == (words, error)


def test_transient_errors_are_retried(tmp_path: Path) -> None:
    script = {
        "answers": [
            {"error": 529, "message": "Overloaded"},
            {"error": 429, "message": "slow down", "retry_after": 7},
            {"text": "half of", "error": 500, "message": "boom", "after": 3},
            {"text": "Fine."},
        ]
    }
    session = ScriptedClient(tmp_path, script, entrypoint="sdk-cli")
    events = session.ask("go")
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "Fine."
    retried = [event for event in events if isinstance(event, RetryScheduled)]
    assert [item.text for item in retried] == ["529 Overloaded", "429 slow down", "500 boom"]
    assert session.slept == [item.seconds for item in retried]
    assert retried[1].seconds == 7
    errors = [line for line in session.lines if line.get("subtype") == "api_error"]
    assert [line["retryAttempt"] for line in errors] == [1, 2, 3]
    assert {line["maxRetries"] for line in errors} == {10}
    assert errors[1]["retryInMs"] == 7000
    assert errors[1]["source"] == "request_retry"
    assert errors[1]["error"] == {
        "message": "429 slow down",
        "status": 429,
        "requestId": None,
        "formatted": "429 slow down",
        "connection": None,
        "isNetworkDown": False,
        "rateLimits": None,
        "noResponse": None,
    }
    assert (
        session.picture()
        == """\
     queue-operation enqueue
     queue-operation dequeue
     file-history-snapshot
A<·  user go
B<A  system api_error
C<B  system api_error
D<C  system api_error
E<D  assistant Fine.
     last-prompt"""
    )


def test_interactive_retries_are_not_logged(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"error": 529}, {"text": "Fine."}]})
    session.ask("go")
    assert "api_error" not in session.picture()


def test_partial_answer_is_not_in_the_older_log(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "first"}, {"type": "text", "text": "second " * 30}]
    script = {"answers": [{"blocks": blocks, "error": 500, "after": 8}, {"text": "Fine."}]}
    session = ScriptedClient(tmp_path, script, version="2.1.29")
    session.ask("go")
    assert session.sent == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Fine."}]},
    ]


@pytest.mark.parametrize(("retries", "asked"), [(0, 1), (2, 3)])
def test_retrying_stops_after_the_limit(tmp_path: Path, retries: int, asked: int) -> None:
    answers = [{"error": 529, "message": f"no {number}"} for number in range(9)]
    session = ScriptedClient(tmp_path, {"answers": answers}, limits=Limits(retries=retries))
    events = session.ask("go", "again")
    ended = [event for event in events if isinstance(event, TurnEnded)]
    assert [item.ending for item in ended] == ["failed", "failed"]
    assert ended[0].text.startswith(f"API Error: 529 no {asked - 1}.")
    assert len(session.slept) == 2 * retries
    [result, _] = [line for line in session.lines if line.get("isApiErrorMessage")]
    assert result["message"]["model"] == "<synthetic>"
    assert result["apiErrorStatus"] == 529
    assert result["apiErrorType"] == "overloaded_error"
    assert result["failedResponseHadNoToolCall"] is True
    assert "API Error" not in json.dumps(session.sent)


def test_permanent_errors_are_not_retried(tmp_path: Path) -> None:
    session = ScriptedClient(
        tmp_path, {"answers": [{"error": 400, "message": "odd"}, {"text": "Fine."}]}
    )
    events = session.ask("go", "again")
    ended = [(event.ending, event.text) for event in events if isinstance(event, TurnEnded)]
    assert ended == [("failed", "API Error: 400 odd"), ("done", "Fine.")]
    assert session.slept == []


@given(st.integers(1, 1000), st.integers(), st.none() | st.floats(-1e9, 1e9))
def test_retry_delay_is_bounded(attempt: int, seed: int, asked: float | None) -> None:
    seconds = compute_retry_delay(fault(529, retry_after=asked), attempt, Random(seed))
    assert seconds >= 0
    is_obeyed = asked is not None and 0 <= asked <= LONGEST_RETRY_AFTER
    assert seconds == asked if is_obeyed else seconds <= LONGEST_DELAY * 1.25


def test_retry_delay_doubles() -> None:
    class Never(Random):
        def random(self) -> float:
            return 0.0

    waits = [compute_retry_delay(fault(500), attempt, Never()) for attempt in range(1, 10)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 32, 32]
