"""Markdown in the terminal is laid out without losing a word."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from plait.terminal.markdown import Prose, Themed, render_markdown

PIECES = [
    *"word other x1 # > - + * ** _ ~~a~~ | |-|-| < <b> & \\ ` [ ! : 1. 7) --- ===".split(),
    *("\n", "\n\n", "\t", " ", "  ", "    ", "\n|a|b|\n|-|-|\n|c|d|e|"),
]


def drawn(text: str, width: int = 40) -> str:
    """Return a text as a screen without colours shows it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(Themed(render_markdown(text)), crop=False)
    shown = console.file
    assert isinstance(shown, io.StringIO)
    return "\n".join(line.rstrip() for line in shown.getvalue().split("\n")).strip("\n")


@pytest.mark.parametrize(
    ("text", "picture"),
    [
        ("# One\n\ntwo", "One\n\ntwo"),
        ("a\nb", "a\nb"),
        ("**a**\n**b**", "a\nb"),
        (f"{'long ' * 13}long\nb", f"{'long ' * 8}".rstrip() + f"\n{'long ' * 6}b"),
        (f"{'**l** ' * 35}\nb", f"{'l ' * 20}".rstrip() + f"\n{'l ' * 15}b"),
        ("- a\n- b", " • a\n • b"),
        ("3. a\n4. b", " 3 a\n 4 b"),
        ("```py\nx = 1\n```", "  x = 1"),
        ("```py title=a.py\nx = 1\n```", "  py title=a.py\n  x = 1"),
        ("~~~~word", "  word"),
        ("<b>a</b> <system-reminder>", "<b>a</b> <system-reminder>"),
        ("|a|b|\n|-|-|\n|c|d|", "a   b\n─────\nc   d"),
        ("|a|b|\n|-|-|\n|`c|d`|e|", "|a|b|\n|-|-|\n|`c|d`|e|"),
    ],
)
def test_markdown_is_laid_out(text: str, picture: str) -> None:
    assert drawn(text) == picture


def test_plain_and_huge_texts_are_not_parsed() -> None:
    assert isinstance(render_markdown("just words, and more."), Text)
    assert isinstance(render_markdown("**bold** " * 50_000), Text)
    assert isinstance(render_markdown("**bold**"), Prose)


@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join), st.sampled_from([14, 30, 80]))
@example("> " * 30 + "word", 14)
@example("- " * 30 + "word", 30)
@example("* a\n" + "".join("  " * n + "* word\n" for n in range(30)), 30)
def test_no_word_is_lost(text: str, width: int) -> None:
    def letters(words: str) -> list[str]:
        return sorted(filter(str.isalpha, words))

    assert letters(drawn(text, width)) == letters(text)
