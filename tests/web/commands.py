"""`plait serve` and `plait open` as processes of their own, at a terminal or away from one."""

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

PATIENCE = 100.0


@dataclass
class Home:
    """A user's folders."""

    path: Path
    root: Path

    @property
    def env(self) -> dict[str, str]:
        """Return an environment without a screen."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(self.path),
            "PLAIT_STATE_DIR": str(self.path / "state"),
            "PLAIT_CACHE_DIR": str(self.path / "cache"),
            "PLAIT_CONFIG": str(self.path / "none.toml"),
        }

    def command(self, *arguments: str) -> list[str]:
        """Return a command over the sessions of this home."""
        return [sys.executable, "-m", "plait", *arguments, "--root", str(self.root)]

    def run(self, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            env={**self.env, **env},
            timeout=PATIENCE,
            check=False,
        )

    @property
    def running(self) -> list[Path]:
        """Return the files that tell of servers."""
        return sorted((self.path / "state").glob("serve-*.json"))


@dataclass
class Terminal:
    """A command at a terminal."""

    process: "subprocess.Popen[bytes]"
    screen: int
    said: str = ""

    def wait_for(self, words: str) -> str:
        """Read on until something is said."""
        end = monotonic() + PATIENCE
        while words not in self.said:
            assert monotonic() < end, f"never said {words!r}: {self.said}"
            self.read(0.1)
        return self.said

    def read(self, patience: float) -> bool:
        """Take in what is said; tells whether there was anything."""
        ready, _, _ = select.select([self.screen], [], [], patience)
        try:
            part = os.read(self.screen, 65536) if ready else b""
        except OSError:  # the other side has gone
            part = b""
        self.said += part.decode("utf-8", "replace")
        return bool(part)

    def press_ctrl_c(self) -> int:
        """Interrupt as the terminal does, and return the exit code."""
        os.write(self.screen, b"\x03")
        return self.ended()

    def ended(self) -> int:
        """Return the exit code, with all that was said until then."""
        end = monotonic() + PATIENCE
        while self.process.poll() is None:
            assert monotonic() < end, f"never ended: {self.said}"
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.process.returncode


@contextmanager
def at_terminal(command: list[str], env: dict[str, str]) -> Iterator[Terminal]:
    """Run a command at a terminal of its own."""
    screen, keyboard = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        env={**env, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "100"},
        start_new_session=True,
        preexec_fn=take_terminal,
        close_fds=True,
    )
    os.close(keyboard)
    try:
        yield Terminal(process, screen)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
        os.close(screen)


def take_terminal() -> None:
    """Make the terminal that of this process, so that its keys send signals."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
