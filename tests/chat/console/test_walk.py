"""A walk through every chat screen in tmux, compared with the pictures in `walk/`.

`PICTURES=write` writes them anew; look at them before you commit them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.chat.console.tmux import PATIENCE, Terminal

pytest.importorskip("prompt_toolkit")
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

PICTURES = Path(__file__).parent / "walk"
IS_WRITING = os.environ.get("PICTURES") == "write"
TODOS = [
    {"content": "Read the notes", "status": "completed", "activeForm": "Reading the notes"},
    {"content": "Fix line two", "status": "in_progress", "activeForm": "Fixing line two"},
    {"content": "Run the tests", "status": "pending", "activeForm": "Running the tests"},
]
ANSWER = """\
The notes have **two** lines. What I will do:

1. Change `two` to *three*.

   It is a word like any other.
2. Run the tests.

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

| file | lines |
|---|---|
| notes.txt | 2 |

That is all there is to it. """
USED = {"input_tokens": 10, "cache_read_input_tokens": 120_000, "output_tokens": 50}
SERVE = {"command": "sleep 300", "run_in_background": True, "description": "Serve the page"}
AGENT = {"description": "Find the tests", "prompt": "agent: find them", "run_in_background": False}
SCRIPT: dict[str, Any] = {
    "rules": [
        {
            "when": "mend",
            "answers": [
                {
                    "thinking": "The notes first.\nThen the change.",
                    "text": "I look.",
                    "calls": [
                        {"name": "Read", "input": {"file_path": "notes.txt"}},
                        {"name": "TodoWrite", "input": {"todos": TODOS}},
                    ],
                },
                {
                    "text": ANSWER,
                    "calls": [
                        {
                            "name": "Edit",
                            "input": {
                                "file_path": "notes.txt",
                                "old_string": "two",
                                "new_string": "three",
                            },
                        }
                    ],
                },
                {
                    "calls": [
                        {"name": "Bash", "input": SERVE},
                        {"name": "Bash", "input": {"command": "seq 1 40"}},
                    ]
                },
                {"text": "Done.", "usage": USED, "model": "claude-opus-4-6"},
            ],
        },
        {"when": "slowly", "answers": [{"text": f"{ANSWER}{'word ' * 4000}", "pause": 0.2}]},
        {
            "when": "send someone",
            "answers": [
                {"text": "I send one.", "calls": [{"name": "Agent", "input": AGENT}]},
                {"text": "It found none."},
            ],
        },
        {
            "when": "agent:",
            "answers": [
                {"calls": [{"name": "Grep", "input": {"pattern": "def test"}}]},
                {"text": "There are none. " * 400, "pause": 0.2},
            ],
        },
    ],
    "otherwise": {"text": "I heard you."},
}
MASKS = (
    (r"[0-9a-f]{8}-[0-9a-f-]{27}", "SESSION"),
    (r"(?<=entries  )[0-9a-f]{8}", "SESSION1"),
    (r"--resume [0-9a-f]{8}", "--resume SESSION1"),
    (r"(?<=ID: )b\w{8}|^b\w{8}(?= · )", "TASKTASK1"),
    (r"/tmp/plait-\w+/tasks/\S+", "OUTPUT"),
    (r"\d{4}-\d\d-\d\d (?=\d\d:\d\d)", "YYYY-MM-DD "),
    (r"\b\d\d:\d\d\b", "HH:MM"),
    (r"just now |\d+ s ago ", "JUST NOW "),
    (r"[\d.]+k? tokens", "TOKENS"),
    (r"(?:\d+ min )?\b\d+ s\b(?=,| ·|$)", "N s"),
    (r" · N s$", ""),
    (r"^(stopped · )?N s · ", r"\1"),
    (r" +(\d+ calls?)(?: · N s)?$", r"  \1"),
    (r"(?:(?<=\S) +|^ *)N s$", ""),
    (r"\(\d+ B\)", "(SIZE)"),
)


class Walk(Terminal):
    """A terminal whose screens are kept."""

    def shown(self) -> str:
        """Return what stands on the screen, without what differs from run to run."""
        text = self._tmux("capture-pane", "-p", "-t", "chat")
        text = text.replace(str(self.project.resolve()), "PROJECT")
        for pattern, stand_in in MASKS:
            text = re.sub(pattern, stand_in, text, flags=re.MULTILINE)
        lines = [line.rstrip() for line in text.split("\n")]
        text = re.sub(r"(?<=\n)(>.*)\n+(?=script:)", r"\1\n", "\n".join(lines))
        return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"

    def picture(self, name: str) -> None:
        """Compare the screen with its picture, once all of it is drawn."""
        file = PICTURES / f"{name}.txt"
        if IS_WRITING:
            time.sleep(1.5)
            file.write_text(self.shown())
            return
        end = time.monotonic() + PATIENCE
        while (shown := self.shown()) != file.read_text():
            if time.monotonic() > end:
                assert shown == file.read_text()
            time.sleep(0.05)

    def said(self, prompt: str, answer: str) -> None:
        """Hold another session, beside the terminal."""
        file = self.folder / "other.json"
        file.write_text(json.dumps({"otherwise": {"text": answer}}))
        root = self.folder / "claude"
        root.mkdir(exist_ok=True)
        words = ["chat", "--root", str(root), "--model", f"script:{file}", "-p", prompt]
        environment = {**os.environ, "HOME": str(self.folder)}
        subprocess.run(
            [sys.executable, "-m", "plait", *words],
            cwd=self.project,
            env=environment,
            check=True,
            capture_output=True,
        )


@pytest.fixture
def walk() -> Iterator[Walk]:
    """Give a terminal of 80 columns, so high that nothing leaves it, and end it."""
    with TemporaryDirectory(prefix="plait-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        found = Walk(Path(folder), 80, 120)
        try:
            yield found
        finally:
            found.close()


def test_typing_and_running(walk: Walk) -> None:
    config = walk.folder / "config.toml"
    config.write_text("ask_above_usd = 0.05\n")
    walk.start(SCRIPT, environment={"PLAIT_CONFIG": str(config)})
    walk.picture("begin")
    walk.type("/co")
    walk.picture("commands")
    walk.type("", "C-c")
    walk.type("see @no")
    walk.picture("files")
    walk.type("", "Tab", "C-c")
    walk.type("mend it", "Enter")
    walk.picture("question")
    walk.type("y", "Enter")
    walk.wait_for("Done.")
    walk.picture("done")
    walk.type("", "C-o")
    walk.wait_for("q back")
    walk.picture("opened")
    walk.type("/")
    walk.type("17", "Enter")
    walk.picture("found")
    walk.type("q")
    walk.type("/todos", "Enter")
    walk.type("/tasks", "Enter")
    walk.picture("list")
    walk.type("/graph", "Enter")
    walk.picture("graph")
    walk.type("dear words", "Enter")
    walk.picture("price")
    walk.type("", "Enter")
    walk.wait_for("I heard you.")
    walk.type("/help", "Enter")
    walk.picture("help")
    walk.type("", "BTab")
    walk.wait_for("acceptEdits")
    walk.type("", "BTab")
    walk.wait_for("· plan ·")
    walk.type("/exit", "Enter")
    walk.picture("end")


def test_activity_and_queue(walk: Walk) -> None:
    walk.start(SCRIPT)
    walk.type("send someone", "Enter")
    walk.wait_for("◐ agent: Find the tests")
    walk.wait_for("1 call")
    walk.picture("agent")
    walk.type("", "C-c")
    walk.wait_for("stopped")
    walk.type("/clear", "Enter")
    walk.wait_for("started a new session")
    walk.type("slowly", "Enter")
    walk.wait_for("word word")
    walk.type("and then this", "Enter")
    walk.type("/compact", "Enter")
    walk.type("/context", "Enter")
    walk.wait_for("automatic compaction at")
    walk.type("half ty")
    walk.wait_for("> half ty")
    shown = re.sub(r"word(?:\s+w\w*)*", "WORDS", walk.shown())
    assert shown.endswith(AHEAD)
    walk.type("", "Up")
    assert walk.wait_for("> and then this\n  /compact\n  half ty\n")
    walk.type("", "C-c")
    walk.wait_for("stopped")


AHEAD = """\
That is all there is to it. WORDS
· answering N s, Ctrl-C to stop
  queued: and then this
  queued: /compact
> half ty
script:script.json · /help
"""


def test_choosing_another_session(walk: Walk) -> None:
    walk.said("the lexer loses its place", "Tokens are made of letters.")
    walk.said("why is the page slow?", "It waits for a font.")
    walk.start(SCRIPT)
    walk.type("/resume", "Enter")
    walk.picture("sessions")
    walk.type("lex")
    walk.picture("sessions-by-title")
    walk.type("", "C-u")
    walk.type("letters")
    walk.type("", "C-s")
    walk.wait_for("Tokens are made")
    walk.picture("sessions-by-words")
    walk.type("", "Enter")
    walk.wait_for("resumed\n")
    walk.type("/export talk.md", "Enter")
    walk.wait_for("written to")
    walk.picture("resumed")
    assert "Tokens are made of letters." in (walk.project / "talk.md").read_text()


def test_small_screen_without_colours_with_vi_keys(walk: Walk) -> None:
    config = walk.folder / "config.toml"
    config.write_text('editing_mode = "vi"\n')
    walk.size = 44, 120
    walk.start(SCRIPT, environment={"NO_COLOR": "1", "PLAIT_CONFIG": str(config)})
    walk.type("mend it", "Enter")
    walk.wait_for("Proceed?")
    walk.picture("small")
    assert not re.search(r"\x1b\[(?:\d+;)*(?:3[1-7]|9\d|4[1-7])", walk.colours())
    walk.type("n", "Enter")
    walk.wait_for("stopped")
    walk.type("wrong", "Escape")
    walk.wait_for(": wrong")
    walk.type("ccright")
    walk.wait_for("> right")
    walk.resize(60, 110)
    walk.type("", "Enter")
    walk.wait_for("Done.")
    walk.picture("resized")


def test_dumb_terminal_is_written_line_by_line(walk: Walk) -> None:
    walk.start(SCRIPT, "hello", environment={"TERM": "dumb"}, is_ready="I heard you.")
    walk.type("/cost", "Enter")
    walk.wait_for("1 response")
    walk.type("", "C-d")
    walk.wait_for("ended with 0")
    assert "\x1b[" not in walk.colours()
