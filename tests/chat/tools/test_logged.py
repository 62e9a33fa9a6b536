"""Tools in a turn: each result is logged under its call with its display form."""

from pathlib import Path
from typing import Any

import pytest

from plait.chat.tools import toolbox
from plait.write.lines import VERSIONS, Version
from tests.chat.scripted_client import ScriptedClient

CALLS: list[tuple[str, dict[str, Any], str, set[str]]] = [
    ("Read", {"file_path": "a.txt"}, "1\tone\n2\t", {"type", "file"}),
    (
        "Write",
        {"file_path": "b.txt", "content": "new\n"},
        "File created successfully at: b.txt",
        {"type", "filePath", "content", "structuredPatch", "originalFile", "userModified"},
    ),
    (
        "Edit",
        {"file_path": "a.txt", "old_string": "one", "new_string": "1"},
        "The file a.txt has been updated successfully.",
        {
            "filePath",
            "oldString",
            "newString",
            "originalFile",
            "structuredPatch",
            "userModified",
            "replaceAll",
        },
    ),
    (
        "Bash",
        {"command": "cat a.txt"},
        "1",
        {"stdout", "stderr", "interrupted", "isImage", "noOutputExpected"},
    ),
    (
        "Glob",
        {"pattern": "*.txt"},
        "",
        {"filenames", "durationMs", "numFiles", "truncated", "totalMatches", "countIsComplete"},
    ),
    (
        "Grep",
        {"pattern": "new", "output_mode": "content"},
        "b.txt:1:new",
        {"mode", "numFiles", "filenames", "content", "numLines", "totalLines"},
    ),
    (
        "TodoWrite",
        {"todos": [{"content": "One", "status": "pending", "activeForm": "Doing one"}]},
        "Todos have been modified successfully.",
        {"oldTodos", "newTodos"},
    ),
]


# checklist: P84, P85, P86
@pytest.mark.parametrize("version", VERSIONS)
def test_every_tool_in_a_turn(tmp_path: Path, version: Version) -> None:
    answers = [{"calls": [{"name": name, "input": given}]} for name, given, _, _ in CALLS]
    script = {"answers": [*answers, {"text": "Done."}]}
    session = ScriptedClient(tmp_path, script, tools=[*toolbox().values()], version=version)
    (session.work / "a.txt").write_text("one\n")
    session.ask("Do it all.")
    lines = session.lines
    used = {
        block["id"]: block["name"]
        for line in lines
        if line["type"] == "assistant"
        for block in line["message"]["content"]
        if block["type"] == "tool_use"
    }
    results = [line for line in lines if "toolUseResult" in line]
    assert len(results) == len(CALLS)
    for line, (name, _, item, keys) in zip(results, CALLS, strict=True):
        (block,) = line["message"]["content"]
        assert (line["type"], line["message"]["role"], block["type"]) == (
            "user",
            "user",
            "tool_result",
        )
        assert used[block["tool_use_id"]] == name
        assert block["content"].startswith(item)
        assert not block.get("is_error")
        assert set(line["toolUseResult"]) == keys
    assert (session.work / "a.txt").read_text() == "1\n"
    assert (session.work / "b.txt").read_text() == "new\n"


# checklist: P85, P86
def test_failed_call_in_a_turn(tmp_path: Path) -> None:
    calls = [
        {"name": "Read", "input": {"file_path": "nowhere.txt"}},
        {"name": "Edit", "input": {"file_path": "a.txt"}},
        {"name": "Bash", "input": {"command": "echo no; exit 3"}},
        {"name": "Write", "input": {"file_path": "../out.txt", "content": "x"}},
    ]
    script = {"answers": [{"calls": calls}, {"text": "Oh."}]}
    session = ScriptedClient(tmp_path, script, tools=[*toolbox().values()])
    session.ask("Do it all.")
    results = [line for line in session.lines if "toolUseResult" in line]
    assert [line["message"]["content"][0]["is_error"] for line in results] == [True] * 4
    items = [line["toolUseResult"] for line in results]
    assert items[0].startswith("Error: File does not exist.")
    assert items[1].startswith("InputValidationError: [")
    assert items[2] == "Error: Exit code 3\nno"
    assert items[3].startswith("Error: Refusing to write ../out.txt")
    assert not (tmp_path / "out.txt").exists()


def test_end_of_a_command_names_its_call(tmp_path: Path) -> None:
    started = {"command": "exit 4", "run_in_background": True, "description": "quick"}
    waits = {"command": "sleep 0.4; touch x"}
    calls = [{"calls": [{"name": "Bash", "input": given}]} for given in (started, waits)]
    script = {"answers": [*calls, {"text": "Done."}, {"text": "I see."}]}
    session = ScriptedClient(tmp_path, script, tools=[*toolbox().values()])
    session.ask("Do it.")
    call = next(
        block["id"]
        for line in session.lines
        if line["type"] == "assistant"
        for block in line["message"]["content"]
        if block["type"] == "tool_use"
    )
    entry = next(line for line in session.lines if line["type"] == "queue-operation")["content"]
    assert f"<tool-use-id>{call}</tool-use-id>" in entry
    assert 'Background command "quick" failed with exit code 4' in entry
