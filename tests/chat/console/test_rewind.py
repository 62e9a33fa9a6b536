"""`/rewind` and `/branch` at the keyboard: questions, output, files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.chat.console.conftest import Chat, Typed


def write_call(name: str, content: str) -> list[dict[str, Any]]:
    call = {"name": "Write", "input": {"file_path": name, "content": content}}
    return [{"calls": [call]}, {"text": "Written."}]


SCRIPT = {
    "rules": [
        {"when": "write one", "answers": write_call("new.txt", "one\n")},
        {"when": "write two", "answers": write_call("new.txt", "two\n")},
    ],
    "otherwise": {"text": "ok"},
}
EDITS = ("--permission-mode", "acceptEdits")


def find_logs(project: Path) -> list[Path]:
    found = (project.parent / "claude").rglob("*.jsonl")
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)


def users(log: Path) -> list[dict[str, Any]]:
    found = (json.loads(line) for line in log.read_text().splitlines())
    return [
        item
        for item in found
        if item["type"] == "user" and isinstance(item["message"]["content"], str)
    ]


def test_rewind_restores_files(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("write one\nwrite two\n/rewind\n1\nb\nanother\n")
    assert chat(*EDITS, script=SCRIPT) == 0
    output = capsys.readouterr().out
    assert "   2  write one\n   1  write two\n" in output
    assert "Rewind to before which prompt? (number) 1\n" in output
    assert "before 'write two':\n  new.txt: reverted · +1 -1\n" in output
    assert "rewound to before 'write two'; later messages stay in the log\n" in output
    assert "1 file · restored\n  reverted: new.txt\n" in output
    assert (project / "new.txt").read_text() == "one\n"
    (log,) = find_logs(project)
    _, second, third = users(log)
    assert (second["parentUuid"], third["message"]["content"]) == (third["parentUuid"], "another")


@pytest.mark.parametrize(
    ("given", "text", "goes_back"),
    [
        ("/rewind 1 files", "one\n", False),
        ("/rewind 1 conversation", "two\n", True),
        ("/rewind 1 both", "one\n", True),
        ("/rewind 1\nf", "one\n", False),
        ("/rewind 1\nc", "two\n", True),
        ("/rewind 1\nn", "two\n", False),
        ("/rewind\n\n/cost", "two\n", False),
    ],
)
def test_rewind_choices(
    chat: Chat, typed: Typed, project: Path, given: str, text: str, goes_back: bool
) -> None:
    typed(f"write one\nwrite two\n{given}\nanother\n")
    assert chat(*EDITS, script=SCRIPT) == 0
    assert (project / "new.txt").read_text() == text
    _, second, third = users(find_logs(project)[0])
    assert (second["parentUuid"] == third["parentUuid"]) == goes_back


def test_files_changed_by_others_are_kept_and_reported(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand = {"name": "Bash", "input": {"command": "echo mine > new.txt"}}
    script = {"rules": [{"when": "by hand", "answers": [{"calls": [by_hand]}, {"text": "ok"}]}]}
    script["rules"] += SCRIPT["rules"]  # type: ignore[arg-type]
    typed("write one\nby hand\n/rewind 2 files\n")
    assert chat(*EDITS, "--allowed-tools", "Bash", script=script) == 0
    output = capsys.readouterr().out
    assert "0 files · restored\n" in output
    left = "  skipped: new.txt: deleted · +0 -1 · modified outside this session since then\n"
    assert left in output
    assert "`/rewind … files over` first saves copies, then restores them too\n" in output
    assert (project / "new.txt").read_text() == "mine\n"


def test_overwrite_restores_them_and_keeps_a_copy(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand = {"name": "Bash", "input": {"command": "echo mine > new.txt"}}
    script = {"rules": [{"when": "by hand", "answers": [{"calls": [by_hand]}, {"text": "ok"}]}]}
    script["rules"] += SCRIPT["rules"]  # type: ignore[arg-type]
    typed("write one\nby hand\n/rewind 2 files over\n")
    assert chat(*EDITS, "--allowed-tools", "Bash", script=script) == 0
    assert "copies of the replaced files are in " in capsys.readouterr().out
    assert not (project / "new.txt").exists()
    (copy,) = (project.parent / "claude").rglob("*@by-hand-*")
    assert copy.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("/rewind", "there is no prompt to rewind to yet"),
        ("hello\n/rewind 7", "there is no prompt '7'"),
        ("hello\n/rewind 1 nonsense", "cannot rewind 'nonsense'"),
        ("hello\n/rewind 1 files please", "cannot rewind 'files please'"),
        ("/branch", "there is nothing to branch yet"),
        ("hello\n/branch @9", "there is no prompt '9'"),
    ],
)
def test_invalid_rewinds_and_branches_are_reported(
    chat: Chat, typed: Typed, given: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(f"{given}\n")
    assert chat(script=SCRIPT) == 0
    assert text in capsys.readouterr().out


def test_long_prompt_list_is_cut(
    chat: Chat, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("".join(f"prompt {number}\n" for number in range(22)) + "/rewind\n\n")
    assert chat(script=SCRIPT) == 0
    output = capsys.readouterr().out
    assert "  … 2 earlier prompts\n  20  prompt 2\n  19  prompt 3\n" in output


def test_a_branch_continues_in_a_new_session(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("hello\nand then?\n/branch @1 my way\notherwise\n")
    assert chat(script=SCRIPT) == 0
    old, new = find_logs(project)
    assert f"now on a new branch; `plait chat --resume {old.stem}` returns to the original" in (
        capsys.readouterr().out
    )
    assert [user["message"]["content"] for user in users(old)] == ["hello", "and then?"]
    assert [user["message"]["content"] for user in users(new)] == ["hello", "otherwise"]
