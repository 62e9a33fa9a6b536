"""Calls of other agents' tools: the files they name and change, the commands they run."""

from pathlib import Path
from typing import Any

import pytest

from plait.archive import Session
from plait.conversation.changes import files_of
from plait.conversation.equivalents import list_equivalents
from plait.conversation.model import Result, ToolCall
from plait.conversation.patches import list_patches
from plait.files.events import list_file_events
from plait.view.calls import CallView, format_call_line
from tests.sources.builders import CodexLog, open_archive, write_lines
from tests.sources.test_pi import answer, entry, header, prompt

PATCH = """*** Begin Patch
*** Add File: new.py
+def add(a, b):
+    return a + b
*** Update File: old.py
@@ def f():
 def f():
-    return 1
+    return 2
*** Update File: here.py
*** Move to: there.py
@@
-a = 1
+a = 2
*** Delete File: gone.py
*** End Patch"""


def make_call(name: str, given: Any, detail: Any = None) -> ToolCall:
    result = Result(text="done", outcome="ok", detail=detail)
    return ToolCall(response=0, call="c", name=name, input=given, outcome="ok", result=result)


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("write", {"content": "x = 1\n", "path": "a.py"}, "write a.py +1"),
        ("write_file", {"content": "x\n", "file_path": "/p/a.py"}, "write_file a.py +1"),
        ("create", {"file_text": "x\n", "path": "/p/a.py"}, "create a.py +1, new file"),
        ("edit", {"path": "a", "oldText": "1", "newText": "2"}, "edit a +1 −1"),
        ("edit", {"filePath": "a", "oldString": "1", "newString": "2"}, "edit a +1 −1"),
        ("edit", {"path": "a", "old_str": "1", "new_str": "2"}, "edit a +1 −1"),
        ("replace", {"file_path": "a", "old_string": "1", "new_string": "2"}, "replace a +1 −1"),
        (
            "edit",
            {"path": "a", "edits": [{"oldText": "1", "newText": "2"}, {"oldText": "3"}]},
            "edit a +1 −2",
        ),
        ("read", {"path": "/p/a.py", "offset": 3}, "read a.py (from line 3) "),
        ("view", {"path": "a.py"}, "view a.py "),
        ("read_file", {"absolute_path": "/p/a.py"}, "read_file a.py "),
        ("exec_command", {"yield_time_ms": 1000, "cmd": "ls"}, "exec_command ls 1 line"),
        ("shell", {"command": ["bash", "-lc", "ls -l"]}, "shell ls -l 1 line"),
        ("run_shell_command", {"command": "ls"}, "run_shell_command ls 1 line"),
        ("list_directory", {"dir_path": "/p/src"}, "list_directory src 1 line"),
        ("apply_patch", {"input": "no patch"}, "apply_patch no patch "),
    ],
)
def test_a_call_is_shown_by_its_file_or_command(name: str, given: Any, line: str) -> None:
    shown = format_call_line(CallView(make_call(name, given), "/p"))
    assert f"{shown.tool} {shown.subject} {shown.result}" == line


def test_a_patch_changes_each_of_its_files() -> None:
    call = make_call("apply_patch", {"input": PATCH})
    found = {patch.path: (patch.added, patch.removed, patch.is_new) for patch in list_patches(call)}
    assert found == {"new.py": (2, 0, True), "old.py": (1, 1, False), "there.py": (1, 1, False)}
    touched = [equivalent.input["file_path"] for equivalent in list_equivalents(call)]
    assert touched == ["new.py", "old.py", "here.py", "there.py", "gone.py"]
    assert list_patches(make_call("shell", {"command": ["apply_patch", PATCH]})) == list_patches(
        call
    )


def test_a_logged_diff_places_the_change() -> None:
    diff = "Index: a\n===\n--- a\n+++ a\n@@ -7,2 +7,2 @@\n x\n-1\n+2\n"
    given = {"filePath": "a", "oldString": "1", "newString": "2"}
    (patch,) = list_patches(make_call("edit", given, {"diff": diff}))
    assert (patch.hunks[0].old_start, patch.is_placed, patch.is_computed) == (7, True, False)
    over = make_call("write", {"filePath": "a", "content": "y\n"}, {"exists": True})
    assert list_patches(over) == ()  # what was there before is unknown
    full = make_call("write_file", {"file_path": "a", "content": "y\n"}, {"originalContent": "x"})
    assert [patch.removed for patch in list_patches(full)] == [1]


@pytest.mark.parametrize(
    "given", [None, [], "x", {"edits": [1, None]}, {"command": []}, {"input": 3}]
)
@pytest.mark.parametrize("name", ["edit", "apply_patch", "shell", "write", "read", "todowrite"])
def test_input_of_any_form_is_shown(name: str, given: Any) -> None:
    call = make_call(name, given, [1])
    format_call_line(CallView(call))
    assert list_patches(call) == ()


def changed_files(session: Session) -> dict[str, tuple[int, int]]:
    return {
        file.path: (file.added, file.removed) for file in files_of(session.conversations.active)
    }


def test_files_of_a_codex_session(tmp_path: Path) -> None:
    log = CodexLog().prompt("build it")
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": PATCH}
    log.add("response_item", **item)
    log.add("response_item", type="custom_tool_call_output", call_id="c1", output="Success.")
    log.answer("built").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert changed_files(session)["old.py"] == (1, 1)
    assert changed_files(session)["new.py"] == (2, 0)
    events = list_file_events(session.conversations, "/p", lambda _: None)
    assert [(event.path, event.kind) for event in events][:2] == [
        ("/p/new.py", "created"),
        ("/p/old.py", "edited"),
    ]


def test_files_of_a_pi_session(tmp_path: Path) -> None:
    given = {"path": "a.py", "oldText": "1", "newText": "2"}
    calls = [{"type": "toolCall", "id": "t1", "name": "edit", "arguments": given}]
    message = {"role": "assistant", "content": calls, "model": "m"}
    result = {"role": "toolResult", "toolCallId": "t1", "toolName": "edit", "isError": False}
    lines = [
        header("p"),
        prompt(1, None, "/mode"),
        prompt(2, 1, "change it"),
        entry(3, 2, "message", message=message),
        entry(4, 3, "message", message=result | {"content": [{"type": "text", "text": "ok"}]}),
        answer(5, 4, "changed"),
    ]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert changed_files(session) == {"a.py": (1, 1)}
    assert session.title == "change it"  # not the command before it
