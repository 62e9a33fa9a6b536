"""Ending a session from outside: signals, closed pipes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SLOW = {"otherwise": {"text": "word " * 400, "pause": 0.05}}
ENDLESS = {
    "answers": [
        {"calls": [{"name": "Bash", "input": {"command": "sleep 600 & echo $! > pid; wait"}}]}
    ]
}


class Run:
    """`plait chat` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def start(self, script: Mapping[str, object], *arguments: str) -> "subprocess.Popen[str]":
        """Start it in an empty directory."""
        file = self.folder / "script.json"
        file.write_text(json.dumps(script))
        (self.folder / "app").mkdir()
        environment = {
            **os.environ,
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        words = [sys.executable, "-m", "plait", "chat", "--model", f"script:{file}", *arguments]
        self.process = subprocess.Popen(
            words,
            cwd=self.folder / "app",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.process

    def log(self) -> str:
        """Return what was logged."""
        (file,) = (self.folder / ".claude").rglob("*.jsonl")
        return file.read_text()


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Run]:
    """Give a process, and end it."""
    found = Run(tmp_path)
    yield found
    if found.process and found.process.poll() is None:
        found.process.kill()
    if found.process:
        found.process.communicate(timeout=30)


def is_running(process: int) -> bool:
    """Whether a process goes on; one that only waits to be counted does not."""
    result = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True
    )
    return result.stdout.strip()[:1] not in ("", "Z")


def test_ctrl_c_stops_the_turn_with_an_exit_code(chat: Run) -> None:
    allowed = ("--allowed-tools", "Bash")
    process = chat.start(ENDLESS, "-p", "go", "--output-format", "stream-json", *allowed)
    assert process.stdout is not None
    for line in process.stdout:
        if '"tool_use"' in line:
            break
    pid = chat.folder / "app" / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    *_, last = process.communicate(timeout=30)[0].splitlines()
    assert json.loads(last)["subtype"] == "error_during_execution"
    assert process.returncode == 130
    assert "[Request interrupted by user for tool use]" in chat.log()
    assert not is_running(int(pid.read_text()))


@pytest.mark.parametrize("mode", [["-p", "go", "--output-format", "stream-json"], ["go"]])
def test_sigterm_exits_cleanly(chat: Run, mode: list[str]) -> None:
    process = chat.start(SLOW, *mode)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")


def test_closed_pipe_stops_the_turn(chat: Run) -> None:
    process = chat.start(ENDLESS, "-p", "go", "--output-format", "stream-json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
