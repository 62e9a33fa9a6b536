"""The stand-in, asked over plain HTTP: what it streams, how it fails, what it keeps."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.standin import (
    Answer,
    Json,
    StandIn,
    by_script,
    call,
    calls,
    failed,
    in_turn,
    said,
    thought,
)
from tests.standin.schema import value_for

ROOT = Path(__file__).resolve().parents[2]
PROMPT = {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": "hello"}]}


def post(
    standin: StandIn, body: Json, path: str = "/v1/messages?beta=true"
) -> tuple[int, dict[str, str], bytes]:
    """Posts a request and returns status, headers and all bytes that came."""
    connection = http.client.HTTPConnection(standin.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, headers, response.read()
    finally:
        connection.close()


def plain(standin: StandIn, body: Json | None = None) -> Json:
    status, _, data = post(standin, body or PROMPT)
    assert status == 200
    found: Json = json.loads(data)
    return found


def streamed(standin: StandIn, body: Json | None = None) -> list[Json]:
    status, headers, data = post(standin, {**(body or PROMPT), "stream": True})
    assert status == 200
    assert headers["content-type"] == "text/event-stream"
    return list(events(data))


def events(data: bytes) -> Iterator[Json]:
    for part in data.decode().split("\n\n"):
        if part:
            name, _, value = part.partition("\n")
            event: Json = json.loads(value.removeprefix("data: "))
            assert name == f"event: {event['type']}"
            yield event


def put_together(stream: list[Json]) -> list[Json]:
    """Return the blocks of a stream as a client puts them together."""
    blocks: list[Json] = []
    inputs: dict[int, str] = {}
    for event in stream:
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        if event["type"] == "content_block_delta":
            delta, index = event["delta"], event["index"]
            match delta["type"]:
                case "input_json_delta":
                    inputs[index] = inputs.get(index, "") + delta["partial_json"]
                    continue
                case "signature_delta":
                    blocks[index]["signature"] = delta["signature"]
                    continue
            key = delta["type"].removesuffix("_delta")
            blocks[index][key] += delta[key]
    for index, words in inputs.items():
        blocks[index]["input"] = json.loads(words)
    return blocks


def test_a_plain_answer() -> None:
    with StandIn(in_turn([said("Good day.")])) as standin:
        message = plain(standin)
    assert message["content"] == [{"type": "text", "text": "Good day."}]
    assert (message["role"], message["stop_reason"]) == ("assistant", "end_turn")
    assert message["id"].startswith("msg_")
    assert message["usage"]["output_tokens"] > 0


ANSWERS: list[Answer] = [
    said("Good day."),
    said(""),
    said("A long text. " * 40),
    {"blocks": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
    thought("Hm.", {"type": "text", "text": "So."}),
    calls(call("Bash", command="ls"), text="A look."),
    calls(call("Read", file_path="/a"), call("Read", file_path="/b"), call("Bash", command="ä")),
    calls(call("Agent", prompt="count", description="Count")),
    {"blocks": [{"type": "redacted_thinking", "data": "abc"}, {"type": "text", "text": "x"}]},
]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("way", [{}, {"chunk": 7}, {"chunk": 1000}], ids=["events", "7", "1000"])
def test_a_stream_holds_the_same_blocks(answer: Answer, way: Answer) -> None:
    with StandIn(in_turn([{**answer, **way}])) as standin:
        stream = streamed(standin)
    expected = answer.get("blocks") or [{"type": "text", "text": answer["text"]}]
    found = put_together(stream)
    assert [
        {key: one[key] for key in wanted} for one, wanted in zip(found, expected, strict=True)
    ] == expected
    assert [event["type"] for event in stream[:2]] == ["message_start", "ping"]
    assert [event["type"] for event in stream[-2:]] == ["message_delta", "message_stop"]


def test_calls_have_ids_and_stop_for_their_results() -> None:
    with StandIn(
        in_turn([calls(call("Bash", command="ls"), call("Bash", command="pwd"))])
    ) as standin:
        stream = streamed(standin)
    ids = [block["id"] for block in put_together(stream)]
    assert len(set(ids)) == 2
    assert stream[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "pause_turn"])
def test_other_ends(reason: str) -> None:
    with StandIn(in_turn([said("up to here", stop_reason=reason)] * 2)) as standin:
        assert plain(standin)["stop_reason"] == reason
        assert streamed(standin)[-2]["delta"]["stop_reason"] == reason


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_errors(status: int, name: str) -> None:
    with StandIn(in_turn([failed(status, "no", retry_after=3), said("yes")])) as standin:
        found, headers, data = post(standin, {**PROMPT, "stream": True})
        assert (found, headers["retry-after"]) == (status, "3")
        assert json.loads(data) == {"type": "error", "error": {"type": name, "message": "no"}}
        assert plain(standin)["content"][0]["text"] == "yes"


def test_the_line_goes_dead_in_the_middle() -> None:
    with (
        StandIn(in_turn([said("never to be heard", drop_after=4)])) as standin,
        pytest.raises(http.client.IncompleteRead) as cut,
    ):
        streamed(standin)
    heard = [event["type"] for event in events(cut.value.partial)]
    assert heard == ["message_start", "ping", "content_block_start", "content_block_delta"]


def test_an_error_in_the_middle() -> None:
    with StandIn(in_turn([said("half", error_after=3)])) as standin:
        stream = streamed(standin)
    assert [event["type"] for event in stream][-2:] == ["content_block_start", "error"]
    assert stream[-1]["error"]["type"] == "overloaded_error"


def test_it_can_be_slow() -> None:
    with StandIn(in_turn([said("slow", hold=0.2, pause=0.02)])) as standin:
        began = time.monotonic()
        assert len(streamed(standin)) == 7
    assert time.monotonic() - began > 0.3


def test_counting_models_and_being_there() -> None:
    with StandIn(in_turn([])) as standin:
        status, _, data = post(standin, PROMPT, "/v1/messages/count_tokens?beta=true")
        assert (status, json.loads(data)["input_tokens"] > 0) == (200, True)
        connection = http.client.HTTPConnection(standin.url.removeprefix("http://"), timeout=10)
        for method, path, wanted in (
            ("HEAD", "/", 200),
            ("GET", "/v1/models", 200),
            ("GET", "/nothing", 404),
        ):
            connection.request(method, path)
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (wanted, method == "GET")
        connection.close()
        assert post(standin, {}, "/elsewhere")[0] == 404


RULES = by_script(
    {
        "rules": [
            {"when": "look", "answers": [{"text": "looking"}, {"text": "seen"}]},
            {"when": "count", "answers": [{"text": "three"}]},
        ],
        "otherwise": {"text": "what?"},
        "object": {"title": "A title"},
    }
)


def conversation(*said: Any) -> Json:
    """Return a request: users and assistants take turns."""
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": one} for n, one in enumerate(said)]}


RESULT = [{"type": "tool_result", "tool_use_id": "t", "content": "count"}]
NOTED = [*RESULT, {"type": "text", "text": "Tool loaded."}]
REMINDER = "<system-reminder>count</system-reminder>"


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        pytest.param(conversation("look there"), "looking", id="the first step"),
        pytest.param(conversation("look", "calls", RESULT), "seen", id="the step after results"),
        pytest.param(conversation("look", "calls", NOTED), "seen", id="words of the client"),
        pytest.param(
            conversation("look", "calls", RESULT, "more", RESULT), "seen", id="the last repeats"
        ),
        pytest.param(conversation("look", "seen", "count"), "three", id="the newest prompt"),
        pytest.param(conversation("look", "seen", "hm"), "what?", id="an old prompt is over"),
        pytest.param(conversation(f"{REMINDER}look"), "looking", id="reminders are not read"),
        pytest.param(conversation(), "what?", id="nothing said"),
    ],
)
def test_a_script_answers_by_the_prompt(request_: Json, answer: str) -> None:
    assert RULES(request_) == {"text": answer}


def test_a_script_writes_summaries() -> None:
    answer = RULES(conversation("Your task is to create a detailed summary of it all"))
    assert "<summary>" in answer["text"]


def test_a_script_fills_in_schemas() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    for form in (
        {"output_format": {"type": "json_schema", "schema": schema}},
        {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    ):
        answer = RULES({**conversation("look"), **form})
        assert json.loads(answer["text"]) == {"title": "A title"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "made up"),
        ({"type": ["null", "string"]}, None),
        ({"enum": ["a", "b"]}, "a"),
        ({"const": 3}, 3),
        ({"anyOf": [{"type": "boolean"}, {"type": "string"}]}, False),
        ({"properties": {"a": {"properties": {"b": {"type": "array"}}}}}, {"a": {"b": []}}),
    ],
)
def test_values_fit_schemas(schema: Json, value: object) -> None:
    assert value_for(schema, {}) == value


def test_requests_are_kept_in_memory_and_in_a_file(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with StandIn(in_turn([]), log=log) as standin:
        plain(standin)
        post(standin, PROMPT, "/v1/messages/count_tokens")
        kept = standin.taken()
        assert standin.taken() == []
    assert [item.is_message for item in kept] == [True, False]
    assert kept[0].messages == PROMPT["messages"]
    written = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert written == [item.as_object() for item in kept]


def test_it_runs_by_itself(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"otherwise": {"text": "from a file"}}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.standin", str(script)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip().partition("=")[2]
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request("POST", "/v1/messages", json.dumps(PROMPT))
        assert json.loads(connection.getresponse().read())["content"][0]["text"] == "from a file"
        connection.close()
    finally:
        process.kill()
        process.communicate()
