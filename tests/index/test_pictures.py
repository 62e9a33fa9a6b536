"""Indexed passages of example sessions, compared with expected output."""

import pytest

from tests.conversation.pictures import talks
from tests.index.pictures import PICTURE, picture

TALKS = talks()


def parts(text: str) -> dict[str, list[str]]:
    """Return the lines of each session."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("  "):
            found[list(found)[-1]].append(line[2:])
        else:
            found[line] = []
    return found


KEPT = parts(PICTURE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", TALKS)
def test_indexed_passages_match_the_picture(name: str) -> None:
    assert picture(TALKS[name]) == KEPT[name], "run `python -m tests.index.pictures` and review"


def test_every_session_has_a_picture() -> None:
    assert list(KEPT) == list(TALKS)
