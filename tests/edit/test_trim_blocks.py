"""Every kind of block that can be removed or shortened: its line, its view and its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plait.edit.plan import Remove
from tests.edit.trimming import Trimmed, make_cuts

LONG = "x" * 900


def blocks(found: Trimmed, name: str) -> list[str]:
    """Return the kinds of blocks that a record still holds."""
    return [str(head.type) for head in found.record(name).block_heads]


def message(*content: dict[str, Any], **more: Any) -> str:
    """Return what a drawn line says in the place of its own message."""
    return json.dumps({"message": {"id": "m1", "content": [*content], **more}})


def make_message(role: str, *content: dict[str, Any]) -> str:
    """Return the message of an answer or of results."""
    model = {"model": "claude-opus-5-5", "stop_reason": "tool_use"} if role == "assistant" else {}
    usage = {"usage": {"input_tokens": 1, "output_tokens": 1}} if model else {}
    return message(*content, role=role, **model, **usage)


def test_a_call_next_to_text_is_removed_alone_and_the_stop_reason_kept(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    A1< together think "hm" + "looking" + Bash(command="ls")
    R1< "a.py"
    A2< "done"
    """
    found = make_cuts(tmp_path, rendered, ("A1", 2))
    assert found.picture == "U1 A1<U1 A2<A1"
    assert blocks(found, "A1") == ["thinking", "text"]
    assert found.record("A1").fields["message"]["stop_reason"] == "tool_use"


def test_a_call_is_removed_with_its_removed_result(tmp_path: Path) -> None:
    rendered = 'U1 "go"\nT1< Bash(command="ls")\nR1< "a.py"\nA1< "done"'
    assert make_cuts(tmp_path, rendered, ("R1", 0)).picture == "U1 A1<U1"


def test_other_results_on_a_line_are_kept_with_their_view(tmp_path: Path) -> None:
    results = make_message(
        "user",
        {"type": "tool_result", "tool_use_id": "$(call one)", "content": "1"},
        {"type": "tool_result", "tool_use_id": "$(call two)", "content": "2"},
    )
    rendered = f"""
    U1 "go"
    A1< Bash(command="1") as one + Bash(command="2") as two
    R1<A1.1 of one {results}
    A2< "done"
    """
    found = make_cuts(tmp_path, rendered, ("A1.1", 0))
    assert found.picture == "U1 A1<U1 R1<A1 A2<R1"
    assert len(found.record("R1").block_heads) == 1 and "toolUseResult" in found.record("R1").fields
    assert found.texts[-2:] == ["2", "done"]


def test_text_next_to_a_removed_result_stays_and_is_not_a_prompt(tmp_path: Path) -> None:
    results = make_message(
        "user",
        {"type": "tool_result", "tool_use_id": "$(call one)", "content": "1"},
        {"type": "text", "text": "and mind the tests"},
    )
    rendered = f"""
    U1 "go"
    A1< Bash(command="1") as one
    R1< of one {results}
    A2< "done"
    """
    found = make_cuts(tmp_path, rendered, ("A1", 0))
    fields = found.record("R1").fields
    assert "toolUseResult" not in fields and "sourceToolAssistantUUID" not in fields
    assert fields["isMeta"] is True and blocks(found, "R1") == ["text"]
    assert found.plan.before.turns == found.plan.after.turns
    assert "and mind the tests" in "".join(found.texts)


@pytest.mark.parametrize("thought", ['think "hm"', "redacted"])
def test_a_line_of_thinking_is_removed_and_the_chain_mended(tmp_path: Path, thought: str) -> None:
    rendered = f'U1 "go"\nA1< {thought} + "done"\nU2< "more"'
    found = make_cuts(tmp_path, rendered, ("A1.1", 0))
    assert found.picture == "U1 A1<U1 U2<A1"
    assert found.texts == ["go", "done", "more", "No response requested."]


def test_removing_thinking_leaves_other_blocks_byte_for_byte(tmp_path: Path) -> None:
    rendered = (
        'U1 "go"\nA1< together think "hm" + "looking" + Bash(command="ls")\nR1< "a"\nA2< "ok"'
    )
    found = make_cuts(tmp_path, rendered, ("A1", 0))
    assert blocks(found, "A1") == ["text", "tool_use"]
    line = next(line for line in found.before.split(b"\n") if b'"thinking"' in line)
    start, end = line.index(b'{"type":"thinking"'), line.index(b'{"type":"text"')
    kept = line[:start] + line[end:]
    noted = found.record("A1").raw.partition(b',"trimmedTokens"')[0]
    assert kept.startswith(noted)


def test_all_thinking_of_a_response_is_removed_together(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    A1< think "one" + "words" + think "two" + Bash(command="ls")
    R1< "a"
    A2< think "three" + "done"
    """
    found = make_cuts(tmp_path, rendered, ("A1.3", 0))
    assert found.picture == "U1 A1.2<U1 A1<A1.2 R1<A1 A2.1<R1 A2<A2.1"


def test_thinking_is_never_shortened(tmp_path: Path) -> None:
    found = make_cuts(tmp_path, 'U1 "go"\nA1< think "hm" + "done"', ("A1.1", 0, "…"))
    assert not found.plan.steps


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("server_tool_use", "web_search_tool_result"),
        ("server_tool_use", "code_execution_tool_result"),
        ("mcp_tool_use", "mcp_tool_result"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_server_side_calls_are_removed_with_their_results(
    tmp_path: Path, call: str, result: str, place: int
) -> None:
    made = {"type": call, "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    given = {"type": result, "tool_use_id": "srvtoolu_1", "content": [{"type": "x", "url": "u"}]}
    answer = make_message("assistant", made, given, {"type": "text", "text": "found"})
    found = make_cuts(tmp_path, f'U1 "go"\nA1< "" {answer}', ("A1", place))
    assert blocks(found, "A1") == ["text"]


def test_server_side_results_are_not_shortened(tmp_path: Path) -> None:
    made = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    given = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "x"}]}
    rendered = f'U1 "go"\nA1< "" {make_message("assistant", made, given)}'
    assert not make_cuts(tmp_path, rendered, ("A1", 1, "short")).plan.steps


def test_results_of_mcp_tools_are_shortened(tmp_path: Path) -> None:
    made = {"type": "mcp_tool_use", "id": "s1", "name": "log", "server_name": "git", "input": {}}
    given = {"type": "mcp_tool_result", "tool_use_id": "s1", "content": LONG}
    found = make_cuts(
        tmp_path, f'U1 "go"\nA1< "" {make_message("assistant", made, given)}', ("A1", 1, "cut")
    )
    assert found.record("A1").fields["message"]["content"][1]["content"] == "cut"


def test_an_image_in_a_prompt_becomes_text_and_the_prompt_is_kept(tmp_path: Path) -> None:
    found = make_cuts(tmp_path, 'U1 "what is it?" image=a\nA1< "a cat"', ("U1", 1, "[a picture]"))
    assert blocks(found, "U1") == ["text", "text"]
    assert found.texts[:2] == ["what is it?", "[a picture]"]


def test_removing_an_image_never_empties_a_prompt(tmp_path: Path) -> None:
    found = make_cuts(tmp_path, 'U1 "what is it?" image=a\nA1< "a cat"', ("U1", 1))
    assert blocks(found, "U1") == ["text"]
    alone = make_message("user", {"type": "image", "source": {"type": "base64", "data": "AA=="}})
    kept = make_cuts(tmp_path / "b", f'U1 "x" {alone}\nA1< "a cat"', ("U1", 0))
    assert blocks(kept, "U1") == ["text"] and "U1" in kept.picture


def test_a_document_becomes_text(tmp_path: Path) -> None:
    paper = {"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}
    rendered = (
        f'U1 "x" {make_message("user", paper, {"type": "text", "text": "sum it up"})}\nA1< "ok"'
    )
    found = make_cuts(tmp_path, rendered, ("U1", 0, "[a document]"))
    assert blocks(found, "U1") == ["text", "text"]


def test_an_image_in_a_result_is_removed_and_its_text_kept(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "seen"}, {"type": "image", "source": {"data": "A" * 900}}]
    result = {"type": "tool_result", "tool_use_id": "$(call look)", "content": parts}
    rendered = f"""
    U1 "look"
    A1< Read(file_path="/x.png") as look
    R1< of look {make_message("user", result)} {{"toolUseResult": {{"file": {{"base64": "{"A" * 900}"}}}}}}
    A2< "a cat"
    """
    found = make_cuts(tmp_path, rendered, ("R1", 0, "[a picture]", 1))
    content = found.record("R1").fields["message"]["content"][0]["content"]
    assert content == [parts[0], {"type": "text", "text": "[a picture]"}]
    assert len(found.record("R1").fields["toolUseResult"]["file"]["base64"]) <= 80
    first = make_cuts(tmp_path / "c", rendered, ("R1", 0, None, 0))
    assert first.record("R1").fields["message"]["content"][0]["content"] == parts[1:]
    assert not make_cuts(tmp_path / "d", rendered, ("R1", 0, None, 2)).plan.steps
    bare = make_cuts(tmp_path / "b", rendered, ("R1", 0, None, 1))
    assert bare.record("R1").fields["message"]["content"][0]["content"] == parts[:1]


def test_shortened_result_has_a_shortened_view(tmp_path: Path) -> None:
    view = {"stdout": LONG, "stderr": "y" * 900, "interrupted": False, "lines": ["z" * 60] * 40}
    rendered = f"""
    U1 "go"
    T1< Bash(command="ls")
    R1< "{LONG}" {json.dumps({"toolUseResult": view})}
    A1< "done"
    """
    found = make_cuts(tmp_path, rendered, ("R1", 0, "x [899 more]"))
    fields = found.record("R1").fields
    assert fields["message"]["content"][0]["content"] == "x [899 more]"
    after = fields["toolUseResult"]
    assert after["stdout"] == "x [899 more]" and after["interrupted"] is False
    assert after["stderr"] == "y" * 79 + "…" and after["lines"] == []
    assert found.texts == ["go", found.texts[1], "x [899 more]", "done"]
    again = make_cuts(tmp_path / "b", rendered, ("R1", 0, LONG))
    assert not again.plan.steps


def test_call_input_can_be_shortened(tmp_path: Path) -> None:
    rendered = f'U1 "go"\nT1< Write(file_path="/x", content="{LONG}")\nR1< "ok"\nA1< "done"'
    shorter = {"file_path": "/x", "content": "…"}
    found = make_cuts(tmp_path, rendered, ("T1", 0, json.dumps(shorter)))
    assert found.record("T1").fields["message"]["content"][0]["input"] == shorter
    assert not make_cuts(tmp_path / "b", rendered, ("T1", 0, "[1, 2]")).plan.steps


OUTPUT = """
U1 "go"
T1< Bash(command="make") as make
R1< of make "<persisted-output>\\nOutput saved to: /p/tool-results/big1.txt" {VIEW}
A1< "done"
also tool-results/big1.txt
  | all of it
also tool-results/other2.txt
  | of nobody
"""
VIEW = json.dumps(
    {"toolUseResult": {"stdout": "", "persistedOutputPath": "/p/tool-results/big1.txt"}}
)


def removed(found: Trimmed) -> list[str]:
    """Return the names of the files that go."""
    return [step.path.name for step in found.plan.steps if isinstance(step, Remove)]


def test_an_output_nothing_refers_to_is_removed(tmp_path: Path) -> None:
    rendered = OUTPUT.replace("{VIEW}", VIEW)
    assert removed(make_cuts(tmp_path / "a", rendered, ("T1", 0))) == ["big1.txt"]
    assert removed(make_cuts(tmp_path / "b", rendered, ("R1", 0, "[gone]"))) == ["big1.txt"]
    kept = make_cuts(tmp_path / "c", rendered, ("R1", 0, "[see /p/tool-results/big1.txt]"))
    assert removed(kept) == []
    assert "persistedOutputPath" in kept.record("R1").fields["toolUseResult"]
