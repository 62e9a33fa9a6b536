"""Conversations of example sessions compared with expected output."""

import pytest

from tests.conversation.pictures import PICTURES, picture, talks

TALKS = talks()


@pytest.mark.parametrize("name", TALKS)
def test_a_session_equals_its_picture(name: str) -> None:
    kept = (PICTURES / f"{name}.txt").read_text(encoding="utf-8")
    assert picture(TALKS[name]) == kept, "run `python -m tests.conversation.pictures` and review"


def test_every_picture_has_a_drawing() -> None:
    assert {kept.stem for kept in PICTURES.glob("*.txt")} == set(TALKS)
