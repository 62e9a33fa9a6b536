"""Stream JSON: results and messages in the client's format."""

from itertools import count
from typing import Any

import pytest

from plait.chat.console.print_mode import LogTranslator, ResultBuilder
from plait.chat.events import ResponseLogged, TextDelta, ToolFinished, TurnEnded
from plait.chat.tools.base import Outcome

SESSION = "5e55"
WRITTEN = {
    "cache_creation_input_tokens": 1,
    "cache_creation": {"ephemeral_5m_input_tokens": 1},
}
USED = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3}


def tally(**more: Any) -> ResultBuilder:
    ticks = count()
    found = ResultBuilder(lambda: SESSION, lambda: "u9", clock=lambda: next(ticks), **more)
    found.start_turn()
    return found


def turn_ended(ending: Any = "done", text: str = "ok", cost: float | None = 0.5) -> TurnEnded:
    return TurnEnded(ending, text, 1200, 2, {}, cost)


def test_result_message() -> None:
    counted = tally(price=lambda model, usage: 0.25)
    write = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "/w/x"}}
    for event in (
        TextDelta("o"),
        ResponseLogged("m1", "r1", "opus", (write,), "tool_use", USED),
        ToolFinished("t1", "Write", Outcome("no", is_error=True), is_denied=True),
        ToolFinished("t2", "Read", Outcome("yes")),
        ResponseLogged("m2", "r2", "opus", (), "end_turn", {**USED, **WRITTEN}),
    ):
        assert counted.add(event) is None
    assert counted.add(turn_ended()) == {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "duration_ms": 1200,
        "duration_api_ms": 3000,
        "num_turns": 2,
        "result": "ok",
        "stop_reason": "end_turn",
        "session_id": SESSION,
        "total_cost_usd": 0.5,
        "usage": {
            "input_tokens": 20,
            "output_tokens": 10,
            "cache_read_input_tokens": 6,
            "cache_creation_input_tokens": 1,
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 1},
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
        },
        "modelUsage": {
            "opus": {
                "inputTokens": 20,
                "outputTokens": 10,
                "cacheReadInputTokens": 6,
                "cacheCreationInputTokens": 1,
                "webSearchRequests": 0,
                "costUSD": 0.5,
                "contextWindow": 200_000,
                "maxOutputTokens": 32_000,
            }
        },
        "permission_denials": [
            {"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": "/w/x"}}
        ],
        "terminal_reason": "completed",
        "ttft_ms": 1000,
        "result_index": 0,
        "uuid": "u9",
    }


def test_cost_and_models_cover_all_turns() -> None:
    counted = tally()
    counted.add(ResponseLogged("m1", None, "opus", (), "end_turn", USED))
    counted.add(turn_ended())
    counted.start_turn()
    counted.add(ResponseLogged("m2", None, "opus", (), "end_turn", USED))
    result = counted.add(turn_ended(cost=None))
    assert result is not None
    assert (result["total_cost_usd"], result["result_index"]) == (0.5, 1)
    assert result["usage"]["input_tokens"] == 10
    assert result["modelUsage"]["opus"]["inputTokens"] == 20
    assert "ttft_ms" not in result


@pytest.mark.parametrize(
    ("ending", "subtype", "is_error", "words", "reason"),
    [
        ("done", "success", False, {"result": "ok"}, "completed"),
        ("refused", "success", False, {"result": "ok"}, "completed"),
        ("failed", "success", True, {"result": "ok"}, "api_error"),
        (
            "max_turns",
            "error_max_turns",
            True,
            {"errors": ["Reached maximum number of turns (3)"]},
            "max_turns",
        ),
        (
            "max_budget",
            "error_max_budget_usd",
            True,
            {"errors": ["Reached maximum budget ($0.5)"]},
            "budget_exhausted",
        ),
        ("interrupted", "error_during_execution", True, {"errors": ["ok"]}, "aborted"),
    ],
)
def test_endings(
    ending: str, subtype: str, is_error: bool, words: dict[str, Any], reason: str
) -> None:
    result = tally(limits={"max_turns": 3, "max_budget_usd": 0.5}).add(turn_ended(ending))
    assert result is not None
    assert (result["subtype"], result["is_error"]) == (subtype, is_error)
    assert {name: result[name] for name in ("result", "errors") if name in result} == words
    assert result["terminal_reason"] == reason
    assert result["num_turns"] == (3 if ending == "max_turns" else 2)


def test_synthetic_answer_has_no_usage() -> None:
    counted = tally()
    counted.add(ResponseLogged("m", None, "<synthetic>", (), "stop_sequence", USED))
    result = counted.add(turn_ended("failed"))
    assert result is not None
    assert (result["modelUsage"], result["stop_reason"]) == ({}, "stop_sequence")


def test_api_failures() -> None:
    counted = tally()
    failed = {"isApiErrorMessage": True, "apiErrorStatus": 529}
    counted.note_line(failed | {"message": {"stop_reason": "stop_sequence"}})
    counted.note_line({"type": "system"})
    result = counted.add(turn_ended("failed"))
    assert result is not None
    assert (result["api_error_status"], result["stop_reason"]) == (529, "stop_sequence")


ENVELOPE = {"uuid": "u1", "sessionId": SESSION, "timestamp": "2026-11-16T08:00:00.000Z"}


def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": "m1", "model": "opus", "stop_reason": "end_turn", "stop_sequence": None}
        message["stop_details"] = None
    return {"type": kind, "message": message, **ENVELOPE, **more}


def told(*lines: dict[str, Any], replays: bool = False) -> list[dict[str, Any]]:
    stream = LogTranslator(lambda: "u9", replays)
    return [item for found in lines for item in stream.translate(found)]


def test_response_is_streamed_block_by_block() -> None:
    (found,) = told(line("assistant", [{"type": "text", "text": "hi"}], requestId="req_1"))
    assert found == {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": "hi"}],
            "id": "m1",
            "model": "opus",
            "stop_reason": None,
            "stop_sequence": None,
            "context_management": None,
        },
        "parent_tool_use_id": None,
        "session_id": SESSION,
        "uuid": "u1",
        "timestamp": "2026-11-16T08:00:00.000Z",
        "request_id": "req_1",
    }


def test_api_error() -> None:
    failed = line("assistant", [], isApiErrorMessage=True, error="unknown", apiErrorStatus=400)
    failed["message"] |= {"model": "<synthetic>", "stop_reason": "stop_sequence"}
    (found,) = told(failed)
    assert found["message"]["stop_reason"] == "stop_sequence"
    assert (found["error"], found["is_api_error_message"], found["api_error_status"]) == (
        "unknown",
        True,
        400,
    )


def test_results_and_denials() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Write", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "may not", "is_error": True}
    decision = {"decision": "reject", "source": "config", "reasonType": "mode"}
    found = told(
        line("assistant", [call]),
        line(
            "user",
            [result],
            toolUseResult="Error: may not",
            toolDenialKind="user-rejected",
            permissionDecision=decision,
        ),
        line("user", [{**result, "content": "ok"}], toolUseResult={"stdout": "ok"}),
    )
    assert [(item["type"], item.get("subtype")) for item in found] == [
        ("assistant", None),
        ("system", "permission_denied"),
        ("user", None),
        ("user", None),
    ]
    _, denied, refused, done = found
    assert (denied["tool_name"], denied["tool_use_id"], denied["message"]) == (
        "Write",
        "t1",
        "may not",
    )
    assert refused["tool_use_result"] == "Error: may not"
    assert refused["tool_result_meta"] == [
        {
            "id": "t1",
            "non_execution_kind": "user-rejected",
            "permission_decision": {
                "decision": "reject",
                "source": "config",
                "reason_type": "mode",
            },
        }
    ]
    assert (done["tool_use_result"], done["tool_result_meta"]) == ({"stdout": "ok"}, [{"id": "t1"}])


def test_prompts_are_echoed_on_request() -> None:
    prompt, meta = line("user", "hello"), line("user", "<caveat>", isMeta=True)
    assert told(prompt, meta) == []
    (found,) = told(prompt, meta, replays=True)
    assert (found["message"]["content"], found["isReplay"]) == ("hello", True)


def test_compaction_is_streamed_other_lines_are_not() -> None:
    system = {"type": "system", **ENVELOPE}
    metadata = {"trigger": "manual", "preTokens": 9}
    (found,) = told(
        {**system, "subtype": "compact_boundary", "compactMetadata": metadata},
        {**system, "subtype": "turn_duration"},
        {"type": "last-prompt"},
        {"type": "attachment", **ENVELOPE},
    )
    assert found["compact_metadata"] == {"trigger": "manual", "pre_tokens": 9}


def test_summary_and_command_output() -> None:
    printed = "<local-command-stdout>9 tokens</local-command-stdout>"
    noted = {"type": "system", "subtype": "local_command", "content": printed, **ENVELOPE}
    summary, heard, command = told(
        line("user", "It was said.", isCompactSummary=True),
        line("user", printed),
        {**noted, "content": "<command-name>/cost</command-name>"},
        noted,
    )
    assert (summary["isReplay"], summary["isSynthetic"]) == (False, True)
    assert heard["isReplay"] is True
    assert command["type"] == "assistant"
    assert command["message"]["model"] == "<synthetic>"
    assert command["message"]["content"] == [{"type": "text", "text": "9 tokens"}]
    assert command["local_command_source"] == printed
