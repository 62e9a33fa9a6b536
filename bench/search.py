"""Search times on generated archives: warm, as a command, in the logs, beside other programs.

python -m bench.search [SIZE]...      without a size: 100MB
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.archives import archive
from bench.index import AGENTSVIEW, agentsview
from bench.measure import CACHE, plait, program, row
from bench.peers import nobodys
from plait.archive import Archive
from plait.index.search import IndexReader
from plait.search.search import SearchWay, search

HOME = CACHE / "search"
QUERIES = {
    "rare word": ["falelemu", "goseuna", "zomuvi"],
    "common word": ["return", "config", "value"],
    "two words": ["return value", "config buffer", "query worker"],
    "phrase": ['"zomita that"', '"config buffer"', '"where the query"'],
    "phrase of the commonest words": ['"raise ValueError"', '"for item in"', '"is None and"'],
    "prefix": ["zomi*", "conf*", "buf*"],
    "filter": [
        "tool:Bash config",
        "in:prompt config",
        "branch:abandoned value",
        "after:2026-09 value",
    ],
    "fields alone": ["tool:Bash", "in:prompt", "project:shop"],
    "OR, NOT": ["return OR value", "return NOT value"],
    "fuzzy": ["confgi~", "retrun~2"],
    "within words": ["*omit*", "*onf*"],
    "nothing": ["qqqqzzzz", '"no such phrase here"'],
}
SCANS: dict[str, tuple[SearchWay, str]] = {
    "exact, rare": ("exact", "zomita nodimobo"),
    "exact, in every third line": ("exact", "raise ValueError"),
    "exact, signs that are escaped": ("exact", '": "'),
    "expression with a word": ("regex", r"zomita \w+obo"),
    "expression in any case": ("regex", "(?i)valueerror"),
    "expression without a word": ("regex", r"\d{4}:\]"),
    "alternatives": ("regex", "foo|bar|0x[0-9a-f]+"),
    "expression that any line may match": ("regex", r"^\s*$"),
}
TIMES = 20
WIDTHS = (36, 9, 9, 9, 9, 11)


def main(*sizes: str) -> None:
    """Print all figures."""
    for size in sizes or ("100MB",):
        root = archive(size).resolve()
        folder = build_index(root)
        warm(size, folder)
        cold(root)
        scans(root, folder)
        peer(root)


def build_index(root: Path) -> Path:
    """Return the index of an archive, made once."""
    cache = HOME / root.name
    plait("index", "--root", root, PLAIT_CACHE_DIR=str(cache))
    return next((cache / "index").iterdir())


def warm(size: str, folder: Path) -> None:
    """Print how long a process that has the index open takes, snippets included."""
    reader = IndexReader(folder)
    row(f"search at {size}, ms", "p50", "p95", "CPU p50", "CPU p95", "passages", widths=WIDTHS)
    for name, queries in QUERIES.items():
        wall, cpu, total = [], [], 0
        for query in queries * TIMES:
            started = time.process_time()
            found = reader.search(query)
            cpu.append((time.process_time() - started) * 1000)
            wall.append(found.took_ms)
            total = max(total, found.total)
        row(name, *(f"{item:.1f}" for item in (*spread(wall), *spread(cpu))), total, widths=WIDTHS)
    started = time.perf_counter()
    reader.search("value", has_facets=True)
    row("with facets", f"{(time.perf_counter() - started) * 1000:.1f}", widths=WIDTHS)
    reader.close()
    print(flush=True)


def spread(took: list[float]) -> tuple[float, float]:
    """Return the middle and the 95th of a hundred."""
    return statistics.median(took), sorted(took)[int(len(took) * 0.95)]


def cold(root: Path) -> None:
    """Print what a whole command takes where the index is fresh."""
    env = {"PLAIT_CACHE_DIR": str(HOME / root.name)}
    runs = [plait("search", "config", "--root", root, **env) for _ in range(7)]
    row("the command, ms", "least", "middle", "CPU", widths=WIDTHS)
    walls = [run.wall * 1000 for run in runs]
    figures = (min(walls), statistics.median(walls), min(run.cpu for run in runs) * 1000)
    row("plait search config", *(f"{figure:.0f}" for figure in figures), widths=WIDTHS)
    print(flush=True)


def scans(root: Path, folder: Path) -> None:
    """Print how long texts and expressions take in the logs, beside ripgrep."""
    asked, rg = Archive([root]), shutil.which("rg")
    row("in the logs, ms", "least", "CPU", "rg", "rg CPU", "passages", widths=WIDTHS)
    for name, (way, text) in SCANS.items():
        found, wall, cpu = fastest(lambda: search(asked, folder, text, way=way))  # noqa: B023
        words = [f"{wall * 1000:.0f}", f"{cpu * 1000:.0f}", "", ""]
        if rg:
            plain = ["-F"] if way == "exact" else []
            _, wall, cpu = fastest(lambda: ripgrep(rg, *plain, "-e", text, str(root)))  # noqa: B023
            words[2:] = [f"{wall * 1000:.0f}", f"{cpu * 1000:.0f}"]
        row(name, *words, found.total, widths=WIDTHS)  # type: ignore[attr-defined]
    print(flush=True)


def ripgrep(rg: str, *words: str) -> None:
    """Count lines that match, as ripgrep does it; finding none is no error."""
    subprocess.run([rg, "-uuu", "-c", *words], stdout=subprocess.DEVNULL, check=False)


def fastest(work: Callable[[], object]) -> tuple[object, float, float]:
    """Return what a piece of work gave, and the least wall and CPU seconds of three runs."""
    walls, cpus, found = [], [], None
    for _ in range(3):
        wall, before = time.perf_counter(), os.times()
        found = work()
        after = os.times()
        walls.append(time.perf_counter() - wall)
        cpus.append(sum(after[:4]) - sum(before[:4]))
    return found, min(walls), min(cpus)


def peer(root: Path) -> None:
    """Print how long the peer's own search takes over loopback, warm."""
    found = agentsview()
    if found is None:
        return
    env = {
        **nobodys(root, HOME / f"nobody-{root.name}"),
        "AGENTSVIEW_NO_DAEMON": "1",
        "CLAUDE_PROJECTS_DIR": str(root / "projects"),
    }
    program(found, "sync", **env)
    with served(found, env) as address:
        row(f"agentsview {AGENTSVIEW}, ms", "p50", "p95", widths=WIDTHS)
        for name, queries in QUERIES.items():
            plain = [query for query in queries if not set(query) & set("*~:")]
            if plain and name not in ("OR, NOT", "nothing"):
                took = [asked_of(address, "search", q=item) for item in plain * 5]
                row(name, *(f"{item:.1f}" for item in spread(took)), widths=WIDTHS)
        took = [asked_of(address, "search/content", pattern="zomita nodimobo") for _ in range(3)]
        row("a text as it stands", f"{min(took):.0f}", widths=WIDTHS)
    print(flush=True)


@contextmanager
def served(found: Path, env: dict[str, str]) -> Iterator[str]:
    """Give the address of the peer's server while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        str(found),
        "serve",
        "--no-sync",
        "--no-browser",
        "--no-update-check",
        "--port",
        str(port),
    ]
    child = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/api/v1"
    try:
        for _ in range(300):
            try:
                asked_of(address, "search", q="value")
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        child.terminate()
        child.wait()


def asked_of(address: str, way: str, **parameters: str) -> float:
    """Return the milliseconds that one answer of the peer's takes."""
    query = urllib.parse.urlencode({**parameters, "limit": "10"})
    started = time.perf_counter()
    with urllib.request.urlopen(f"{address}/{way}?{query}", timeout=60) as answer:
        json.load(answer)
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main(*sys.argv[1:])
