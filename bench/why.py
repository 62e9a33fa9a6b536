"""`plait waste` and `plait why` beside `plait usage`, on the same files in the same run.

python -m bench.why [SIZE]...      without a size: 100MB

Each is run several times in turn, and the least of each counts: noise only ever adds. From the
index is the second run on one that is up to date; the first works out what is kept.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, Run, plait, row

MB = 1_000_000
TURNS = 3
HOME = CACHE / "why"
WIDTHS = (44, 8, 8, 8, 8, 8)
Way = Callable[[], Run]


def main(*sizes: str) -> None:
    """Print all figures."""
    for size in sizes or ("100MB",):
        root = archive(size).resolve()
        files = list(root.rglob("*.jsonl"))
        held = sum(path.stat().st_size for path in files) / MB
        print(f"{held:.0f} MB in {len(files)} files\n")
        compare("from the logs", from_logs(root))
        compare("from the index", from_index(root))
        compare("one session", of_largest(root))


def from_logs(root: Path) -> dict[str, Way]:
    """Return what reads every log."""
    plain = ("--root", root, "--no-index", "--json")
    return {
        "plait usage --breakdown": lambda: plait("usage", "--breakdown", *plain),
        "plait usage": lambda: plait("usage", *plain),
        "plait waste": lambda: plait("waste", *plain),
    }


def from_index(root: Path) -> dict[str, Way]:
    """Return what asks an index that knows the answer already."""
    cache = {"PLAIT_CACHE_DIR": str(HOME / root.name)}
    shutil.rmtree(HOME / root.name, ignore_errors=True)
    plait("index", "--root", root, **cache)
    plain = ("--root", root, "--json")
    ways: dict[str, Way] = {
        "plait usage": lambda: plait("usage", *plain, **cache),
        "plait usage --breakdown": lambda: plait("usage", "--breakdown", *plain, **cache),
        "plait waste": lambda: plait("waste", *plain, **cache),
        "plait --help": lambda: plait("--help", **cache),
    }
    for way in ways.values():
        way()
    return ways


def of_largest(root: Path) -> dict[str, Way]:
    """Return the ways to the account of the largest session, beside what shows its context."""
    largest = max(root.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    cache = {"PLAIT_CACHE_DIR": str(HOME / root.name)}
    plain = (largest.stem, "--root", root, "--json")
    print(f"the largest session: {largest.stat().st_size / MB:.1f} MB")
    return {
        "plait context": lambda: plait("context", *plain, **cache),
        "plait why": lambda: plait("why", *plain, **cache),
        "plait why --no-index": lambda: plait("why", *plain, "--no-index", **cache),
    }


def compare(title: str, ways: dict[str, Way]) -> None:
    """Print what each way takes, and how many times what the first takes."""
    runs: dict[str, list[Run]] = {name: [] for name in ways}
    for _ in range(TURNS):
        for name, way in ways.items():
            runs[name].append(way())
    row(title, "CPU s", "x first", "wall s", "x first", "peak MB", widths=WIDTHS)
    first = next(iter(runs.values()))
    cpu, wall = min(item.cpu for item in first), min(item.wall for item in first)
    for name, done in runs.items():
        least, soonest = min(item.cpu for item in done), min(item.wall for item in done)
        peak = max(item.peak for item in done) / MB
        ratios = f"{least / cpu:.2f}", f"{soonest / wall:.2f}"
        figures = f"{least:.3f}", ratios[0], f"{soonest:.3f}", ratios[1], f"{peak:.0f}"
        row(name, *figures, widths=WIDTHS)
    print(flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
