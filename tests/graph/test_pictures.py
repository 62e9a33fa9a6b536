"""Graphs of the gallery and of odd sessions compared with expected output."""

import pytest

from tests.graph.pictures import PICTURES, drawings, picture

DRAWINGS = drawings()


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_session_equals_its_picture(name: str) -> None:
    kept = (PICTURES / f"{name}.txt").read_text(encoding="utf-8")
    assert picture(DRAWINGS[name]) == kept, "run `python -m tests.graph.pictures` and review"


def test_every_picture_has_a_drawing() -> None:
    assert {kept.stem for kept in PICTURES.glob("*.txt")} == set(DRAWINGS)
