"""The protocol description, drawing by drawing and example by example."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import plait
from plait import Archive
from plait.conversation.model import AssistantText, Conversation, ToolCall, UserMessage
from plait.documents import rebuild_messages
from plait.record import Record, parse_record

SESSION = "07c9cd52-0000-4000-8000-000000000001"
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a.md"}}
OTHER = {"type": "tool_use", "id": "t2", "name": "Glob", "input": {"pattern": "*.md"}}


def line(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    """Return a prompt or a result, as the write-up has it."""
    head = {"uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "type": "user"}
    time = f"2026-01-03T10:00:{ord(uuid[-1]) % 60:02}.000Z"
    message = {"role": "user", "content": content}
    return {**head, "timestamp": time, "isSidechain": False, "message": message, **fields}


def answer(
    uuid: str, parent: str | None, block: Any, stop: str | None = None, **fields: Any
) -> dict[str, Any]:
    """Return one block of a response; by default of the request `req_1`."""
    request = fields.pop("requestId", "req_1")
    message = {
        "id": fields.pop("id", f"msg_{request}"),
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [block],
        "stop_reason": stop,
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }
    return {
        **line(uuid, parent, None),
        "type": "assistant",
        "requestId": request,
        "message": message,
        **fields,
    }


def result(uuid: str, parent: str, call: str, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": f"of {call}"}
    return line(uuid, parent, [block], **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def archive(
    root: Path, *lines: dict[str, Any], agents: dict[str, list[dict[str, Any]]] | None = None
) -> Archive:
    """Write a session and what lies beside it."""
    project = root / "projects" / "-home-dev"
    for name, held in {f"{SESSION}.jsonl": list(lines), **(agents or {})}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(one) + "\n" for one in held))
    return Archive([root])


def main_of(found: Archive) -> Conversation:
    return found.conversations(SESSION).active


def calls_in(conversation: Conversation) -> list[ToolCall]:
    return [item for item in conversation.items() if isinstance(item, ToolCall)]


CHAIN = [
    line("A", None, "/implement-spec"),
    line("B", "A", [text("# Spec workflow")], isMeta=True),
    answer("C", "B", CALL),
    answer("D", "C", OTHER, "tool_use"),
    result("E", "D", "t1"),
    result("F", "E", "t2"),
    answer("G", "F", text("Done."), "end_turn", requestId="req_2"),
]
"""The drawing of §5: blocks chained, results on the last block and on each other."""
TODAY = [*CHAIN[:4], result("E", "C", "t1"), result("F", "D", "t2"), CHAIN[6]]
"""The same as it is written now: each result on its own call."""


# checklist: F3, S11, P34, P35, P36, P37, P38
@pytest.mark.parametrize("lines", [CHAIN, TODAY], ids=["as drawn", "as written now"])
def test_parent_chain_is_linear(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    found = archive(tmp_path, *lines)
    graph = found.graph(SESSION)
    (trunk,) = graph.lines.values()
    assert sorted(trunk.nodes) == list("ABCDEFG")
    assert graph.edge_of("A").parent is None
    drawn = {one["uuid"]: one["parentUuid"] for one in lines}
    assert {uuid: graph.nodes[uuid].parent for uuid in drawn} == drawn
    assert (graph.verdicts, graph.findings) == ((), ())
    assert [(one.call, one.answered_by) for one in calls_in(main_of(found))] == [
        ("t1", "E"),
        ("t2", "F"),
    ]


# checklist: F3, P35
def test_the_chain_decides_and_not_the_position_in_the_file(tmp_path: Path) -> None:
    turned = [CHAIN[0], CHAIN[6], *CHAIN[1:6]]
    graph = archive(tmp_path, *turned).graph(SESSION)
    (trunk,) = graph.lines.values()
    assert list(trunk.nodes) == list("ABCDEFG")


TASK = {
    "type": "tool_use",
    "id": "t9",
    "name": "Task",
    "input": {"description": "Do it", "subagent_type": "cpp", "prompt": "Implement it"},
}
REPORT = {
    "status": "completed",
    "prompt": "Implement it",
    "agentId": "ab97f57",
    "content": [text("114 errors are left.")],
    "totalDurationMs": 785728,
    "totalTokens": 126186,
    "totalToolUseCount": 77,
    "usage": {"input_tokens": 1, "output_tokens": 782},
}
PARENT = [
    line("A", None, "go"),
    answer("B", "A", TASK, "tool_use"),
    line(
        "C",
        "B",
        [{"type": "tool_result", "tool_use_id": "t9", "content": "114 errors are left."}],
        toolUseResult=REPORT,
    ),
    answer("D", "C", text("The agent is done."), "end_turn", requestId="req_2"),
]
SIDE = {"isSidechain": True, "agentId": "ab97f57"}
AGENT = [
    line("a", None, "Implement it", **SIDE),
    answer("b", "a", CALL, "tool_use", requestId="req_8", **SIDE),
    result("c", "b", "t1", **SIDE),
    answer("d", "c", text("114 errors are left."), "end_turn", requestId="req_9", **SIDE),
]
PLACES = [("agent-ab97f57.jsonl"), (f"{SESSION}/subagents/agent-ab97f57.jsonl")]


# checklist: P39, P55, P56, P57, P58, P59, P60
@pytest.mark.parametrize("place", PLACES, ids=["beside the session", "in its folder"])
def test_sub_agent_is_read_from_its_own_file(tmp_path: Path, place: str) -> None:
    found = archive(tmp_path, *PARENT, agents={place: AGENT})
    assert [session.id for session in found] == [SESSION]
    told = found.conversations(SESSION)
    (call,) = calls_in(told.active)
    assert (call.name, call.input, call.answered_by) == ("Task", TASK["input"], "C")
    assert call.result is not None
    assert (call.result.text, call.result.detail) == ("114 errors are left.", REPORT)
    assert call.agents == (f"{SESSION}#agent-ab97f57",)
    agent = told.by_line[call.agents[0]]
    assert (agent.kind, agent.agent, agent.call) == ("agent", "ab97f57", "t9")
    (prompt,) = (item for item in agent.items() if isinstance(item, UserMessage))
    assert (prompt.uuid, prompt.text) == ("a", "Implement it")
    assert [(one.call, one.answered_by) for one in calls_in(agent)] == [("t1", "c")]
    assert [item.text for item in agent.items() if isinstance(item, AssistantText)] == [
        "114 errors are left."
    ]
    graph = found.graph(SESSION)
    assert graph.findings == ()
    assert [graph.nodes[uuid].is_sidechain for uuid in "AaDd"] == [False, True, False, True]
    assert (graph.nodes["a"].session, graph.nodes["a"].parent) == (SESSION, None)


THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


# checklist: F40, P4, P64, P65, P66
@pytest.mark.parametrize(
    "ids",
    [{}, {"id": None}],
    ids=["one request and one message", "one request alone"],
)
@pytest.mark.parametrize("stop", [None, "tool_use"], ids=["null before the last", "on every block"])
def test_four_blocks_of_one_request_are_one_response(
    tmp_path: Path, ids: dict[str, Any], stop: str | None
) -> None:
    blocks = [THINKING, text("I look."), CALL, OTHER]
    stops = [stop, stop, stop, "tool_use"]
    lines = [
        answer(uuid, parent, block, stop, **ids)
        for uuid, parent, block, stop in zip("BCDE", "ABCD", blocks, stops, strict=True)
    ]
    final = answer("F", "E", text("Done."), "end_turn", requestId="req_2", **ids)
    found = main_of(archive(tmp_path, line("A", None, "go"), *lines, final))
    assert [(one.uuids, one.stop_reason) for one in found.responses] == [
        (("B", "C", "D", "E"), "tool_use"),
        (("F",), "end_turn"),
    ]
    assert [one.request for one in found.responses] == ["req_1", "req_2"]
    assert [item.uuid for item in found.items()] == list("ABCDEF")


# checklist: F7, F40
def test_oldest_version_reads_like_the_next(tmp_path: Path) -> None:
    whole = answer("B", "A", None, "tool_use", version="2.0.36", id="m1")
    whole["message"]["content"] = [THINKING, text("I look."), CALL]
    parts = [
        answer("E", "D", THINKING, version="2.0.50", id="m2", requestId="r2"),
        answer("F", "E", text("I look again."), version="2.0.50", id="m2", requestId="r2"),
        answer("G", "F", OTHER, "tool_use", version="2.0.50", id="m2", requestId="r2"),
    ]
    end = answer("I", "H", text("Done."), None, version="2.0.50", id="m3", requestId="r3")
    lines = [
        line("A", None, "go", version="2.0.36"),
        whole,
        result("C", "B", "t1", version="2.0.37"),
        line("D", "C", "once more", version="2.0.42"),
        *parts,
        result("H", "G", "t2", version="2.0.50"),
        end,
    ]
    found = archive(tmp_path, *lines)
    main = main_of(found)
    assert [(one.id, one.uuids, one.stop_reason) for one in main.responses] == [
        ("m1", ("B",), "tool_use"),
        ("m2", ("E", "F", "G"), "tool_use"),
        ("m3", ("I",), None),
    ]
    assert [[type(item).__name__ for item in turn.items] for turn in main.turns] == [
        ["UserMessage", "AssistantThinking", "AssistantText", "ToolCall", "LateResult"],
        [
            "UserMessage",
            "AssistantThinking",
            "AssistantText",
            "ToolCall",
            "LateResult",
            "AssistantText",
        ],
    ]
    assert [one.outcome for one in calls_in(main)] == ["ok", "ok"]
    assert found.graph(SESSION).findings == ()


SNAPSHOT = {
    "type": "file-history-snapshot",
    "messageId": "A",
    "snapshot": {"messageId": "A", "trackedFileBackups": {}, "timestamp": "2026-01-03T10:00:00Z"},
    "isSnapshotUpdate": False,
}
DURATION = {
    **line("E", "D", None, type="system", subtype="turn_duration", durationMs=5500),
    "message": None,
}
EXAMPLE = [
    SNAPSHOT,
    line("A", None, "Read the README"),
    answer("B", "A", CALL, "tool_use"),
    result("C", "B", "t1"),
    answer("D", "C", text("A CLI tool."), "end_turn", requestId="req_2"),
    DURATION,
]


# checklist: P67
@pytest.mark.parametrize(
    "lines",
    [EXAMPLE, [EXAMPLE[1], EXAMPLE[0], *EXAMPLE[2:]]],
    ids=["snapshot first", "prompt first"],
)
def test_six_lines_are_one_complete_turn(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    found = archive(tmp_path, *lines)
    main = main_of(found)
    (turn,) = (turn for turn in main.turns if turn.number)
    assert turn.opener is not None
    assert turn.opener.text == "Read the README"
    assert [one.uuids for one in main.responses] == [("B",), ("D",)]
    (call,) = calls_in(main)
    assert (call.name, call.outcome, call.answered_by) == ("Read", "ok", "C")
    graph = found.graph(SESSION)
    assert (graph.account.balanced, graph.findings) == (True, ())
    sent = found.context(SESSION)
    assert [role for role, _ in sent.messages] == ["user", "assistant", "user", "assistant"]


PROGRESS = {
    **line("P", "B", None, type="progress", toolUseID="t1"),
    "data": {"type": "bash_progress", "output": "ocelot", "fullOutput": "ocelot"},
}


# checklist: P17
def test_display_data_and_progress_are_never_sent(tmp_path: Path) -> None:
    lines = list(EXAMPLE)
    detail = {"stdout": "serval", "stderr": "", "interrupted": False}
    lines[3:4] = [PROGRESS, result("C", "P", "t1", toolUseResult=detail)]
    found = archive(tmp_path, *lines)
    sent = found.context(SESSION)
    said = json.dumps([sent.messages, sent.request], default=str)
    assert ("of t1" in said, "serval" in said, "ocelot" in said) == (True, False, False)
    assert "P" not in sent.chain
    (call,) = calls_in(main_of(found))
    assert call.result is not None
    assert call.result.detail == detail


# checklist: P101, P102, P103, P104
def test_resume_uses_the_leafs_chain_with_joined_blocks(tmp_path: Path) -> None:
    rewound = line("U", "A", "never mind")
    sent = archive(tmp_path, *CHAIN[:2], rewound, *CHAIN[2:]).context(SESSION)
    assert (sent.resumes, sent.leaf, sent.chain) == (True, "G", tuple("ABCDEFG"))
    assert [(role, [block["type"] for block in blocks]) for role, blocks in sent.messages] == [
        ("user", ["text", "text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
        ("assistant", ["text"]),
    ]
    assert "never mind" not in str(sent.messages)


# checklist: P105
@pytest.mark.parametrize(
    ("kept", "chain", "words"),
    [
        ({}, "MNO", ["Continued.", "I go on."]),
        (
            {"preservedMessages": {"anchorUuid": "N", "uuids": ["G"]}},
            "MNGO",
            ["Continued.", "Done.", "I go on."],
        ),
    ],
    ids=["nothing is kept", "the last answer is kept"],
)
def test_resume_of_a_compacted_session_begins_at_its_boundary(
    tmp_path: Path, kept: dict[str, Any], chain: str, words: list[str]
) -> None:
    boundary = {
        **line("M", None, None, type="system", subtype="compact_boundary"),
        "logicalParentUuid": "G",
        "content": "Conversation compacted",
        "compactMetadata": {"trigger": "auto", "preTokens": 167503, **kept},
    }
    recap = line("N", "M", "Continued.", isCompactSummary=True)
    last = answer("O", "N", text("I go on."), "end_turn", requestId="req_3")
    sent = archive(tmp_path, *CHAIN, boundary, recap, last).context(SESSION)
    assert (sent.leaf, sent.chain) == ("O", tuple(chain))
    assert [block["text"] for _, blocks in sent.messages for block in blocks] == words


def rebuilt(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    return rebuild_messages([parse_record(json.dumps(one).encode()) for one in lines])


# checklist: P119
def test_messages_are_rebuilt_as_in_appendix_c() -> None:
    assert rebuilt(SNAPSHOT, *CHAIN, DURATION) == [
        {"role": "user", "content": "/implement-spec"},
        {"role": "assistant", "content": [CALL, OTHER]},
        CHAIN[4]["message"],
        CHAIN[5]["message"],
        {"role": "assistant", "content": [text("Done.")]},
    ]
    summary = {"type": "summary", "summary": "A spec", "leafUuid": "G"}
    assert rebuilt(*CHAIN, summary, line("H", "G", "go on")) == [
        {"role": "user", "content": "[Previous conversation summary]: A spec"},
        {"role": "user", "content": "go on"},
    ]


# p a prompt · m a meta prompt · r a result · a, b a block of that request · - of none
# s a summary · x another line
LETTERS: dict[str, dict[str, Any]] = {
    "p": line("1", None, "go"),
    "m": line("2", "1", [text("expanded")], isMeta=True),
    "r": result("3", "2", "t1"),
    "a": answer("4", "3", CALL, requestId="a"),
    "b": answer("5", "4", text("b"), requestId="b"),
    "-": answer("6", "5", text("none"), requestId=None),
    "s": {"type": "summary", "summary": "so far", "leafUuid": "1"},
    "x": SNAPSHOT,
}


# checklist: P119
@given(st.text(sorted(LETTERS), max_size=20))
@example("asa")
@example("papa-b--mb")
def test_any_line_order_is_rebuilt_as_in_the_appendix(letters: str) -> None:
    lines = [LETTERS[letter] for letter in letters]
    assert rebuilt(*lines) == as_the_appendix_has_it(lines)


def as_the_appendix_has_it(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages by the steps of the write-up, a mark on each answer till the end."""
    messages: list[dict[str, Any]] = []
    for entry in lines:
        kind = entry["type"]
        if kind == "user" and not entry.get("isMeta"):
            messages.append(dict(entry["message"]))
        elif kind == "assistant":
            last = messages[-1] if messages else {}
            content = list(entry["message"]["content"])
            request = entry.get("requestId")
            if last.get("role") == "assistant" and last.get("_requestId") == request:
                last["content"].extend(content)
            else:
                messages.append({"role": "assistant", "content": content, "_requestId": request})
        elif kind == "summary":
            words = f"[Previous conversation summary]: {entry['summary']}"
            messages = [{"role": "user", "content": words}]
    for message in messages:
        message.pop("_requestId", None)
    return messages


# checklist: P119
def test_differences_between_client_and_appendix(tmp_path: Path) -> None:
    summary = {"type": "summary", "summary": "A title", "leafUuid": "G"}
    lines = [*CHAIN, summary]
    sent = archive(tmp_path, *lines).context(SESSION)
    assert "# Spec workflow" in str(sent.messages)
    assert "A title" not in str(sent.messages)
    assert "# Spec workflow" not in str(rebuilt(*lines))
    assert rebuilt(*lines) == [
        {"role": "user", "content": "[Previous conversation summary]: A title"}
    ]


def test_messages_the_appendix_cannot_read_are_skipped(tmp_path: Path) -> None:
    odd: list[Record] = [
        parse_record(b'{"type":"user"}'),
        parse_record(b'{"message":{"role":"user","content":"no type"}}'),
        parse_record(b'{"type":"assistant","message":{"content":"a text"}}'),
    ]
    assert rebuild_messages(odd) == [{"role": "assistant", "content": []}]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(CHAIN[0]) + "\n{torn")
    assert rebuild_messages(plait.read(path)) == [CHAIN[0]["message"]]
