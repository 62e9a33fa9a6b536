"""Run the chosen groups of checks inside the namespaces."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance import corpus, fuzz
from conformance.chat.judge import verdicts as chat_verdicts
from conformance.edits.judge import EditJudge
from conformance.judge import Judge
from conformance.known import explained
from conformance.model import EditVerdict, Missing, Outcome, Skipped, Verdict
from conformance.scenarios import PRINTED, SHOWN, WRITTEN, Scenario
from conformance.terminal import NotShown

MOST_EDITED = 200
"""Shapes by chance that are edited too: each is resumed once for every operation."""


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
    produced: Path
    operations: tuple[str, ...]
    cases: tuple[str, ...]


def run(judge: Judge, choice: Choice, outcome: Outcome) -> None:
    """Run the chosen groups one after the other."""
    began = time.monotonic()
    for group in choice.groups:
        for row in GROUPS[group](judge, choice):
            outcome.rows.append(row)
            report(row)
    outcome.seconds = time.monotonic() - began


def report(row: Verdict | EditVerdict | Skipped) -> None:
    """Say on stderr how far the run is, and at once what is wrong."""
    if isinstance(row, Skipped):
        words = f"{row.group}: skipped: {row.why}"
    else:
        edits = "edits, " if isinstance(row, EditVerdict) else ""
        found = "ok" if row.is_equal else f"DIFFERS {row.why}".strip()
        words = f"{edits}{row.group}: {row.name}: {found}"
    print(words, file=sys.stderr, flush=True)


def printed(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yield the verdicts on what the client writes in print mode."""
    yield from played(judge, choice, (*PRINTED, *WRITTEN))


def shown(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yield the verdicts on what the client writes on a screen."""
    try:
        yield from played(judge, choice, SHOWN)
    except Missing as missing:
        yield Skipped("produced", str(missing))


def played(
    judge: Judge, choice: Choice, scenarios: tuple[Scenario, ...]
) -> Iterator[Verdict | Skipped]:
    """Yield the verdicts on the sessions of some scenarios."""
    for scenario in scenarios:
        if choice.only not in scenario.name:
            continue
        try:
            yield from judge.produced(scenario)
        except NotShown as complaint:
            yield Skipped("produced", f"{scenario.name}: {str(complaint).splitlines()[0]}")
            print(complaint, file=sys.stderr)


def examples(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yield the verdicts on our own cases."""
    for name, file in example_cases(choice):
        yield judge.given("examples", name, file)


def fuzzed(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yield the verdicts on shapes by chance."""
    for name, file in fuzz.cases(choice.fuzz, choice.seed, choice.folder):
        if choice.only in name:
            yield explained(judge.given("fuzz", name, file))


def real(judge: Judge, choice: Choice) -> Iterator[Verdict | Skipped]:
    """Yield the verdicts on a sample of real logs."""
    if choice.logs is None or not choice.logs.is_dir():
        yield Skipped("corpus", "no folder of real logs: `make conformance LOGS=folder`")
        return
    for name, file in real_cases(choice):
        yield judge.given("corpus", name, file)


def chatted(judge: Judge, choice: Choice) -> Iterator[Verdict]:
    """Yield the verdicts on what `plait chat` writes."""
    yield from chat_verdicts(judge, choice.only)


def edited(judge: Judge, choice: Choice) -> Iterator[EditVerdict]:
    """Yield what came of every operation on all sessions that the other groups are about."""
    edits = EditJudge(judge, choice.operations)
    for group in choice.cases:
        for name, file in SOURCES[group](choice):
            yield edits.judged(group, name, file)


def example_cases(choice: Choice) -> Iterator[tuple[str, Path]]:
    """Yield our own cases."""
    for file in sorted(choice.examples.glob("*/session.jsonl")):
        if choice.only in file.parent.name:
            yield file.parent.name, file


def trim_cases(choice: Choice) -> Iterator[tuple[str, Path]]:
    """Yield the sessions that show what trimming and compressing take away."""
    for file in sorted(choice.examples.parent.glob("trims/*/projects/*/*.jsonl")):
        if choice.only in file.parts[-4]:
            yield file.parts[-4], file


def produced_cases(choice: Choice) -> Iterator[tuple[str, Path]]:
    """Yield what the client wrote, in this run or in one before."""
    for file in sorted(corpus.sessions(choice.produced)):
        name = file.relative_to(choice.produced)
        if choice.only in name.parts[0]:
            yield f"{name.parts[0]} {file.stem}", file


def fuzz_cases(choice: Choice) -> Iterator[tuple[str, Path]]:
    """Yield shapes by chance, as many as are edited."""
    for name, file in fuzz.cases(min(choice.fuzz, MOST_EDITED), choice.seed, choice.folder):
        if choice.only in name:
            yield name, file


def real_cases(choice: Choice) -> Iterator[tuple[str, Path]]:
    """Yield a sample of real logs."""
    if choice.logs is None or not choice.logs.is_dir():
        return
    for file in corpus.sample(choice.logs, choice.sample):
        name = f"{file.relative_to(choice.logs).as_posix()} ({corpus.version_range(file)})"
        if choice.only in name:
            yield name, file


SOURCES: dict[str, Callable[[Choice], Iterator[tuple[str, Path]]]] = {
    "examples": example_cases,
    "trims": trim_cases,
    "produced": produced_cases,
    "fuzz": fuzz_cases,
    "corpus": real_cases,
}

GROUPS: dict[str, Callable[[Judge, Choice], Iterator[Verdict | EditVerdict | Skipped]]] = {
    "print": printed,
    "terminal": shown,
    "examples": examples,
    "fuzz": fuzzed,
    "corpus": real,
    "chat": chatted,
    "edits": edited,
}
