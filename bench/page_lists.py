"""Pages about all sessions of generated archives, compared with another program.

python -m bench.page_lists [SIZE]...      without a size: 100MB

Both are asked by the same browser, one after the other. What counts is the time from asking
until the words are there to read, and what the server takes of the processor for it. The
first time, what was never asked before is worked out; the rest is measured after that.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from bench.archives import archive
from bench.browser import FLAGS
from bench.index import agentsview, ticks
from bench.measure import CACHE, row
from bench.peers import nobodys
from plait.web.address import open_listener, read_server_file
from plait.web.guard import Keys

HOME = CACHE / "page-lists"
TIMES = 15
WIDTHS = (36, 12, 12, 12, 12)
QUERIES = ("config", "return", "buffer", "query", "worker", "index", "value", "cache") * 2
PATIENCE = 60


@dataclass(frozen=True)
class Subject:
    """A server, and how its pages are read."""

    name: str
    pid: int
    address: str
    cookie: dict[str, str] | None
    home: str
    listed: str
    """What is there once sessions are listed."""
    hit: str
    """What is there once words are found."""


def main(*sizes: str) -> None:
    """Print all figures."""
    shutil.rmtree(HOME, ignore_errors=True)
    for size in sizes or ("100MB",):
        root = archive(size).resolve()
        row(f"pages, {size}", "first, ms", "median, ms", "worst, ms", "CPU ms", widths=WIDTHS)
        with ours(root) as first:
            tell(first)
        with theirs(root) as other:
            if other:
                tell(other)
        print(flush=True)


def tell(item: Subject) -> None:
    """Print the figures of one server."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        if item.cookie:
            context.add_cookies([{**item.cookie, "url": item.address}])  # type: ignore[typeddict-item]
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        figures(f"{item.name}: sessions listed", item, [lambda: opened(page, item)] * TIMES)
        figures(
            f"{item.name}: words found",
            item,
            [lambda text=text: sought(page, item, text) for text in QUERIES],  # type: ignore[misc]
        )
        browser.close()


def figures(name: str, item: Subject, works: list[Callable[[], float]]) -> None:
    """Print the times of some work, and what the server took for it."""
    first = works[0]() * 1000
    rest(item.pid)
    before = ticks(item.pid)
    times = [work() * 1000 for work in works[1:]]
    used = (ticks(item.pid) - before) / os.sysconf("SC_CLK_TCK") * 1000 / len(times)
    cells = (first, statistics.median(times), max(times), used)
    row(name, *(f"{cell:.0f}" for cell in cells), widths=WIDTHS)


def rest(pid: int) -> None:
    """Wait until a server has done what it does once."""
    end, before = time.monotonic() + PATIENCE, -1
    while time.monotonic() < end and before != ticks(pid):
        before = ticks(pid)
        time.sleep(1)


def opened(page: Page, item: Subject) -> float:
    """Return the seconds until sessions are listed on the first page."""
    started = time.perf_counter()
    page.goto(item.address + item.home, wait_until="commit")
    page.locator(item.listed).first.wait_for()
    return time.perf_counter() - started


def sought(page: Page, item: Subject, text: str) -> float:
    """Return the seconds from a word that is put in until the first hit is shown."""
    page.goto(item.address + item.home)
    page.locator(item.listed).first.wait_for()
    page.keyboard.press("Control+k")
    started = time.perf_counter()
    page.keyboard.insert_text(text)
    page.locator(item.hit).first.wait_for()
    return time.perf_counter() - started


@contextmanager
def ours(root: Path) -> Iterator[Subject]:
    """Serve an archive with Plait."""
    port = free()
    env = {
        **os.environ,
        "PLAIT_CACHE_DIR": str(HOME / "cache"),
        "PLAIT_STATE_DIR": str(HOME / "state"),
    }
    words = [sys.executable, "-m", "plait", "serve", "--no-open", "--port", str(port)]
    with child([*words, "--root", str(root)], env, f"http://127.0.0.1:{port}/alive") as pid:
        running = next(filter(None, map(read_server_file, (HOME / "state").glob("serve-*.json"))))
        cookie = {"name": f"plait{port}", "value": Keys(running.secret).cookie}
        address = f"http://127.0.0.1:{port}"
        hit = "dialog.palette .snippet mark"
        yield Subject("plait", pid, address, cookie, "/", ".recent li", hit)


@contextmanager
def theirs(root: Path) -> Iterator[Subject | None]:
    """Serve an archive with the peer; None where there is none."""
    peer = agentsview()
    if peer is None:
        yield None
        return
    port = free()
    env = {**nobodys(root, HOME / "nobody"), "CLAUDE_PROJECTS_DIR": str(root / "projects")}
    words = [str(peer), "serve", "--no-browser", "--no-update-check", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    with child(words, env, f"{address}/api/v1/projects") as pid:
        hit = ".palette-item mark"
        yield Subject("agentsview", find_server(pid), address, None, "/", ".session-item", hit)


@contextmanager
def child(words: list[str], env: dict[str, str], alive: str) -> Iterator[int]:
    """Run a server until it is no longer needed."""
    process = subprocess.Popen(
        words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=HOME.parent
    )
    try:
        await_answer(alive)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


def await_answer(address: str) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + PATIENCE * 5
    while time.monotonic() < end:
        try:
            with urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{address} does not answer")


def find_server(pid: int) -> int:
    """Return the process that serves: the one that was started, or the one it has started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    children = path.read_text().split() if path.exists() else []
    return int(children[0]) if children else pid


def free() -> int:
    """Return a port that nobody listens on."""
    with open_listener("127.0.0.1", 0) as item:
        port: int = item.getsockname()[1]
        return port


if __name__ == "__main__":
    main(*sys.argv[1:])
