"""Spans over the wire, decoded by a real collector field by field."""

from __future__ import annotations

import json
import sys
import time
from subprocess import run
from typing import Any

import pytest

from plait.conversation.usage import Tokens
from plait.trace.delivery import deliver, otlp_target
from plait.trace.model import Convention, Span
from plait.trace.otlp import build_request, sdk_spans
from plait.trace.spans import resolve_times
from plait.trace.traces import batch_traces
from tests.trace.collecting import receiving, spans_in
from tests.trace.pictured import traced
from tests.trace.test_content import span

SESSION = """
file main start=2026-11-02T09:00:00Z model=claude-opus-4-5
U1 "go"
A1< "I look." + Agent(prompt="look", description="Find it", subagent_type="Explore") as sent
R1< of sent @+60s "Found."
A2< Bash(command="ls") as bad
R2< of bad error
  | Exit code 2
Q1< "hurry"
A3< "Done."
U2< "more"
A4< "No."
U3<A3 "rather this"
A5< "Yes."
agent looker of sent
U11 "look"
A11< "Found."
"""


def sent(found: list[list[Span]], convention: Convention = "both") -> dict[str, dict[str, Any]]:
    """Send spans to a collector and return what it got."""
    from msgspec.structs import replace

    with receiving() as received:
        done = deliver(
            batch_traces(found), replace(otlp_target(received.url), convention=convention)
        )
        assert (done.sent, done.refused) == (sum(map(len, found)), 0)
        assert received.headers[0]["content-encoding"] == "gzip"
        return received.spans


def test_every_span_arrives_unchanged() -> None:
    found = traced(SESSION)
    got = sent(found)
    assert len(got) == sum(map(len, found))
    for spans in found:
        for one in spans:
            there = got[one.id]
            assert (there["trace"], there["parent"], there["name"]) == (
                one.trace,
                one.parent,
                one.name,
            )
            assert (there["start"], there["end"]) == (one.start, one.end)
            assert there["attributes"]["session.id"] == one.session
            assert (there["service"], there["scope"]) == ("claude-code", "plait")
            assert there["status"] == ((2, one.status) if one.level == "ERROR" else (0, ""))


# checklist: T26, T27, T28, T29, T30, T36, T38, T39, T40
def test_langfuse_gets_its_own_attribute_names() -> None:
    found = traced(SESSION)
    got = sent(found, "langfuse")
    by_name = {(one.kind, one.name): got[one.id]["attributes"] for spans in found for one in spans}
    observation, trace = "langfuse.observation.", "langfuse.trace."

    root = got[found[0][0].id]["attributes"]
    asked, last = {"role": "user", "content": "go"}, {"role": "assistant", "content": "Done."}
    assert root[f"{observation}type"] == "agent"
    for level in (observation, trace):
        assert json.loads(root[f"{level}input"]) == asked
        assert json.loads(root[f"{level}output"]) == last
        assert root[f"{level}metadata.source"] == "claude-code"
        assert root[f"{level}metadata.turn_number"] == 1
        assert root[f"{level}metadata.session_id"] == root["session.id"]
    assert root[f"{trace}name"] == "Turn 1"

    spans = found[0]
    first, second = [one for one in spans if one.kind == "generation"][:2]
    said = got[first.id]["attributes"]
    assert said[f"{observation}type"] == "generation"
    assert said[f"{observation}model.name"] == "claude-opus-4-5"
    assert json.loads(said[f"{observation}input"]) == asked
    assert json.loads(said[f"{observation}output"])["content"] == "I look."
    assert said[f"{observation}metadata.tool_count"] == 1
    assert f"{observation}input" not in got[second.id]["attributes"]
    assert f"{trace}name" not in said
    assert first.tokens is not None
    assert json.loads(said[f"{observation}usage_details"]) == {
        "input": first.tokens.input,
        "output": first.tokens.output,
        "total": first.tokens.total,
        "cache_creation_input_tokens": first.tokens.cache_write,
    }
    assert json.loads(said[f"{observation}cost_details"]) == {"total": first.cost}

    tool = by_name["tool", "Bash"]
    assert tool[f"{observation}type"] == "tool"
    assert json.loads(tool[f"{observation}input"]) == {"command": "ls"}
    assert tool[f"{observation}output"] == "Exit code 2"
    assert tool[f"{observation}level"] == "ERROR"
    assert tool[f"{observation}status_message"] == "Exit code 2"
    assert tool[f"{observation}metadata.tool_name"] == "Bash"
    assert tool[f"{observation}metadata.tool_id"].startswith("toolu_")

    assert by_name["agent", "Explore"][f"{observation}type"] == "agent"
    assert by_name["event", "Queued prompt"][f"{observation}type"] == "event"
    assert not [name for one in got.values() for name in one["attributes"] if "gen_ai" in name]
    left = [got[spans[0].id]["attributes"] for spans in found if spans[0].is_abandoned]
    assert [one[f"{trace}tags"] for one in left] == [["abandoned"]]


def test_opentelemetry_counts_cached_tokens_as_input() -> None:
    tokens = Tokens(input=4, output=62, cache_write_5m=70, cache_write_1h=12, cache_read=15_004)
    generation = span(
        kind="generation",
        name="m",
        model="m",
        tokens=tokens,
        response="msg_1",
        stop_reason="tool_use",
        input={"role": "user", "content": "go"},
        output={"role": "assistant", "content": "I look."},
        thinking="Hm.",
    )
    got = sent([[generation]], "genai")[generation.id]
    assert got["kind"] == 3, "a client"
    assert {name: value for name, value in got["attributes"].items() if "gen_ai" in name} == {
        "gen_ai.conversation.id": "s",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m",
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.finish_reasons": ["tool_use"],
        "gen_ai.usage.input_tokens": 4 + 70 + 12 + 15_004,
        "gen_ai.usage.output_tokens": 62,
        "gen_ai.usage.cache_read.input_tokens": 15_004,
        "gen_ai.usage.cache_creation.input_tokens": 82,
        "gen_ai.usage.cache_write.input_tokens": 82,
        "gen_ai.input.messages": as_text(
            [{"role": "user", "parts": [{"type": "text", "content": "go"}]}]
        ),
        "gen_ai.output.messages": as_text(
            [
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "reasoning", "content": "Hm."},
                        {"type": "text", "content": "I look."},
                    ],
                    "finish_reason": "tool_call",
                }
            ]
        ),
    }


def as_text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def test_opentelemetry_names_agents_and_tools() -> None:
    found = traced(SESSION)
    got = sent(found, "genai")
    by_kind = {(one.kind, one.name): got[one.id]["attributes"] for spans in found for one in spans}
    assert by_kind["turn", "Turn 1"]["gen_ai.operation.name"] == "invoke_agent"
    assert by_kind["turn", "Turn 1"]["gen_ai.agent.name"] == "Claude Code"
    assert by_kind["turn", "Turn 1"]["input.value"] == "go"
    assert by_kind["agent", "Explore"]["gen_ai.agent.name"] == "Explore"
    tool = by_kind["tool", "Bash"]
    assert tool["gen_ai.operation.name"] == "execute_tool"
    assert tool["gen_ai.tool.name"] == "Bash"
    assert tool["gen_ai.tool.call.arguments"] == '{"command":"ls"}'
    assert tool["gen_ai.tool.call.result"] == "Exit code 2"
    assert tool["error.type"] == "tool_error"
    assert by_kind["event", "Queued prompt"]["input.value"] == "hurry"
    assert not [name for one in got.values() for name in one["attributes"] if "langfuse" in name]


# checklist: T35, T50
def test_a_span_without_times_begins_with_its_parent() -> None:
    root = span(id="00000000000000aa", kind="turn", start=5, end=9)
    inner = span(id="00000000000000bb", parent=root.id)
    other = span(id="00000000000000cc", trace="0" * 31 + "2", kind="turn")
    assert resolve_times([root, inner, other]) == {
        root.id: (5, 9),
        inner.id: (5, 5),
        other.id: (0, 0),
    }


def test_a_root_without_a_start_begins_with_its_first_child() -> None:
    root = span(id="00000000000000aa", kind="turn", end=9)
    inner = span(id="00000000000000bb", parent=root.id, start=3, end=7)
    moment = span(id="00000000000000cc", parent=root.id, end=8)
    assert resolve_times([root, inner, moment]) == {
        root.id: (3, 9), inner.id: (3, 7), moment.id: (8, 8),
    }  # fmt: skip


# checklist: T50
def test_a_trace_without_any_time_is_sent_with_the_current_time() -> None:
    before = time.time_ns()
    root = span(id="00000000000000aa", kind="turn")
    (sent, inner) = sdk_spans([root, span(id="00000000000000bb", parent=root.id)])
    assert sent.start_time is not None
    assert before <= sent.start_time <= time.time_ns()
    assert sent.end_time == sent.start_time
    assert inner.start_time == sent.start_time


def test_every_value_can_be_encoded() -> None:
    odd = span(name="a\0\ud800", input={"x": "\ud800"}, output="\0", status="\ud800", level="ERROR",
               metadata={"list": [1, "a"], "yes": True, "half": 0.5, "none": None})  # fmt: skip
    for convention in ("langfuse", "genai", "both"):
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        data = build_request([odd], convention=convention).SerializeToString()
        (got,) = spans_in(ExportTraceServiceRequest.FromString(data))
        assert got["name"] == "a�?"


def test_ten_thousand_nested_spans_are_encoded() -> None:
    spans = [
        span(id=f"{n:016x}", parent=f"{n - 1:016x}" if n > 1 else None) for n in range(1, 10_001)
    ]
    assert len(sdk_spans(spans)) == 10_000


@pytest.mark.parametrize("module", ["plait.trace.otlp", "plait.cli.waterfall", "plait.trace.spans"])
def test_sdk_is_loaded_only_when_sending(module: str) -> None:
    code = f"import sys, {module}; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    found = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
