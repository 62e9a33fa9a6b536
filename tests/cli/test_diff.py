"""Comparing two branches, on the terminal and as JSON."""

import json
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.errors import UserError
from plait.view.comparison import compare_branches, list_comparison_rows
from tests.cli.test_commands import fails, out

FORKED = "e15389d1"
PICTURE = """\
A search box for 4,000 products
e15389d1-3af0-4402-8ff8-bc1c4a0074e1  /home/dev/shop

A  branch 715d4cd5-203 “Take LIKE, we can always…”, abandoned
B  the trunk, active
1 turn in common, up to “We have 4,000 products and no search. What would a first…”

after the fork          A      B
turns                   1      2
calls                   2      3
work time            12 s   22 s
tokens                44k    76k
cost                $0.01  $0.03

files changed                    A      B
shop/search.py              +12 −0  +8 −6
migrations/0007_search.sql          +7 −0

A turn 2  2 calls · 12 s
A ▌ Take LIKE, we can always change it later.
A
A   Works, but look at what it cannot do: `search("tea green")` finds nothing, because LIKE
"""


def test_branches_are_shown_side_by_side(capfd: pytest.CaptureFixture[str], gallery: Path) -> None:
    text = out(capfd, "diff", FORKED, "--branch", "715d", "1", "--root", gallery)
    assert text.startswith(PICTURE)
    assert [line for line in text.splitlines() if line[1:7] == " turn " and line[0] in "AB"] == [
        "A turn 2  2 calls · 12 s",
        "B turn 2  3 calls · 15 s",
        "B turn 3  8 s",
    ]


def test_long_answers_are_cut_unless_all_is_asked_for(
    capfd: pytest.CaptureFixture[str], gallery: Path
) -> None:
    cut = out(capfd, "diff", FORKED, "--root", gallery)
    assert cut.endswith("A   … 4 more lines, `--all` shows them\n")
    full = out(capfd, "diff", FORKED, "--all", "--root", gallery)
    assert full.startswith(cut.rpartition("A   …")[0])
    assert full.endswith("A   Shall I add it, and the same for deleted products?\n")


def test_comparison_as_json(capfd: pytest.CaptureFixture[str], gallery: Path) -> None:
    found = json.loads(out(capfd, "diff", FORKED, "--json", "--root", gallery))
    assert found["shared_turns"] == 1
    first, two = found["branches"]
    assert (first["active"], two["active"]) == (True, False)
    assert [turn["turn"] for turn in first["turns"]] == [2, 3]
    assert [turn["prompt"] for turn in two["turns"]] == [
        "Take LIKE, we can always change it later."
    ]
    assert two["files"] == [{"path": "/home/dev/shop/shop/search.py", "added": 12, "removed": 0}]
    assert len(two["turns"][0]["answers"]) == 1
    assert two["totals"]["calls"] == two["turns"][0]["calls"] == 2


def test_library_compares_like_the_command(gallery: Path) -> None:
    archive = Archive([gallery])
    found = archive.compare(FORKED, "715d", "1")
    assert list_comparison_rows(found) == list_comparison_rows(archive.compare(FORKED, "2", "1"))
    assert archive.compare(FORKED).first.line == found.second.line


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((FORKED, "--branch", "1", "1"), "error: a branch cannot be compared with itself\n"),
        (
            (FORKED, "--branch", "1", "x"),
            "error: no branch named 'x'\nhint: the branches are 1: the",
        ),
        (
            ("2eb7e609",),
            "error: this session has only one branch\nhint: nothing to compare; `plait show",
        ),
        (("2eb7e609", "--branch", "1", "2"), "error: this session has only one branch\n"),
    ],
)
def test_impossible_comparisons_are_explained(
    capfd: pytest.CaptureFixture[str], gallery: Path, words: tuple[str, ...], error: str
) -> None:
    code, text = fails(capfd, "diff", *words, "--root", gallery)
    assert (code, text[: len(error)]) == (2, error)


def test_only_prompts_make_a_branch(gallery: Path) -> None:
    archive = Archive([gallery])
    report = archive.open(FORKED).conversations
    with pytest.raises(UserError, match="no branch 'an agent'"):
        compare_branches(report, "an agent", None, archive.prices)
