"""docs/checklist.md to the tests it names.

A row names tests, a test names items in a comment, and the two must agree.
What is wrong comes back as sentences, so that one run shows all of it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"S": 59, "D": 92, "F": 63, "T": 59, "P": 119}
ITEMS = [f"{group}{number}" for group, size in GROUPS.items() for number in range(1, size + 1)]

ROW = re.compile(r"\| ([A-Z]\d+) \| ([^|]*[^|\s]) \| ([^|]*[^|\s]) \|")
FURNITURE = ("| item | what | shown by |", "|---|---|---|")
TEST = re.compile(r"`(tests/[\w./-]+\.py::test_\w+)`")
TESTS = re.compile(rf"{TEST.pattern}(?:, {TEST.pattern})*")
OVERRULED = re.compile(r"overruled: *\S.*")
MARK = re.compile(r"#\s*checklist:(.*)")
MARKED_ITEMS = re.compile(r" [A-Z]\d+(?:, [A-Z]\d+)*")


@dataclass(frozen=True, slots=True)
class Row:
    """One capability and what shows it."""

    item: str
    what: str
    shown_by: str

    @property
    def tests(self) -> list[str]:
        """The tests that the last cell names; an overruled row may name some too."""
        return TEST.findall(self.shown_by)


@dataclass(frozen=True, slots=True)
class Mark:
    """A comment in a test file that names items; test is None where it stands in no test."""

    line: int
    text: str
    test: str | None

    @property
    def items(self) -> list[str]:
        """The items it names, none where it cannot be read."""
        return re.findall(r"[A-Z]\d+", self.text) if MARKED_ITEMS.fullmatch(self.text) else []


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "checklist.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in files
        if not any(part.startswith(".") for part in file.relative_to(ROOT).parts)
    }


def test_every_item_has_one_row_in_order(page: str) -> None:
    assert list(wrong_rows(page, ITEMS)) == []


def test_every_row_says_what_shows_it(page: str) -> None:
    assert list(unclear_cells(rows(page))) == []


def test_every_named_test_exists(page: str, sources: dict[str, str]) -> None:
    assert list(missing_tests(rows(page), sources)) == []


def test_every_mark_in_a_test_can_be_read(sources: dict[str, str]) -> None:
    assert list(unreadable_marks(sources)) == []


def test_rows_and_marks_agree(page: str, sources: dict[str, str]) -> None:
    assert list(disagreements(rows(page), sources)) == []


def rows(page: str) -> list[Row]:
    """Returns the rows of all tables, top to bottom."""
    return [Row(*found.groups()) for line in page.splitlines() if (found := ROW.fullmatch(line))]


def wrong_rows(page: str, items: Sequence[str]) -> Iterator[str]:
    """Yields table lines that are no row, then where the items leave their order."""
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("|") and line not in FURNITURE and not ROW.fullmatch(line):
            yield f"line {number} is no row: {line}"
    listed = [row.item for row in rows(page)]
    for item in items:
        if (times := listed.count(item)) != 1:
            yield f"{item} has {times} rows"
    yield from (f"{item} is no item" for item in listed if item not in items)
    if sorted(listed) == sorted(items) and listed != list(items):
        first = next(i for i, item in enumerate(items) if listed[i] != item)
        yield f"{listed[first]} stands where {items[first]} should"


def unclear_cells(table: Sequence[Row]) -> Iterator[str]:
    """Yields the rows whose last cell is none of the three things it may be."""
    for row in table:
        clear = row.shown_by == "not yet"
        if not (clear or OVERRULED.fullmatch(row.shown_by) or TESTS.fullmatch(row.shown_by)):
            yield f"{row.item} is shown by neither tests nor reasons: {row.shown_by}"


def missing_tests(table: Sequence[Row], sources: Mapping[str, str]) -> Iterator[str]:
    """Yields the named tests that no file defines."""
    defined = {f"{file}::{name}" for file, source in sources.items() for name in spans(source)}
    for row in table:
        yield from (f"{row.item} names {test}" for test in row.tests if test not in defined)


def unreadable_marks(sources: Mapping[str, str]) -> Iterator[str]:
    """Yields the marks that stand in no test or list something else than items."""
    for file, source in sources.items():
        for mark in marks(source):
            if mark.test is None:
                yield f"{file}:{mark.line} marks no test"
            elif not mark.items:
                yield f"{file}:{mark.line} names no items:{mark.text}"


def disagreements(table: Sequence[Row], sources: Mapping[str, str]) -> Iterator[str]:
    """Yields what only a row says or only a mark says."""
    said = {(row.item, test) for row in table for test in row.tests}
    marked = {
        (item, f"{file}::{mark.test}")
        for file, source in sources.items()
        for mark in marks(source)
        if mark.test is not None
        for item in mark.items
    }
    yield from (f"{test} lacks the mark {item}" for item, test in sorted(said - marked))
    yield from (f"row {item} does not name {test}" for item, test in sorted(marked - said))


def marks(source: str) -> Iterator[Mark]:
    """Yields the marks of one file in order; only comments count, not text in strings."""
    owners = {line: name for name, lines in spans(source).items() for line in lines}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (found := MARK.fullmatch(token.string.rstrip())):
            line = token.start[0]
            yield Mark(line, found[1], owners.get(line))


def spans(source: str) -> dict[str, range]:
    """Returns the lines of each test function, with its decorators and the comments right above."""
    lines = source.split("\n")
    found: dict[str, range] = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("test_"):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        found[node.name] = range(first, (node.end_lineno or node.lineno) + 1)
    return found


# What follows shows that the checks above can fail.

FILE = "tests/made/test_up.py"
GOOD = f"| A1 | one | not yet |\n| A2 | two | `{FILE}::test_a` |\n"


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        (GOOD, []),
        ("# A\n\n| item | what | shown by |\n|---|---|---|\n" + GOOD, []),
        ("| A1 | one | not yet |\n", ["A2 has 0 rows"]),
        (GOOD + "| A1 | one | not yet |\n", ["A1 has 2 rows"]),
        (GOOD + "| A3 | three | not yet |\n", ["A3 is no item"]),
        ("\n".join(reversed(GOOD.splitlines())), ["A2 stands where A1 should"]),
        (GOOD + "| A9 | nine |\n", ["line 3 is no row: | A9 | nine |"]),
        (GOOD + "| A9 |  | not yet |\n", ["line 3 is no row: | A9 |  | not yet |"]),
    ],
)
def test_wrong_rows_are_told(page: str, wrong: list[str]) -> None:
    assert list(wrong_rows(page, ["A1", "A2"])) == wrong


@pytest.mark.parametrize(
    ("cell", "is_clear"),
    [
        ("not yet", True),
        ("overruled: results hang on their calls", True),
        (f"overruled: no longer so, see `{FILE}::test_a`", True),
        (f"`{FILE}::test_a`", True),
        (f"`{FILE}::test_a`, `{FILE}::test_b`", True),
        ("not yet, perhaps", False),
        ("overruled:", False),
        (f"{FILE}::test_a", False),
        (f"`{FILE}`", False),
        (f"`{FILE}::TestA::test_a`", False),
        (f"`{FILE}::test_a` `{FILE}::test_b`", False),
    ],
)
def test_unclear_cells_are_told(cell: str, is_clear: bool) -> None:
    assert (list(unclear_cells([Row("A1", "one", cell)])) == []) is is_clear


@pytest.mark.parametrize(
    ("sources", "wrong"),
    [
        ({FILE: "def test_a() -> None: ...\n"}, []),
        ({FILE: "def test_b() -> None: ...\n"}, [f"A2 names {FILE}::test_a"]),
        ({FILE: "class TestA:\n    def test_a(self): ...\n"}, [f"A2 names {FILE}::test_a"]),
        ({}, [f"A2 names {FILE}::test_a"]),
    ],
)
def test_missing_tests_are_told(sources: dict[str, str], wrong: list[str]) -> None:
    assert list(missing_tests(rows(GOOD), sources)) == wrong


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("# checklist: A2\ndef test_a(): ...\n", []),
        ("# why\n# checklist: A2\n@decorated\ndef test_a(): ...\n", []),
        ("@decorated(\n    1,  # checklist: A2\n)\ndef test_a(): ...\n", []),
        ("async def test_a():\n    # checklist: A2\n    ...\n", []),
        ("def test_a(): ...\n", [f"{FILE}::test_a lacks the mark A2"]),
        ("def test_a():\n    '''# checklist: A2'''\n", [f"{FILE}::test_a lacks the mark A2"]),
        ("# checklist: A2\n\ndef test_a(): ...\n", [f"{FILE}::test_a lacks the mark A2"]),
        (
            "# checklist: A1, A2\ndef test_a(): ...\n",
            [f"row A1 does not name {FILE}::test_a"],
        ),
        (
            "def test_a(): ...\n# checklist: A2\ndef test_b(): ...\n",
            [f"{FILE}::test_a lacks the mark A2", f"row A2 does not name {FILE}::test_b"],
        ),
    ],
)
def test_disagreements_are_told(source: str, wrong: list[str]) -> None:
    assert list(disagreements(rows(GOOD), {FILE: source})) == wrong


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("# checklist: A2\ndef test_a(): ...\n", []),
        ("# a comment on the checklist: none\ndef test_a(): ...\n", []),
        ("# checklist: A2\n\ndef test_a(): ...\n", [f"{FILE}:1 marks no test"]),
        ("# checklist: A2\ndef helper(): ...\n", [f"{FILE}:1 marks no test"]),
        ("# checklist: a2\ndef test_a(): ...\n", [f"{FILE}:1 names no items: a2"]),
        ("# checklist: A2 A3\ndef test_a(): ...\n", [f"{FILE}:1 names no items: A2 A3"]),
        ("# checklist:A2\ndef test_a(): ...\n", [f"{FILE}:1 names no items:A2"]),
    ],
)
def test_unreadable_marks_are_told(source: str, wrong: list[str]) -> None:
    assert list(unreadable_marks({FILE: source})) == wrong
