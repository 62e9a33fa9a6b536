"""A table of billing cases on real files, through `plait usage --json`.

Each case holds one billed response of 100 input and 10 output tokens unless it says otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run

SESSION = "5e551011-0000-4000-8000-000000000001"
OTHER = "5e551011-0000-4000-8000-000000000002"
MODEL = "claude-sonnet-4-5-20250929"
MAIN = f"projects/-home-dev-shop/{SESSION}.jsonl"
SECOND = f"projects/-home-dev-shop/{OTHER}.jsonl"
AGENTS = f"projects/-home-dev-shop/{SESSION}/subagents"
ONE = (100 * 3 + 10 * 15) / 1_000_000


def line(**fields: Any) -> dict[str, Any]:
    """Return an entry of the chain, the first second of a November morning."""
    plain = {
        "parentUuid": None,
        "isSidechain": False,
        "type": "assistant",
        "uuid": "a1",
        "timestamp": "2026-11-02T09:00:01.000Z",
        "sessionId": SESSION,
        "version": "2.1.325",
        "cwd": "/home/dev/shop",
    }
    return {**plain, **fields}


def prompt(uuid: str = "u1", parent: str | None = None, text: str = "Go", **fields: Any) -> Any:
    """Return a prompt."""
    content = {"role": "user", "content": text}
    return line(type="user", uuid=uuid, parentUuid=parent, message=content, **fields)


def answer(
    uuid: str = "a1",
    parent: str | None = "u1",
    message: dict[str, Any] | None = None,
    usage: dict[str, Any] | None = None,
    **fields: Any,
) -> Any:
    """Return an answer of a hundred tokens in and ten out."""
    output = {
        "id": "msg_1",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": "Done."}],
        "usage": {"input_tokens": 100, "output_tokens": 10, **(usage or {})},
        **(message or {}),
    }
    named = {"requestId": "req_1", **fields}
    return line(uuid=uuid, parentUuid=parent, message=output, **named)


def compact(value: Any) -> bytes:
    """Write a line as the client does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def spaced(value: Any) -> bytes:
    """Write a line with spaces."""
    return json.dumps(value).encode()


def log(*lines: Any) -> bytes:
    """Return the bytes of a file."""
    return b"".join((line if isinstance(line, bytes) else compact(line)) + b"\n" for line in lines)


def call(**given: Any) -> dict[str, Any]:
    """Return a message whose tool is given strange things."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": given}
    return {"content": [block]}


def counted_by_client(cost: float) -> dict[str, Any]:
    """Return what the client says that a session has cost so far."""
    return {"type": "cost-state", "totalCostUSD": cost, "sessionId": SESSION}


@dataclass(frozen=True)
class Case:
    """One way in which a response can be written down."""

    says: str
    files: dict[str, bytes]
    totals: dict[str, Any] = field(default_factory=dict)
    """What is not as in the plain case."""


def case(says: str, *lines: Any, **totals: Any) -> Case:
    """Return a case of one session's own file."""
    return Case(says, {MAIN: log(*lines)}, totals)


BIG = "x" * 5_000
RESULT = {
    "role": "user",
    "content": [{"tool_use_id": "toolu_1", "type": "tool_result", "content": BIG}],
}
CACHED = {
    "cache_creation_input_tokens": 1_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 600},
}
PROGRESS = {"type": "agent_progress", "message": answer(), "agentId": "a1"}
TWICE: dict[str, Any] = {
    "input_tokens": 200,
    "output_tokens": 20,
    "responses": 2,
    "cost_usd": 2 * ONE,
}
NOTHING: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0, "responses": 0, "cost_usd": 0}
RETRIED = answer("a2", "u1", message={"id": "msg_2"}, requestId="req_2")
COPY = answer("a1", sessionId=OTHER, forkedFrom={"sessionId": SESSION, "messageUuid": "a1"})
AGENT: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}

CASES = [
    case("one response", prompt(), answer()),
    case("JSON with spaces", spaced(prompt()), spaced(answer())),
    case("an id of null inside a tool's input", prompt(), answer(message=call(id=None))),
    case("a model of null inside a tool's input", prompt(), answer(message=call(model=None))),
    case("usage inside a tool's input", prompt(), answer(message=call(usage={"output_tokens": 9}))),
    case("a speed of null", prompt(), answer(usage={"speed": None})),
    case("a version that is no version", prompt(), answer(version="nightly build")),
    case("a version that is a number", prompt(), answer(version=2.1)),
    case(
        "numbers as texts", prompt(), answer(usage={"input_tokens": "100", "output_tokens": 10.0})
    ),
    case("figures of null", prompt(), answer(usage={"cache_creation_input_tokens": None})),
    case(
        "no request on two lines of one message",
        prompt(),
        answer(requestId=None),
        answer("a2", "a1", requestId=None),
    ),
    case(
        "no message id, one request on two lines",
        prompt(),
        answer(message={"id": None}),
        answer("a2", "a1", message={"id": None}),
    ),
    case(
        "neither id: each record alone",
        prompt(),
        answer(message={"id": None}, requestId=None),
        answer("a2", "a1", message={"id": None}, requestId=None),
        **TWICE,
    ),
    case(
        "one message under two requests: a resume copied it",
        prompt(),
        answer(),
        answer("a2", "a1", requestId="req_2"),
    ),
    case("a request tried again has a message of its own", prompt(), answer(), RETRIED, **TWICE),
    case(
        "output that grows from line to line",
        prompt(),
        answer(usage={"output_tokens": 1}),
        answer("a2", "a1", usage={"output_tokens": 4}),
        answer("a3", "a2"),
    ),
    case(
        "all figures are of one line",
        prompt(),
        answer(usage={"input_tokens": 900, "output_tokens": 1}),
        answer("a2", "a1"),
    ),
    case("a torn last line", prompt(), answer(), compact(answer("a2", "a1"))[:200]),
    Case("a last line without its end", {MAIN: log(prompt()) + compact(answer())}),
    case("carriage returns", compact(prompt()) + b"\r", compact(answer()) + b"\r"),
    case("a byte order mark", b"\xef\xbb\xbf" + compact(answer())),
    case("bytes of nothing before a line", b"\0\0\0" + compact(answer())),
    case("two lines in one", compact(prompt()) + compact(answer())),
    case("glued to a long result", compact(prompt(text=BIG)) + compact(answer())),
    case(
        "a long answer glued between two long prompts",
        compact(prompt(text=BIG))
        + compact(answer(message={"content": [{"type": "text", "text": BIG}]}))
        + compact(prompt(uuid="u2", text=BIG)),
    ),
    case("a lone surrogate", prompt(), compact(answer()).replace(b"Done.", rb"\ud83d")),
    case("bytes that are no text", prompt(), compact(answer()).replace(b"Done.", b"\xff\xfe")),
    case("lines that are no objects", b"[]", b"null", b"7", b"", prompt(), answer()),
    case("a long result beside", prompt(), answer(), line(type="user", uuid="r1", message=RESULT)),
    case(
        "progress that carries usage",
        prompt(),
        answer(),
        line(type="progress", uuid="p1", parentUuid="a1", data=PROGRESS),
        line(type="progress", uuid="p2", parentUuid="p1", message=answer()["message"]),
    ),
    Case(
        "a resumed copy in a second file",
        {MAIN: log(prompt(), answer()), SECOND: log(COPY, prompt("u2", "a1", sessionId=OTHER))},
    ),
    case(
        "an abandoned branch is counted, and told apart",
        prompt(),
        answer(),
        prompt("u2", "a1", "Left"),
        answer("a2", "u2", message={"id": "msg_2"}, requestId="req_2"),
        prompt("u3", "a1", "Taken"),
        answer("a3", "u3", message={"id": "msg_3"}, requestId="req_3"),
        responses=3,
        input_tokens=300,
        output_tokens=30,
        cost_usd=3 * ONE,
        abandoned=1,
    ),
    Case(
        "a sub-agent is counted, and told apart",
        {f"{AGENTS}/agent-a1.jsonl": log(prompt(**AGENT), answer(**AGENT)), MAIN: log(prompt())},
        {"agents": 1},
    ),
    Case(
        "so is one that an agent sent out, and one beside its session",
        {
            MAIN: log(prompt()),
            f"{AGENTS}/agent-a1.jsonl": log(prompt(**AGENT), answer(**AGENT)),
            f"{AGENTS}/agent-a2.jsonl": log(
                prompt(isSidechain=True), answer(message={"id": "msg_2"}, isSidechain=True)
            ),
            "projects/-home-dev-shop/agent-abc1234.jsonl": log(
                prompt(isSidechain=True), answer(message={"id": "msg_3"}, isSidechain=True)
            ),
        },
        {
            "agents": 3,
            "responses": 3,
            "input_tokens": 300,
            "output_tokens": 30,
            "cost_usd": 3 * ONE,
        },
    ),
    Case(
        "an agent of an old version, in its session's file",
        {MAIN: log(prompt(), answer(isSidechain=True))},
        {"agents": 1},
    ),
    Case(
        "a background request is counted, and told apart",
        {f"{AGENTS}/agent-acompact-1.jsonl": log(prompt(), answer())},
        {"service": 1},
    ),
    Case(
        "warming up is service",
        {f"{AGENTS}/agent-a1.jsonl": log(prompt(text="Warmup"), answer())},
        {"service": 1},
    ),
    Case(
        "an agent of a workflow",
        {f"{AGENTS}/workflows/wf_1/agent-a1.jsonl": log(prompt(), answer())},
        {"agents": 1},
    ),
    case(
        "seven web searches",
        prompt(),
        answer(usage={"server_tool_use": {"web_search_requests": 7}}),
        web_searches=7,
        cost_usd=ONE + 7 * 10 / 1_000,
    ),
    case(
        "a cache for an hour",
        prompt(),
        answer(usage=CACHED),
        cache_creation_tokens=1_000,
        cache_creation_1h_tokens=600,
        cost_usd=ONE + (400 * 3.75 + 600 * 6) / 1_000_000,
    ),
    case(
        "what is read from the cache",
        prompt(),
        answer(usage={"cache_read_input_tokens": 5_000}),
        cache_read_tokens=5_000,
        cost_usd=ONE + 5_000 * 0.3 / 1_000_000,
    ),
    case(
        "a model that nobody knows",
        prompt(),
        answer(message={"model": "claude-tomorrow-9"}),
        cost_usd=0,
        unpriced=["claude-tomorrow-9"],
        unpriced_responses=1,
    ),
    case(
        "no model at all",
        prompt(),
        answer(message={"model": None}),
        cost_usd=0,
        unpriced=["unnamed"],
        unpriced_responses=1,
    ),
    case(
        "a speed that no list has",
        prompt(),
        answer(usage={"speed": "fast"}),
        cost_usd=0,
        unpriced=[f"{MODEL} (fast)"],
        unpriced_responses=1,
    ),
    case("what the client made up", prompt(), answer(message={"model": "<synthetic>"}), **NOTHING),
    case("what the log says of the cost", prompt(), answer(costUSD=0.5), logged_cost_usd=0.5),
    case("no time", prompt(), answer(timestamp=None)),
    case("a time before all clocks", prompt(), answer(timestamp="0001-01-01T00:00:00Z")),
    case("a time after all clocks", prompt(), answer(timestamp="9999-12-31T23:59:59Z")),
    case("words for a time", prompt(), answer(timestamp="yesterday, I think")),
    case("figures beyond belief", prompt(), answer(usage={"cache_read_input_tokens": 10**30})),
    case("figures below nothing", prompt(), answer(usage={"cache_read_input_tokens": -5})),
    case("figures that are none", prompt(), answer(usage={"cache_read_input_tokens": [7]})),
    case(
        "a model named to harm",
        prompt(),
        compact(answer(message={"model": "MODEL"})).replace(b"MODEL", rb"\u001b[2J\ud83d"),
        cost_usd=0,
        unpriced=["\x1b[2J\ud83d"],
        unpriced_responses=1,
    ),
    case("a time in milliseconds", prompt(), answer(timestamp=1793610001000)),
    case(
        "a compaction that only the client's own count tells of",
        prompt(),
        answer(),
        counted_by_client(ONE + 0.02),
        beyond_log_usd=0.02,
    ),
    case(
        "a count of the client's that a killed run has left behind",
        prompt(),
        answer(),
        counted_by_client(ONE / 2),
    ),
    case(
        "a count of the client's of what has no price",
        prompt(),
        answer(message={"model": "nobody-1"}),
        counted_by_client(5.0),
        cost_usd=0,
        unpriced=["nobody-1"],
        unpriced_responses=1,
    ),
    Case(
        "a fork that goes on from what its origin had come to",
        {
            MAIN: log(prompt(), answer(), counted_by_client(ONE + 0.02)),
            SECOND: log(
                {"type": "queue-operation", "timestamp": "2026-11-02T10:00:00.000Z"},
                prompt(sessionId=OTHER),
                answer(sessionId=OTHER),
                prompt(uuid="u2", parent="a1", sessionId=OTHER),
                answer(uuid="a2", parent="u2", message={"id": "msg_2"}, sessionId=OTHER),
                counted_by_client(2 * ONE + 0.05),
            ),
        },
        {
            "responses": 2,
            "input_tokens": 200,
            "output_tokens": 20,
            "cost_usd": 2 * ONE,
            "beyond_log_usd": 0.05,
        },
    ),
]
PLAIN: dict[str, Any] = {
    "responses": 1,
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_tokens": 0,
    "cache_creation_1h_tokens": 0,
    "cache_read_tokens": 0,
    "web_searches": 0,
    "cost_usd": ONE,
    "unpriced": [],
    "unpriced_responses": 0,
    "logged_cost_usd": None,
    "abandoned": 0,
    "agents": 0,
    "service": 0,
    "beyond_log_usd": 0.0,
}


# checklist: F25, F37
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_costs_add_up(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, data in case.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    code = run(["usage", "--json", "--root", str(tmp_path), "--timezone", "UTC"])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    shown = json.loads(captured.out)
    expected = {**PLAIN, **case.totals}
    assert brief(shown["totals"]) == {**expected, "cost_usd": round(expected["cost_usd"], 9)}
    if shown["rows"]:
        assert sum(row["cost_usd"] for row in shown["rows"]) == pytest.approx(
            shown["totals"]["cost_usd"]
        )


def test_costs_missing_from_the_logs_are_shown_below_the_table(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / MAIN
    path.parent.mkdir(parents=True)
    path.write_bytes(log(prompt(), answer(), counted_by_client(ONE + 0.02)))
    given = ["usage", "session", "--root", str(tmp_path), "--timezone", "UTC"]
    assert run(given) == 0
    shown = capfd.readouterr().out
    assert "$0.02 more by Claude Code's own count, not in the total: compactions" in shown
    assert run([*given, "--since", "2026-11-03"]) == 0
    assert "own count" not in capfd.readouterr().out
    assert run([*given, "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["rows"]
    assert (row["client_cost_usd"], row["beyond_log_usd"]) == (pytest.approx(ONE + 0.02), 0.02)
    path.write_bytes(log(prompt(), answer(), counted_by_client(ONE + 0.004)))
    assert run(given) == 0
    assert "own count" not in capfd.readouterr().out


def brief(totals: dict[str, Any]) -> dict[str, Any]:
    """Return totals with the parts counted by their responses."""
    parts = ("abandoned", "agents", "service")
    return {name: totals[name]["responses"] if name in parts else totals[name] for name in PLAIN}
