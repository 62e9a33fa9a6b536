"""What is wanted to how it looks in a text, for marking it."""

import re
from collections.abc import Iterable

from plait.index.query import Phrase, Wanted, Word
from plait.index.words import UNSPACED, words_of

GAP = r"[\W_]+"
START, END = r"(?<![^\W_])", r"(?![^\W_])"
"""The ends of a word."""


def worded(parts: Iterable[Wanted]) -> list[Wanted]:
    """Returns parts once each; signs that are no words are left out beside others."""
    once = list(dict.fromkeys(parts))
    kept = [one for one in once if not isinstance(one, Word) or has_words(one.text)]
    return kept or once


def has_words(text: str) -> bool:
    """Tells whether a text holds anything that is indexed."""
    return bool(UNSPACED.search(text) or words_of(text))


def phrase_look(words: list[str], phrase: Phrase) -> str:
    """Returns how words in their order look in a text."""
    gap = rf"{GAP}(?:[^\W_]+{GAP}){{0,{phrase.slop}}}" if phrase.slop else GAP
    end = r"[^\W_]*" if phrase.is_prefix else END
    return f"{START}{gap.join(map(re.escape, words))}{end}"


def look_of(words: list[str], word: Word) -> str:
    """Returns how a word looks in a text."""
    parts = [re.escape(one) for one in words]
    start, end = START, END
    if word.distance:
        return rf"{start}{re.escape(words[0][: max(1, len(words[0]) - 3)])}[^\W_]*"
    if word.is_inner:
        return GAP.join(parts)
    return f"{start}{GAP.join(parts)}" + (r"[^\W_]*" if word.is_prefix else end)
