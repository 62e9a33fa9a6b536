"""`plait usage` beside native `ccusage`, on the same files in the same run.

python -m bench.usage [SIZE]...

Each is run several times in turn, and the least of each counts: noise only ever adds. The
files are in the page cache for both.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, Run, plait, program, row
from bench.peers import CCUSAGE, ccusage, nobodys

MB = 1_000_000
TURNS = 4
NAMES = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_creation_tokens": "cacheCreationTokens",
    "cache_read_tokens": "cacheReadTokens",
    "cost_usd": "totalCost",
}
Way = Callable[[], Run]


def main(*sizes: str) -> None:
    """Print all figures."""
    peer = ccusage()
    empty = CACHE / "empty"
    (empty / "projects").mkdir(parents=True, exist_ok=True)
    compare("nothing at all (start-up)", ways(empty, peer))
    for size in sizes or ("100MB", "1GB"):
        root = archive(size)
        files = list(root.rglob("*.jsonl"))
        held = sum(path.stat().st_size for path in files) / MB
        compare(f"{held:.0f} MB in {len(files)} files", ways(root, peer))
        if peer:
            agree(root, peer[0])


def ways(root: Path, peer: tuple[Path, Path] | None) -> dict[str, Way]:
    """Return the ways to the same table."""
    zone = ("--timezone", "UTC")
    found: dict[str, Way] = {
        "plait usage": lambda: plait("usage", "--root", root, *zone),
        "plait usage --json": lambda: plait("usage", "--root", root, "--json", *zone),
        "plait usage --breakdown (with the graph)": lambda: plait(
            "usage", "--root", root, "--breakdown", *zone
        ),
    }
    if peer:
        native, script = peer
        output = ("claude", "daily", "--offline", *zone)
        env = nobodys(root, CACHE / "nobody")
        found[f"ccusage {CCUSAGE}, native"] = lambda: program(native, *output, **env)
        found["ccusage through node"] = lambda: program("node", script, *output, **env)
    return found


def compare(title: str, found: dict[str, Way]) -> None:
    """Print what each way takes, and how many times what Plait takes."""
    runs: dict[str, list[Run]] = {name: [] for name in found}
    for _ in range(TURNS):
        for name, way in found.items():
            runs[name].append(way())
    row(title, "CPU s", "x plait", "wall s", "x plait", "peak MB", widths=WIDTHS)
    first = next(iter(runs.values()))
    cpu, wall = min(item.cpu for item in first), min(item.wall for item in first)
    for name, done in runs.items():
        least, soonest = min(item.cpu for item in done), min(item.wall for item in done)
        peak = max(item.peak for item in done) / MB
        row(
            name,
            f"{least:.3f}",
            f"{least / cpu:.2f}",
            f"{soonest:.3f}",
            f"{soonest / wall:.2f}",
            f"{peak:.0f}",
            widths=WIDTHS,
        )
    print(flush=True)


WIDTHS = (44, 8, 8, 8, 8, 8)


def agree(root: Path, native: Path) -> None:
    """Print the totals of both, and what has no price for each."""
    ours = json.loads(plait("usage", "--root", root, "--json").output)["totals"]
    env = nobodys(root, CACHE / "nobody")
    run = program(native, "claude", "daily", "--offline", "--json", **env)
    theirs = json.loads(run.output)["totals"]
    row("totals", "plait", "ccusage", widths=(28, 18, 18))
    for name, other in NAMES.items():
        row(name, f"{ours[name]:,.2f}", f"{theirs[other]:,.2f}", widths=(28, 18, 18))
    print("no price:", ", ".join(ours["unpriced"]), "|", ", ".join(theirs["unpricedModels"]))
    print(flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
