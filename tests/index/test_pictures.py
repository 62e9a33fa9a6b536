"""The passages that are indexed of some sessions, compared with a kept picture."""

import pytest

from tests.conversation.pictures import talks
from tests.index.pictures import PICTURE, picture

TALKS = talks()


def parts(text: str) -> dict[str, list[str]]:
    """Returns the lines of each session."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("  "):
            found[list(found)[-1]].append(line[2:])
        else:
            found[line] = []
    return found


KEPT = parts(PICTURE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", TALKS)
def test_a_session_is_indexed_as_the_picture_shows(name: str) -> None:
    assert picture(TALKS[name]) == KEPT[name], "run `python -m tests.index.pictures` and review"


def test_every_session_has_its_picture() -> None:
    assert list(KEPT) == list(TALKS)
