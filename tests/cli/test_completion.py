"""Completion in real shells: commands, options, and sessions by id and title."""

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from plait.cli.app import run

SESSION = "6c327eac-5f32-4c53-88fc-91e14d50bf67"
TITLE = "Dark mode for the dashboard"


@pytest.fixture
def script(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Path:
    """Return the script for the shell that a test is named after."""
    shell = request.node.name.rpartition("_")[2].partition("[")[0]
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    assert run(["completion", shell]) == 0
    path = tmp_path / f"_plait.{shell}"
    path.write_text(capfd.readouterr().out, encoding="utf-8")
    return path


@pytest.fixture
def environment(gallery: Path, nobodys_home: Path) -> Mapping[str, str]:
    return {**os.environ, "PLAIT_ROOT": str(gallery), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


LINES = {
    "plait sho": "show",
    "plait config s": "set",
    "plait usage --by": "--by",
    "plait show 6c32": SESSION,
    "plait show dashb": SESSION,
}


def test_in_bash(script: Path, environment: Mapping[str, str]) -> None:
    code = f"source {script}\n"
    for line in LINES:
        code += f"COMPREPLY=(); COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}\n"
        code += '_plait_completion plait; echo "${COMPREPLY[*]}"\n'
    command = ["bash", "--norc", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    for line, offers in zip(LINES, done.stdout.splitlines(), strict=True):
        assert LINES[line] in offers.split(), line


def test_in_fish(script: Path, environment: Mapping[str, str]) -> None:
    lines = list(LINES)[:-1]  # fish itself compares what was typed with the id
    code = f"source {script};" + "; echo ---;".join(f"complete -C '{line}'" for line in lines)
    command = ["fish", "--no-config", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for line, offers in zip(lines, done.stdout.split("---\n"), strict=True):
        rows = {row.partition("\t")[0]: row.partition("\t")[2] for row in offers.splitlines()}
        assert LINES[line] in rows, line
        assert rows.get(SESSION, TITLE) == TITLE


@pytest.mark.parametrize("line", ["plait sho", "plait show dashb"])
def test_in_zsh(line: str, script: Path, environment: Mapping[str, str]) -> None:
    screen = type_in_zsh(f"source {script}", line + "\t", environment, wanted=LINES[line])
    assert LINES[line] in screen.replace("\r\n", ""), screen


def type_in_zsh(setup: str, line: str, environment: Mapping[str, str], *, wanted: str) -> str:
    """Return what zsh shows after a line was typed, waiting for a word to appear."""
    leader, follower = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=follower, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    shown = b""

    def read_until(word: bytes, seconds: float = 60) -> None:
        nonlocal shown
        end = time.monotonic() + seconds
        while word not in shown.replace(b"\r\n", b"") and time.monotonic() < end:
            if select.select([leader], [], [], 0.1)[0]:
                shown += os.read(leader, 1 << 16)

    try:
        prepare = f"PS1='> '; autoload -Uz compinit; compinit -u -D; {setup}; echo rea''dy\n"
        os.write(leader, prepare.encode())
        read_until(b"ready")
        shown = b""
        os.write(leader, line.encode())
        read_until(wanted.encode())
        return shown.decode("utf-8", "replace")
    finally:
        shell.kill()
        shell.wait()
        os.close(leader)


def test_titles_cannot_inject_shell_code(tmp_path: Path, environment: Mapping[str, str]) -> None:
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    title = '{"type":"ai-title","aiTitle":"a\\u001b[2Jb\\nplain\\nevil","sessionId":"%s"}\n'
    (folder / f"{SESSION}.jsonl").write_text(title % SESSION)
    asked = {"_PLAIT_COMPLETE": "zsh_complete", "COMP_WORDS": "plait show ", "COMP_CWORD": "2"}
    done = subprocess.run(
        ["plait"],
        env={**environment, **asked, "PLAIT_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in done.stdout
    assert "evil" not in done.stdout.splitlines()
    assert SESSION in done.stdout


def test_invalid_settings_do_not_break_completion(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    asked = {"_PLAIT_COMPLETE": "bash_complete", "COMP_WORDS": "plait show 6", "COMP_CWORD": "2"}
    (tmp_path / "config.toml").write_text("wrong = 1\n")
    done = subprocess.run(
        ["plait"],
        env={**environment, **asked, "PLAIT_CONFIG": str(tmp_path / "config.toml")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")
