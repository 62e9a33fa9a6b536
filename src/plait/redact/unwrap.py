"""Text to the text a reader sees: colours gone, escapes and percent codes undone, places known.

A secret may be cut by a colour, or written with `\\/`, `\\u002d` or `%3A` in it.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

from plait.redact.model import Span

CODES = re.compile(
    rb"(?:\x1b|\\{1,4}u001[bB]|\\{1,4}(?:x1b|e|033))\[[0-9;?]*[A-Za-z]"
    rb"|\\{1,4}u00(?P<unit>[2-7][0-9a-fA-F])|\\{1,4}(?P<slash>/)|%(?P<percent>[2-7][0-9a-fA-F])"
)
PERCENT = re.compile(rb"%[2-7][0-9a-fA-F]")


class Piece(NamedTuple):
    """A stretch that was copied, or one letter that was written as a code."""

    start: int
    """Where it begins in what a reader sees."""
    source: Span
    is_copy: bool


class Unwrapped(NamedTuple):
    """A text as a reader sees it, and where each stretch of it came from."""

    text: bytes
    pieces: list[Piece]

    def source(self, span: Span) -> Span:
        """Returns the stretch of the original that a stretch of this text came from."""
        first = self.pieces[self._piece_at(span.start)]
        last = self.pieces[self._piece_at(span.end - 1)]
        start = first.source.start + (span.start - first.start if first.is_copy else 0)
        end = last.source.start + span.end - last.start if last.is_copy else last.source.end
        return Span(start, end)

    def _piece_at(self, place: int) -> int:
        return bisect_right(self.pieces, place, key=lambda piece: piece.start) - 1


def is_wrapped(text: bytes) -> bool:
    """Tells whether a text may look different to a reader."""
    return (
        b"\x1b[" in text
        or b"\\u00" in text
        or b"\\/" in text
        or (b"%" in text and PERCENT.search(text) is not None)
    )


def unwrap(text: bytes) -> Unwrapped:
    """Returns a text as a reader sees it."""
    parts: list[bytes] = []
    pieces: list[Piece] = []
    start = place = 0
    for code in CODES.finditer(text):
        if code.start() > place:
            pieces.append(Piece(start, Span(place, code.start()), True))
            parts.append(text[place : code.start()])
            start += code.start() - place
        letter = letter_of(code)
        if letter:
            pieces.append(Piece(start, Span(*code.span()), False))
            parts.append(letter)
            start += 1
        place = code.end()
    pieces.append(Piece(start, Span(place, len(text)), True))
    parts.append(text[place:])
    return Unwrapped(b"".join(parts), pieces)


def letter_of(code: re.Match[bytes]) -> bytes:
    """Returns the letter that a code stands for; nothing for a colour."""
    digits = code["unit"] or code["percent"]
    return bytes((int(digits, 16),)) if digits else code["slash"] or b""
