"""Long texts to their first and last lines, and the size of what lies between."""

import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plait.view.amounts import bytes_in_words
from plait.view.passages.tools import CallLine
from plait.view.terminal.model import (
    AnyBlock,
    Changed,
    Choices,
    Printed,
    Todos,
    Tone,
    Words,
)
from plait.view.text import in_lines, only_colours, overwritten, without_escapes, without_sequences

ALL_LINES = sys.maxsize
"""So many are shown where everything is."""
LONGEST_LINE = 500
MOST_PLACES = 50


class Fold(NamedTuple):
    """The lines that are shown, and how much is not."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    hidden: int
    size: int


def folded_lines(text: str, first: int, last: int = 0) -> Fold:
    """Returns the beginning and the end of a text; one line more than asked for is no fold."""
    lines = text.strip("\n").split("\n") if text.strip() else []
    if len(lines) <= first + last + 1:
        return Fold(tuple(lines), (), 0, 0)
    until = len(lines) - last
    while until < len(lines) and not lines[until].strip():
        until += 1
    between = lines[first:until]
    size = sum(len(line.encode("utf-8", "replace")) + 1 for line in between)
    return Fold(tuple(lines[:first]), tuple(lines[until:]), len(between), size)


def printed_lines(
    text: str,
    first: int,
    last: int = 0,
    *,
    tone: Tone = "quiet",
    is_terminal: bool = False,
) -> Iterator[Printed]:
    """Yields lines of a text, folded; nothing where that is nothing.

    Only what was written to a terminal is read as one would: elsewhere a return hides nothing.
    """
    clean = only_colours(text) if tone == "quiet" else without_sequences(text)
    fold = folded_lines(overwritten(clean) if is_terminal else in_lines(clean), first, last)
    if not fold.first:
        return
    yield Printed(
        lines=fold.first,
        last=fold.last,
        hidden=fold.hidden,
        hidden_size=fold.size,
        tone=tone,
        is_whole=first == ALL_LINES,
    )


def cut(line: str) -> tuple[str, str]:
    """Returns the beginning of a line, and in words how much more there is."""
    if len(line) <= LONGEST_LINE:
        return line, ""
    size = len(line[LONGEST_LINE:].encode("utf-8", "replace"))
    return line[:LONGEST_LINE], f"{bytes_in_words(size)} more in this line"


class KnownWords:
    """Knows the words of some passages, and tells what of a text is not among them."""

    def __init__(self, passages: Iterable[AnyBlock], *texts: str) -> None:
        words = [word for passage in passages for word in words_in(passage)]
        lines = [line for word in (*words, *texts) for line in _lines_in(word)]
        self._lines = frozenset(lines)
        self._whole = "\n".join(lines)

    def has(self, text: str) -> bool:
        """Tells whether all lines of a text are told; a single one may be part of another."""
        lines = list(_lines_in(text))
        return self._lines.issuperset(lines) or (len(lines) == 1 and self._holds(lines[0]))

    def _holds(self, words: str) -> bool:
        """Tells whether words stand somewhere, not as a part of others; tries a few places."""
        end = 0
        for _ in range(MOST_PLACES):
            start = self._whole.find(words, end)
            end = start + len(words)
            if start < 0:
                return False
            around = self._whole[max(start - 1, 0) : start] + self._whole[end : end + 1]
            if not any(letter.isalnum() or letter == "_" for letter in around):
                return True
        return False

    def rest_of(self, text: str) -> str:
        """Returns the lines of a text that are not told."""
        lines = in_lines(text).split("\n")
        return "\n".join(line for line in lines if not self._lines.issuperset(_lines_in(line)))


def _lines_in(text: str) -> Iterator[str]:
    for line in without_escapes(text).split("\n"):
        if words := " ".join(line.split()):
            yield words


def words_in(passage: AnyBlock) -> tuple[str, ...]:
    """Returns the words of a passage as a reader sees them."""
    match passage:
        case CallLine():
            return (passage.tool, passage.subject)
        case Printed():
            return (*passage.lines, *passage.last)
        case Changed():
            return tuple(line.text for line in passage.lines)
        case Todos():
            return tuple(words for item in passage.items for words in item)
        case Choices():
            return tuple(words for pair in passage.pairs for words in pair if words)
        case Words():
            return (passage.text,)
        case _:
            return ()
