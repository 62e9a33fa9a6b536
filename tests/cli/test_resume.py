"""`plait resume` end to end: output, running the client, refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from examples.drawing import draw
from plait.cli.app import run

SESSION = "44c6406c-0c3e-4e67-886a-f5022bdc707b"
WORK = """
file work cwd={cwd} start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take LIKE, it is in the database already and nobody will ever ask for anything more than that"
A2< "Done."
"""


@pytest.fixture(autouse=True)
def narrow_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the command a narrow page."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration folder with a session of a directory that is there."""
    (tmp_path / "shop").mkdir()
    return drawn(tmp_path, WORK.format(cwd=tmp_path / "shop"))


def drawn(folder: Path, text: str) -> Path:
    draw(text).write(folder / "config" / "projects")
    return folder / "config"


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def test_resume_prints_the_command_on_one_line(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    shop = config.parent / "shop"
    lines = out(capfd, "resume", "search box", "--root", config).splitlines()
    assert lines[0] == "A search box"
    assert lines[-4:] == [
        "the next prompt sends 14k tokens: $0.0029 if still cached, $0.07 if not",
        "cache expired at 2026-11-02 09:05",
        "",
        f"cd {shop} && CLAUDE_CONFIG_DIR={config} claude --resume {SESSION}",
    ]
    assert len(lines[-1]) > 80


def test_warnings_wrap_with_indent(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = drawn(tmp_path, WORK.format(cwd="/nowhere/at/all"))
    text = out(capfd, "resume", "search box", "--root", config)
    assert [line.rstrip() for line in text.splitlines()[8:]] == [
        "warning: '/nowhere/at/all' does not exist: only newer versions find the session",
        "         from another directory",
    ]


def test_resume_at_a_turn(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    text = out(capfd, "resume", SESSION, "--at", 2, "--root", config)
    assert text.partition(f"{SESSION}\n\n")[2].splitlines() == [
        "Then, to go back to turn 2 of 2:",
        "  1. Press Esc twice, or type /rewind",
        "  2. Choose “Take LIKE, it is in the database already and nobody will ever…”",
        "",
        "What followed that prompt stays in the log as a branch.",
        "Add --fork-session to continue in a new session instead.",
    ]


def test_turn_before_a_compaction_cannot_be_resumed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    later = 'B1 boundary after A2\nC1< "The story so far"\nU3< "Go on"\nA3< "Yes."\n'
    config = drawn(tmp_path, WORK.format(cwd=tmp_path) + later)
    text = out(capfd, "resume", SESSION, "--at", 1, "--root", config)
    assert text.endswith(
        "Turn 1 of 3 is in the log, but not in the context:\n"
        "  “What would a first version look like?”\n"
        "The context starts after it, so Claude Code cannot go back there.\n"
    )


def test_session_that_cannot_resume_prints_no_command(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = drawn(tmp_path, 'file work\nU1 "Alone" side\n')
    text = out(capfd, "resume", SESSION, "--at", 1, "--root", config)
    assert "cannot be resumed: " in text
    assert "claude --resume" not in text
    found = json.loads(out(capfd, "resume", SESSION, "--json", "--root", config))
    assert (found["resumes"], found["command"], found["line"]) == (False, None, None)
    assert found["why_not"] in text


def test_turn_is_selected_by_text_or_record(
    capfd: pytest.CaptureFixture[str], config: Path
) -> None:
    def back(name: str) -> object:
        given = ("resume", SESSION, "--at", name, "--json", "--root", config)
        return json.loads(out(capfd, *given))["back"]

    first = back("1")
    assert isinstance(first, dict)
    assert back("a first version") == back(first["uuid"]) == first


def test_resume_prints_json(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    found = json.loads(out(capfd, "resume", SESSION, "--at", 1, "--json", "--root", config))
    shop = config.parent / "shop"
    assert found == {
        "session": SESSION,
        "resumes": True,
        "why_not": None,
        "kept": False,
        "directory": str(shop),
        "config": str(config),
        "command": ["claude", "--resume", SESSION],
        "line": f"cd {shop} && CLAUDE_CONFIG_DIR={config} claude --resume {SESSION}",
        "warnings": [],
        "back": {
            "turn": 1,
            "turns": 2,
            "uuid": found["back"]["uuid"],
            "prompt": "What would a first version look like?",
            "is_in_reach": True,
            "is_elsewhere": False,
        },
        "next_prompt": {
            "tokens": 14287,
            "cost_usd": {"warm": 0.0028574, "cold": 0.071435},
            "is_warm": False,
            "cold_at": "2026-11-02T09:05:03Z",
        },
    }


def test_default_config_folder_is_not_named(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path
) -> None:
    draw(WORK.format(cwd=nobodys_home)).write(nobodys_home / ".claude" / "projects")
    assert f"\ncd {nobodys_home} && claude --resume {SESSION}\n" in out(capfd, "resume", "latest")


def test_unprintable_command_is_explained(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = drawn(tmp_path, 'file work\nU1 "Hi" {"cwd": "/home/\\u001b[31mred"}\n')
    text = out(capfd, "resume", SESSION, "--root", config)
    assert "\x1b" not in text
    assert "warning: the command contains characters that cannot be printed: use `--run`" in text


FAKE = """#!/bin/sh
echo "$CLAUDE_CONFIG_DIR"
pwd -P
printf '%s\\n' "$@"
exit 7
"""


def plait(config: Path, *arguments: str, path: Path | None = None) -> tuple[int, str, str]:
    """Run the command in a process of its own, with a fake client on the path."""
    client = path or config.parent / "bin" / "claude"
    client.parent.mkdir(exist_ok=True)
    if path is None:
        client.write_text(FAKE)
        client.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "plait", "resume", SESSION, "--root", str(config), *arguments],
        env={
            "PATH": f"{client.parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(config.parent / "home"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_run_executes_the_client_in_the_session_directory(config: Path) -> None:
    code, text, errors = plait(config, "--run")
    shop = str((config.parent / "shop").resolve())
    assert (code, errors) == (7, "")
    assert text.splitlines() == [str(config), shop, "--resume", SESSION]


def test_run_prints_the_way_back_first(config: Path) -> None:
    code, text, _ = plait(config, "--run", "--at", "1")
    assert code == 7
    assert "Choose “What would a first version look like?”" in text.partition("--resume")[0]


def test_run_refuses_if_the_directory_is_missing(config: Path) -> None:
    shop = config.parent / "shop"
    shop.rmdir()
    for options in (["--run"], ["--run", "--force"]):
        code, text, errors = plait(config, *options)
        assert (code, text) == (2, "")
        assert errors == (
            f"error: refusing to run: '{shop}' does not exist: only newer versions find the "
            f"session from another directory\nhint: `mkdir -p {shop}` recreates the directory\n"
            f"hint: `claude --resume {SESSION}` may find the session from any directory\n"
        )


def test_run_refuses_while_another_client_runs(config: Path) -> None:
    (config / "sessions").mkdir()
    running = {"pid": os.getpid(), "sessionId": SESSION}
    (config / "sessions" / "1.json").write_text(json.dumps(running))
    code, text, errors = plait(config, "--run")
    assert (code, text) == (2, "")
    assert errors.startswith("error: refusing to run: Claude Code is already running this session")
    code, text, errors = plait(config, "--run", "--force")
    assert (code, text.splitlines()[-1]) == (7, SESSION)
    assert errors.startswith("warning: Claude Code is already running this session")


def test_run_refuses_a_session_that_cannot_resume(tmp_path: Path) -> None:
    config = drawn(tmp_path, 'file work\nU1 "Alone" side\n')
    code, text, errors = plait(config, "--run", "--force")
    assert (code, text) == (2, "")
    assert errors.startswith("error: refusing to run: ")


def test_run_needs_the_client_on_the_path(config: Path, tmp_path: Path) -> None:
    code, text, errors = plait(config, "--run", path=tmp_path / "empty" / "claude")
    assert (code, text) == (2, "")
    assert errors == (
        "error: 'claude' was not found in PATH\nhint: leave out `--run` to print the command\n"
    )


def test_run_and_json_exclude_each_other(config: Path) -> None:
    code, text, errors = plait(config, "--run", "--json")
    assert (code, text) == (2, "")
    assert "either `--run` or `--json`" in json.loads(errors)["error"]
