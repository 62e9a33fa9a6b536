"""Lists, trees, usage and statistics from a warm index, compared with cold logs.

python -m bench.warm [SIZE]...      without a size: 100MB

Warm is the second run on an index that is up to date; the first works out what is kept.
"""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.archives import archive
from bench.measure import CACHE, SHARED, plait, row
from plait.archive import Archive
from plait.conversation.statistics import Statistics
from plait.sessions.fresh_index import FreshIndex, open_fresh_index
from plait.sessions.statistics import read_indexed_statistics
from plait.sessions.tree import read_indexed_tree
from plait.settings import load_settings
from plait.usage.index_rows import count_indexed_responses

HOME = CACHE / "warm"
COMMANDS = ("ls", "usage", "usage --breakdown", "stats", "tree")
WIDTHS = (34, 10, 10, 10, 10, 10)
TIMES = 3


def main(*sizes: str) -> None:
    """Print all figures."""
    shutil.rmtree(HOME, ignore_errors=True)
    for size in sizes or ("100MB",):
        commands(size, archive(size).resolve())
    if (SHARED / "corpus").is_dir():
        commands("real logs", SHARED / "corpus")


def commands(name: str, root: Path) -> None:
    """Print what whole commands take, and what the answers alone do."""
    cache = {"PLAIT_CACHE_DIR": str(HOME / root.name)}
    selected = plait("index", "--root", root, **cache)
    row(name, "cold", "first", "warm", "ratio", "same", widths=WIDTHS)
    row("plait index", "", f"{selected.cpu:.2f}", widths=WIDTHS)
    for command in COMMANDS:
        words = (*command.split(), "--json", "--root", root)
        cold = min((plait(*words, "--no-index", **cache) for _ in range(TIMES)), key=cpu)
        first = plait(*words, **cache)
        warm = min((plait(*words, **cache) for _ in range(TIMES)), key=cpu)
        is_same = "yes" if cold.output == first.output == warm.output else "NO"
        figures = (f"{item.cpu:.2f}" for item in (cold, first, warm))
        ratio = f"{cold.cpu / warm.cpu:.1f}"
        row(f"plait {command} --json", *figures, ratio, is_same, widths=WIDTHS)
    row("plait --help", "", "", f"{plait('--help', **cache).cpu:.2f}", widths=WIDTHS)
    answers(root, cache)


def cpu(run: Any) -> float:
    """Return the CPU seconds of a run."""
    return float(run.cpu)


def answers(root: Path, cache: dict[str, str]) -> None:
    """Print what the answers alone take, in a process that is running already."""
    folder = load_settings([str(root)], environment=cache).index
    asked: dict[str, Callable[[FreshIndex], object]] = {
        "responses": lambda warm: count_indexed_responses(warm, warm.library.sessions),
        "figures": lambda warm: read_indexed_statistics(
            warm, warm.library.sessions, Statistics(), list
        ),
        "tree": lambda warm: read_indexed_tree(warm, warm.library.sessions, "few", list),
    }
    row("the answer alone", "", "", "ms", widths=WIDTHS)
    best: dict[str, float] = {}
    for _ in range(TIMES):
        found = Archive([root])
        started = time.process_time()
        with open_fresh_index(found, folder) as warm:
            assert warm is not None
            least(best, "that the index is up to date, facts", started)
            for name, ask in asked.items():
                started = time.process_time()
                ask(warm)
                least(best, name, started)
    for name, seconds in best.items():
        row(name, "", "", f"{seconds * 1000:.1f}", widths=WIDTHS)


def least(best: dict[str, float], name: str, started: float) -> None:
    """Keep the least time of each."""
    took = time.process_time() - started
    best[name] = min(best.get(name, took), took)


if __name__ == "__main__":
    main(*sys.argv[1:])
