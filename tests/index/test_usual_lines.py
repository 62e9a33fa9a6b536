"""The fast path for common lines gives the same words as their items."""

from pathlib import Path

from hypothesis import given

from plait.index.passages import iter_texts
from plait.index.plain_lines import read_plain_texts
from plait.line import Line
from plait.record import parse_entry
from plait.record.reader import decode_with_text
from tests.record.drawn_lines import lines


@given(lines)
def test_common_line_gives_the_words_of_its_items(data: bytes) -> None:
    usual = decode_with_text(data)
    texts = read_plain_texts(usual) if usual else None
    if texts is not None:
        assert texts == list(iter_texts(parse_entry(Line(1, 0, data, True)), Path("nowhere")))
