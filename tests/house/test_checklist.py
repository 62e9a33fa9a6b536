"""docs/checklist.md agrees with the tests it names.

A row names tests, a test names items in a comment, and the two must agree.
What is wrong comes back as sentences, so that one run shows all of it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"S": 59, "D": 92, "F": 63, "T": 59, "P": 119}
ITEMS = [f"{group}{number}" for group, size in GROUPS.items() for number in range(1, size + 1)]

WRITING = frozenset(
    ["F44", *(f"F{number}" for number in range(46, 64))]
    + [f"P{number}" for number in (1, 2, 6, *range(40, 46), *range(68, 101))]
)
"""What only a program that writes sessions can show."""
DOCUMENTS = {
    "S": "Session management",
    "D": "Message graph",
    "F": "Session file",
    "T": "Traces",
    "P": "Protocol and client",
}
CLASSES = ("shown", "overruled", "writing half", "missing")

ROW = re.compile(r"\| ([A-Z]\d+) \| ([^|]*[^|\s]) \| ([a-z ]+) \| ([^|]*[^|\s]) \|")
FURNITURE = ("| item | what | class | shown by |", "|---|---|---|---|")
COUNTS = re.compile(r"(?<=\n\n)\| document \|.*?(?=\n\n)", re.DOTALL)
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
    is_called: str
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


def test_every_row_names_its_tests(page: str) -> None:
    assert list(unclear_cells(rows(page))) == []


def test_every_row_has_its_class(page: str) -> None:
    assert list(wrong_classes(rows(page))) == []


def test_only_the_writing_half_is_missing(page: str) -> None:
    assert [row.item for row in rows(page) if row.is_called == "missing"] == []


def test_counts_match_the_rows(page: str) -> None:
    found = COUNTS.search(page)
    assert found
    assert found[0].split("\n") == counts(rows(page))


def test_every_named_test_exists(page: str, sources: dict[str, str]) -> None:
    assert list(missing_tests(rows(page), sources)) == []


def test_every_mark_in_a_test_is_valid(sources: dict[str, str]) -> None:
    assert list(unreadable_marks(sources)) == []


def test_rows_and_marks_agree(page: str, sources: dict[str, str]) -> None:
    assert list(disagreements(rows(page), sources)) == []


def rows(page: str) -> list[Row]:
    """Return the rows of all tables, top to bottom."""
    return [Row(*found.groups()) for line in page.splitlines() if (found := ROW.fullmatch(line))]


def wrong_rows(page: str, items: Sequence[str]) -> Iterator[str]:
    """Yield table lines that are no row, then where the items leave their order."""
    for number, line in enumerate(COUNTS.sub("", page).splitlines(), 1):
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
    """Yield the rows whose last cell is none of the three things it may be."""
    for row in table:
        clear = row.shown_by == "not yet"
        if not (clear or OVERRULED.fullmatch(row.shown_by) or TESTS.fullmatch(row.shown_by)):
            yield f"{row.item} is shown by neither tests nor reasons: {row.shown_by}"


def class_of(item: str, shown_by: str) -> str:
    """Return the class of an item by what its last cell says."""
    if OVERRULED.fullmatch(shown_by):
        return "overruled"
    if shown_by != "not yet":
        return "shown"
    return "writing half" if item in WRITING else "missing"


def wrong_classes(table: Sequence[Row]) -> Iterator[str]:
    """Yield the rows whose class is not that of their last cell."""
    for row in table:
        if (wanted := class_of(row.item, row.shown_by)) != row.is_called:
            yield f"{row.item} is {wanted}, not {row.is_called}"


def counts(table: Sequence[Row]) -> list[str]:
    """Return the lines of a table: how many items of each document are of each class."""
    found = Counter((row.item[0], class_of(row.item, row.shown_by)) for row in table)
    sums = {name: [found[group, item] for item in CLASSES] for group, name in DOCUMENTS.items()}
    sums["all"] = [sum(column) for column in zip(*sums.values(), strict=True)]
    return [
        "| document | items | " + " | ".join(CLASSES) + " |",
        "|---|" + "---:|" * (1 + len(CLASSES)),
        *(_cells(name, sum(row), *row) for name, row in sums.items()),
    ]


def _cells(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def missing_tests(table: Sequence[Row], sources: Mapping[str, str]) -> Iterator[str]:
    """Yield the named tests that no file defines."""
    defined = {f"{file}::{name}" for file, source in sources.items() for name in spans(source)}
    for row in table:
        yield from (f"{row.item} names {test}" for test in row.tests if test not in defined)


def unreadable_marks(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield the marks that stand in no test or list something else than items."""
    for file, source in sources.items():
        for mark in marks(source):
            if mark.test is None:
                yield f"{file}:{mark.line} marks no test"
            elif not mark.items:
                yield f"{file}:{mark.line} names no items:{mark.text}"


def disagreements(table: Sequence[Row], sources: Mapping[str, str]) -> Iterator[str]:
    """Yield what only a row says or only a mark says."""
    output = {(row.item, test) for row in table for test in row.tests}
    marked = {
        (item, f"{file}::{mark.test}")
        for file, source in sources.items()
        for mark in marks(source)
        if mark.test is not None
        for item in mark.items
    }
    yield from (f"{test} lacks the mark {item}" for item, test in sorted(output - marked))
    yield from (f"row {item} does not name {test}" for item, test in sorted(marked - output))


@cache
def marks(source: str) -> list[Mark]:
    """Return the marks of one file in order; only comments count, not text in strings."""
    return list(_marks(source)) if "checklist:" in source else []


def _marks(source: str) -> Iterator[Mark]:
    owners = {line: name for name, lines in spans(source).items() for line in lines}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (found := MARK.fullmatch(token.string.rstrip())):
            line = token.start[0]
            yield Mark(line, found[1], owners.get(line))


@cache
def spans(source: str) -> dict[str, range]:
    """Return the lines of each test function, with its decorators and the comments right above."""
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
GOOD = f"| A1 | one | missing | not yet |\n| A2 | two | shown | `{FILE}::test_a` |\n"


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        (GOOD, []),
        ("# A\n\n| item | what | class | shown by |\n|---|---|---|---|\n" + GOOD, []),
        ("# A\n\n| document | items |\n| all | 2 |\n\n" + GOOD, []),
        ("| A1 | one | missing | not yet |\n", ["A2 has 0 rows"]),
        (GOOD + "| A1 | one | missing | not yet |\n", ["A1 has 2 rows"]),
        (GOOD + "| A3 | three | missing | not yet |\n", ["A3 is no item"]),
        ("\n".join(reversed(GOOD.splitlines())), ["A2 stands where A1 should"]),
        (GOOD + "| A9 | nine |\n", ["line 3 is no row: | A9 | nine |"]),
        (GOOD + "| A9 | nine | not yet |\n", ["line 3 is no row: | A9 | nine | not yet |"]),
        (
            GOOD + "| A9 |  | missing | not yet |\n",
            ["line 3 is no row: | A9 |  | missing | not yet |"],
        ),
    ],
)
def test_wrong_rows_are_reported(page: str, wrong: list[str]) -> None:
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
def test_unclear_cells_are_reported(cell: str, is_clear: bool) -> None:
    assert (list(unclear_cells([Row("A1", "one", "missing", cell)])) == []) is is_clear


@pytest.mark.parametrize(
    ("item", "cell", "is_called"),
    [
        ("S1", f"`{FILE}::test_a`", "shown"),
        ("S1", "overruled: results hang on their calls", "overruled"),
        ("S1", f"overruled: no longer so; `{FILE}::test_a`", "overruled"),
        ("S1", "not yet", "missing"),
        ("F46", "not yet", "writing half"),
        ("F46", f"`{FILE}::test_a`", "shown"),
    ],
)
def test_class_follows_from_the_last_cell(item: str, cell: str, is_called: str) -> None:
    assert class_of(item, cell) == is_called
    assert list(wrong_classes([Row(item, "one", is_called, cell)])) == []
    wrong = list(wrong_classes([Row(item, "one", "odd", cell)]))
    assert wrong == [f"{item} is {is_called}, not odd"]


def test_items_are_counted_by_document_and_class() -> None:
    cells = [("S1", "not yet"), ("S2", "overruled: x"), ("F46", "not yet"), ("P1", f"`{FILE}::t`")]
    assert counts([Row(item, "one", "", cell) for item, cell in cells]) == [
        "| document | items | shown | overruled | writing half | missing |",
        "|---|---:|---:|---:|---:|---:|",
        "| Session management | 2 | 0 | 1 | 0 | 1 |",
        "| Message graph | 0 | 0 | 0 | 0 | 0 |",
        "| Session file | 1 | 0 | 0 | 1 | 0 |",
        "| Traces | 0 | 0 | 0 | 0 | 0 |",
        "| Protocol and client | 1 | 1 | 0 | 0 | 0 |",
        "| all | 4 | 1 | 1 | 1 | 1 |",
    ]


@pytest.mark.parametrize(
    ("sources", "wrong"),
    [
        ({FILE: "def test_a() -> None: ...\n"}, []),
        ({FILE: "def test_b() -> None: ...\n"}, [f"A2 names {FILE}::test_a"]),
        ({FILE: "class TestA:\n    def test_a(self): ...\n"}, [f"A2 names {FILE}::test_a"]),
        ({}, [f"A2 names {FILE}::test_a"]),
    ],
)
def test_missing_tests_are_reported(sources: dict[str, str], wrong: list[str]) -> None:
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
def test_disagreements_are_reported(source: str, wrong: list[str]) -> None:
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
def test_unreadable_marks_are_reported(source: str, wrong: list[str]) -> None:
    assert list(unreadable_marks({FILE: source})) == wrong
