"""The words of usual lines in one look against the words of their items."""

from pathlib import Path

from hypothesis import given

from plait.index.passages import texts_in
from plait.index.usual_lines import usual_texts
from plait.line import Line
from plait.record import entry_of
from plait.record.read import worded
from tests.record.drawn_lines import lines


@given(lines)
def test_a_usual_line_gives_the_words_of_its_items(data: bytes) -> None:
    usual = worded(data)
    texts = usual_texts(usual) if usual else None
    if texts is not None:
        assert texts == list(texts_in(entry_of(Line(1, 0, data, True)), Path("nowhere")))
