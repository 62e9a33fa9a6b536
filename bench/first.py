"""How long a new archive takes to be usable, compared with another program.

python -m bench.first [SIZE]...      without a size: 100MB and 1GB

Both servers are started over the same logs with nothing of their own on the disk. What counts
is the time from the start until the first page is answered, until the newest session can be
read, and until a word of the oldest one is found. The least of some turns of
each, in turn; beside it what the server and those who work for it have taken of the processor
by then, which another program on the machine does not change.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from bench.archives import archive
from bench.index import AGENTSVIEW, COMPILED, agentsview
from bench.measure import CACHE, row
from bench.page_lists import free
from bench.peers import nobodys
from plait.archive import Archive, Session
from plait.web.address import read_server_file
from plait.web.guard import Keys

HOME = CACHE / "first"
WIDTHS = (34, 22, 22, 22, 22)
TURNS, PATIENCE = 3, 900
WORD, OLDEST = "zwitscherquelle", "00000000-0000-4000-8000-00000000000a"
HEADS = ("first page", "newest read", "oldest found", "worst answer meanwhile")


@dataclass
class Server:
    """A server that was started just now, and how it is asked."""

    process: "subprocess.Popen[bytes]"
    address: str
    started: float
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **query: str) -> str:
        """Return an answer."""
        where = f"{self.address}{path}{'?' if query else ''}{urlencode(query)}"
        with urlopen(Request(where, headers=self.headers), timeout=PATIENCE) as answer:
            return str(answer.read().decode("utf-8", "replace"))

    def until(self, is_there: Callable[[], bool]) -> "Mark":
        """Ask until something is there; returns when that was."""
        worst = 0.0
        while time.perf_counter() < self.started + PATIENCE:
            asked = time.perf_counter()
            with suppress(OSError):
                if is_there():
                    return Mark(time.perf_counter() - self.started, self.cpu, worst)
            worst = max(worst, time.perf_counter() - asked)
            time.sleep(min(0.5, 0.02 + (time.perf_counter() - self.started) / 50))
        raise SystemExit(f"{self.address} never got so far")

    @property
    def cpu(self) -> float:
        """What it, those who work for it and those who did have taken of the processor."""
        pids, total = [self.process.pid], 0.0
        while pids:
            pid = pids.pop()
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                for path in Path(f"/proc/{pid}/task").glob("*/children"):
                    pids += map(int, path.read_text().split())
        return total


@dataclass(frozen=True)
class Mark:
    """When something was there, and what had been taken of the processor by then."""

    wall: float
    cpu: float
    worst: float = 0.0
    """Seconds that the slowest answer took meanwhile."""


def main(*sizes: str) -> None:
    """Print all figures."""
    for size in sizes or ("100MB", "1GB"):
        root, newest = never_read(size)
        row(f"never read, {size}: wall s (CPU s)", *HEADS, widths=WIDTHS)
        ways = {"plait": ours}
        if agentsview():
            ways[f"agentsview {AGENTSVIEW}"] = theirs
        runs = [{name: way(root, newest) for name, way in ways.items()} for _ in range(TURNS)]
        for name in ways:
            marks = zip(*(turn[name] for turn in runs), strict=True)
            best = [min(mark, key=lambda mark: mark.wall) for mark in marks]
            cells = [f"{mark.wall:.2f} ({mark.cpu:.2f})" for mark in best]
            row(name, *cells, f"{best[-1].worst:.2f}", widths=WIDTHS)
        print(flush=True)


def ours(root: Path, newest: Session) -> list[Mark]:
    """Return when Plait was so far."""
    home, port = HOME / "plait", free()
    env = {"PLAIT_CACHE_DIR": str(home / "cache"), "PLAIT_STATE_DIR": str(home / "state")}
    words = [sys.executable, "-m", "plait", "serve", "--no-open", "--port", str(port)]
    with begun(
        [*words, "--root", str(root)], {**os.environ, **COMPILED, **env}, home, port
    ) as server:

        def answers() -> bool:
            running = next(
                filter(None, map(read_server_file, (home / "state").glob("serve-*.json"))), None
            )
            if running is None:
                return False
            server.headers = {"Cookie": f"plait{port}={Keys(running.secret).cookie}"}
            return 'class="recent"' in server.get("/")

        return [
            server.until(answers),
            server.until(lambda: '<section class="turn' in server.get(f"/s/{newest.id}")),
            server.until(lambda: OLDEST in server.get("/search", q=WORD)),
        ]


def theirs(root: Path, newest: Session) -> list[Mark]:
    """Return when the peer was."""
    home, port, peer = HOME / "peer", free(), agentsview()
    env = {
        **nobodys(root, home),
        "AGENTSVIEW_NO_DAEMON": "1",
        "CLAUDE_PROJECTS_DIR": str(root / "projects"),
    }
    words = [str(peer), "serve", "--no-browser", "--no-update-check", "--port", str(port)]
    with begun(words, env, home, port) as server:

        def has(words: str, path: str, **query: str) -> bool:
            with suppress(HTTPError):  # not known yet
                return words in server.get(f"/api/v1/{path}", **query)
            return False

        return [
            server.until(lambda: "<html" in server.get("/")),
            server.until(lambda: has('"content"', f"sessions/{newest.id}/messages", limit="100")),
            server.until(lambda: has(OLDEST, "search", q=WORD)),
        ]


def never_read(size: str) -> tuple[Path, Session]:
    """Return an archive with one session more, the oldest, which alone holds a word; the newest.

    Its files are those of the generated one under other names: nothing is copied.
    """
    made, root = archive(size).resolve(), HOME / size
    if not root.exists():
        shutil.copytree(made, root, copy_function=os.link)
        path = next((root / "projects").iterdir()) / f"{OLDEST}.jsonl"
        path.write_bytes(b"".join(_lines()))
        os.utime(path, (1, 1))
    return root, Archive([root]).sessions[-1]


def _lines() -> Iterator[bytes]:
    for number, (kind, text) in enumerate((("user", f"Where is {WORD}?"), ("assistant", "Here."))):
        parent = None if kind == "user" else f"{OLDEST[:-1]}0"
        yield (
            json.dumps(
                {
                    "type": kind,
                    "uuid": f"{OLDEST[:-1]}{number}",
                    "parentUuid": parent,
                    "sessionId": OLDEST,
                    "timestamp": f"2025-01-01T09:00:0{number}.000Z",
                    "cwd": "/home/dev/old",
                    "version": "2.0.0",
                    "message": {
                        "role": kind,
                        "id": "m1",
                        "content": [{"type": "text", "text": text}],
                    },
                }
            ).encode()
            + b"\n"
        )


@contextmanager
def begun(words: list[str], env: dict[str, str], home: Path, port: int) -> Iterator[Server]:
    """Start a server with an empty home, and end it."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    started = time.perf_counter()
    process = subprocess.Popen(
        words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=home
    )
    try:
        yield Server(process, f"http://127.0.0.1:{port}", started)
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main(*sys.argv[1:])
