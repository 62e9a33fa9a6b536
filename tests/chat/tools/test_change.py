"""Write and Edit: file contents afterwards, and the result text."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plait.chat.tools import edit
from plait.chat.tools.base import ToolError
from plait.chat.tools.edit import STALE_NOTE, normalize_edit
from tests.chat.tools.workspace import ToolWorkspace, apply_hunks

KNOWN = " (file state is current in your context — no need to Read it back)"
NOT_FOUND = "<tool_use_error>String to replace not found in file.\nString: {}</tool_use_error>"
SINCE = (
    "<tool_use_error>File has been modified since read, either by the user or by a linter. Read it"
    " again before attempting to write it.</tool_use_error>"
)


# checklist: P84, P85, P86, P110
def test_file_is_created(workspace: ToolWorkspace) -> None:
    path = str(workspace.root / "new" / "folder" / "a.txt")
    outcome = workspace.run_tool("Write", file_path=path, content="one\n")
    assert Path(path).read_text() == "one\n"
    assert outcome.content == f"File created successfully at: {path}{KNOWN}"
    assert outcome.output == {
        "type": "create",
        "filePath": path,
        "content": "one\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }


# checklist: P86, P110
def test_file_is_replaced(workspace: ToolWorkspace) -> None:
    path = str(workspace.put("a.txt", "one\n"))
    outcome = workspace.run_tool("Write", file_path=path, content="two\n")
    assert Path(path).read_text() == "two\n"
    assert outcome.content == f"The file {path} has been updated successfully.{KNOWN}"
    assert outcome.output == {
        "type": "update",
        "filePath": path,
        "content": "two\n",
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-one", "+two"]}
        ],
        "originalFile": "one\n",
        "userModified": False,
    }


# checklist: P84, P85, P86, P111
def test_text_is_replaced(workspace: ToolWorkspace) -> None:
    path = str(workspace.put("a.txt", "one\ntwo\nthree\n"))
    workspace.run_tool("Read", file_path=path)
    outcome = workspace.run_tool("Edit", file_path=path, old_string="two", new_string="2")
    assert Path(path).read_text() == "one\n2\nthree\n"
    assert outcome.content == f"The file {path} has been updated successfully.{KNOWN}"
    assert outcome.output == {
        "filePath": path,
        "oldString": "two",
        "newString": "2",
        "originalFile": "one\ntwo\nthree\n",
        "structuredPatch": [
            {
                "oldStart": 1,
                "oldLines": 3,
                "newStart": 1,
                "newLines": 3,
                "lines": [" one", "-two", "+2", " three"],
            }
        ],
        "userModified": False,
        "replaceAll": False,
    }


# checklist: P111
def test_replace_all(workspace: ToolWorkspace) -> None:
    workspace.put("a.txt", "two\none\ntwo\n")
    refused = workspace.result_text("Edit", file_path="a.txt", old_string="two", new_string="2")
    assert refused.startswith("<tool_use_error>Found 2 matches of the string to replace, but")
    outcome = workspace.run_tool(
        "Edit", file_path="a.txt", old_string="two", new_string="2", replace_all=True
    )
    assert (workspace.root / "a.txt").read_text() == "2\none\n2\n"
    assert outcome.content == (
        "The file a.txt has been updated. All occurrences were successfully replaced."
    )
    assert outcome.output["replaceAll"] is True


@given(
    st.text('ab\r\n\t“"', max_size=30), st.text('ab\n"', max_size=4), st.text("cd\n", max_size=4)
)
def test_patch_applied_to_the_original_gives_the_result(text: str, old: str, new: str) -> None:
    assume(old != new)
    with tempfile.TemporaryDirectory() as folder:
        workspace = ToolWorkspace(Path(folder))
        path = workspace.put("a.txt", text)
        arguments = {"old_string": old, "new_string": new, "replace_all": True}
        outcome = workspace.run_tool("Edit", file_path="a.txt", **arguments)
        held = path.read_bytes().decode()
        if outcome.is_error:
            assert held == text
            return
        seen, output = text.replace("\r\n", "\n"), outcome.output
        assert output["originalFile"] == seen
        spaced = "\n".join(_spaced(line) for line in seen.split("\n"))
        after = "\n".join(_spaced(line) for line in held.replace("\r\n", "\n").split("\n"))
        assert apply_hunks(spaced, output["structuredPatch"]) == after
        if old and old in seen and "\r" not in text:
            assert held == text.replace(old, new)


def _spaced(line: str) -> str:
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest


@pytest.mark.parametrize(
    ("held", "old", "new", "holds"),
    [
        (b"a\r\nb\r\nc\r\n", "b", "B\nX", b"a\r\nB\r\nX\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "q", b"q\r\nc\r\n"),
        (b"a\nb\r\nc\nd\n", "c", "C\nD", b"a\nb\r\nC\nD\nd\n"),
        (b"\xef\xbb\xbfa\nb\n", "a", "aa", b"\xef\xbb\xbfaa\nb\n"),
        ("hi\n".encode("utf-16"), "hi", "ho", "ho\n".encode("utf-16")),
        (
            "say “hello” it’s\n".encode(),
            'say "hello" it\'s',
            'say "bye" it\'s',
            "say “bye” it’s\n".encode(),
        ),
        (b"aXbXc", "aX", "$& \\1 \\g<0>", b"$& \\1 \\g<0>bXc"),
    ],
)
def test_rest_of_the_file_stays(
    workspace: ToolWorkspace, held: bytes, old: str, new: str, holds: bytes
) -> None:
    path = workspace.put("a.txt", held)
    workspace.run_tool("Edit", file_path="a.txt", old_string=old, new_string=new)
    assert path.read_bytes() == holds


@pytest.mark.parametrize(
    ("held", "content", "holds"),
    [
        ("hi\n".encode("utf-16"), "ho\n", "ho\n".encode("utf-16")),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        (b"a\r\nb\r\n", "x\ny\n", b"x\ny\n"),
        (b"a\n", "x\r\ny\n", b"x\r\ny\n"),
    ],
)
def test_file_keeps_its_encoding(
    workspace: ToolWorkspace, held: bytes, content: str, holds: bytes
) -> None:
    path = workspace.put("a.txt", held)
    workspace.run_tool("Write", file_path="a.txt", content=content)
    assert path.read_bytes() == holds


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("a.txt", "x", "x"),
            "No changes to make: old_string and new_string are exactly the same.",
        ),
        (("a.txt", "zzz", "x"), "String to replace not found in file.\nString: zzz"),
        (("a.txt", "", "x"), "Cannot create new file - file already exists."),
        (("no.txt", "a", "x"), "File does not exist. Note: your current working directory is .."),
        (
            ("b.ipynb", "a", "x"),
            "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.",
        ),
        (
            ("sub", "a", "x"),
            "Error calling tool (Edit): EISDIR: illegal operation on a directory, read",
        ),
        (("latin.txt", "c", "x"), "File is not valid UTF-8: it uses a legacy encoding such as"),
        (("nul.txt", "a", "x"), "File has NUL bytes in its first 8 KB: binary data"),
    ],
)
def test_refused_edits(
    workspace: ToolWorkspace, arguments: tuple[str, str, str], text: str
) -> None:
    held = {"a.txt": b"one\n", "b.ipynb": b"{}", "latin.txt": b"caf\xe9", "nul.txt": b"a\0"}
    for name, data in held.items():
        workspace.put(name, data)
    (workspace.root / "sub").mkdir()
    name, old, new = arguments
    outcome = workspace.run_tool("Edit", file_path=name, old_string=old, new_string=new)
    assert outcome.is_error
    shown = str(outcome.content).replace(str(workspace.root), ".")
    assert shown.startswith(f"<tool_use_error>{text}")
    assert all((workspace.root / name).read_bytes() == data for name, data in held.items())


def test_edit_can_create_a_file(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Edit", file_path="new.txt", old_string="", new_string="made\n")
    assert (workspace.root / "new.txt").read_text() == "made\n"
    assert outcome.output["originalFile"] == ""
    assert outcome.output["structuredPatch"][0]["lines"] == ["+made"]


def test_refused_writes(workspace: ToolWorkspace) -> None:
    workspace.put("latin.txt", b"caf\xe9")
    (workspace.root / "sub").mkdir()
    text = workspace.result_text("Write", file_path="latin.txt", content="x")
    assert text.startswith("File is not valid UTF-8")
    assert workspace.result_text("Write", file_path="sub", content="x") == (
        "<tool_use_error>sub is a directory, not a file. To create a file inside it, include the"
        " file name in file_path.</tool_use_error>"
    )


def test_file_changed_by_others_is_not_overwritten(workspace: ToolWorkspace) -> None:
    path = workspace.put("a.txt", "one\n")
    workspace.run_tool("Read", file_path="a.txt")
    path.write_text("one by somebody else\n")
    assert workspace.result_text("Write", file_path="a.txt", content="x") == SINCE
    assert path.read_text() == "one by somebody else\n"
    workspace.run_tool("Read", file_path="a.txt")
    assert not workspace.run_tool("Write", file_path="a.txt", content="x").is_error


@pytest.mark.parametrize(
    ("now", "is_done"),
    [("one\nby somebody else\n", True), ("one\none\n", False), ("eins\n", False)],
)
def test_text_that_still_occurs_once_is_replaced(
    workspace: ToolWorkspace, now: str, is_done: bool
) -> None:
    path = workspace.put("a.txt", "one\ntwo\n")
    workspace.run_tool("Read", file_path="a.txt")
    path.write_text(now)
    outcome = workspace.run_tool("Edit", file_path="a.txt", old_string="one", new_string="1")
    if not is_done:
        assert (outcome.content, path.read_text()) == (SINCE, now)
        return
    assert path.read_text() == "1\nby somebody else\n"
    assert outcome.content == f"The file a.txt has been updated successfully.{STALE_NOTE}"
    keys = [*outcome.output][-2:]
    assert keys == ["staleRecovered", "contentNotInModelContext"]
    again = workspace.run_tool("Edit", file_path="a.txt", old_string="1", new_string="one")
    assert again.content == "The file a.txt has been updated successfully."


def test_changed_line_endings_alone_are_no_change(workspace: ToolWorkspace) -> None:
    path = workspace.put("a.txt", "one\ntwo\n")
    workspace.run_tool("Read", file_path="a.txt")
    path.write_bytes(b"one\r\ntwo\r\n")
    assert not workspace.run_tool("Write", file_path="a.txt", content="x").is_error


@pytest.mark.parametrize(
    ("given", "logged"),
    [
        ({}, {"replace_all": False}),
        ({"replace_all": "true"}, {"replace_all": True}),
        ({"new_string": "x  \ny\t\r\n  z "}, {"replace_all": False, "new_string": "x\ny\r\n  z"}),
        ({"file_path": "a.MD", "new_string": "x  "}, {"replace_all": False}),
        ({"file_path": "gone.txt", "new_string": "x  "}, {"replace_all": False}),
    ],
)
def test_arguments_are_logged_with_defaults(
    workspace: ToolWorkspace, given: dict[str, Any], logged: dict[str, Any]
) -> None:
    workspace.put("a.txt", "one")
    workspace.put("a.MD", "one")
    asked = {"file_path": "a.txt", "old_string": "one", "new_string": "1"} | given
    found = normalize_edit(asked, workspace.place)
    assert dict(found) == asked | logged
    assert [*found] == ["replace_all", "file_path", "old_string", "new_string"]


@pytest.mark.parametrize("more", [{"new_string": 5}, {"bogus": 1}, {"file_path": "a\0"}])
def test_wrong_arguments_are_logged_unchanged(
    workspace: ToolWorkspace, more: dict[str, Any]
) -> None:
    asked = {"file_path": "a.txt", "old_string": "one", "new_string": "1"} | more
    assert normalize_edit(asked, workspace.place) == asked


def test_touched_file_is_written(workspace: ToolWorkspace) -> None:
    path = workspace.put("a.txt", "one\n")
    workspace.run_tool("Read", file_path="a.txt")
    os.utime(path, ns=(1, 1))
    assert not workspace.run_tool("Write", file_path="a.txt", content="x").is_error


def test_file_changed_during_the_question_is_not_overwritten(workspace: ToolWorkspace) -> None:
    import asyncio

    path = workspace.put("a.txt", "one\n")
    tool = workspace.tools["Edit"]
    arguments = {"file_path": "a.txt", "old_string": "one", "new_string": "x"}
    proposal = tool.propose(arguments, workspace.place)
    assert (proposal.before, proposal.after) == ("one\n", "x\n")
    path.write_text("one, but other\n")
    with pytest.raises(ToolError, match="modified since read"):
        asyncio.run(tool.run(proposal, workspace.place, workspace.reports.append))
    assert path.read_text() == "one, but other\n"


def test_edits_proposed_together_are_both_applied(workspace: ToolWorkspace) -> None:
    import asyncio

    path = workspace.put("a.txt", "one\ntwo\n")
    tool = workspace.tools["Edit"]
    proposals = [
        tool.propose({"file_path": "a.txt", "old_string": old, "new_string": new}, workspace.place)
        for old, new in (("one", "1"), ("two", "2"))
    ]
    for proposal in proposals:
        asyncio.run(tool.run(proposal, workspace.place, workspace.reports.append))
    assert path.read_text() == "1\n2\n"


def test_unseen_changes_are_marked_in_the_result(workspace: ToolWorkspace) -> None:
    workspace.put("a.txt", "one\ntwo\n")
    unseen = workspace.run_tool("Edit", file_path="a.txt", old_string="one", new_string="1")
    assert unseen.content == "The file a.txt has been updated successfully."
    assert unseen.output["contentNotInModelContext"] is True
    workspace.run_tool("Read", file_path="a.txt", limit=1)
    in_part = workspace.run_tool("Edit", file_path="a.txt", old_string="1", new_string="one")
    assert in_part.output["contentNotInModelContext"] is True
    workspace.run_tool("Read", file_path="a.txt")
    seen = workspace.run_tool("Edit", file_path="a.txt", old_string="two", new_string="2")
    assert "contentNotInModelContext" not in seen.output


# checklist: P86
@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_changes_by_the_user_are_marked_in_the_result(workspace: ToolWorkspace, tool: str) -> None:
    import asyncio

    workspace.put("a.txt", "one\n")
    arguments: dict[str, Any] = {"file_path": "a.txt", "content": "x"}
    if tool == "Edit":
        arguments = {"file_path": "a.txt", "old_string": "one", "new_string": "x"}
    proposal = replace(
        workspace.tools[tool].propose(arguments, workspace.place), is_user_modified=True
    )
    outcome = asyncio.run(
        workspace.tools[tool].run(proposal, workspace.place, workspace.reports.append)
    )
    assert outcome.output["userModified"] is True
    assert "The user modified your proposed changes before accepting them." in outcome.content


@pytest.mark.parametrize(("letters", "is_kept"), [(10_000, True), (10_001, False)])
def test_log_keeps_the_original_of_a_short_file(
    workspace: ToolWorkspace, letters: int, is_kept: bool
) -> None:
    workspace.put("a.txt", "x" * letters)
    outcome = workspace.run_tool("Write", file_path="a.txt", content="y")
    assert outcome.output["originalFile"] == ("x" * letters if is_kept else None)


def test_too_large_file_is_refused(
    workspace: ToolWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit, "MAX_EDIT_BYTES", 3)
    workspace.put("a.txt", "1234")
    assert "too large to change" in workspace.result_text("Write", file_path="a.txt", content="x")
    workspace.put("b.txt", "123")
    assert not workspace.run_tool("Write", file_path="b.txt", content="x").is_error


def test_file_keeps_its_mode(workspace: ToolWorkspace) -> None:
    path = workspace.put("a.sh", "echo\n")
    path.chmod(0o755)
    workspace.run_tool("Edit", file_path="a.sh", old_string="echo", new_string="echo 1")
    assert path.stat().st_mode & 0o777 == 0o755


def test_files_are_backed_up_before_changes(workspace: ToolWorkspace) -> None:
    path = workspace.put("a.txt", "one\n")
    kept: list[str] = []
    workspace.place.before_change = lambda changed: kept.append(changed.read_text())
    workspace.run_tool("Write", file_path="a.txt", content="two\n")
    workspace.run_tool("Edit", file_path="a.txt", old_string="zzz", new_string="x")
    assert kept == ["one\n"]
    assert path.read_text() == "two\n"


def test_temporary_file_is_removed(
    workspace: ToolWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.put("a.txt", "one\n")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    text = workspace.result_text("Write", file_path="a.txt", content="two\n")
    assert text == "ENOSPC: no space left on device, open './a.txt'"
    assert [entry.name for entry in workspace.root.iterdir()] == ["a.txt"]
    assert (workspace.root / "a.txt").read_text() == "one\n"


def test_notebook_cells_are_edited(workspace: ToolWorkspace) -> None:
    import json

    cells = [{"cell_type": "code", "id": "a1", "source": "1", "metadata": {}, "outputs": [{}]}]
    workspace.put("b.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}))

    def change(**arguments: Any) -> Any:
        return workspace.run_tool("NotebookEdit", notebook_path="b.ipynb", **arguments)

    def sources() -> list[str]:
        return [
            cell["source"] for cell in json.loads((workspace.root / "b.ipynb").read_text())["cells"]
        ]

    outcome = change(cell_id="a1", new_source="2")
    assert outcome.content == "Updated cell a1 with 2"
    assert (outcome.output["old_source"], outcome.output["edit_mode"]) == ("1", "replace")
    assert change(new_source="t", edit_mode="insert", cell_type="markdown").content.startswith(
        "Inserted cell "
    )
    assert sources() == ["t", "2"]
    assert change(cell_id="a1", new_source="", edit_mode="delete").content == "Deleted cell a1"
    assert sources() == ["t"]
    assert change(cell_id="zz", new_source="x").content == (
        '<tool_use_error>Cell with ID "zz" not found in notebook.</tool_use_error>'
    )
    assert "Cell type is required" in change(new_source="x", edit_mode="insert").content
    assert "must be a Jupyter notebook" in workspace.result_text(
        "NotebookEdit", notebook_path="a.txt", new_source="x"
    )
