"""Compare two checkouts: every command on the same logs in turn, in one run.

    python -m bench.beside ../before --size 30MB --rounds 5

Prints the least CPU seconds of each and their ratio; above 1 this checkout is slower.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.archives import archive

HERE = Path(__file__).resolve().parents[1]
STARTS = "import plait.cli as cli; cli.main()"
CONVERSATIONS = """
import sys, plait
archive = plait.Archive([sys.argv[1]])
for session in archive.sessions:
    archive.conversations(session).active
"""
GRAPHS = """
import sys, plait
plait.Archive([sys.argv[1]]).graph()
"""
READS = """
import sys, plait
for file in plait.Archive([sys.argv[1]]).files:
    for record in plait.read(file.path):
        record.uuid
"""


@dataclass(frozen=True)
class Case:
    """One thing that is measured."""

    name: str
    arguments: tuple[str, ...]
    code: str = STARTS
    before: Callable[[Path], None] | None = None
    """What is done to the cache of the side, unmeasured."""


def main() -> None:
    """Measure both, one after the other, round by round."""
    options = _options()
    logs = archive(options.size)
    largest = max(logs.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory() as folder:
        sides = [(options.other.resolve(), Path(folder, "other")), (HERE, Path(folder, "here"))]
        for case in _cases(logs, largest, Path(folder)):
            if not options.only or case.name in options.only:
                _measure(case, sides, options.rounds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.beside")
    parser.add_argument("other", type=Path)
    parser.add_argument("--size", default="30MB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append")
    return parser.parse_args()


def _cases(logs: Path, largest: Path, folder: Path) -> list[Case]:
    root, log, out = ("--root", str(logs)), str(largest), str(folder / "out")
    export = ("export", "--all", *root, "--force", "-o", out)
    return [
        Case("start", ("--help",)),
        Case("read", (str(logs),), READS),
        Case("graph", (str(logs),), GRAPHS),
        Case("conversations", (str(logs),), CONVERSATIONS),
        Case("ls, cold", ("ls", "--no-index", *root)),
        Case("usage, cold", ("usage", "--no-index", *root)),
        Case("usage by branch, cold", ("usage", "--no-index", "--breakdown", *root)),
        Case("tree, cold", ("tree", "--no-index", *root)),
        Case("stats, cold", ("stats", "--no-index", *root)),
        Case("doctor", ("doctor", *root)),
        Case("index, first", ("index", *root), before=_emptied),
        Case("index, unchanged", ("index", *root)),
        Case("ls, indexed", ("ls", *root)),
        Case("usage, indexed", ("usage", *root)),
        Case("stats, indexed", ("stats", *root)),
        Case("tree, indexed", ("tree", *root)),
        Case("search, words", ("search", "parser", *root)),
        Case("search, expression", ("search", "--regex", "pars(er|ing)", *root)),
        Case("show", ("show", log)),
        Case("show, all", ("show", log, "--depth", "all")),
        Case("log", ("log", log)),
        Case("context", ("context", log)),
        Case("trace", ("trace", "show", log)),
        Case("export, Markdown", (*export, "--format", "md", "--no-redact")),
        Case("export, redacted", (*export, "--format", "md")),
        Case("export, pages", (*export, "--format", "html", "--no-redact")),
    ]


def _emptied(cache: Path) -> None:
    shutil.rmtree(cache, ignore_errors=True)


def _measure(case: Case, sides: Sequence[tuple[Path, Path]], rounds: int) -> None:
    took: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for number, (tree, cache) in enumerate(sides):
            if case.before:
                case.before(cache)
            took[number].append(_seconds(case, tree, cache))
    other, here = (min(item) for item in took)
    print(f"{case.name:24} {other:7.3f} {here:7.3f}  {here / other:5.2f}", flush=True)


def _seconds(case: Case, tree: Path, cache: Path) -> float:
    environment = os.environ | {
        "PYTHONPATH": str(tree / "src"),
        "PLAIT_CACHE_DIR": str(cache),
        "PLAIT_CONFIG_DIR": str(cache / "none"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", case.code, *case.arguments]
    ran = subprocess.run(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=-1, check=False
    )
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 1) or b"Traceback" in ran.stderr:  # 1: doctor found something
        sys.exit(f"{case.name} in {tree}: {ran.stderr.decode()[-500:]}")
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


if __name__ == "__main__":
    main()
