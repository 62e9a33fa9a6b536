"""Texts to the words that they are found by, the same for what is indexed and what is asked.

Words are runs of letters and digits in lower case: `_ . / -` part them. Scripts that are
written without spaces are cut into pairs of letters, in a field of their own.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

LONGEST = 129
"""Longer runs, such as pictures in base64, are no words."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f]+"
)
BEGINNINGS = bytes(byte in (0xE0, 0xE1, 0xEF, 0xF0) or 0xE3 <= byte <= 0xED for byte in range(256))
"""1 for each byte with which a letter of such a script can begin in UTF-8."""


@cache
def analyser() -> "TextAnalyzer":
    """Returns what cuts texts into words."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    simple = TextAnalyzerBuilder(Tokenizer.simple())
    return simple.filter(Filter.remove_long(LONGEST)).filter(Filter.lowercase()).build()


@cache
def pairs_analyser() -> "TextAnalyzer":
    """Returns what takes pairs of letters as they are."""
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()


def words_of(text: str) -> list[str]:
    """Returns the words of a text in their order."""
    found: list[str] = analyser().analyze(spaced(text))
    return found


def spaced(text: str) -> str:
    """Returns a text in which unspaced scripts stand apart, and every letter can be written."""
    return cut(text)[0]


def pairs_of(text: str) -> str:
    """Returns the pairs of letters of unspaced scripts, a space between two; "" for none."""
    return cut(text)[1]


def cut(text: str) -> tuple[str, str]:
    """Returns a text with unspaced scripts apart, and the pairs of their letters.

    Looking for scripts is slow, so only lines are looked at that hold a byte which begins one
    of their letters.
    """
    if text.isascii():
        return text, ""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return cut(text.encode("utf-8", "replace").decode())
    marks = data.translate(BEGINNINGS)
    at = marks.find(1)
    if at < 0:
        return text, ""
    parts, pairs, done = list[bytes](), list[str](), 0
    while at >= 0:
        start, end = line_around(data, at)
        line = data[start:end].decode()
        pairs += [pair for run in UNSPACED.findall(line) for pair in pairs_in(run)]
        parts += (data[done:start], UNSPACED.sub(r" \g<0> ", line).encode())
        done, at = end, marks.find(1, end)
    return b"".join((*parts, data[done:])).decode(), " ".join(pairs)


def line_around(data: bytes, place: int) -> tuple[int, int]:
    """Returns where the line of a place begins and ends."""
    end = data.find(b"\n", place)
    return data.rfind(b"\n", 0, place) + 1, len(data) if end < 0 else end


def pairs_in(run: str) -> list[str]:
    """Returns the pairs of neighbours in a run, the letter itself where it stands alone."""
    if len(run) == 1:
        return [run]
    return [run[place : place + 2] for place in range(len(run) - 1)]
