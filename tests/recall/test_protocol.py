"""Protocol messages of the server, and mistakes of clients."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.archive import Archive
from plait.mcp_server import TOOLS, VERSIONS, Server, StdioTransport
from plait.recall.answers import Recall
from plait.recall.model import clamp_budget, count_tokens
from plait.view.text import UNSAFE
from tests.recall.test_questions import parse_time


@pytest.fixture(scope="module")
def server(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Server:
    folder = tmp_path_factory.mktemp("server")
    archive = Archive([gallery], index=folder / "index")
    return Server(lambda: Recall(archive, folder, parse_time))


def ask(server: Server, method: str, params: object = None, id: object = 1) -> Any:  # noqa: A002
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return server.answer(message if params is None else {**message, "params": params})


@pytest.mark.parametrize(
    ("wanted", "used"),
    [*((version, version) for version in VERSIONS), ("2099-01-01", VERSIONS[0]), (3, VERSIONS[0])],
)
def test_versions_are_negotiated(server: Server, wanted: object, used: str) -> None:
    result = ask(server, "initialize", {"protocolVersion": wanted, "capabilities": {}})["result"]
    assert result["protocolVersion"] == used
    assert result["serverInfo"]["name"] == "plait"
    assert set(result["capabilities"]) == {"tools", "prompts", "resources"}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("server/discover", {}, -32601),
        ("completion/complete", {}, -32601),
        ("prompts/get", {"name": "nothing"}, -32602),
        ("tools/call", {"name": "recall", "arguments": ["x"]}, -32602),
        ("ping", ["x"], -32602),
    ],
)
def test_requests_that_cannot_be_answered(
    server: Server, method: str, params: object, code: int
) -> None:
    answer = ask(server, method, params, "seven")
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert answer["id"] == "seven"


def test_notifications_get_no_answer(server: Server) -> None:
    assert server.answer({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert server.answer({"jsonrpc": "2.0", "id": 4, "result": {}}) is None
    assert ask(server, "ping")["result"] == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
names = st.sampled_from([*TOOLS, "none", "handoff", "standup"])
methods = st.sampled_from(
    ["tools/call", "prompts/get", "resources/read", "initialize", "tools/list", "x"]
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(method=methods, name=names, arguments=json_values, other=json_values)
def test_any_request_is_answered(
    server: Server, method: str, name: str, arguments: object, other: object
) -> None:
    params = {"name": name, "arguments": arguments, "uri": other, "protocolVersion": other}
    answer = ask(server, method, params)
    assert ("result" in answer) != ("error" in answer)
    assert answer.get("error", {}).get("code") != -32603, answer
    assert server.answer(other) is None or "error" in (server.answer(other) or {})


ODD = ["", -1, 10**30, 1e308, "nan", "x" * 5000, "9" * 5000, [], {"a": [1]}, True, None]
ODD += [
    "\x1b[31m`rm`\n\u202e",
    '"',
    "a:b",
    "@",
    "*",
    "..",
    "/",
    "3f2a91bc:-1",
    "0001-01-01",
    "9999-12-31",
]


@pytest.mark.parametrize("name", TOOLS)
def test_odd_arguments_are_answered_within_the_budget(server: Server, name: str) -> None:
    for argument in (*TOOLS[name][1], "budget", "unknown"):
        for value in ODD:
            params = {"name": name, "arguments": {argument: value}}
            answer = ask(server, "tools/call", params)
            assert "result" in answer, (argument, value, answer)
            text = answer["result"]["content"][0]["text"]
            budget = value if argument == "budget" else 2000
            assert count_tokens(text) <= clamp_budget(budget), (argument, value)
            assert text.rpartition("\n")[2].startswith("next: "), (argument, value)
            assert not UNSAFE.search(text), (argument, value)


class Lines:
    """The lines that a client sends; some wait until something has happened."""

    def __init__(self, *messages: object) -> None:
        self._messages = messages

    def __iter__(self) -> Iterator[bytes]:
        for message in self._messages:
            if callable(message):
                message()
            elif isinstance(message, bytes):
                yield message
            else:
                yield json.dumps(message).encode() + b"\n"


class Output(io.BytesIO):
    """What the server wrote."""

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


def call(id: int, **meta: object) -> dict[str, Any]:  # noqa: A002
    params = {"name": "recall", "arguments": {"query": "gift card"}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}


def test_broken_lines_and_lists_of_messages(server: Server) -> None:
    output = Output()
    StdioTransport(server, output).run(Lines(b"{not json\n", b"\n", [PING, PING], b'"text"\n'))
    codes = [message.get("error", {}).get("code") for message in output.messages]
    assert codes == [-32700, None, None, -32600]


class Slow(Server):
    """Answers calls when it is told to."""

    def __init__(self, server: Server) -> None:
        super().__init__(lambda: server.recall)
        self.begun, self.go_on = Event(), Event()

    def answer(self, message: object, report: Any = None) -> Any:
        if isinstance(message, dict) and message["method"] == "tools/call":
            self.begun.set()
            assert self.go_on.wait(30)
            for done in range(3):
                report(done, 3)
        return super().answer(message, report)


def test_ping_is_answered_during_a_call(server: Server) -> None:
    slow, output = Slow(server), Output()

    def check() -> None:
        assert slow.begun.wait(30)

    def finish() -> None:
        assert [message["id"] for message in output.messages] == ["ping"]
        slow.go_on.set()

    StdioTransport(slow, output).run(Lines(call(1), check, PING, finish))
    assert [message["id"] for message in output.messages] == ["ping", 1]


def test_cancelled_call_gets_no_answer(server: Server) -> None:
    slow, output = Slow(server), Output()
    cancels = [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        for number in (1, 2)
    ]

    def check() -> None:
        assert slow.begun.wait(30)

    StdioTransport(slow, output).run(
        Lines(call(1), check, call(2), *cancels, call(3), slow.go_on.set)
    )
    assert [message["id"] for message in output.messages] == [3]


def test_progress_is_sent_on_request(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.mcp_server.TICK", 0)
    slow, output = Slow(server), Output()
    StdioTransport(slow, output).run(Lines(slow.go_on.set, call(1), call(2, progressToken="t")))
    told = [message["params"] for message in output.messages if "method" in message]
    assert [(one["progressToken"], one["progress"], one["total"]) for one in told] == [
        ("t", done, 3) for done in range(3)
    ]
