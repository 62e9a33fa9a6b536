"""Streaming text by paragraphs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.console.screen import ParagraphBuffer, last_open_lines

CODE = "Look:\n\n```python\na = 1\n\nb = 2\n```\n\nDone."


def split(*pieces: str) -> list[str]:
    gathered = ParagraphBuffer()
    found = [item for piece in pieces for item in gathered.add(piece)]
    return [*found, *gathered.flush()]


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("", []),
        ("one", ["one"]),
        ("one\ntwo", ["one\ntwo"]),
        ("one\n\ntwo", ["one", "two"]),
        ("\n\n one\n \n\n\ntwo\n", [" one", "two"]),
        (CODE, ["Look:", "```python\na = 1\n\nb = 2\n```", "Done."]),
        ("~~~\n```\n\n~~~\n\nx", ["~~~\n```\n\n~~~", "x"]),
        ("```\n``` not its end\n\n```\n\nx", ["```\n``` not its end\n\n```", "x"]),
        ("```\nnever closed\n\nend", ["```\nnever closed\n\nend"]),
        ("- a\n\n  more\n\n- b\n\nend", ["- a\n\n  more", "- b", "end"]),
        ("1. a\n\n\n   ```\n   x\n\n   ```\n", ["1. a\n\n   ```\n   x\n\n   ```"]),
        ("- a\n\n```\nx\n```", ["- a", "```\nx\n```"]),
        ("a\n\n  b", ["a", "  b"]),
    ],
)
def test_blank_line_ends_a_paragraph_but_not_a_code_block(text: str, paragraphs: list[str]) -> None:
    assert split(text) == paragraphs


def test_incomplete_paragraph_stays_open() -> None:
    gathered = ParagraphBuffer()
    assert [*gathered.add("one\n\ntwo\nthr")] == ["one"]
    assert gathered.open_text == "two\nthr"
    assert [*gathered.flush()] == ["two\nthr"]
    assert gathered.open_text == ""
    assert [*gathered.flush()] == []


@given(st.lists(st.sampled_from(["a", "\n", "`", "```", " ", "~~~", "b\n\n", "- "]), max_size=30))
def test_chunking_does_not_matter(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert split(*pieces) == split(whole) == split(*whole)
    assert "".join("".join(split(whole)).split()) == "".join(whole.split())


@pytest.mark.parametrize(
    ("text", "rows", "end"),
    [
        ("a\nb", 2, "a\nb"),
        ("a\nb\nc", 2, "b\nc"),
        ("```py\na\nb\nc", 2, "```py\nb\nc"),
        ("```py\na\n```\nb\nc", 2, "b\nc"),
        ("x" * 5_000, 1, "x" * 4_000),
    ],
)
def test_open_text_is_stable(text: str, rows: int, end: str) -> None:
    assert last_open_lines(text, rows) == end


@given(st.lists(st.sampled_from(["a", "\n", "```", "~~~", "\n\n"]), max_size=30), st.integers(1, 9))
def test_open_code_block_is_recognised(pieces: list[str], rows: int) -> None:
    gathered, end = ParagraphBuffer(), ParagraphBuffer()
    [*gathered.add("".join(pieces))]
    kept = last_open_lines(gathered.open_text, rows)
    [*end.add(f"{kept}\n\n")]
    [*gathered.add("\n\n")]
    assert bool(end.open_text.strip()) == bool(gathered.open_text.strip())
