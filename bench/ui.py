"""How soon `plait ui` shows its first screen, the list, and the hits of a typed word.

python -m bench.ui
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import sys
import termios
import time
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, plait, row

HOME = CACHE / "ui"
ROUNDS = 3
PATIENCE = 60.0
WIDTHS = (46, 14, 14)


class Terminal:
    """`plait ui` in a terminal of 80 by 24."""

    def __init__(self, root: Path, cache: Path) -> None:
        environment = os.environ | {"TERM": "xterm-256color", "PLAIT_CACHE_DIR": str(cache)}
        self.started, self.seen = time.perf_counter(), b""
        self.process, self.screen = pty.fork()
        if not self.process:
            words = [sys.executable, "-m", "plait", "ui", "--root", str(root)]
            os.execve(sys.executable, words, environment)
        size = struct.pack("HHHH", 24, 80, 0, 0)
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, size)

    def wait_for(self, pattern: bytes) -> tuple[float, float]:
        """Return the milliseconds of CPU and wall until a text is drawn."""
        end = time.perf_counter() + PATIENCE
        while not re.search(pattern, self.text):
            if time.perf_counter() > end:
                raise SystemExit(f"{pattern!r} was not drawn")
            if select.select([self.screen], [], [], 0.1)[0]:
                self.seen += os.read(self.screen, 65_536)
        return self.cpu(), (time.perf_counter() - self.started) * 1000

    @property
    def text(self) -> bytes:
        """What was drawn, without colours and places."""
        return re.sub(rb"\x1b\[[\d;?]*[A-Za-z]", b"", self.seen)

    def settle(self, seconds: float = 1.0) -> None:
        """Wait, and read what is drawn meanwhile."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            if select.select([self.screen], [], [], 0.1)[0]:
                self.seen += os.read(self.screen, 65_536)

    def cpu(self) -> float:
        """Return the milliseconds of CPU that the process has used."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) * 1000 / os.sysconf("SC_CLK_TCK")

    def type(self, text: bytes) -> float:
        """Type; return the CPU used before, and count from now."""
        self.started, self.seen = time.perf_counter(), b""
        os.write(self.screen, text)
        return self.cpu()

    def close(self) -> None:
        """End it."""
        os.write(self.screen, b"\x03")
        while select.select([self.screen], [], [], 10)[0]:
            try:
                if not os.read(self.screen, 65_536):
                    break
            except OSError:  # it has ended
                break
        os.waitpid(self.process, 0)


def main() -> None:
    """Print all figures."""
    row("plait ui, 80 by 24: least of three", "CPU ms", "wall ms", widths=WIDTHS)
    many = archive("50MB", files=5000).resolve()
    for way in ("without an index", "with an index"):
        cache = HOME / way.replace(" ", "-")
        shutil.rmtree(cache, ignore_errors=True)
        if way == "with an index":
            plait("index", "--root", many, PLAIT_CACHE_DIR=str(cache))
        first, listed = [], []
        for _ in range(ROUNDS):
            terminal = Terminal(many, cache)
            first.append(terminal.wait_for(rb"reading|session"))
            listed.append(terminal.wait_for(rb"\d sessions"))
            terminal.close()
        print_least(f"first paint, 5,000 sessions {way}", first)
        print_least(f"list, 5,000 sessions {way}", listed)
    for size in ("100MB", "1GB"):
        filtering(size)


def filtering(size: str) -> None:
    """Print how long the last letter of a word takes to narrow the list."""
    root, cache = archive(size).resolve(), HOME / f"filter-{size}"
    plait("index", "--root", root, PLAIT_CACHE_DIR=str(cache))
    took = []
    terminal = Terminal(root, cache)
    terminal.wait_for(rb"\d sessions.*\$")
    terminal.settle(3)  # what is read at first is not the filter's time
    for word in (b"falelemu", b"config", b"goseuna"):
        terminal.type(b"/" + word)
        terminal.settle()
        counts = re.findall(rb"\d+ sessions? of \d+", terminal.text)
        terminal.type(b"\x1b")
        terminal.settle()
        before = terminal.type(b"/" + word)
        cpu, wall = terminal.wait_for(re.escape(counts[-1]))
        took.append((cpu - before, wall))
        terminal.settle()
        terminal.type(b"\x1b")
        terminal.settle()
    terminal.close()
    print_least(f"a typed word to its sessions, {size}", took)
    slowest = (f"{max(found):.0f}" for found in zip(*took, strict=True))
    row("the slowest of three words", *slowest, widths=WIDTHS)


def print_least(name: str, took: list[tuple[float, float]]) -> None:
    """Print the least figures of some runs."""
    row(name, *(f"{min(found):.0f}" for found in zip(*took, strict=True)), widths=WIDTHS)


if __name__ == "__main__":
    main()
