"""Patches of file-changing calls, from the log or computed."""

from difflib import restore
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.model import Outcome, Result, ToolCall
from plait.conversation.patches import Hunk, diff_texts, get_patch, get_proposed_patch

PATH = "/home/dev/shop/cart.py"
LINES = st.lists(st.sampled_from(["a", "b", "c", "", " x", "-y", "+z"]), max_size=30)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
KEYS = (
    "filePath structuredPatch oldString newString originalFile content type edits notebook_path "
    "originalFileContents old_source new_source original_file cell_id edit_mode userModified"
).split()


def call(
    name: str, given_: object = None, detail: object = None, outcome: Outcome = "ok"
) -> ToolCall:
    result = None if outcome == "missing" else Result("", outcome, detail=detail)
    return ToolCall(response=0, call="c", name=name, input=given_, outcome=outcome, result=result)


def lines_of(called: ToolCall) -> list[str] | None:
    patch = get_patch(called)
    return None if patch is None else [line for hunk in patch.hunks for line in hunk.lines]


# checklist: P52
def test_patch_in_the_log_is_used() -> None:
    hunk = {"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": [" a", "-b", "+c"]}
    detail = {"filePath": PATH, "structuredPatch": [hunk], "userModified": True}
    patch = get_patch(call("Edit", {"file_path": "elsewhere"}, detail))
    assert patch is not None
    assert patch.path == PATH
    assert patch.hunks == (Hunk(3, 2, 3, 2, (" a", "-b", "+c")),)
    assert (patch.added, patch.removed) == (1, 1)
    assert patch.is_user_modified
    assert not patch.is_computed


EDIT = {"file_path": PATH, "old_string": "one\ntwo", "new_string": "one\n2"}
ORIGINAL = {"filePath": PATH, "oldString": "two", "newString": "2", "originalFile": "one\ntwo\n"}
NOTEBOOK = '{"cells": [{"id": "c1", "source": ["a\\n", "b"]}]}'


@pytest.mark.parametrize(
    ("name", "given_", "detail", "lines"),
    [
        ("Edit", EDIT, None, [" one", "-two", "+2"]),
        ("Edit", EDIT, ORIGINAL, [" one", "-two", "+2"]),
        ("Edit", {"file_path": PATH, "old_string": "", "new_string": "new"}, None, ["+new"]),
        (
            "MultiEdit",
            {"file_path": PATH, "edits": [{"old_string": "a", "new_string": "b"}, 7]},
            None,
            ["-a", "+b"],
        ),
        (
            "MultiEdit",
            {"file_path": PATH, "edits": [{"old_string": "a", "new_string": "b"}] * 2},
            {"originalFileContents": "a\na\n"},
            ["-a", "-a", "+b", "+b"],
        ),
        ("Write", {"file_path": PATH, "content": "x\ny\n"}, None, ["+x", "+y"]),
        (
            "Write",
            {"file_path": PATH, "content": "x\n"},
            {"type": "update", "originalFile": "x\ny\n"},
            [" x", "-y"],
        ),
        (
            "NotebookEdit",
            {"notebook_path": PATH, "new_source": "c", "cell_id": "c1"},
            {"original_file": NOTEBOOK},
            ["-a", "-b", "+c"],
        ),
        (
            "NotebookEdit",
            {"notebook_path": PATH, "new_source": "c", "edit_mode": "insert"},
            None,
            ["+c"],
        ),
        (
            "NotebookEdit",
            {"notebook_path": PATH, "new_source": "", "edit_mode": "delete"},
            {"old_source": "a"},
            ["-a"],
        ),
    ],
)
def test_missing_patch_is_computed(
    name: str, given_: object, detail: object, lines: list[str]
) -> None:
    called = call(name, given_, detail)
    assert lines_of(called) == lines
    patch = get_patch(called)
    assert patch is not None
    assert patch.is_computed
    assert patch.added == sum(line.startswith("+") for line in lines)
    assert patch.removed == sum(line.startswith("-") for line in lines)


@pytest.mark.parametrize("outcome", ["failed", "rejected", "interrupted", "missing"])
def test_rejected_change_is_a_proposal(outcome: Outcome) -> None:
    called = call("Edit", EDIT, outcome=outcome)
    assert get_patch(called) is None
    assert get_proposed_patch(called) is not None


@pytest.mark.parametrize(
    "called",
    [
        call("Edit", {"file_path": PATH, "old_string": "a", "new_string": "a"}),
        call("Edit", {"file_path": PATH}),
        call("Edit", {"old_string": "a", "new_string": "b"}),
        call("Bash", {"command": "rm a"}),
        call("Write", {"file_path": PATH, "content": "x"}, {"originalFile": "x", "type": "update"}),
        call(
            "Write", {"file_path": PATH, "content": "x"}, {"originalFile": None, "type": "update"}
        ),
        call("Edit", "not an object", ["neither"]),
    ],
)
def test_unchanged_file_has_no_patch(called: ToolCall) -> None:
    assert get_patch(called) is None


def test_line_numbers_use_the_known_file() -> None:
    original = "".join(f"line {n}\n" for n in range(1, 101))
    given_ = {"file_path": PATH, "old_string": "line 50", "new_string": "fifty"}
    placed = get_patch(call("Edit", given_, {"originalFile": original}))
    alone = get_patch(call("Edit", given_))
    assert placed is not None
    assert alone is not None
    assert (placed.hunks[0].old_start, placed.is_placed) == (47, True)
    assert alone.is_placed is False


def test_a_created_file_differs_from_an_overwritten_one() -> None:
    given_ = {"file_path": PATH, "content": "x"}
    created = get_patch(call("Write", given_, {"type": "create", "structuredPatch": []}))
    over = get_patch(call("Write", given_, {"type": "update", "originalFile": "y"}))
    assert created is not None
    assert over is not None
    assert (created.is_new, over.is_new) == (True, False)


@given(LINES, LINES)
def test_hunks_turn_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    before, after = old, list(new)
    hunks = diff_texts("".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new))
    for hunk in reversed(hunks):
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        marked = [f"{line[0]} {line[1:]}" for line in hunk.lines]
        assert before[start : start + hunk.old_lines] == list(restore(marked, 1))
        before = [*before[:start], *restore(marked, 2), *before[start + hunk.old_lines :]]
        assert len(list(restore(marked, 2))) == hunk.new_lines
    assert before == after


def test_very_large_change_is_one_replacement() -> None:
    old = "".join(f"a {n}\n" for n in range(3000))
    new = "".join(f"b {n}\n" for n in range(3000))
    (hunk,) = diff_texts(f"same\n{old}", f"same\n{new}")
    assert (hunk.old_start, hunk.old_lines, hunk.new_lines) == (1, 3001, 3001)
    assert hunk.lines[0] == " same"


@given(st.sampled_from(["Edit", "MultiEdit", "Write", "NotebookEdit", "Other"]), ODD, st.data())
def test_no_input_is_an_error(name: str, given_: object, data: st.DataObject) -> None:
    detail: dict[str, Any] = data.draw(st.dictionaries(st.sampled_from(KEYS), ODD))
    detail.setdefault("filePath", PATH)
    patch = get_patch(call(name, given_, detail))
    assert patch is None or patch.added + patch.removed > 0
