"""Models: API streams and failures, and scripted models."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from plait.chat.models import MessagesApi, ScriptModel
from plait.chat.streaming import (
    BlockDelta,
    BlockFinished,
    Closeable,
    Message,
    Model,
    ModelError,
    Request,
    ResponseFinished,
    ResponseStarted,
)
from plait.errors import UserError
from tests.standin import Answer, StandIn, call, calls, failed, in_turn, said, thought

REQUEST = Request("claude-opus-5-5", [{"role": "user", "content": "hello"}])


def ask(model: Model, request: Request = REQUEST) -> list[Any]:
    async def pieces() -> list[Any]:
        try:
            return [piece async for piece in model.stream(request)]
        finally:
            if isinstance(model, Closeable):
                await model.close()

    return asyncio.run(pieces())


def make_reply(answer: Answer) -> list[Any]:
    with StandIn(in_turn([answer])) as standin:
        return ask(MessagesApi("claude-opus-5-5", key="made-up", base_url=standin.url))


def get_fault(answer: Answer) -> ModelError:
    with pytest.raises(ModelError) as caught:
        make_reply(answer)
    return caught.value


def blocks(pieces: list[Any]) -> list[Any]:
    return [dict(piece.block) for piece in pieces if isinstance(piece, BlockFinished)]


def test_a_response_streams_deltas_and_complete_blocks() -> None:
    words = "A text that is longer than a piece of it, and then some."
    pieces = make_reply(thought("Let me see.", {"type": "text", "text": words}, call("Read", a=1)))
    assert isinstance(pieces[0], ResponseStarted)
    assert pieces[0].request is not None
    assert isinstance(pieces[-1], ResponseFinished)
    assert pieces[-1].stop_reason == "tool_use"
    assert pieces[-1].usage["output_tokens"] > 1
    text = [
        piece.text for piece in pieces if isinstance(piece, BlockDelta) and piece.kind == "text"
    ]
    assert len(text) > 1
    assert "".join(text) == words
    thinking, spoken, used = blocks(pieces)
    assert thinking == {"type": "thinking", "thinking": "Let me see.", "signature": "sig-11"}
    assert spoken == {"type": "text", "text": words}
    assert used["input"] == {"a": 1}


@pytest.mark.parametrize("chunk", [1, 7, 150])
def test_a_stream_may_be_cut_anywhere(chunk: int) -> None:
    answer = calls(call("Write", text="ä→\n" * 9), text="grün", id="msg_1")
    whole = blocks(make_reply(answer))
    cut = blocks(make_reply({**answer, "chunk": chunk}))
    assert [item | {"id": ""} for item in cut] == [item | {"id": ""} for item in whole]


def test_arguments_that_are_not_json_are_kept_unparsed() -> None:
    broken: Answer = {"blocks": [{"type": "tool_use", "name": "Bash", "json": '{"command": "ec'}]}
    [block] = blocks(make_reply(broken))
    assert block["input"] == {"__unparsedToolInput": {"raw": '{"command": "ec', "len": 15}}


@pytest.mark.parametrize(
    ("status", "kind", "may_retry"),
    [
        (400, "invalid_request_error", False),
        (401, "authentication_error", False),
        (404, "not_found_error", False),
        (408, "api_error", True),
        (409, "api_error", True),
        (429, "rate_limit_error", True),
        (500, "api_error", True),
        (529, "overloaded_error", True),
    ],
)
def test_error_status_is_an_error(status: int, kind: str, may_retry: bool) -> None:
    fault = get_fault(failed(status, "made up", retry_after=3))
    assert (fault.status, fault.kind, fault.text) == (status, kind, "made up")
    assert (fault.is_retryable, fault.retry_after) == (may_retry, 3.0)
    assert fault.request is not None
    assert fault.body is not None
    data = json.loads(fault.body.removeprefix(f"{status} "))
    assert data == {"type": "error", "error": {"type": kind, "message": "made up"}}


def test_an_error_in_the_stream_gets_its_http_status() -> None:
    fault = get_fault(said("half of it", error=529, message="Overloaded", error_after=3))
    assert (fault.status, fault.kind, fault.is_retryable) == (529, "overloaded_error", True)


def test_dead_connection_is_a_connection_error() -> None:
    fault = get_fault(said("half of it and more", drop_after=3))
    assert (fault.status, fault.kind, fault.is_retryable) == (None, "connection", True)
    assert fault.connection is not None
    assert fault.connection["code"] == "ECONNRESET"


def test_a_refused_connection_is_a_connection_error() -> None:
    with StandIn(in_turn([])) as standin:
        url = standin.url
    with pytest.raises(ModelError) as caught:
        ask(MessagesApi("claude-opus-5-5", key="made-up", base_url=url))
    assert caught.value.is_network_down
    assert caught.value.is_retryable


def test_request_body_is_sent_unchanged() -> None:
    tools = [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    extra = {"metadata": {"user_id": "someone"}}
    request = Request("claude-opus-5-5", REQUEST.messages, system, tools, 1234, extra)
    with StandIn(in_turn([])) as standin:
        ask(MessagesApi("claude-opus-5-5", key="made-up", base_url=standin.url), request)
        [result] = standin.taken()
    assert result.body == {
        "model": "claude-opus-5-5",
        "messages": [{"role": "user", "content": "hello"}],
        "system": system,
        "tools": tools,
        "max_tokens": 1234,
        "metadata": {"user_id": "someone"},
        "stream": True,
    }
    assert "made-up" in (
        result.headers.get("authorization") or result.headers.get("x-api-key") or ""
    )


def test_without_a_key_nothing_is_sent() -> None:
    with pytest.raises(UserError, match="no API key") as caught:
        MessagesApi("claude-opus-5-5", key="")
    assert "--demo" in caught.value.hints[0]


def write_script(script: dict[str, Any], *prompts: str) -> list[str]:
    model = ScriptModel(script)
    return [
        blocks(ask(model, Request("m", [{"role": "user", "content": prompt}])))[0]["text"]
        for prompt in prompts
    ]


def test_script_answers_in_order_then_by_default() -> None:
    script = {"answers": [{"text": "one"}, {"text": "two"}], "otherwise": {"text": "no more"}}
    assert write_script(script, "a", "b", "c", "d") == ["one", "two", "no more", "no more"]


def test_script_rules_come_first_and_advance() -> None:
    rule = {"when": "files", "answers": [{"text": "first"}, {"text": "second"}]}
    script = {"answers": [{"text": "one"}], "rules": [rule]}
    assert write_script(script, "list files", "other", "files") == ["first", "one", "first"]
    later: list[Message] = [
        {"role": "user", "content": "files"},
        {"role": "assistant", "content": [{"type": "text", "text": "first"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": ""}]},
    ]
    assert blocks(ask(ScriptModel(script), Request("m", later)))[0]["text"] == "second"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not a script"),
        ("[1]", "neither 'answers' nor"),
        ('{"answers": 5}', "'answers' in a script must be a list"),
        ('{"answers": ["x"]}', "needs 'text'"),
        ('{"answers": [{"txt": "x"}]}', "unknown key 'txt'"),
        ('{"answers": [{"calls": [5]}]}', "each call in the script needs"),
    ],
)
def test_an_invalid_script_is_rejected(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "chat.json"
    file.write_text(text)
    with pytest.raises(UserError, match=complaint):
        ScriptModel.from_file(file)


def test_a_script_may_be_toml(tmp_path: Path) -> None:
    file = tmp_path / "chat.toml"
    file.write_text('[[answers]]\ntext = "from toml"\n')
    assert blocks(ask(ScriptModel.from_file(file)))[0]["text"] == "from toml"


def test_a_missing_script_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the script"):
        ScriptModel.from_file(tmp_path / "none.json")
