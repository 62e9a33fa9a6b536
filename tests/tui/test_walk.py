"""A walk in a real terminal (tmux): find, preview, read, branch, fork, undo, resume."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
PATIENCE = 60.0


class Terminal:
    """A program in tmux."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str) -> str:
        """Run a command of tmux."""
        environment = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMUX_TMPDIR": str(self.folder),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        return subprocess.run(
            ["tmux", "-L", "ui", "-f", "/dev/null", *arguments],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        ).stdout

    def start(self, line: str) -> None:
        """Start a program."""
        self.run("new-session", "-d", "-s", "ui", "-x", "100", "-y", "30", "sh", "-c", line)

    def press(self, *keys: str) -> None:
        """Press keys by their names."""
        for key in keys:
            self.run("send-keys", "-t", "ui", key)

    def wait_for(self, text: str) -> None:
        """Wait until a text stands on the screen."""
        end = time.monotonic() + PATIENCE
        while text not in (screen := self.run("capture-pane", "-p", "-t", "ui")):
            assert time.monotonic() < end, f"{text!r} did not come up:\n{screen}"
            time.sleep(0.1)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Return a terminal with a stand-in for the client on its path."""
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    client.write_text('#!/bin/sh\necho "the stand-in got $*"\nread answer\nexit 3\n')
    client.chmod(0o755)
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.run("kill-server")


def test_from_search_to_resume_and_back(root: Path, terminal: Terminal) -> None:
    project = root.parent / "shop"
    project.mkdir()
    logs = len(list(root.rglob("*.jsonl")))
    for log in root.rglob("*.jsonl"):
        text = log.read_text(encoding="utf-8")
        log.write_text(text.replace("/home/dev/shop", str(project)), encoding="utf-8")
    terminal.start(f"'{sys.executable}' -m plait ui --root '{root}'; echo ended with $?; sleep 60")
    terminal.wait_for("20 sessions")
    terminal.press("/")
    terminal.wait_for("filter: words, project:")
    terminal.run("send-keys", "-t", "ui", "-l", "always change it later")
    terminal.wait_for("1 session of 20")
    terminal.wait_for("e15389d1")  # the preview
    terminal.press("Enter")
    terminal.wait_for("⏎ Read")  # the filter no longer has the keys
    terminal.press("Enter")
    terminal.wait_for("branch 1 of 2")
    terminal.press("]")
    terminal.wait_for("abandoned")
    terminal.press("f")
    terminal.wait_for("y or enter: fork")
    terminal.press("y")
    terminal.wait_for("forked as")
    assert len(list(root.rglob("*.jsonl"))) == logs + 1
    terminal.press("z")
    terminal.wait_for("undone: fork")
    terminal.press("r")
    terminal.wait_for("the stand-in got --resume e15389d1")
    terminal.press("Enter")
    terminal.wait_for("exited with code 3")
    terminal.press("q")
    terminal.wait_for("ended with 0")


def test_dumb_terminal_is_refused(root: Path, terminal: Terminal) -> None:
    terminal.start(f"TERM=dumb '{sys.executable}' -m plait ui --root '{root}'; sleep 60")
    terminal.wait_for("error: this terminal cannot run a full-screen program: TERM is 'dumb'")


def test_missing_textual_is_explained(root: Path, terminal: Terminal) -> None:
    code = "import sys; sys.modules['textual'] = None; from plait.cli import main; main()"
    terminal.start(f"'{sys.executable}' -c \"{code}\" ui --root '{root}'; echo code $?; sleep 60")
    terminal.wait_for("`plait ui` needs an optional dependency that is not installed")
    terminal.wait_for("pip install 'plait[tui]'")
    terminal.wait_for("code 5")


def test_wrong_configured_keys_are_refused(root: Path, terminal: Terminal) -> None:
    folder = root.parent / "plait"
    folder.mkdir()
    (folder / "config.toml").write_text('[ui_keys]\nfork = "ctrl+c"\n', encoding="utf-8")
    environment = f"PLAIT_CONFIG='{folder / 'config.toml'}' XDG_CONFIG_HOME='{root.parent}'"
    terminal.start(f"{environment} '{sys.executable}' -m plait ui --root '{root}'; sleep 60")
    terminal.wait_for("'ctrl+c' in 'ui_keys' is reserved by the terminal")


@pytest.mark.parametrize(("variable", "has_colour"), [("NO_COLOR", False), ("OTHER", True)])
def test_colour(root: Path, terminal: Terminal, variable: str, has_colour: bool) -> None:
    terminal.start(f"{variable}=1 '{sys.executable}' -m plait ui --root '{root}'; sleep 60")
    terminal.wait_for("Make headings")
    drawn = terminal.run("capture-pane", "-e", "-p", "-t", "ui")
    assert bool(re.search(r"\x1b\[([\d;]*;)?(3|4|9|10)[0-8][;m]", drawn)) is has_colour
