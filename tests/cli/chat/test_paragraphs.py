"""Words as they stream, by paragraphs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.cli.chat.paragraphs import Paragraphs

CODE = "Look:\n\n```python\na = 1\n\nb = 2\n```\n\nDone."


def split(*pieces: str) -> list[str]:
    gathered = Paragraphs()
    found = [one for piece in pieces for one in gathered.add(piece)]
    return [*found, *gathered.rest()]


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
    ],
)
def test_a_blank_line_ends_a_paragraph_but_not_a_block_of_code(
    text: str, paragraphs: list[str]
) -> None:
    assert split(text) == paragraphs


def test_what_is_not_whole_is_open() -> None:
    gathered = Paragraphs()
    assert [*gathered.add("one\n\ntwo\nthr")] == ["one"]
    assert gathered.open == "two\nthr"
    assert [*gathered.rest()] == ["two\nthr"]
    assert gathered.open == ""
    assert [*gathered.rest()] == []


@given(st.lists(st.sampled_from(["a", "\n", "`", "```", " ", "~~~", "b\n\n"]), max_size=30))
def test_how_it_is_cut_does_not_matter(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert split(*pieces) == split(whole) == split(*whole)
    assert "".join("".join(split(whole)).split()) == "".join(whole.split())
