"""Sessions trimmed by Plait and by `cozempic`: what is sent afterwards and what still resumes.

python -m bench.trim [LOGS] [--keep FOLDER] [--most BYTES]

Every way starts from the same copy. Tokens are those of the request that the next prompt sends, by
one estimate for all; bytes are of the log. `--keep` leaves the results for the real client, which
`python -m conformance.beside FOLDER` asks.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.measure import SHARED
from bench.peers import cozempic, nobodys
from conformance.corpus import sessions
from plait import Archive
from plait.graph.client import Context, build_context
from plait.graph.client.tokens import estimate_request_tokens
from plait.record import read
from plait.record.prompts import get_prompt_text, is_human_prompt

PRESETS = ("light", "standard", "heavy", "extreme")
PRESCRIPTIONS = ("gentle", "standard", "aggressive")
AN_HOUR = 3600
ALONE = ("unshare", "--map-root-user", "--net")
SILENT = {
    f"COZEMPIC_{name}": "1"
    for name in ("NO_GLOBAL_INIT", "NO_AUTO_INIT", "NO_AUTO_UPDATE", "NO_TELEMETRY", "PIN")
}
"""By itself it writes hooks into the user's settings, updates itself and counts its runs."""
HEADINGS = (
    "way",
    "sessions",
    "changed",
    "tokens sent",
    "saved",
    "median",
    "bytes saved",
    "resume",
    "words lost",
    "new violations",
    "CPU s",
)

Way = Callable[[Path], object]
"""Trims the log in a configuration folder where it lies."""


@dataclass(frozen=True, slots=True)
class State:
    """What a session is before and after."""

    size: int
    tokens: int
    resumes: bool
    typed: frozenset[str]
    """What people typed."""
    said: tuple[str, ...]
    """What the user says in what is sent."""
    broken: Counter[str]
    """The rules that are broken, and how often."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """One session before and after one way."""

    before: State
    after: State
    cpu: float
    is_changed: bool

    @property
    def lost(self) -> list[str]:
        """What people typed and is no longer sent as often."""
        pairs = (
            (item, count(item, self.before), count(item, self.after)) for item in self.before.typed
        )
        return [words for words, had, has in pairs if has < had]


def main() -> None:
    """Print a row for every way."""
    given = arguments()
    ways = all_ways()
    found: dict[str, list[Trimmed]] = {name: [] for name in ways}
    for file in sorted(sessions(given.logs)):
        if file.stat().st_size <= given.most:
            for name, way in ways.items():
                found[name] += iter_trims(file, name, way, given)
    print("| " + " | ".join(HEADINGS) + " |\n|---" + "|---:" * (len(HEADINGS) - 1) + "|")
    for name, rows in found.items():
        print("| " + " | ".join(cells(name, rows)) + " |")


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.trim")
    parser.add_argument("logs", type=Path, nargs="?", default=SHARED / "corpus")
    parser.add_argument("--keep", type=Path, help="a folder for the results")
    parser.add_argument("--most", type=int, default=10**9, help="bytes of the largest session")
    return parser.parse_args()


def all_ways() -> dict[str, Way]:
    """Return every preset of Plait and every prescription of `cozempic`, by name."""
    ways: dict[str, Way] = {f"plait {preset}": partial(by_plait, preset) for preset in PRESETS}
    if program := cozempic():
        ways |= {
            f"cozempic {prescription}": partial(by_cozempic, program, prescription)
            for prescription in PRESCRIPTIONS
        }
    return ways


def by_plait(preset: str, config: Path) -> None:
    """Trim by a preset, checked by the rules, in place."""
    archive = Archive([config])
    plan = archive.plan.trim(the_log(config), preset, in_place=True)  # type: ignore[arg-type]
    if found := plan.check():
        print(f"{the_log(config)}: {preset} violates {found}", file=sys.stderr)
    elif plan.steps:
        plan.apply()


def by_cozempic(program: Path, prescription: str, config: Path) -> None:
    """Trim by a prescription, in an empty home and without a network."""
    home = config.parent / "home"
    environment = {**nobodys(config, home), **SILENT, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    treat = (program, "treat", the_log(config), "-rx", prescription, "--execute")
    command = [str(word) for word in (*ALONE, *treat)]
    subprocess.run(command, env=environment, capture_output=True, check=False)


def the_log(config: Path) -> Path:
    """Return the one log in a configuration folder."""
    return next((config / "projects").glob("*/*.jsonl"))


def iter_trims(file: Path, name: str, way: Way, given: argparse.Namespace) -> Iterator[Trimmed]:
    """Yield what a way makes of a session; nothing where the session does not resume."""
    with TemporaryDirectory(prefix="plait-trim-") as folder:
        config = Path(folder, "config")
        place = copy_session(file, config)
        before, known = state(place, config), place.read_bytes()
        if not before.resumes:
            return
        started = cpu_of_all()
        way(config)
        cpu = cpu_of_all() - started
        if given.keep:
            keep(place, given.keep / name.replace(" ", "-"), file.relative_to(given.logs))
        yield Trimmed(before, state(place, config), cpu, place.read_bytes() != known)


def copy_session(file: Path, config: Path) -> Path:
    """Copy a session into a configuration folder of its own, as one that nobody writes to."""
    place = config / "projects" / "-home-dev-demo" / file.name
    place.parent.mkdir(parents=True)
    place.write_bytes(file.read_bytes())
    if (beside := file.with_suffix("")).is_dir():
        shutil.copytree(beside, place.with_suffix(""), copy_function=shutil.copyfile)
    then = time.time() - AN_HOUR
    for path in place.parent.rglob("*"):
        os.utime(path, (then, then))
    return place


def keep(place: Path, folder: Path, name: Path) -> None:
    """Leave a result with its side files below a folder."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(place, target)
    if (beside := place.with_suffix("")).is_dir():
        shutil.copytree(beside, target.with_suffix(""), dirs_exist_ok=True)


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and of those that it waited for."""
    return sum(os.times()[:4])


def state(place: Path, config: Path) -> State:
    """Return what a session is now."""
    records = list(read(place))
    found = build_context(records, size=place.stat().st_size)
    typed = {get_prompt_text(record).strip() for record in records if is_human_prompt(record)} - {
        ""
    }
    archive = Archive([config])
    broken = Counter(item.rule for item in archive.plan.check(place))
    return State(
        place.stat().st_size,
        estimate_request_tokens(found.request),
        found.resumes,
        frozenset(typed),
        tuple(said(found)),
        broken,
    )


def said(found: Context) -> Iterator[str]:
    """Yield the texts of the user in what is sent."""
    for role, blocks in found.messages:
        if role == "user":
            yield from (str(block.get("text", "")).strip() for block in blocks)


def count(words: str, item: State) -> int:
    """Return how often the user says words, alone or in lines of their own."""
    return sum(f"\n{text}\n".count(f"\n{words}\n") for text in item.said)


def cells(name: str, rows: list[Trimmed]) -> Iterator[str]:
    """Yield what a row of the table shows."""
    tokens, sizes = totals(rows, "tokens"), totals(rows, "size")
    changed = [row for row in rows if row.is_changed]
    yield from (name, f"{len(rows)}", f"{len(changed)}")
    yield f"{tokens[0]:,} → {tokens[1]:,}"
    yield share(*tokens)
    yield f"{median(part_of(row) for row in rows):.1%}" if rows else ""
    yield share(*sizes)
    yield f"{sum(row.after.resumes for row in rows)}"
    yield f"{sum(bool(row.lost) for row in rows)}"
    yield f"{sum(bool(row.after.broken - row.before.broken) for row in rows)}"
    yield f"{sum(row.cpu for row in rows):.1f}"


def totals(rows: list[Trimmed], what: str) -> tuple[int, int]:
    """Return the sum of a figure before and after."""
    before = sum(getattr(row.before, what) for row in rows)
    return before, sum(getattr(row.after, what) for row in rows)


def part_of(item: Trimmed) -> float:
    """Return the part of the tokens that is no longer sent."""
    return 1 - item.after.tokens / item.before.tokens if item.before.tokens else 0.0


def share(before: int, after: int) -> str:
    """Return how much less it is, as a part."""
    return f"{1 - after / before:.1%}" if before else "-"


if __name__ == "__main__":
    main()
