"""Texts to the part worth showing, letter by letter, and to the words they are found by."""

import re

import pytest

from plait.index.hits import BEFORE, WIDE, shown_part
from plait.index.texts import pairs_in, pairs_of, words_of

X, Y = re.compile("x+"), re.compile("y+")
LONG = "a " * 300
SHOWN: dict[str, tuple[str, str]] = {
    "a short text is shown whole": ("a x b", "a [x] b"),
    "without a mark from its start": ("a b", "a b"),
    "spaces and breaks are one": ("a\n\n  x\tb", "a [x] b"),
    "marks that touch are two": ("xy", "[x][y]"),
    "a text of the width is whole": ("x" + "b" * (WIDE - 1), "[x]" + "b" * (WIDE - 1)),
    "a longer one is cut behind": ("x" + "b" * WIDE, "[x]" + "b" * (WIDE - 1) + "…"),
    "fifty letters stand before": ("b" * 50 + "x", "b" * 50 + "[x]"),
    "of more some are cut": ("b" * 51 + "x", "…" + "b" * 50 + "[x]"),
    "at a space where there is one": ("b" * 30 + " " + "c" * 30 + "x", "…" + "c" * 30 + "[x]"),
    "where both stand is better than where one does": (
        "x " + "b " * 200 + "x y",
        "…" + "b " * 24 + "[x] [y]",
    ),
    "the first of equals": ("y " + "b " * 200 + "x", "[y] " + "b " * 108 + "b…"),
}


@pytest.mark.parametrize("why", SHOWN)
def test_the_part_worth_showing(why: str) -> None:
    text, expected = SHOWN[why]
    snippet = shown_part(text, [X, Y], 0).snippet
    shown = snippet.text
    for start, end in reversed(snippet.marks):
        shown = f"{shown[:start]}[{shown[start:end]}]{shown[end:]}"
    assert shown == expected


def test_marks_that_overlap_are_one() -> None:
    marks = [re.compile("ab"), re.compile("bcd"), re.compile("c")]
    assert shown_part("-abcd-", marks, 0).snippet.marks == ((1, 5),)
    assert shown_part("-a-", [re.compile("")], 0).snippet.marks == ()


def test_how_far_a_snippet_reaches() -> None:
    assert (BEFORE, WIDE) == (50, 220)
    shown = shown_part(LONG + "x " + LONG, [X], 0).snippet
    assert len(shown.text) <= WIDE + 2
    assert shown.text.startswith("…") and shown.text.endswith("…")


@pytest.mark.parametrize(
    ("text", "words", "pairs"),
    [
        ("Total_of Items/x", ["total", "of", "items", "x"], ""),
        ("日本語 text", ["日本語", "text"], "日本 本語"),
        ("a日b", ["a", "日", "b"], "日"),
        ("é only", ["é", "only"], ""),
        ("one\n日本\ntwo 語", ["one", "日本", "two", "語"], "日本 語"),
        ("\ud800 日", ["日"], "日"),
        ("x" * 128, ["x" * 128], ""),
        ("x" * 129, [], ""),
    ],
)
def test_words_and_pairs(text: str, words: list[str], pairs: str) -> None:
    assert words_of(text) == words
    assert pairs_of(text) == pairs


def test_pairs_of_a_run() -> None:
    assert pairs_in("日") == ["日"]
    assert pairs_in("日本") == ["日本"]
    assert pairs_in("日本語") == ["日本", "本語"]
