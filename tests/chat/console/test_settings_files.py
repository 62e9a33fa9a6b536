"""Claude Code settings files in `plait chat`: rules, modes, environment, trust."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.chat.console.conftest import Chat, Typed

RUN: dict[str, Any] = {
    "answers": [
        {"text": "I run.", "calls": [{"name": "Bash", "input": {"command": "touch made.$LETTER"}}]},
        {"text": "Done."},
    ]
}


def settings(folder: Path, name: str = ".claude/settings.json", /, **values: Any) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def trusted(project: Path) -> None:
    known = {str(project.resolve()): {"hasTrustDialogAccepted": True}}
    (project.parent / "claude").mkdir(exist_ok=True)
    (project.parent / "claude/.claude.json").write_text(json.dumps({"projects": known}))


ALLOW: dict[str, Any] = {"permissions": {"allow": ["Bash(touch *)"]}, "env": {"LETTER": "p"}}


def test_trusted_project_rules_apply(
    chat: Chat, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(project, **ALLOW)
    trusted(project)
    assert chat("-p", "run", script={"rules": [{"when": "run", **RUN}]}) == 0
    assert (project / "made.p").exists()
    assert capsys.readouterr().err == ""


def test_untrusted_project_rules_are_reported_and_ignored(
    chat: Chat, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(project, **ALLOW)
    assert chat("-p", "run", script={"rules": [{"when": "run", **RUN}]}) == 0
    assert not (project / "made.p").exists()
    err = capsys.readouterr().err
    assert "1 rule in .claude/settings.json ignored" in err


def test_user_rules_need_no_trust(chat: Chat, project: Path) -> None:
    (project.parent / "claude").mkdir()
    settings(project.parent / "claude", "settings.json", env={"LETTER": "u"})
    local: dict[str, Any] = {"permissions": {"allow": ["Bash(touch *)"]}}
    settings(project, ".claude/settings.local.json", **local)
    assert chat("-p", "run", script={"rules": [{"when": "run", **RUN}]}) == 0
    assert (project / "made.u").exists()


def test_without_a_terminal_no_project_is_trusted(
    chat: Chat, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(project, **ALLOW)
    typed("run\nn\n")
    assert chat(script={"rules": [{"when": "run", **RUN}]}) == 0
    assert not list(project.glob("made.*"))
    assert "project not trusted" in capsys.readouterr().err


def test_broken_settings_file_is_reported(
    chat: Chat, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(project).write_text('{"permissions": ', encoding="utf-8")
    settings(project, ".claude/settings.local.json", permissions={"deny": ["Bash("]})
    assert chat("-p", "hello") == 0
    output = capsys.readouterr()
    err = " ".join(output.err.split())
    assert "settings.json' is not JSON" in err
    assert "'Bash(' is not a permission rule" in err
    assert output.out == "ok\n"


@pytest.mark.parametrize(
    ("where", "mode", "given", "logged"),
    [
        ("project", "acceptEdits", (), "acceptEdits"),
        ("project", "acceptEdits", ("--permission-mode", "plan"), "plan"),
        ("project", "bypassPermissions", (), "default"),
        ("project", "nonsense", (), "default"),
        ("user", "plan", (), "plan"),
    ],
)
def test_permission_mode_from_settings(
    chat: Chat, project: Path, where: str, mode: str, given: tuple[str, ...], logged: str
) -> None:
    (project.parent / "claude").mkdir()
    values: dict[str, Any] = {"permissions": {"defaultMode": mode}}
    if where == "project":
        settings(project, **values)
    else:
        settings(project.parent / "claude", "settings.json", **values)
    assert chat("-p", "hello", *given) == 0
    (file,) = (project.parent / "claude").rglob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [item["permissionMode"] for item in lines if item["type"] == "user"] == [logged]


def test_root_needs_confirmation(chat: Chat, project: Path) -> None:
    (project.parent / "claude").mkdir()
    values: dict[str, Any] = {"permissions": {"defaultMode": "bypassPermissions"}}
    settings(project.parent / "claude", "settings.json", **values)
    assert chat("-p", "hello") == (2 if os.geteuid() == 0 else 0)
