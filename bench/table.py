"""CPU and wall time of common tasks: one core, all cores, beside other programs.

    python -m bench                          this checkout, and ccusage
    python -m bench --before ../before       beside another checkout, turn by turn in one run
    python -m bench --only usage --only graph --rounds 5

Each figure is the least of several rounds: noise only ever adds. Logs are generated once.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, PROJECT
from bench.peers import CCUSAGE, ccusage, nobodys

PINNED = ("taskset", "-c", "0")
PLAIT = (sys.executable, "-m", "plait")
CONVERSATIONS = """
import sys, time
from plait import Archive
from plait.sessions.open_session import open_session
sessions = Archive([sys.argv[1]]).sessions
size = sum(file.size for one in sessions for file in one.files)
took = []
for _ in range(5):
    start = time.process_time()
    for one in sessions:
        open_session(one).conversations
    took.append(time.process_time() - start)
print(min(took), size / 1e6 / min(took))
"""
WIDTHS = (30, 12, 9, 9, 9, 9, 8)


@dataclass
class Took:
    """The least that some work took."""

    cpu: float = float("inf")
    wall: float = float("inf")
    peak: int = 0

    def add(self, cpu: float, wall: float, peak: int) -> None:
        """Take in one more round."""
        self.cpu, self.wall = min(self.cpu, cpu), min(self.wall, wall)
        self.peak = max(self.peak, peak)


@dataclass(frozen=True)
class Work:
    """Something that people wait for."""

    name: str
    arguments: Callable[[], tuple[str, ...]]
    peer: Callable[[], tuple[tuple[str, ...], dict[str, str]]] | None = None
    is_fresh: bool = False
    """Nothing is kept from the round before."""
    rounds: int | None = None


@dataclass
class Side:
    """A checkout, or a program that does the same, and what it took by the cores it had."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    took: dict[str, Took] = field(default_factory=dict)


def main() -> None:
    """Measure what was asked for and print a table."""
    options = _options()
    trees = {"before": options.before.resolve()} if options.before else {}
    trees["plait"] = PROJECT
    _print_row("", "who", "CPU 1", "wall 1", "CPU all", "wall all", "peak MB")
    with tempfile.TemporaryDirectory() as folder:
        for work in _works(options.large, options.small):
            if not options.only or any(word in work.name for word in options.only):
                _measure(work, trees, Path(folder), work.rounds or options.rounds)
    for name, figures in _told_by_themselves(trees, options):
        print(f"{name:<30} {figures}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--only", action="append", help="work whose name has this word")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", default="1GB")
    parser.add_argument("--small", default="100MB")
    return parser.parse_args()


def _works(large: str, small: str) -> list[Work]:
    def on(size: str, *words: str, files: int | None = None) -> Callable[[], tuple[str, ...]]:
        return lambda: (*words, "--root", str(archive(size, files=files)))

    empty = CACHE / "empty"
    (empty / "projects").mkdir(parents=True, exist_ok=True)
    out = str(CACHE / "out")
    pages = ("export", "--all", "--force", "--no-redact", "-o", out)
    return [
        Work(f"usage, {large}", on(large, "usage", "--no-index", *UTC), _ccusage(large)),
        Work(
            "usage, nothing there",
            lambda: ("usage", "--root", str(empty)),
            _ccusage(None),
            False,
            9,
        ),
        Work(f"usage by branch, {large}", on(large, "usage", "-b", "--no-index", *UTC)),
        Work(f"stats, {small}", on(small, "stats", "--no-index")),
        Work(f"doctor, {small}", on(small, "doctor", "--json")),
        Work(f"ls, {small}", on(small, "ls", "--no-index", "--json")),
        Work(f"ls, {small} in 5000 files", on(small, "ls", "--no-index", "--json", files=5000)),
        Work(f"index, {small}", on(small, "index"), is_fresh=True),
        Work(f"index, {small} in 5000 files", on(small, "index", files=5000), is_fresh=True),
        Work(f"pages, {small}", on(small, *pages, "--format", "html"), is_fresh=True),
        Work("Markdown, 10MB", on("10MB", *pages, "--format", "md"), is_fresh=True),
        Work(
            "Markdown, 10MB, redacted",
            on("10MB", *[word for word in pages if word != "--no-redact"], "--format", "md"),
            is_fresh=True,
        ),
    ]


UTC = ("--timezone", "UTC")


def _ccusage(size: str | None) -> Callable[[], tuple[tuple[str, ...], dict[str, str]]] | None:
    found = ccusage()
    if found is None:
        return None

    def peer() -> tuple[tuple[str, ...], dict[str, str]]:
        root = archive(size) if size else CACHE / "empty"
        words = (str(found[0]), "claude", "daily", "--offline", *UTC)
        return words, nobodys(root, CACHE / "nobody")

    return peer


def _measure(work: Work, trees: dict[str, Path], folder: Path, rounds: int) -> None:
    sides = [
        Side(name, (*PLAIT, *work.arguments()), _surroundings(tree, folder / name))
        for name, tree in trees.items()
    ]
    if work.peer:
        sides.append(Side(f"ccusage {CCUSAGE}", *work.peer()))
    for _ in range(rounds):
        for cores, before in (("one", PINNED), ("all", ())):
            for side in sides:
                if work.is_fresh:
                    shutil.rmtree(folder / side.name, ignore_errors=True)
                    shutil.rmtree(CACHE / "out", ignore_errors=True)
                took = _seconds((*before, *side.command), side.environment)
                side.took.setdefault(cores, Took()).add(*took)
    for side in sides:
        item, both = side.took["one"], side.took["all"]
        figures = (f"{value:.3f}" for value in (item.cpu, item.wall, both.cpu, both.wall))
        _print_row(work.name, side.name, *figures, f"{max(item.peak, both.peak) / 1e6:.0f}")


def _surroundings(tree: Path, cache: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": f"{tree / 'src'}:{tree}",
        "PLAIT_CACHE_DIR": str(cache),
        "PLAIT_CONFIG_DIR": str(cache / "none"),
        "PLAIT_DATA_DIR": str(cache / "data"),
        "PLAIT_STATE_DIR": str(cache / "state"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def _seconds(command: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float, int]:
    """Return the CPU and wall seconds of a program, what it began included, and its peak."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | environment,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: doctor found something
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    took = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime, took, usage.ru_maxrss * 1024


def _told_by_themselves(
    trees: dict[str, Path], options: argparse.Namespace
) -> Iterator[tuple[str, str]]:
    """Yield what measures itself, in CPU seconds: graphs and conversations."""
    for name, tree in trees.items():
        environment = os.environ | _surroundings(tree, CACHE / "none")
        if not options.only or "graph" in options.only:
            for shape in ("chain", "forks", "files"):
                code = "import sys; from bench import graph; graph.main()"
                asked = [sys.executable, "-c", code, "--one", shape, "1000000"]
                facts, graph, peak = map(float, _said(asked, tree, environment))
                figures = f"facts {facts:.2f} s, graph {graph:.2f} s, {peak / 1e6:.0f} MB"
                yield f"graph, a million, {shape}", f"{name:>12} {figures}"
        if not options.only or "conversation" in options.only:
            asked = [sys.executable, "-c", CONVERSATIONS, str(archive("20MB"))]
            took, speed = map(float, _said(asked, tree, environment))
            yield "conversations, 20MB", f"{name:>12} {took:.3f} s, {speed:.0f} MB per CPU-second"


def _said(asked: list[str], tree: Path, environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        asked, cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def _print_row(*cells: str) -> None:
    first, *rest = (f"{cell:<{width}}" for cell, width in zip(cells[:1], WIDTHS, strict=False))
    others = [f"{cell:>{width}}" for cell, width in zip(cells[1:], WIDTHS[1:], strict=False)]
    print(" ".join([first, *rest, *others]), flush=True)


if __name__ == "__main__":
    main()
