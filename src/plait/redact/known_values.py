"""Values that were recognised once to all their copies: encoded, cut and broken over lines.

A few strings become one expression. Where there are many, every text is asked at every seventh
letter whether six letters of a string stand there: the time grows with the text alone.
"""

import base64
import html
import json
import re
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple
from urllib.parse import quote

from plait.redact.expression import BEST, Engine, compiled
from plait.redact.look_alikes import GAP, is_behind_stand_in
from plait.redact.model import Hit, Kind, TextSpan
from plait.redact.people import NOBODY
from plait.redact.strength import is_plain_word, is_random

LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
LEAST_SECRET, MOST_SECRET = 6, 4096
LEAST_WORD = 4
LEAST_CUT, HEAD = 16, 10
NOT_ALPHANUMERIC = re.compile(rb"[^A-Za-z0-9]")
ESCAPED = re.compile(rb'[\x00-\x1f"\\]')
"""What a line of a log writes in another way."""
# Names that are also words of every log.
WORDS = frozenset(
    b"""code main work data home temp dist build claude agent model prompt python java ruby rust
    docs mark will bill rich sage grant chase drew rose may june april august faith hope joy king
    page read write edit file line text note list view open close master branch""".split()
)
FEW: dict[Engine, int] = {"re2": 2000, "re": 60}
"""How many strings one expression holds."""
MOST_LETTERS = 100_000
"""How long they may be together: the automaton of a longer expression finds no room."""
RENEWALS = 100
"""How often the expression is made anew before the other way is taken."""
BEGINNING = 16
"""Letters that many strings may have in common: what is asked for stands behind them."""
SIZES = ((4, 4, 1), (6, 4, 3), (12, 6, 7))
"""From which length on: how many letters are asked for, at every how many of the text."""


class Known(NamedTuple):
    """A string to look for, and the part of it that is the value."""

    hit: Hit
    part: TextSpan
    is_word: bool
    is_head: bool = False
    """The string is only the beginning of the value."""


class KnownValues:
    """All that was recognised so far."""

    def __init__(self, engine: Engine = BEST) -> None:
        self.engine = engine
        self.strings: dict[bytes, Known] = {}
        self._finder: Any = None
        self._renewed = 0
        self._samples: list[dict[bytes, list[tuple[bytes, int]]]] | None = None
        self._added: dict[tuple[Kind, bytes], Hit] = {}
        self._letters = 0
        self._has_escapes = False
        self._is_shared = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_finder": None}  # an expression stays where it was made

    @property
    def told(self) -> Iterator[Hit]:
        """All that something told, in order."""
        return (hit._replace(spans=()) for hit in self._added.values())

    def copied(self) -> "KnownValues":
        """Returns another that knows the same, and learns for itself alone."""
        found = copy(self)
        found.strings, found._added = {**self.strings}, {**self._added}
        found._is_shared = self._samples is not None
        return found

    def add(self, hit: Hit) -> None:
        """Remembers a value that something else told."""
        if (hit.kind, hit.value) in self._added:
            return
        self._added[hit.kind, hit.value] = hit
        match hit.kind:
            case "secret":
                if LEAST_SECRET <= len(hit.value) <= MOST_SECRET and b"\n" not in hit.value:
                    for written in dict.fromkeys(_spellings(hit.value)):
                        self._add(written, hit, TextSpan(0, len(written)), is_word=False)
                    self._add_head(hit)
            case "user":
                name = NOT_ALPHANUMERIC.sub(b"-", hit.value)
                for folder in (b"-home-", b"-Users-"):
                    part = TextSpan(len(folder), len(folder) + len(name))
                    self._add(folder + name, hit, part, is_word=True)
            case "host" | "email" | "account" | "phone":
                if is_telling(hit.value):
                    self._add(hit.value, hit, TextSpan(0, len(hit.value)), is_word=True)

    def add_word(self, value: bytes, kind: Kind) -> None:
        """Remembers a word that stands for itself wherever it stands alone."""
        hit = Hit(kind, "", value, (TextSpan(0, len(value)),))
        self._add(value, hit, TextSpan(0, len(value)), is_word=True)

    def _add_head(self, hit: Hit) -> None:
        if len(hit.value) >= LEAST_CUT and is_random(hit.value):
            known = Known(hit, TextSpan(0, HEAD), is_word=False, is_head=True)
            self._remember(hit.value[:HEAD], known)

    def _add(self, string: bytes, hit: Hit, part: TextSpan, *, is_word: bool) -> None:
        self._remember(string, Known(hit, part, is_word))

    def _remember(self, string: bytes, known: Known) -> None:
        if string not in self.strings:
            self.strings[string] = known
            self._letters += len(string)
            self._finder = None
            self._has_escapes = self._has_escapes or ESCAPED.search(string) is not None
            if self._samples is not None:
                self._own_samples()
                self._sample(string)

    def _own_samples(self) -> None:
        if self._is_shared and self._samples is not None:
            self._samples = [
                {gram: [*held] for gram, held in grams.items()} for grams in self._samples
            ]
            self._is_shared = False

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Yields the copies in a text."""
        if not self.strings:
            return
        place = 0
        while match := self._next(text, place):
            known = self.strings[text[match.start : match.end]]
            if known.is_word and not _is_alone(text, match.start, match.end):
                place = match.start + 1
                continue
            spans = _cut(text, match, known) if known.is_head else _part(match, known)
            place = max(spans[-1].end, match.start + 1)
            yield known.hit._replace(spans=spans)

    def may_stand_in(self, line: bytes) -> bool:
        """Tells whether a line of a log may hold a copy, without decoding it.

        True where its bytes do not tell: they are escaped otherwise than the values.
        """
        if not self.strings:
            return False
        is_told = not (self._has_escapes or b"\\u" in line or b"\\/" in line)
        return not is_told or self._next(line, 0) is not None

    def _next(self, text: bytes, place: int) -> TextSpan | None:
        if self._is_large():
            return next(self._sampled(text, place), None)
        found = self.finder.search(text, place)
        return TextSpan(*found.span()) if found else None

    def _is_large(self) -> bool:
        if self._samples is None:
            is_short = self._letters <= MOST_LETTERS
            if is_short and len(self.strings) <= FEW[self.engine] and self._renewed < RENEWALS:
                return False
            self._samples = [{} for _ in SIZES]
            for string in self.strings:
                self._sample(string)
        return True

    def _sample(self, string: bytes) -> None:
        size = max(n for n, (least, _, _) in enumerate(SIZES) if n == 0 or len(string) >= least)
        _, width, step = SIZES[size]
        last = max(0, len(string) - width)
        first = max(0, min(BEGINNING, last - step + 1))
        for offset in range(first, min(first + step, last + 1)):
            gram = string[offset : offset + width]
            self._samples[size].setdefault(gram, []).append((string, offset))  # type: ignore[index]

    def _sampled(self, text: bytes, place: int) -> Iterator[TextSpan]:
        """Yields the first of the strings behind a place, the longest of those that begin there."""
        found: list[TextSpan] = []
        for (_, width, step), grams in zip(SIZES, self._samples or (), strict=True):
            if grams and (one := self._first(text, place, width, step, grams)):
                found.append(one)
        yield from sorted(found, key=lambda span: (span.start, -span.end))[:1]

    def _first(
        self,
        text: bytes,
        place: int,
        width: int,
        step: int,
        grams: dict[bytes, list[tuple[bytes, int]]],
    ) -> TextSpan | None:
        best: TextSpan | None = None
        for at in range(place, len(text) - width + 1, step):
            if (gram := text[at : at + width]) not in grams:
                continue
            for string, offset in grams[gram]:
                start = at - offset
                if start >= place and text.startswith(string, start):
                    span = TextSpan(start, start + len(string))
                    if best is None or (span.start, -span.end) < (best.start, -best.end):
                        best = span
            if best is not None and at > best.start + BEGINNING + step:
                break
        return best

    @property
    def finder(self) -> Any:
        """The expression for all strings, the longest first."""
        if self._finder is None:
            longest = sorted(self.strings, key=len, reverse=True)
            self._finder = compiled(b"|".join(map(_escaped, longest)), self.engine)
            self._renewed += 1
        return self._finder


def _part(match: TextSpan, known: Known) -> tuple[TextSpan, ...]:
    return (TextSpan(match.start + known.part.start, match.start + known.part.end),)


def _cut(text: bytes, match: TextSpan, known: Known) -> tuple[TextSpan, ...]:
    """Returns how far a value goes on behind its beginning, over the breaks of lines."""
    value, spans, place = known.hit.value, [], HEAD
    start, end = match.start, match.end
    while place < len(value):
        while place < len(value) and text[end : end + 1] == value[place : place + 1]:
            place, end = place + 1, end + 1
        gap = GAP.match(text, end)
        if (
            gap is None
            or gap.end() == end
            or text[gap.end() : gap.end() + 1] != value[place : place + 1]
        ):
            break
        spans.append(TextSpan(start, end))
        start = end = gap.end()
    spans.append(TextSpan(start, end))
    return tuple(span for span in spans if span.start < span.end)


def _spellings(value: bytes) -> Iterator[bytes]:
    yield value
    text = value.decode("utf-8", "replace")
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    yield quote(text, safe="").encode()
    yield html.escape(text).encode("utf-8", "replace")
    if len(value) >= 8:
        yield value.hex().encode()
        for shift in range(3):
            # The letters at both ends also hold bits of what stands beside the value.
            whole = base64.b64encode(b"\0" * shift + value).rstrip(b"=")
            inner = whole[(0, 2, 3)[shift] : len(whole) - ((shift + len(value)) % 3 != 0)]
            yield inner
            yield inner.translate(bytes.maketrans(b"+/", b"-_"))
    if len(value) >= LEAST_CUT and is_random(value):
        yield value.upper()
        yield value.lower()


def is_telling(name: bytes) -> bool:
    """Tells whether a name is rare enough to be replaced wherever it stands alone."""
    lower = name.lower()
    is_common = lower in NOBODY or lower in WORDS or is_plain_word(lower)
    return len(name) >= LEAST_WORD and not is_common and not name.isdigit()


def _is_alone(text: bytes, start: int, end: int) -> bool:
    if end < len(text) and text[end] in LETTERS:
        return False
    if start == 0 or text[start] not in LETTERS:
        return True
    if text[start - 1] not in LETTERS:
        return not is_behind_stand_in(text, start)
    return start > 1 and text[start - 2] == 0x5C and text[start - 1] in b"nrt"


def _escaped(string: bytes) -> bytes:
    return b"".join(bytes((one,)) if one in LETTERS else b"\\x%02x" % one for one in string)
