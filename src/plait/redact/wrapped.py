"""Text with codes for letters to what a reader sees, and where each letter of it came from."""

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import NamedTuple

from plait.redact.expression import compiled
from plait.redact.model import TextSpan

# By its first letter, so that the search passes over all that is none at once.
CODES = re.compile(
    rb"[\x1b\\%&=](?:(?<=\x1b)\[[0-9;?]*[A-Za-z]"
    rb"|(?<=\\)\\{0,3}(?:(?:u001[bB]|x1b|e|033)\[[0-9;?]*[A-Za-z]"
    rb"|u(?P<unit>[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|(?P<slash>/))"
    rb"|(?<=%)(?:25)*(?P<percent>[0-9a-fA-F]{2})"
    rb"|(?<=&)(?:amp;)*(?:#(?P<number>[0-9]{2,5});|#[xX](?P<hexa>[0-9a-fA-F]{2,4});"
    rb"|(?P<name>quot|apos|lt|gt|amp|nbsp|colon|equals);)|(?<==)(?P<printable>3D))"
)
ENTITIES = {b"quot": b'"', b"apos": b"'", b"lt": b"<", b"gt": b">", b"amp": b"&", b"nbsp": b" "}
ENTITIES |= {b"colon": b":", b"equals": b"="}
WRAPPING = compiled(
    rb"\x1b\[|\\[u/x]|%[2-7][0-9a-fA-F]|&(?:#[0-9xX]|quot;|apos;|lt;|amp;|colon;)|=3D"
)


class Piece(NamedTuple):
    """A stretch that was copied, or one letter that was written as a code."""

    start: int
    """Where it begins in what a reader sees."""
    source: TextSpan
    is_copy: bool


class Unwrapped:
    """A text as a reader sees it, and where each stretch of it came from."""

    def __init__(self, original: bytes) -> None:
        self._original = original
        self.text = CODES.sub(_letter_of, original)

    def source(self, span: TextSpan) -> TextSpan:
        """Returns the stretch of the original that a stretch of this text came from."""
        first = self.pieces[self._piece_at(span.start)]
        last = self.pieces[self._piece_at(span.end - 1)]
        start = first.source.start + (span.start - first.start if first.is_copy else 0)
        end = last.source.start + span.end - last.start if last.is_copy else last.source.end
        return TextSpan(start, end)

    def _piece_at(self, place: int) -> int:
        return bisect_right(self.pieces, place, key=lambda piece: piece.start) - 1

    @cached_property
    def pieces(self) -> list[Piece]:
        """The stretches of it in order; nobody asks for them where nothing is found."""
        pieces: list[Piece] = []
        start = place = 0
        for code in CODES.finditer(self._original):
            if code.start() > place:
                pieces.append(Piece(start, TextSpan(place, code.start()), True))
                start += code.start() - place
            letter = _letter_of(code)
            if letter:
                pieces.append(Piece(start, TextSpan(*code.span()), False))
                start += len(letter)
            place = code.end()
        pieces.append(Piece(start, TextSpan(place, len(self._original)), True))
        return pieces


@lru_cache(2)
def is_wrapped(text: bytes) -> bool:
    """Tells whether a text may look different to a reader."""
    return WRAPPING.search(text) is not None


@lru_cache(2)
def unwrap(text: bytes) -> Unwrapped:
    """Returns a text as a reader sees it."""
    return Unwrapped(text)


MOST_LETTERS = 10_000
_letters: dict[bytes, bytes] = {}
"""What the codes that were met so far stand for: a text has few of them, and each often."""


def _letter_of(code: re.Match[bytes]) -> bytes:
    letter = _letters.get(code[0])
    if letter is None:
        letter = _decoded(code)
        if len(_letters) < MOST_LETTERS:
            _letters[code[0]] = letter
    return letter


def _decoded(code: re.Match[bytes]) -> bytes:
    if unit := code["unit"] or code["hexa"]:
        return chr(int(unit, 16)).encode("utf-8", "surrogatepass")
    if code["number"]:
        number = int(code["number"])
        return chr(number).encode("utf-8", "surrogatepass")
    if code["name"]:
        return ENTITIES[code["name"]]
    digits = code["byte"] or code["percent"] or code["printable"]
    return bytes((int(digits, 16),)) if digits else code["slash"] or b""
