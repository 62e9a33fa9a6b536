"""Families to one expression, and texts to its hits: by `re2`, or by `re` where there is none.

Both engines find the same: the leftmost match, the first family among those that begin there.
Texts are bytes, so that places are bytes too and no engine has to encode anything.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

from plait.redact.model import Family, Hit, Span
from plait.redact.people import ALSO

try:
    import re2  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform: slower, and the same
    re2 = None

Engine = Literal["re2", "re"]
BEST: Engine = "re2" if re2 else "re"
MEMORY = 128 << 20  # for the states of the automaton; with the usual 8 MB it starts anew too often
VALUE = re.compile(r"\(\?P<v>")
HINT = 4
NEAR = 48
"""How far before its value a match may begin without hiding another one in between."""
LONGEST = 8192  # no secret is longer; of a private key only the first line is matched
PATIENCE = 64
"""How often a text is read again, because a match in it was none, before such are passed over:
only a text that is made to be slow needs more."""


class Expression:
    """One expression for many families."""

    def __init__(self, families: Sequence[Family], engine: Engine = BEST) -> None:
        self.families = tuple(families)
        self.engine = engine

    @cached_property
    def finder(self) -> Any:
        """The expression, compiled."""
        parts = (VALUE.sub("(?:", family.expression) for family in self.families)
        return compiled("|".join(parts).encode(), self.engine)

    @cached_property
    def patterns(self) -> tuple[tuple[Family, re.Pattern[bytes]], ...]:
        """Every family with its own expression, for the second look."""
        return tuple((one, re.compile(one.expression.encode())) for one in self.families)

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Yields what a text holds, in order."""
        place = 0
        patience = PATIENCE * (len(text) + PATIENCE)
        while place <= len(text):
            place, spent = yield from self._hits_from(text, place, is_patient=patience > 0)
            patience -= spent

    def _hits_from(
        self, text: bytes, place: int, *, is_patient: bool
    ) -> Generator[Hit, None, tuple[int, int]]:
        """Yields hits until one ends elsewhere than its match.

        Returns where to go on, and how many letters will be read again.
        """
        for match in self.finder.finditer(text, place):
            start, end = match.start(), match.end()
            hits = self.second_look(text, start)
            yield from hits
            is_near = bool(hits) and hits[0].start - start <= NEAR
            behind = max(hits[-1].end, start + 1) if is_near else start + 1
            if behind != end and (is_patient or behind > end):
                return behind, max(0, end - behind)
        return len(text) + 1, 0

    def second_look(self, text: bytes, start: int) -> list[Hit]:
        """Returns what begins at a place, after the first family that takes it."""
        for family, pattern in self.patterns:
            match = pattern.match(text, start)
            if match is None or match.end() - start > LONGEST:
                continue
            whole = Span(*match.span())
            value = Span(*match.span("v")) if pattern.groups else whole
            hits = [
                hit_of(one, text, whole, value) for one in (ALSO.get(family.name), family) if one
            ]
            found = [hit for hit in hits if hit]
            if found and found[-1] is hits[-1]:
                return found
        return []


def hit_of(family: Family, text: bytes, match: Span, value: Span) -> Hit | None:
    """Returns what a family says of a match."""
    spans = family.look(text, match, value)
    if not spans:
        return None
    found = b"".join(text[span.start : span.end] for span in spans)
    return Hit(family.kind, family.label, family.canonical(found), spans, hint_of(family, found))


def hint_of(family: Family, value: bytes) -> str:
    """Returns the first letters of a key that all keys of its family share."""
    head = re.match(family.head.encode(), value)
    return head[0][:HINT].decode() if head and len(head[0]) >= HINT - 1 else ""


def compiled(expression: bytes, engine: Engine = BEST) -> Any:
    """Returns an expression that searches bytes."""
    if engine == "re" or re2 is None:
        return re.compile(expression)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = MEMORY
    options.never_capture = True
    return re2.compile(expression, options)
