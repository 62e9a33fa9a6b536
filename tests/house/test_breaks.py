"""tools/breaks.toml agrees with the checklist and the source."""

import re
from collections.abc import Sequence

import pytest

from tests.house.test_checklist import ROOT, Row, rows
from tools.break_item import Break, breaks, verdicts

TABLE = {
    row.item: row for row in rows((ROOT / "docs" / "checklist.md").read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("mutant", breaks(), ids=str)
def test_mutant_can_be_made_and_its_items_exist(mutant: Break) -> None:
    assert mutant.fault is None
    assert mutant.new != mutant.old
    assert mutant.items
    assert [item for item in mutant.items if not _is_shown(TABLE.get(item))] == []


def _is_shown(row: Row | None) -> bool:
    return row is not None and bool(row.tests)


def test_every_tested_item_has_a_mutant() -> None:
    broken = {item for mutant in breaks() for item in mutant.items}
    rendered = {row.item for row in TABLE.values() if row.is_called == "shown"}
    assert rendered - broken == set()


def test_long_quote_is_shortened() -> None:
    long = str(Break(("A1",), "src/a.py", "one\n  thing " * 9, "x"))
    assert long == "src/a.py: " + ("one thing " * 6)[:59] + "… → x"


def test_mutant_that_matches_nowhere_or_twice_is_reported() -> None:
    def fault(old: str) -> str | None:
        return Break(("A1",), "tools/break_item.py", old, "").fault

    assert fault("def breaks() ->") is None
    assert fault("no such words") == "tools/break_item.py has no such words 0 times"
    assert re.fullmatch(r"tools/break_item\.py has import \d+ times", fault("import ") or "")
    assert Break(("A1",), "tools/gone.py", "x", "").fault == "tools/gone.py has x 0 times"


MUTANT = Break(("A1", "A2"), "src/a.py", "one\n  thing", "")
SHOWN = {"A1": ["tests/a/test_a.py::test_one"], "A2": ["tests/a/test_a.py::test_two"]}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", ["survived  A1", "survived  A2"]),
        (
            "FAILED tests/a/test_a.py::test_one[x - y] - assert\n",
            ["killed    A1  tests/a/test_a.py::test_one", "survived  A2"],
        ),
        ("FAILED tests/a/test_a.py::test_other\n", ["survived  A1", "survived  A2"]),
        (
            "FAILED tests/a/test_a.py::test_one\nFAILED tests/a/test_a.py::test_two\n",
            [
                "killed    A1  tests/a/test_a.py::test_one",
                "killed    A2  tests/a/test_a.py::test_two",
            ],
        ),
        ("ERROR tests/a/test_a.py::test_one - x\n", ["survived  A1", "survived  A2"]),
        (
            "ERROR tests/a/test_a.py - NameError\n",
            ["survived  A1  cannot be imported", "survived  A2  cannot be imported"],
        ),
    ],
)
def test_item_is_killed_only_by_its_own_tests(said: str, words: Sequence[str]) -> None:
    mark = "  (src/a.py: one thing → (nothing))"
    assert list(verdicts(MUTANT, SHOWN, said)) == [word + mark for word in words]
