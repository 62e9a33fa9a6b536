"""New sessions are never written to the folder of another agent."""

from pathlib import Path

import pytest

from plait.cli.app import run
from tests.sources.builders import write_lines
from tests.sources.lines import LINES

WORDS = "is the folder of another agent: `plait chat` writes only Claude Code sessions"


def snapshot(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize("agent", LINES)
def test_a_folder_with_logs_of_another_agent_is_refused(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, lines = LINES[agent]
    write_lines(tmp_path / "logs" / name, lines)
    before = snapshot(tmp_path)
    script = ("--model", "script:/nowhere")
    assert run(["chat", "-p", "hello", *script, "--root", str(tmp_path / "logs")]) == 2
    assert WORDS in " ".join(capsys.readouterr().err.split())
    assert snapshot(tmp_path) == before


def test_the_default_folder_of_another_agent_is_refused_even_if_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv("PLAIT_AGENTS", "codex")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "mine"))
    monkeypatch.delenv("PLAIT_ROOT", raising=False)
    assert run(["chat", "-p", "hello", "--model", "script:/nowhere"]) == 2
    assert WORDS in " ".join(capsys.readouterr().err.split())
    assert snapshot(tmp_path / "mine") == []


def test_a_session_of_another_agent_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, lines = LINES["codex"]
    write_lines(tmp_path / "logs" / name, lines)
    (tmp_path / "claude").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "script.json").write_text("{}")
    options = ["--model", f"script:{tmp_path / 'script.json'}"]
    for folder in ("claude", "logs"):
        options += ["--root", str(tmp_path / folder)]
    assert run(["chat", "-p", "more", "--resume", "latest", *options]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "was written by codex, and `plait chat` can resume only Claude Code sessions" in error
    assert "`plait handoff cx-1 " in error
    assert [path for path in snapshot(tmp_path / "claude") if path.is_file()] == []
