"""Front matter of Markdown files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.front_matter import parse_document


def head(text: str) -> dict[str, object]:
    """Return what a head says."""
    return dict(parse_document(f"---\n{text}\n---\nbody\n").head)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: looks", {"name": "looks"}),
        ("name:  looks at it  # really", {"name": "looks at it"}),
        ("argument-hint: [a] [b]", {"argument-hint": "[a] [b]"}),
        ("""name: "a: b # c" """, {"name": "a: b # c"}),
        (r'name: "one\ntwo"', {"name": "one\ntwo"}),
        ("name: 'it''s'", {"name": "it's"}),
        ('name: "open', {"name": '"open'}),
        ("name: 'open", {"name": "'open"}),
        (r'name: "\q"', {"name": r"\q"}),
        ("name:", {"name": ""}),
        ("tools: [Read, 'a, b', \"c\"]", {"tools": ("Read", "a, b", "c")}),
        ("tools:\n  - Read\n  - Bash(git log:*)", {"tools": ("Read", "Bash(git log:*)")}),
        ("tools:\n- Read\n-\n- x", {"tools": ("Read", "", "x")}),
        ("text: >\n  one\n  two\n\n  three", {"text": "one two\n\nthree"}),
        ("text: |\n  one\n    two", {"text": "one\n  two"}),
        ("text: one\n  two", {"text": "one two"}),
        ("# remark\nname: x\n\nmodel: y", {"name": "x", "model": "y"}),
        ("no name here\nname: x", {"name": "x"}),
        ("hooks:\n  Stop:\n    - x: y\nname: z", {"hooks": ("x: y",), "name": "z"}),
        ("url: http://x/y", {"url": "http://x/y"}),
        ("name: [", {"name": "["}),
    ],
)
def test_front_matter_values(text: str, expected: dict[str, object]) -> None:
    """Names with words, lists and texts over several lines."""
    assert head(text) == expected


@pytest.mark.parametrize(
    "text", ["", "body", "---\nname: x\n", "x\n---\nname: y\n---\n", "----\na: b\n---\n"]
)
def test_without_front_matter_everything_is_body(text: str) -> None:
    """A head stands at the very beginning, and ends."""
    assert parse_document(text) == ({}, text)


def test_body_follows_the_front_matter() -> None:
    """Line ends of both kinds, an empty head, a head at the end."""
    assert parse_document("---\r\nname: x\r\n---\r\nbody\r\n") == ({"name": "x"}, "body\r\n")
    assert parse_document("---\n---\nbody") == ({}, "body")
    assert parse_document("---\nname: x\n---") == ({"name": "x"}, "")
    assert parse_document("---\na: b\n---\n---\nc: d\n---\n").body == "---\nc: d\n---\n"


def test_front_matter_types() -> None:
    """Words, lists between commas, yes and no."""
    result = parse_document(
        "---\ntools: Read, Bash(a, b), \nlist: [x, y]\nis: True\nnot: maybe\n---\n"
    )
    assert result.get_list("tools") == ("Read", "Bash(a, b)")
    assert result.get_list("list") == ("x", "y")
    assert result.get_list("none") == ()
    assert result.get_text("list") == "x, y"
    assert result.get_text("none") == ""
    assert result.is_true("is")
    assert not result.is_true("not")
    assert not result.is_true("none")


@given(st.text(alphabet="-:#[]{}'\"|>, \n\tab\\", max_size=80))
def test_any_text_can_be_parsed(text: str) -> None:
    """Nothing raises, and the body is the end of the text."""
    assert text.endswith(parse_document(text).body)
    parse_document(f"---\n{text}\n---\n")
