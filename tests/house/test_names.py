"""Words refused by docs/style.md appear in no identifier."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tools.measure_code import Figures, Module, list_dialect, load_modules, measure

LEFT: dict[str, int] = {
    "__main__": 1,
    "export": 5,
    "files": 2,
    "index": 1,
    "insights": 1,
    "keep": 1,
    "record": 1,
    "search": 1,
    "sessions": 1,
    "store": 1,
}
"""How many such names and docstrings packages still have: these numbers may only fall."""


@cache
def figures() -> Figures:
    return measure(load_modules())


def test_names_and_docstrings_are_plain_english() -> None:
    places = list_dialect(figures(), "plait")
    packages = [place.partition(":")[0].split(".")[1] for place in places]
    counts = Counter(packages)
    assert {name: count for name, count in counts.items() if count > LEFT.get(name, 0)} == {}


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ('"""Rows of tables."""\nfor row in rows: print(row)', 0),
        ('"""Rows of a table to files."""', 1),
        ("for one in rows: print(one)", 1),
        ("def _told(x): return x", 1),
        ("def find(told): return told", 1),
        ("class Standing: kept = 1", 1),
        ("type_ahead = 1", 0),
    ],
)
def test_checker_finds_them(code: str, refused: int) -> None:
    code += "\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"
    module = Module("plait.sample", Path("sample.py"), ast.parse(code), code)
    assert len(list_dialect(measure({"plait.sample": module}), "plait.sample")) == refused
