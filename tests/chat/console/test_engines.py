"""The console behaves the same with either engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from plait.errors import UserError
from tests.chat.claude.client_program import SOURCE, make_client, write_program
from tests.chat.console.conftest import Chat, Typed

WRITE = {"name": "Write", "input": {"file_path": "new.txt", "content": "one\n"}}
SCRIPT: dict[str, Any] = {
    "rules": [
        {"when": "write it", "answers": [{"text": "I write.", "calls": [WRITE]}, {"text": "Done."}]}
    ],
    "otherwise": {"text": "ok"},
}
Start = Callable[..., int]


@pytest.fixture(params=["api", "claude"])
def start(
    request: pytest.FixtureRequest, project: Path, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> Start:
    """Return what runs `plait chat` with one engine or the other, by the same script."""
    if request.param == "api":
        return lambda *arguments: chat(*arguments, script=SCRIPT)
    client = make_client(project.parent, SCRIPT)
    monkeypatch.setenv("PLAIT_CLAUDE", str(client))
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    root = str(project.parent / "config")
    return lambda *arguments: run(["chat", "--root", root, "--engine", "claude", *arguments])


def test_conversation_with_a_permission_question(
    start: Start, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("hello\nwrite it\ny\n/rename my name\n/cost\n/nonsense\n")
    assert start() == 0
    output = capsys.readouterr().out
    for words in (
        "▌ hello\n\nok\n",
        "I write.\n\n○ Write  new.txt  → Apply this edit?\n",
        "● Write  new.txt  → +1, new file\n",
        "Session renamed to: my name\n",
        "3 responses",
        "unknown command '/nonsense'; /help lists the commands\n",
        "resumes this session\n",
    ):
        assert words in output
    assert (project / "new.txt").read_text() == "one\n"


def test_denial_rewind_and_branch(
    start: Start, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = "hello\nand so on\nwrite it\ny\n/rewind 1 both\n/branch @2\n"
    typed(f"{first}/branch @1 mine\nwrite it\nno thanks\n/clear\nx\n")
    assert start() == 0
    output = capsys.readouterr().out
    for words in (
        "rewound to before 'write it'; later messages stay in the log\n",
        "  deleted: new.txt\n",
        "there is nothing before the first prompt\n",
        "now on a new branch; `plait chat --resume ",
        "⊘ Write  new.txt  → rejected\n",
        "▌ no thanks\n",
        "started a new session; `plait chat --resume ",
    ):
        assert words in output
    assert not (project / "new.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("--engine", "claude", "--demo"),
            "`--engine claude` cannot run a demo, a replay or a script",
        ),
        (
            ("--engine", "claude", "--model", "script:x"),
            "`--engine claude` cannot run a demo, a replay or a script",
        ),
        (("--engine", "claude", "--log-version", "2.1.29"), "writes the log in its own form"),
        (("--engine", "claude"), "'/nowhere/claude' is not a Claude Code executable"),
        (("--engine", "api"), "no API key"),
        ((), "no API key"),
        (
            ("-p", "--permission-prompt-tool", "stdio"),
            "`--permission-prompt-tool` needs `--input-format stream-json`",
        ),
        (
            ("-p", "--include-partial-messages"),
            "`--include-partial-messages` needs `--output-format stream-json`",
        ),
        (("-p", "--resume-session-at", "x"), "needs `-p` and `--resume`"),
    ],
)
def test_conflicting_options(
    arguments: tuple[str, ...], text: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["chat", *arguments, "hi"]) == UserError.exit_code
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("echo '1.9.99 (Claude Code)'", "Claude Code 1.9.99 is too old"),
        ("echo hello", "printed no version number"),
        ("exit 3", "printed no version number"),
    ],
)
def test_unusable_client(
    text: str,
    value: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = write_program(project.parent, f"#!/bin/sh\n{text}\n")
    monkeypatch.setenv("PLAIT_CLAUDE", str(client))
    assert run(["chat", "--engine", "claude", "hi"]) == UserError.exit_code
    assert value in capsys.readouterr().err


def test_client_engine_is_used_without_a_key(
    project: Path,
    typed: Typed,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    client = make_client(project.parent, SCRIPT)
    monkeypatch.setenv("PLAIT_CLAUDE", str(client))
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    root = str(project.parent / "config")
    assert run(["chat", "--root", root, "-p", "hello"]) == 0
    assert capfdbinary.readouterr().out == b"ok\n"


def test_client_output_cannot_control_the_terminal(
    project: Path,
    typed: Typed,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    body = 'if [ "$1" = --version ]; then echo 2.1.0; exit; fi\nprintf "\\033]0;x\\007y\\n"; exit 5'
    monkeypatch.setenv("PLAIT_CLAUDE", str(write_program(project.parent, f"#!/bin/sh\n{body}\n")))
    assert run(["chat", "--engine", "claude", "-p", "hello"]) == 5
    out = capfdbinary.readouterr().out
    assert b"\x1b" not in out and out.rstrip().endswith(b"y")
