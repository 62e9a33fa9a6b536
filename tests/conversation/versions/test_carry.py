"""Matching lines between two versions of a text."""

import pytest

from plait.files.events import EventOrigin, LineMark
from plait.files.versions import carry_marks

LONG = {"a": "first = alpha_value()", "b": "second = beta_value()", "c": "third = gamma_value()"}
LONG["d"] = "fourth = delta_value()"


def mark(session: str, certainty: str = "sure") -> LineMark:
    if session == "?":
        return LineMark(why="between")
    return LineMark(EventOrigin(session=session, line="l", turn=1), certainty)  # type: ignore[arg-type]


def line(letter: str) -> str:
    return LONG.get(letter, letter)


def drawn(old: str, new: str, added: str = "3") -> str:
    """Draw lines by letters, each with its writer: `a1 }1` to `a1 }? c3`."""
    before = [(one[:-1], one[-1]) for one in old.split()]
    after = new.split()
    marks = carry_marks(
        [line(letter) for letter, _ in before],
        [mark(writer) for _, writer in before],
        [line(letter) for letter in after],
        mark(added),
    )
    told = (one.origin.session if one.origin else "?" for one in marks)
    return " ".join(letter + writer for letter, writer in zip(after, told, strict=True))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a1 b2", "a1 b2"),
        ("a1 b2", "a1 c3 b2"),
        ("a1 b2", "b2"),
        ("a1 b2", "b? a?"),  # either has moved
        ("a1 b2 c1", "b2 c1 a?"),  # two have stayed
        ("a1 b1 c1 d2", "a1 b1 c1 d2"),
        ("a1 b1 c1 d2", "d? a1 b1 c1"),  # one has moved past three
        ("a3 b3", "b3 a3"),  # by who wrote it
        ("a1 }1 b2", "a1 }1 b2 c3"),  # beside a stretch that did not change
        ("a1 }1 b2", "a1 }? c3"),  # gone with what stood below it, or not
        ("a1 }1 b2 }2", "a1 }? c3 }?"),
        ("a1 }1 b2", "a1 }? }? b2"),
        ("a1 x1 x2", "a1 x?"),
        ("a1", "a1 }3 }3"),
        ("", "a3 }3"),
        ("a1 b1", ""),
    ],
)
def test_a_line_is_not_confused_with_another(old: str, new: str) -> None:
    letters = " ".join(one[:-1] for one in new.split())
    assert drawn(old, letters) == new


def test_lines_unchanged_by_somebody_else_keep_their_authors() -> None:
    assert drawn("a1 }1 b2", "a c b", added="?") == "a1 c? b2"
    assert drawn("a1 }1 b2", "a }  b", added="?") == "a1 }1 b2"
    assert drawn("a1 }1 b2", "a } } b", added="?") == "a1 }? }? b2"
    assert drawn("a1 b2", "b a", added="?") == "b2 a1"


def test_of_marks_of_one_author_the_least_certain_stays() -> None:
    marks = [mark("1"), mark("1", "likely")]
    found = carry_marks(["return x_value", "return x_value"], marks, ["return x_value"], mark("3"))
    assert [one.certainty for one in found] == ["likely"]


def test_a_repeated_line_of_one_author_stays_marked() -> None:
    again = LineMark(mark("1").origin, "likely", gone="2026")
    found = carry_marks(
        ["return x_value"] * 2, [mark("1", "likely"), again], ["return x_value"], again
    )
    assert found == [again]
