"""Mutation testing: change guards on purpose and list those no test notices.

    make mutants                              300 mutants, seed 1, two at a time
    make mutants ARGS="--sample 60 --seed 7 --package graph"

The mutations are those of cosmic-ray. The tests that run the line of one are asked, the quickest
first, until one fails: in a fork that has them in memory, and if none does, in an interpreter of
its own that reads the changed file. The real logs are hidden from them: what the project's own
examples do not notice counts as a survivor. One that hangs the tests is noticed.
"""

import argparse
import ast
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import unified_diff
from hashlib import blake2b
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

from tools.mutant_forks import PATIENCE, ROOM

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "mutants"
PACKAGES = ("graph", "conversation", "redact", "index")
COPIED = ("src", "tests", "examples", "bench", "conformance", "tools", "docs")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "constraints.txt")
OPERATORS = (
    "AddNot",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBreakWithContinue",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator_Delete_Not",
    "ZeroIterationForLoop",
)
MOST_SECONDS = 60.0
"""Of tests that are asked for one mutant, timed while their lines were noted."""


@dataclass(frozen=True)
class Mutant:
    """One change of one line."""

    file: str
    line: int
    operator: str
    occurrence: int

    @property
    def place(self) -> str:
        """Where it is and what it does."""
        return f"{self.file}:{self.line} {self.operator}"


@dataclass(frozen=True)
class Outcome:
    """What the tests said to a mutant."""

    mutant: Mutant
    word: str
    """`killed`, `hung`, `survived` or `no test`."""
    change: str


def main() -> None:
    """Draw mutants, asks the tests, prints the table and the survivors."""
    options = asked()
    packages = options.package or list(PACKAGES)
    trees = [copy_tree(number) for number in range(options.jobs)]
    known = coverage_of(trees[0], packages)
    drawn = sample(trees[0], packages, options.sample, options.seed)
    shares = [drawn[number :: options.jobs] for number in range(options.jobs)]
    with ThreadPoolExecutor(options.jobs) as pool:
        lists = pool.map(
            lambda tree, share: try_mutants(tree, share, known, packages), trees, shares
        )
        report(sorted(chain.from_iterable(lists), key=lambda item: item.mutant.place))


def asked() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--package", action="append", choices=PACKAGES)
    return parser.parse_args()


def copy_tree(number: int) -> Path:
    """Return a fresh copy of the tree to break."""
    tree = CACHE / f"tree{number}"
    shutil.rmtree(tree, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    return tree


class Known:
    """Which test runs which line, and how long each takes."""

    def __init__(self, data: Path, times: dict[str, float]) -> None:
        self.times = times
        self._lines: dict[str, dict[int, list[str]]] = {}
        self._data = data

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a mutant's line, the quickest first; not those for ever."""
        if mutant.file not in self._lines:
            self._lines[mutant.file] = self._read(mutant.file)
        noted = self._lines[mutant.file]
        # The compiler leaves out `while True`: what runs the line below it runs it too.
        found = noted.get(mutant.line) or noted.get(mutant.line + 1, [])
        ordered = sorted(found, key=lambda test: self.times.get(test, 1.0))
        spent = accumulate(self.times.get(test, 1.0) for test in ordered)
        return [test for test, sum_ in zip(ordered, spent, strict=True) if sum_ <= MOST_SECONDS]

    def seconds(self, tests: Sequence[str]) -> float:
        """Return how long some tests take."""
        return sum(self.times.get(test, 1.0) for test in tests)

    def _read(self, file: str) -> dict[int, list[str]]:
        lines: dict[int, list[str]] = defaultdict(list)
        with sqlite3.connect(self._data) as base:
            rows = base.execute(
                "select c.context, b.numbits from line_bits b join file f on f.id = b.file_id "
                "join context c on c.id = b.context_id where f.path like ?",
                (f"%/{file}",),
            )
            for context, bits in rows:
                if context.endswith("|run"):
                    for number in numbers_in(bits):
                        lines[number].append(context.removesuffix("|run"))
        return lines


def numbers_in(bits: bytes) -> Iterator[int]:
    """Yield the line numbers that a set of bits holds."""
    for index, byte in enumerate(bits):
        for bit in range(8):
            if byte & (1 << bit):
                yield index * 8 + bit


def coverage_of(tree: Path, packages: Sequence[str]) -> Known:
    """Run the packages' tests once for this state of the tree and notes the lines of each."""
    state = state_of(tree, packages)
    data, times = CACHE / f"{state}.sqlite", CACHE / f"{state}.json"
    if not (data.exists() and times.exists()):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *tests_of(packages)]
        command += ["--cov=src/plait", "--cov-context=test", "--cov-report=", "--durations=0"]
        command += ["--durations-min=0", "-rfE", "--no-header"]
        ran = run(command, tree, None, {"COVERAGE_FILE": str(data)})
        if ran.returncode != 0:
            failed = [line for line in ran.stdout.splitlines() if line[:5] in ("FAILE", "ERROR")]
            sys.exit("\n".join([*failed, "the tests do not pass as they are"]))
        times.write_text(json.dumps(dict(durations_in(ran.stdout))), encoding="utf-8")
    return Known(data, json.loads(times.read_text(encoding="utf-8")))


def state_of(tree: Path, packages: Sequence[str]) -> str:
    """Return what stands for the code, its tests and the question."""
    state = blake2b(" ".join(packages).encode(), digest_size=8)
    for folder in ("src", "tests", "examples"):
        for file in sorted((tree / folder).rglob("*.*")):
            if file.is_file() and file.suffix != ".pyc":
                state.update(file.read_bytes())
    return state.hexdigest()


def tests_of(packages: Sequence[str]) -> list[str]:
    """Return the folders of tests that guard some packages."""
    return [f"tests/{package}" for package in packages]


def durations_in(printed: str) -> Iterator[tuple[str, float]]:
    """Yield the tests that pytest timed."""
    for line in printed.splitlines():
        words = line.split(maxsplit=2)
        if len(words) == 3 and words[0].endswith("s") and words[1] == "call":
            yield words[2], float(words[0][:-1])


def sample(tree: Path, packages: Sequence[str], size: int, seed: int) -> list[Mutant]:
    """Return mutants drawn alike from all that could be made."""
    found = [
        mutant
        for package in packages
        for file in sorted((tree / "src" / "plait" / package).rglob("*.py"))
        for mutant in mutants_of(tree, file)
    ]
    return sorted(
        random.Random(seed).sample(found, min(size, len(found))), key=lambda item: item.place
    )


def mutants_of(tree: Path, file: Path) -> Iterator[Mutant]:
    """Yield all changes of a module's functions; annotations and constants are let be."""
    text = file.read_text(encoding="utf-8")
    name, nodes, inside = file.relative_to(tree).as_posix(), get_ast(text), lines_of_code(text)
    provider = OperatorProvider()
    for operator in OPERATORS:
        maker, count = provider[operator](), 0
        for node in ast_nodes(nodes):
            for start, _ in maker.mutation_positions(node):
                if start[0] in inside:
                    yield Mutant(name, start[0], operator, count)
                count += 1


def lines_of_code(text: str) -> set[int]:
    """Return the lines of all function bodies."""
    return {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        for number in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }


def try_mutants(
    tree: Path, mutants: Sequence[Mutant], known: Known, packages: Sequence[str]
) -> list[Outcome]:
    """Ask the tests of each mutant in forks, and again on their own where none noticed."""
    words = in_forks(tree, mutants, known, packages)
    return [asked_again(tree, mutant, words[mutant], known) for mutant in mutants]


def in_forks(
    tree: Path, mutants: Sequence[Mutant], known: Known, packages: Sequence[str]
) -> dict[Mutant, str]:
    """Return what the tests say while they stay in memory."""
    questions, answers = tree / "asked.json", tree / "answered.jsonl"
    asked = [question(number, one, known) for number, one in enumerate(mutants)]
    questions.write_text(json.dumps([item for item in asked if item["tests"]]), encoding="utf-8")
    answers.unlink(missing_ok=True)
    command = [sys.executable, "-B", "-m", "tools.mutant_forks", str(questions), str(answers)]
    ran = run([*command, *tests_of(packages)], tree, None)
    if ran.returncode != 0:
        sys.exit(ran.stdout[-3000:] + ran.stderr[-3000:])
    words = dict.fromkeys(mutants, "no test")
    for line in answers.read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        words[mutants[answer["number"]]] = answer["word"]
    return words


def question(number: int, mutant: Mutant, known: Known) -> dict[str, Any]:
    """Return what a fork needs to know of a mutant."""
    tests = known.tests(mutant)
    module = mutant.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    return {
        "number": number,
        "file": mutant.file,
        "module": module.removesuffix(".__init__"),
        "operator": mutant.operator,
        "occurrence": mutant.occurrence,
        "tests": tests,
        "seconds": known.seconds(tests),
    }


def asked_again(tree: Path, mutant: Mutant, word: str, known: Known) -> Outcome:
    """Put a mutant into the copy of the tree and ask a new interpreter, if none noticed yet."""
    place = tree / mutant.file
    before = place.read_text(encoding="utf-8")
    after = str(mutate_code(before, OperatorProvider()[mutant.operator](), mutant.occurrence))
    if word == "survived":
        place.write_text(after, encoding="utf-8")
        try:
            word = verdict(tree, known.tests(mutant), known)
        finally:
            place.write_text(before, encoding="utf-8")
    sys.stderr.write(f"{word:9} {mutant.place}\n")
    return Outcome(mutant, word, format_difference(before, after))


def verdict(tree: Path, tests: list[str], known: Known) -> str:
    """Return what some tests say to the tree as it is."""
    listed = tree / "asked.txt"
    listed.write_text("\n".join(tests), encoding="utf-8")
    seconds = ROOM + int(3 * known.seconds(tests))
    command = ["sh", "-c", f'ulimit -t {seconds}; exec "$@"', "sh", sys.executable, "-B", "-m"]
    command += ["pytest", "-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", f"@{listed}"]
    try:
        ran = run(command, tree, PATIENCE)
    except subprocess.TimeoutExpired:
        return "hung"
    return "survived" if ran.returncode == 0 else "hung" if ran.returncode < 0 else "killed"


def run(
    command: list[str], tree: Path, seconds: float | None, more: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a copy of the tree, without the real logs."""
    environment = os.environ | {
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}",
        "PLAIT" + "_SHARED": str(tree / "nothing"),
        "HYPOTHESIS_PROFILE": "mutants",
    }
    return subprocess.run(
        command,
        cwd=tree,
        env=environment | (more or {}),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def format_difference(before: str, after: str) -> str:
    """Return the lines that differ."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def report(outcomes: Sequence[Outcome]) -> None:
    """Print how many were noticed, by package, and each that was not."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        words[outcome.mutant.file.split("/")[2]][outcome.word] += 1
    for package, counts in sorted(words.items()):
        noticed = counts["killed"] + counts["hung"]
        print(f"{package:13} {noticed:4} of {counts.total():4} noticed", dict(counts))
    noticed = sum(outcome.word in ("killed", "hung") for outcome in outcomes)
    print(f"{'all':13} {noticed:4} of {len(outcomes):4} noticed")
    for outcome in outcomes:
        if outcome.word not in ("killed", "hung"):
            print(f"\n{outcome.word}: {outcome.mutant.place}\n{outcome.change}")


if __name__ == "__main__":
    main()
