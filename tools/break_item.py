"""Break checklist items on purpose, and see whether their tests notice.

    make checklist-mutants                    # every mutant of tools/breaks.toml
    make checklist-mutants ARGS="F10 P28"     # those of some items

A mutant replaces one piece of source in a copy of the tree and runs the tests that the items
are mapped to. Real logs are hidden: what only they would notice is not protected for anybody
else. A mutant that cannot even be imported shows nothing and counts as survived.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from tools.checklist import ROOT, tests_by_item

BREAKS = Path(__file__).with_name("breaks.toml")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
FAILED = re.compile(r"^FAILED (\S+?::\w+)", re.MULTILINE)
UNREAD = re.compile(r"^ERROR tests/[\w/]+\.py(?: |$)", re.MULTILINE)
SECONDS = 120
"""Of the processor: what takes longer never ends, and was noticed."""


@dataclass(frozen=True, slots=True)
class Break:
    """A piece of source, what stands in its place, and the items that must notice."""

    items: tuple[str, ...]
    file: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {_short(self.old)} → {_short(self.new) or '(nothing)'}"

    @property
    def fault(self) -> str | None:
        """Why it cannot be tried, None where it can."""
        file = ROOT / self.file
        times = file.read_text(encoding="utf-8").count(self.old) if file.is_file() else 0
        return None if times == 1 else f"{self.file} has {_short(self.old)} {times} times"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:59] + "…"


def breaks() -> list[Break]:
    """Return the table of mutants, top to bottom."""
    rows = tomllib.loads(BREAKS.read_text(encoding="utf-8"))["break"]
    return [Break(tuple(row["items"].split()), row["file"], row["old"], row["new"]) for row in rows]


class Trees:
    """Copies of the tree, one for each mutant that is tried at a time."""

    def __init__(self, folder: Path, number: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._clock = count(2_000_000_000, 10)  # no two versions of a file have the same time
        for place in range(number):
            copy = folder / str(place)
            shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
            self._free.put(copy)

    def said_to(self, mutant: Break | None, tests: Collection[str]) -> str:
        """Return what pytest prints of some tests, with one thing broken or none."""
        if not tests:
            return ""
        tree = self._free.get()
        try:
            if mutant is None:
                return _run(tree, tests, 60 * SECONDS)
            file = tree / mutant.file
            full = file.read_text(encoding="utf-8")
            self._write(file, full.replace(mutant.old, mutant.new))
            try:
                return _run(tree, tests)
            finally:
                self._write(file, full)
        finally:
            self._free.put(tree)

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        now = next(self._clock)
        os.utime(file, (now, now))


def _run(tree: Path, tests: Collection[str], limit: int = SECONDS) -> str:
    options = ["-q", "-n0", "--tb=no", "-rfE", "-p", "no:cacheprovider", "--no-header"]
    surroundings = {
        **os.environ,
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}",
        "PLAIT" + "_SHARED": str(tree / "nothing"),
        "HYPOTHESIS_PROFILE": "mutants",
        "COLUMNS": "400",
    }
    words = [sys.executable, "-m", "pytest", *options, *sorted(tests)]
    limited = ["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *words]
    ran = subprocess.run(limited, cwd=tree, env=surroundings, capture_output=True, text=True)
    if ran.returncode < 0:
        return "".join(f"FAILED {test}\n" for test in sorted(tests))
    return ran.stdout + ran.stderr


def verdicts(mutant: Break, shown: Mapping[str, Iterable[str]], said: str) -> Iterator[str]:
    """Yield a line for each of its items: who noticed, or that nobody did."""
    failed = set(FAILED.findall(said))
    for item in mutant.items:
        noticed = sorted(failed & set(shown.get(item, ())))
        if UNREAD.search(said):
            yield f"survived  {item}  cannot be imported  ({mutant})"
        elif noticed:
            yield f"killed    {item}  {noticed[0]}  ({mutant})"
        else:
            yield f"survived  {item}  ({mutant})"


def main() -> None:
    """Try the mutants of the items asked for, else all; exits with 1 where one survives."""
    parser = argparse.ArgumentParser(prog="python -m tools.break_item")
    parser.add_argument("items", nargs="*", help="items such as F10; all where none is named")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    rendered = {
        item: [name.strip("`") for name in names] for item, names in tests_by_item().items()
    }
    mutants = [
        entry for entry in breaks() if not asked.items or set(asked.items) & set(entry.items)
    ]
    faults = [fault for mutant in mutants if (fault := mutant.fault)]
    if faults:
        sys.exit("\n".join(faults))
    with tempfile.TemporaryDirectory(prefix="plait-breaks-") as folder:
        lines = _tried(Trees(Path(folder), asked.jobs), mutants, rendered, asked.jobs)
    survived = [line for line in lines if line.startswith("survived")]
    print(f"{len(lines)} items of {len(mutants)} mutants, {len(survived)} survived")
    sys.exit(bool(survived))


def _tried(
    trees: Trees, mutants: list[Break], shown: Mapping[str, list[str]], jobs: int
) -> list[str]:
    tests = [{test for item in entry.items for test in shown.get(item, ())} for entry in mutants]
    if weak := FAILED.findall(trees.said_to(None, set().union(*tests))):
        sys.exit("fail unbroken, without real logs:\n" + "\n".join(weak))
    lines: list[str] = []
    with ThreadPoolExecutor(jobs) as threads:
        for mutant, output in zip(mutants, threads.map(trees.said_to, mutants, tests), strict=True):
            for line in verdicts(mutant, shown, output):
                print(line, flush=True)
                lines.append(line)
    return lines


if __name__ == "__main__":
    main()
