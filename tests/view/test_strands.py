"""Graph rows as text, in box-drawing and plain characters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from plait.graph import build
from plait.graph.layout import Detail, iter_rows
from plait.view.graph_text import draw_graph
from tests.graph.generated import archives, sources
from tests.graph.sketch import Sketch, sketch

WORK = """
U1
T1< Agent(description="look", prompt="p")
R1<
A1<
U2<
A2<
U3<
U4<A2
A4<
B1 boundary after A4
C1<
U5<
A5<
U6<A4
A6<
agent look of T1
U11 "p"
A11<
U12< "go on"
T12< Agent(description="deeper", prompt="q")
R12<
A12<
agent deeper of look:T12
U13 "q"
A13<
"""


def picture(
    drawn: Sketch, detail: Detail = "turn", *, ascii_only: bool = False, everything: bool = False
) -> str:
    """Return the drawing with the first record of each row."""
    found = draw_graph(iter_rows(drawn.graph, detail, everything=everything), ascii_only=ascii_only)
    return "\n".join(
        f"{line.text:<6} {drawn.names[line.row.uuids[0]] if line.part == 'row' else ''}".rstrip()
        for line in found
    )


def trimmed(text: str) -> str:
    """Return a picture without the margin of the test."""
    return "\n".join(line[8:].rstrip() for line in text.strip("\n").splitlines()).rstrip()


def test_a_session_in_boxes() -> None:
    assert picture(sketch(WORK)) == trimmed("""
        ●      U1
        ├─◇    U11
        │ ╰─◇  U13
        ●      U2
        ├─◌    U3
        ●      U4
        ├─╮
        │ ◆    B1
        │ ○    U5
        ◉      U6
    """)


def test_a_session_in_plain_characters() -> None:
    assert picture(sketch(WORK), ascii_only=True) == trimmed("""
        *      U1
        |->    U11
        | `->  U13
        *      U2
        |-x    U3
        *      U4
        |-.
        | #    B1
        | o    U5
        @      U6
    """)


def test_agents_branch_off_and_return() -> None:
    assert picture(sketch(WORK), everything=True).split("\n")[:8] == [
        "●      U1",
        "├─╮",
        "│ ◇    U11",
        "│ ◇    U12",
        "│ ├─◇  U13",
        "├─╯",
        "●      U2",
        "├─◌    U3",
    ]


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        ("U1 A1< U2< A2<", "● U1\n◉ U2"),
        ("U1 A1< U2< A2< U3<A1 A3<", "● U1\n├─╮\n│ ○ U2\n◉ U3"),
        ("U1 A1< U2< A2< U3<A1 A3< U4<A1 A4<", "● U1\n├─╮\n│ ○ U2\n├─╮\n│ ○ U3\n◉ U4"),
        ("U1 A1< U2 A2<", "  ○ U1\n\n◉ U2"),
        (
            "U1 A1< U2< A2< U3< A3< U4<A2 A4< U5<A1 A5<",
            "● U1\n├─╮\n│ ○ U2\n│ ├─╮\n│ │ ○ U3\n│ ○ U4\n◉ U5",
        ),
        (
            "file one\nU1\nA1<\nfile two\ncopy one:U1 one:A1\nU2<one:A1\nA2<",
            "◉ U1\n│\n◉ U2",
        ),
    ],
    ids=["straight", "rewind", "two rewinds", "first prompt", "nested", "two files"],
)
def test_shapes(drawing: str, expected: str) -> None:
    rendered = sketch(drawing)
    lines = [" ".join(line.split()) for line in picture(rendered).split("\n")]
    assert lines == [" ".join(line.split()) for line in expected.split("\n")]


@given(archive=archives)
def test_every_drawing_is_well_formed(archive: dict[str, list[dict[str, Any]]]) -> None:
    found = list(iter_rows(build(sources(archive)), everything=True))
    lines = list(draw_graph(found))
    assert [line.row for line in lines if line.part == "row"] == found
    for line in lines:
        assert line.text.rstrip() or line.part == "gap"
        if line.node is not None:
            assert line.text[line.node] in "●○◉◆◇◌"
