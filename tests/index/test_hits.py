"""Snippets: the best part of a text, highlights, and index terms."""

import re

import pytest

from plait.index.search import SNIPPET_LEAD, SNIPPET_WIDTH, make_excerpt
from plait.index.text_index import letter_pairs, separate_scripts, split_words

X, Y = re.compile("x+"), re.compile("y+")
LONG = "a " * 300
SHOWN: dict[str, tuple[str, str]] = {
    "a short text is shown whole": ("a x b", "a [x] b"),
    "without a mark from its start": ("a b", "a b"),
    "spaces and breaks are one": ("a\n\n  x\tb", "a [x] b"),
    "marks that touch are two": ("xy", "[x][y]"),
    "a text of the width is whole": (
        "x" + "b" * (SNIPPET_WIDTH - 1),
        "[x]" + "b" * (SNIPPET_WIDTH - 1),
    ),
    "a longer one is cut behind": (
        "x" + "b" * SNIPPET_WIDTH,
        "[x]" + "b" * (SNIPPET_WIDTH - 1) + "…",
    ),
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
def test_best_snippet(why: str) -> None:
    text, expected = SHOWN[why]
    snippet = make_excerpt(text, [X, Y], 0).snippet
    shown = snippet.text
    for start, end in reversed(snippet.marks):
        shown = f"{shown[:start]}[{shown[start:end]}]{shown[end:]}"
    assert shown == expected


def test_overlapping_highlights_merge() -> None:
    marks = [re.compile("ab"), re.compile("bcd"), re.compile("c")]
    assert make_excerpt("-abcd-", marks, 0).snippet.marks == ((1, 5),)
    assert make_excerpt("-a-", [re.compile("")], 0).snippet.marks == ()


def test_snippet_length() -> None:
    assert (SNIPPET_LEAD, SNIPPET_WIDTH) == (50, 220)
    shown = make_excerpt(LONG + "x " + LONG, [X], 0).snippet
    assert len(shown.text) <= SNIPPET_WIDTH + 2
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
def test_words_and_bigrams(text: str, words: list[str], pairs: str) -> None:
    assert split_words(text) == words
    assert separate_scripts(text)[1] == pairs


def test_bigrams_of_a_run() -> None:
    assert letter_pairs("日") == ["日"]
    assert letter_pairs("日本") == ["日本"]
    assert letter_pairs("日本語") == ["日本", "本語"]
