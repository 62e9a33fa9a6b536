"""A choice of groups to the rows of a run, inside the namespaces."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance import corpus, fuzz
from conformance.judge import Judge
from conformance.known import explained
from conformance.model import Missing, Outcome, Skipped, Verdict
from conformance.scenarios import PRINTED, SHOWN, Scenario
from conformance.terminal import NotShown


@dataclass(frozen=True, slots=True)
class Choice:
    """What to run, and how much of it."""

    groups: tuple[str, ...]
    examples: Path
    logs: Path | None
    fuzz: int
    seed: int
    sample: int
    only: str
    folder: Path


def run(judge: Judge, choice: Choice, outcome: Outcome) -> None:
    """Runs the chosen groups one after the other."""
    began = time.monotonic()
    for group in choice.groups:
        for row in GROUPS[group](judge, choice):
            outcome.rows.append(row)
            report(row)
    outcome.seconds = time.monotonic() - began


def report(row: Verdict | Skipped) -> None:
    """Says on stderr how far the run is."""
    word = (
        f"skipped: {row.why}" if isinstance(row, Skipped) else "ok" if row.is_equal else "DIFFERS"
    )
    name = "" if isinstance(row, Skipped) else row.name
    print(f"{row.group}: {name}: {word}", file=sys.stderr, flush=True)


def printed(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yields the verdicts on what the client writes in print mode."""
    yield from played(judge, choice, PRINTED)


def shown(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yields the verdicts on what the client writes on a screen."""
    try:
        yield from played(judge, choice, SHOWN)
    except Missing as missing:
        yield Skipped("produced", str(missing))


def played(
    judge: Judge, choice: Choice, scenarios: tuple[Scenario, ...]
) -> Iterator[Verdict | Skipped]:
    """Yields the verdicts on the sessions of some scenarios."""
    for scenario in scenarios:
        if choice.only not in scenario.name:
            continue
        try:
            yield from judge.produced(scenario)
        except NotShown as complaint:
            yield Skipped("produced", f"{scenario.name}: {str(complaint).splitlines()[0]}")
            print(complaint, file=sys.stderr)


def examples(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yields the verdicts on our own cases."""
    for file in sorted(choice.examples.glob("*/session.jsonl")):
        if choice.only in file.parent.name:
            yield judge.given("examples", file.parent.name, file)


def fuzzed(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yields the verdicts on shapes by chance."""
    for name, file in fuzz.cases(choice.fuzz, choice.seed, choice.folder):
        yield explained(judge.given("fuzz", name, file))


def real(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yields the verdicts on a sample of real logs."""
    if choice.logs is None or not choice.logs.is_dir():
        yield Skipped("corpus", "no folder of real logs: `make conformance LOGS=folder`")
        return
    for file in corpus.sample(choice.logs, choice.sample):
        name = f"{file.relative_to(choice.logs).as_posix()} ({corpus.version_range(file)})"
        if choice.only in name:
            yield judge.given("corpus", name, file)


GROUPS: dict[str, Callable[[Judge, Choice], Iterator[Verdict | Skipped]]] = {
    "print": printed,
    "terminal": shown,
    "examples": examples,
    "fuzz": fuzzed,
    "corpus": real,
}
