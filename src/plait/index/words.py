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

    Looking for scripts is slow, so only lines with letters beyond ASCII are looked at.
    """
    if is_western(text):
        return text, ""
    lines, pairs = text.split("\n"), list[str]()
    for place, line in enumerate(lines):
        if not line.isascii() and UNSPACED.search(line):
            pairs += [pair for run in UNSPACED.findall(line) for pair in pairs_in(run)]
            lines[place] = UNSPACED.sub(r" \g<0> ", line)
    whole = "\n".join(lines) if pairs else text
    return whole.encode("utf-8", "replace").decode(), " ".join(pairs)


def is_western(text: str) -> bool:
    """Tells quickly that a text has no letters beyond Latin 1; looking for scripts is slow."""
    if text.isascii():
        return True
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def pairs_in(run: str) -> list[str]:
    """Returns the pairs of neighbours in a run, the letter itself where it stands alone."""
    if len(run) == 1:
        return [run]
    return [run[place : place + 2] for place in range(len(run) - 1)]
