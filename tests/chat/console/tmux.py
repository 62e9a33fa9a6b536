"""A terminal in tmux that runs `plait chat`: keys in, the screen out."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds a step may take on a busy machine; normally none takes one."""
WIDTH, HEIGHT = 80, 60


class Terminal:
    """`plait chat` in a terminal."""

    def __init__(self, folder: Path, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.folder = folder
        self.size = width, height
        self.project = folder / "app"
        self.project.mkdir()
        (self.project / "notes.txt").write_text("one\ntwo\n")

    def start(
        self,
        script: dict[str, Any],
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        is_ready: str = "\n>\n",
    ) -> None:
        """Start it with a model that follows a script."""
        file = self.folder / "script.json"
        file.write_text(json.dumps(script))
        root = self.folder / "claude"
        root.mkdir(exist_ok=True)
        words = [sys.executable, "-m", "plait", "chat", "--root", str(root)]
        words += ["--model", f"script:{file}", *arguments]
        size = ("-x", str(self.size[0]), "-y", str(self.size[1]))
        known = " ".join(f"{name}='{value}'" for name, value in (environment or {}).items())
        end = "; echo ended with $?; sleep 60"
        line = f"{known} " + " ".join(f"'{word}'" for word in words) + end
        self._tmux("new-session", "-d", "-s", "chat", *size, "sh", "-c", line)
        self.wait_for(is_ready)

    def type(self, text: str, *keys: str) -> None:
        """Type a text, then press keys by their names."""
        if text:
            self._tmux("send-keys", "-t", "chat", "-l", text)
        for key in keys:
            self._tmux("send-keys", "-t", "chat", key)

    def resize(self, width: int, height: int) -> None:
        """Resize the terminal."""
        self._tmux("resize-window", "-t", "chat", "-x", str(width), "-y", str(height))

    def colours(self) -> str:
        """Return the screen with its colours."""
        return self._tmux("capture-pane", "-p", "-e", "-t", "chat")

    def shown(self) -> str:
        """Return the screen without what differs from run to run."""
        text = self._tmux("capture-pane", "-p", "-t", "chat")
        text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "SESSION", text)
        text = re.sub(r"--resume [0-9a-f]{8}", "--resume SESSION", text)
        text = re.sub(r"[\d.k]+ tokens", "TOKENS", text)
        text = re.sub(r"^stopped · .*", "stopped", text, flags=re.MULTILINE)
        text = re.sub(r"^\d+ s · ", "", text, flags=re.MULTILINE)
        text = re.sub(r" *\d+ s(?=,|$)", " N s", text, flags=re.MULTILINE)
        text = text.replace(str(self.project.resolve()), "PROJECT")
        lines = [line.rstrip() for line in text.split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"

    def wait_for(self, text: str) -> str:
        """Wait until a text is on the screen; return the whole screen."""
        end = time.monotonic() + PATIENCE
        while text not in (shown := self.shown()):
            assert time.monotonic() < end, f"{text!r} did not come up:\n{shown}"
            time.sleep(0.05)
        return shown

    def wait_for_end(self, ending: str) -> None:
        """Wait until the screen ends with a text."""
        end = time.monotonic() + PATIENCE
        while not (shown := self.shown()).endswith(ending):
            assert time.monotonic() < end, f"it did not end with {ending!r}:\n{shown}"
            time.sleep(0.05)

    def wait_for_all(self, whole: str) -> None:
        """Wait until the screen shows exactly this."""
        end = time.monotonic() + PATIENCE
        while (shown := self.shown()) != whole:
            assert time.monotonic() < end, f"the screen is another:\n{shown}"
            time.sleep(0.05)

    def close(self) -> None:
        """End the terminal and its processes."""
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMUX_TMPDIR": str(self.folder),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        done = subprocess.run(
            ["tmux", "-L", "plait", "-f", "/dev/null", *arguments],
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout
