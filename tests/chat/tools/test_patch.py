"""Patches: from one text to another."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.tools import edit as patches
from plait.chat.tools.edit import build_hunks, build_patch, diff_lines
from tests.chat.tools.workspace import apply_hunks

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "\td"]), max_size=14)
TEXTS = st.tuples(LINES, st.booleans()).map(
    lambda drawn: "\n".join(drawn[0]) + ("\n" if drawn[1] and drawn[0] else "")
)


@given(TEXTS, TEXTS)
def test_patch_gives_the_other_text(old: str, new: str) -> None:
    assert apply_hunks(old, build_hunks(old, new)) == new


@given(LINES, LINES)
def test_patch_is_minimal(old: list[str], new: list[str]) -> None:
    made = sum(mark != " " for mark, _ in diff_lines(old, new))
    kept = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            kept[i + 1][j + 1] = kept[i][j] + 1 if a == b else max(kept[i][j + 1], kept[i + 1][j])
    assert made == len(old) + len(new) - 2 * kept[-1][-1]


@given(TEXTS, TEXTS)
def test_hunk_positions(old: str, new: str) -> None:
    for hunk in build_hunks(old, new):
        marks = [line[0] for line in hunk["lines"]]
        assert hunk["oldLines"] == sum(mark in " -" for mark in marks)
        assert hunk["newLines"] == sum(mark in " +" for mark in marks)


def test_hunk_has_three_context_lines() -> None:
    old = "".join(f"l{number}\n" for number in range(40))
    assert build_patch(old, old.replace("l20\n", "L20\n")) == [
        {
            "oldStart": 18,
            "oldLines": 7,
            "newStart": 18,
            "newLines": 7,
            "lines": [" l17", " l18", " l19", "-l20", "+L20", " l21", " l22", " l23"],
        }
    ]


@pytest.mark.parametrize(("gap", "number"), [(6, 1), (7, 2)])
def test_near_changes_share_a_hunk(gap: int, number: int) -> None:
    old = ["x", *map(str, range(gap)), "y"]
    new = ["X", *old[1:-1], "Y"]
    assert len(build_hunks("\n".join(old), "\n".join(new))) == number


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "filled\n", ["+filled"]),
        ("a\n", "", ["-a"]),
        ("a\nb\n", "x", ["-a", "-b", "+x", "\\ No newline at end of file"]),
        ("l39\n", "l39", ["-l39", "+l39", "\\ No newline at end of file"]),
        ("two\ntwo\n", "q\nq\n", ["-two", "-two", "+q", "+q"]),
        ("\tx = 1\n\ty = 2\n", "\ty = 1\n\ty = 2\n", ["-  x = 1", "+  y = 1", "   y = 2"]),
    ],
)
def test_pictures(old: str, new: str, expected: list[str]) -> None:
    assert [line for hunk in build_patch(old, new) for line in hunk["lines"]] == expected


def test_empty_text_begins_at_line_one() -> None:
    assert build_patch("", "a\n")[0] | {"lines": []} == {
        "oldStart": 1,
        "oldLines": 0,
        "newStart": 1,
        "newLines": 1,
        "lines": [],
    }


def test_very_different_texts_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "MAX_EDITS", 3)
    old, new = "a\n1\n2\n3\nz\n", "a\n4\n2\n5\nz\n"
    found = build_hunks(old, new)
    assert found[0]["lines"] == [" a", "-1", "-2", "-3", "+4", "+2", "+5", " z"]
    assert apply_hunks(old, found) == new


def test_patch_matches_other_implementations() -> None:
    old, new = "a\nb\nc\nd\n", "a\nB\nc\nd\ne\n"
    result = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="")
    assert build_hunks(old, new)[0]["lines"] == [*result][3:]
