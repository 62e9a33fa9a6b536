"""Escape sequences: only harmless colours reach a reader."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.view.calls import CallLine
from plait.view.terminal import (
    OutputBlock,
    ShownText,
    Tone,
    cut_line,
    fold_lines,
    iter_output_blocks,
)
from plait.view.text import COLOUR, clean_terminal_output, strip_escapes

ESC = "\x1b"


@pytest.mark.parametrize(
    ("text", "plain", "coloured"),
    [
        ("plain", "plain", "plain"),
        (f"{ESC}[31mred{ESC}[0m", "red", f"{ESC}[31mred{ESC}[0m"),
        (f"{ESC}[1;38;5;8mgrey", "grey", f"{ESC}[1;38;5;8mgrey"),
        (f"{ESC}[5;1;8mbold", "bold", f"{ESC}[1mbold"),
        (f"{ESC}[38;5;8mgrey", "grey", f"{ESC}[38;5;8mgrey"),
        (f"{ESC}[8mhidden", "hidden", "hidden"),
        (f"{ESC}[2J{ESC}[Hcleared", "cleared", "cleared"),
        (f"{ESC}]0;a title\x07on", "on", "on"),
        (f"{ESC}]8;;http://evil.example{ESC}\\link{ESC}]8;;{ESC}\\", "link", "link"),
        (f"{ESC}]52;c;Y2xpcA==", "52;c;Y2xpcA==", "52;c;Y2xpcA=="),
        (f"P1 {ESC}]0;x P2\nP3 {ESC}X P4\x07", "P1 0;x P2\nP3 ", "P1 0;x P2\nP3 "),
        (f"R1 {ESC}^ R2\nR3", "R1  R2\nR3", "R1  R2\nR3"),
        (f"C1 {ESC}_ C2{ESC}[1m C3", "C1  C2 C3", f"C1  C2{ESC}[1m C3"),
        (f"{ESC}Pdevice{ESC}\\control", "control", "control"),
        (f"{ESC}cfull reset", "full reset", "full reset"),
        ("\x9b31mone byte", "one byte", "one byte"),
        (f"end{ESC}", "end", "end"),
        ("10 %\r50 %\r100 %\nnext", "10 %\n50 %\n100 %\nnext", "100 %\nnext"),
        (f"50 %\rdone\r{ESC}[0m\nnext", "50 %\ndone\nnext", "done\nnext"),
        ("one\r\ntwo\r\n", "one\ntwo\n", "one\ntwo\n"),
    ],
)
def test_sequences_are_removed_and_colours_may_stay(text: str, plain: str, coloured: str) -> None:
    assert (strip_escapes(text), clean_terminal_output(text)) == (plain, coloured)


@given(st.text(alphabet="a1;m[]\\\x07\x1b\x9b8?\n\r", max_size=40))
def test_no_other_sequence_is_left_in_any_text(text: str) -> None:
    assert "\x1b" not in strip_escapes(text)
    assert "\x1b" not in COLOUR.sub("", clean_terminal_output(text))


@pytest.mark.parametrize(
    ("count", "first", "last", "picture"),
    [
        (0, 2, 2, ""),
        (1, 2, 2, "1"),
        (5, 2, 2, "1 2 3 4 5"),
        (6, 2, 2, "1 2 [2] 5 6"),
        (9, 3, 0, "1 2 3 [6]"),
        (4, 3, 0, "1 2 3 4"),
    ],
)
def test_long_texts_fold_in_the_middle(count: int, first: int, last: int, picture: str) -> None:
    fold = fold_lines("\n".join(str(n + 1) for n in range(count)) + "\n", first, last)
    hidden = [f"[{fold.hidden}]"] if fold.hidden else []
    assert " ".join([*fold.first, *hidden, *fold.last]) == picture


def test_fold_shows_its_size_and_the_end() -> None:
    fold = fold_lines("a\nb\nc\nö\n\nlast", 1, 2)
    assert fold == (("a",), ("last",), 4, len("b\nc\nö\n\n".encode()))


def test_carriage_return_hides_text_only_in_terminal_output() -> None:
    tones: tuple[Tone, ...] = ("quiet", "trouble")
    for tone in tones:
        words, output = (
            next(iter_output_blocks("a\rb\r\nc", 9, tone=tone, is_terminal=n))
            for n in (False, True)
        )
        assert (words.lines, output.lines) == (("a", "b", "c"), ("b", "c"))


def test_very_long_line_shows_the_size_of_the_rest() -> None:
    assert cut_line("a" * 500) == ("a" * 500, "")
    assert cut_line("a" * 500 + "ö" * 1_450_000) == ("a" * 500, "2.9 MB more on this line")


@pytest.mark.parametrize(
    ("text", "is_told", "rest"),
    [
        ("npm test", True, "npm test"),
        ("pm test", False, "pm test"),
        ("one\n\n  two", True, ""),
        ("one\nthree", False, "three"),
        ("", True, ""),
    ],
)
def test_hidden_size_is_shown_once(text: str, is_told: bool, rest: str) -> None:
    result = ShownText(
        [CallLine(tool="Bash", subject="run npm test"), OutputBlock(lines=("one", "two"))]
    )
    assert (result.has(text), result.keep_unseen(text)) == (is_told, rest)


def test_empty_output_is_empty() -> None:
    assert list(iter_output_blocks(" \n\n", 3)) == []
