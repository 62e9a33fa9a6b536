"""A long session on the served page: opening, scrolling, live growth.

    python -m bench.page_session           everything; `open`, `scroll`, `live`, `idle` one of them

Wall times are of one reader on this machine; CPU is the server's own, which noise does not touch.
"""

import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.browser import FLAGS, SCROLL, STEP, STEPS, TASKS
from bench.generate import generate
from bench.index import AGENTSVIEW, agentsview
from bench.measure import CACHE, row
from bench.peers import nobodys
from plait.web.address import find_running_server
from plait.web.guard import Keys

MB = 1_000_000
LONG = 75 * MB
HOME = CACHE / "page-session"
WIDTHS = (44, 12, 12, 12, 12)
LISTENERS, MINUTE = 20, 60.0
TIMES = 8
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    """A server that runs, and who may ask it."""

    process: "subprocess.Popen[bytes]"
    port: int
    cookie: str

    @property
    def cpu(self) -> float:
        """Seconds of CPU that it took so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def peak(self) -> float:
        """Megabytes of memory that it held at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) / 1000 if found else 0

    def ask(self, path: str) -> tuple[float, float, bytes]:
        """Return the seconds to the first and to the last byte of an answer, and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        start = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        first = answer.read(1)
        began = time.perf_counter() - start
        rest = answer.read()
        connection.close()
        return began, time.perf_counter() - start, first + rest


@contextmanager
def serving(root: Path, cache: Path) -> Iterator[Server]:
    """Run `plait serve` for an archive."""
    state = cache / "state"
    env = {
        **os.environ,
        "PLAIT_CACHE_DIR": str(cache),
        "PLAIT_STATE_DIR": str(state),
        "PLAIT_CONFIG": str(cache / "none.toml"),
    }
    command = [sys.executable, "-m", "plait", "serve", "--no-open", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--root", str(root)],
        env=env,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield wait_for_server(process, state)
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_for_server(process: "subprocess.Popen[bytes]", state: Path) -> Server:
    """Return a server once it answers, with a cookie that opens it."""
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        for path in state.glob("serve-*.json"):
            running = find_running_server(path)
            if running and running.pid == process.pid:
                cookie = f"plait{running.port}={Keys(running.secret).cookie}"
                return Server(process, running.port, cookie)
        time.sleep(0.1)
    raise SystemExit("the server did not start")


def long_session() -> tuple[Path, str]:
    """Return an archive of one long session, and its name."""
    root = CACHE / "one-long-session"
    if not (root / ".whole").exists():
        generate(root, LONG, seed=1, files=1)
        (root / ".whole").touch()
    path = max(root.rglob("*.jsonl"), key=lambda item: item.stat().st_size)
    return root, path.stem


def main(*chosen: str) -> None:
    """Print all figures, or those of some parts."""
    parts = {"open": opening, "scroll": scrolling, "live": growing, "idle": idling}
    for name in chosen or parts:
        parts[name]()
        print(flush=True)


def opening() -> None:
    """Print how long it takes until something is there, and until all of it is."""
    root, name = long_session()
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl"))
    lines = sum(path.read_bytes().count(b"\n") for path in root.rglob("*.jsonl"))
    print(f"one session, {size / MB:.0f} MB, {lines:,} lines")
    shutil.rmtree(HOME, ignore_errors=True)
    row("opening it", "first byte", "all, ms", "CPU ms", "peak MB", widths=WIDTHS)
    for words in ("never read", "read before, server restarted"):
        with serving(root, HOME) as server:
            told_opening(words, server, f"/s/{name}")
            if words.startswith("read"):
                time.sleep(3)
                told_opening("in memory", server, f"/s/{name}")
                for query in ("return", "zomita"):
                    told_opening(
                        f"find '{query}' in all of it", server, f"/s/{name}/find?q={query}"
                    )


def told_opening(words: str, server: Server, path: str) -> None:
    """Print one way of opening it."""
    before = server.cpu
    first, last, _ = server.ask(path)
    cpu = server.cpu - before
    figures = (f"{first * 1000:.0f}", f"{last * 1000:.0f}", f"{cpu * 1000:.0f}")
    row(words, *figures, f"{server.peak:.0f}", widths=WIDTHS)


def scrolling() -> None:
    """Print how it reads in a browser, beside the peer."""
    root, name = long_session()
    with serving(root, HOME) as server:
        server.ask(f"/s/{name}")
        ours = measure_page(
            f"http://127.0.0.1:{server.port}/s/{name}", ".turn .prompt", cookie=server.cookie
        )
    theirs = peers_figures(root, name)
    row("in a browser", "plait", f"agentsview {AGENTSVIEW}" if theirs else "", widths=WIDTHS)
    for what, figure in ours.items():
        row(what, figure, theirs.get(what, ""), widths=WIDTHS)


def measure_page(address: str, sign: str, cookie: str = "", holder: str = "") -> dict[str, str]:
    """Return the figures of a page in a browser; `holder` is what scrolls in it."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        if cookie:
            key, _, value = cookie.partition("=")
            context.add_cookies([{"name": key, "value": value, "url": root_of(address)}])
        page = context.new_page()
        page.add_init_script(f"({TASKS})()")
        page.goto("about:blank")
        start = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_selector(sign, timeout=120_000)
        seen = time.perf_counter() - start
        page.wait_for_timeout(1500)
        found = figures_of(page, holder)
        browser.close()
    return {"first turn, ms": f"{seen * 1000:.0f}", **found}


def root_of(address: str) -> str:
    """Return the place that a cookie is for."""
    return "/".join(address.split("/")[:3])


def figures_of(page: Any, holder: str) -> dict[str, str]:
    """Return what a page has cost so far, and what scrolling it costs."""
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    opening = page.evaluate("Math.max(0, ...tasks.splice(0))")
    scroll = SCROLL
    if holder:
        scroll = SCROLL.replace("scrollBy({", f"document.querySelector('{holder}').scrollBy({{")
    browser = page.context.browser
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    longest = page.evaluate(scroll, [STEPS, STEP])
    page.wait_for_timeout(300)
    traced = longest_task(json.loads(browser.stop_tracing()))
    task = page.evaluate("Math.max(0, ...tasks.splice(0))")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics = {
        metric["name"]: metric["value"]
        for metric in session.send("Performance.getMetrics")["metrics"]
    }
    return {
        "first contentful paint, ms": f"{paint or 0:.0f}",
        "longest task while opening, ms": f"{opening:.0f}",
        f"longest task in {STEPS} steps of {STEP} px, CPU ms": f"{traced:.0f}",
        "the same, wall ms": f"{task:.0f}",
        "longest frame in them, ms": f"{longest:.0f}",
        "script memory after that, MB": f"{metrics['JSHeapUsedSize'] / MB:.1f}",
        "elements after that": f"{int(metrics['Nodes']):,}",
    }


def longest_task(trace: Any) -> float:
    """Return the milliseconds of CPU of the longest task of a page's own thread."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    tasks = (
        event.get("tdur", 0)
        for event in events
        if event.get("ph") == "X"
        and event["name"].endswith("RunTask")
        and (event["pid"], event["tid"]) in main
    )
    return max(tasks, default=0) / 1000


def peers_figures(root: Path, name: str) -> dict[str, str]:
    """Return the same figures of the peer, none where it cannot be run."""
    peer = agentsview()
    if peer is None:
        return {}
    home = HOME / "peer"
    env = {**nobodys(root, home), "CLAUDE_PROJECTS_DIR": str(root / "projects")}
    subprocess.run(
        [peer, "sync"], env={**env, "AGENTSVIEW_NO_DAEMON": "1"}, check=True, timeout=300
    )
    port = free_port()
    command = [str(peer), "serve", "--port", str(port), "--no-browser", "--no-update-check"]
    process = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        address = f"http://127.0.0.1:{port}/sessions/{name}"
        return measure_page(address, ".message", holder=".message-list-scroll")
    finally:
        process.terminate()
        process.wait(timeout=20)


def free_port() -> int:
    """Return a port that nobody listens on."""
    import socket

    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        return int(item.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until somebody answers on a port."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.2)
        else:
            return


SETTLED = """() => {
  const line = document.getElementById("line-" + document.querySelector("main").dataset.main);
  return line && line.lastElementChild.matches(".turn");
}"""
SEEN = """() => {
  window.seen = {};
  new MutationObserver(() => {
    const text = document.querySelector("main").textContent;
    for (const mark of text.match(/mark-[0-9]+-end/g) || [])
      if (!(mark in seen)) seen[mark] = performance.timeOrigin + performance.now();
  }).observe(document.querySelector("main"), { childList: true, subtree: true });
}"""


def growing() -> None:
    """Print how soon a line that was written stands in an open page."""
    row("a line written, in the page, ms", "median", "longest", "CPU ms", widths=WIDTHS)
    long, _ = long_session()
    for words, size in (("session of 100 kB", 100_000), ("session of 75 MB", 0)):
        root = HOME / f"grows-{size}"
        shutil.rmtree(root, ignore_errors=True)
        if size:
            generate(root, size, seed=2, files=1)
        else:
            shutil.copytree(long, root)
        told_growth(words, root)
        shutil.rmtree(root)


def told_growth(words: str, root: Path) -> None:
    """Print the figures of one session."""
    from playwright.sync_api import sync_playwright

    path = max(root.glob("projects/*/*.jsonl"), key=lambda item: item.stat().st_size)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return
    with serving(root, HOME / "grows") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        key, _, value = server.cookie.partition("=")
        address = f"http://127.0.0.1:{server.port}/s/{path.stem}"
        context.add_cookies([{"name": key, "value": value, "url": root_of(address)}])
        page = context.new_page()
        page.goto(address)
        page.keyboard.press("G")
        page.wait_for_function(SETTLED, timeout=120_000)
        page.wait_for_timeout(3000)
        page.evaluate(SEEN)
        before = server.cpu
        written = {f"mark-{n}-end": append(path, f"mark-{n}-end", page) for n in range(TIMES)}
        cpu = (server.cpu - before) / TIMES
        seen: dict[str, float] = page.evaluate("window.seen")
        browser.close()
    took = [seen[mark] - then for mark, then in written.items() if mark in seen]
    lost = f" ({TIMES - len(took)} not seen)" if len(took) < TIMES else ""
    figures = (f"{statistics.median(took):.0f}", f"{max(took):.0f}", f"{cpu * 1000:.0f}")
    row(words + lost, *figures, widths=WIDTHS)


def append(path: Path, mark: str, page: Any) -> float:
    """Write an answer that holds a mark; returns when, in milliseconds since 1970."""
    from playwright.sync_api import Error

    last = next(item for item in reversed(path.read_bytes().splitlines()) if b'"uuid"' in item)
    record = json.loads(last)
    uuid = f"00000000-0000-4000-8000-{hash(mark) & 0xFFFFFFFFFFFF:012x}"
    message = {"id": f"msg_{mark}", "role": "assistant", "type": "message", "model": "claude"}
    message["content"] = [{"type": "text", "text": f"It goes on: {mark}"}]  # type: ignore[assignment]
    kept = {key: record[key] for key in ("sessionId", "cwd", "version") if key in record}
    line = {
        **kept,
        "type": "assistant",
        "uuid": uuid,
        "parentUuid": record["uuid"],
        "isSidechain": False,
        "timestamp": record["timestamp"],
        "message": message,
    }
    data = json.dumps(line).encode() + b"\n"
    with path.open("ab") as file:
        file.write(data)
    when = time.time() * 1000
    with suppress(Error):
        page.wait_for_function("mark => mark in seen", arg=mark, timeout=20_000)
    page.wait_for_timeout(300)
    return when


def idling() -> None:
    """Print what a server takes while many pages are open and nothing happens."""
    root, _ = long_session()
    with serving(root, HOME) as server:
        time.sleep(20)  # what it reads ahead is done
        open_: list[http.client.HTTPConnection] = []
        for _ in range(LISTENERS):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=90)
            connection.request("GET", "/events", headers={"Cookie": server.cookie})
            open_.append(connection)
        time.sleep(1)
        before = server.cpu
        time.sleep(MINUTE)
        cpu = server.cpu - before
        for connection in open_:
            connection.close()
    row(f"{LISTENERS} open pages, {MINUTE:.0f} s", "CPU ms", widths=WIDTHS)
    row("nothing happens", f"{cpu * 1000:.0f}", widths=WIDTHS)


if __name__ == "__main__":
    main(*sys.argv[1:])
