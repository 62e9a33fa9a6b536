"""Families of things to one expression for all of them, and texts to what it finds in them."""

import re
from collections.abc import Generator, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, Literal

from plait.redact.model import Family, Hit, TextSpan
from plait.redact.people import ALSO

try:
    import re2  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform: slower, and the same
    re2 = None

Engine = Literal["re2", "re"]
BEST: Engine = "re2" if re2 else "re"
MEMORY = 128 << 20  # for the states of the automaton; with the usual 8 MB it starts anew too often
VALUE = re.compile(r"\(\?P<v>")
BEGINNING = re.compile(r"(?<!\\)((?:\\\\)*)\\A")
"""The beginning of a text; where texts are joined, it is behind what joins them."""
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
        self._candidates: dict[bytes, tuple[int, ...]] = {}

    @cached_property
    def triggers(self) -> dict[str, list[int]]:
        """How matches begin, each with the numbers of the families that may follow."""
        found: dict[str, list[int]] = {}
        for number, family in enumerate(self.families):
            trigger = VALUE.sub("(?:", family.trigger or family.expression)
            trigger = BEGINNING.sub(r"\1(?:\\A|[\\x00\\n])", trigger)
            found.setdefault(_without_limits(trigger), []).append(number)
        return found

    @cached_property
    def finder(self) -> Any:
        """The expression, compiled."""
        return compiled("|".join(self.triggers).encode(), self.engine)

    @cached_property
    def ranges(self) -> list[tuple[int, bytes, bytes]]:
        """The numbers of the families in order, each with the least and most that it begins with."""
        return [
            (number, *_first_letters(trigger.encode()))
            for trigger, numbers in self.triggers.items()
            for number in numbers
        ]

    def candidates(self, start: bytes) -> tuple[int, ...]:
        """Returns the numbers of the families that may begin with two letters, in order."""
        found = self._candidates.get(start)
        if found is None:
            found = tuple(number for number, least, most in self.ranges if least <= start <= most)
            self._candidates[start] = found
        return found

    def hits(self, text: bytes, place: int = 0) -> Iterator[Hit]:
        """Yields what a text holds behind a place, in order."""
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
            first = 0 if len(hits) > 1 and hits[0].kind == hits[-1].kind else -1
            behind = max(hits[first].end, start + 1) if is_near else start + 1
            if behind != end and (is_patient or behind > end):
                return behind, max(0, end - behind)
        return len(text) + 1, 0

    def second_look(self, text: bytes, start: int) -> list[Hit]:
        """Returns what begins at a place, after the first family that takes it."""
        for number in self.candidates(text[start : start + 2]):
            family = self.families[number]
            match = _pattern(family.expression).match(text, start)
            if match is None or match.end() - start > LONGEST:
                continue
            whole = TextSpan(*match.span())
            value = TextSpan(*match.span("v")) if match.re.groups else whole
            if hits := _hits_of(family, text, whole, value):
                also = ALSO.get(family.name)
                return [*(_hits_of(also, text, whole, value) if also else ()), *hits]
        return []


def _first_letters(trigger: bytes) -> tuple[bytes, bytes]:
    """Returns the least and the most that a match may begin with."""
    if re2 is None:
        return ANY
    try:
        least, most = compiled(trigger, "re2").possiblematchrange(2)
    except re2.error:  # anything
        return ANY
    return least[:2], most[:2] or ANY[1]


ANY = (b"", b"\xff\xff")


@cache
def _pattern(expression: str) -> re.Pattern[bytes]:
    return re.compile(expression.encode())


NONE_OR, ONE_OR, SOME_OR = (
    re.compile(r"\{0,[0-9]+\}"),
    re.compile(r"\{1,[0-9]+\}"),
    re.compile(r"\{([0-9]+),[0-9]+\}"),
)


def _without_limits(expression: str) -> str:
    """Returns an expression that matches more: every count in it costs the automaton states."""
    return SOME_OR.sub(r"{\1,}", ONE_OR.sub("+", NONE_OR.sub("*", expression)))


def _hits_of(family: Family, text: bytes, match: TextSpan, value: TextSpan) -> list[Hit]:
    spans = family.look(text, match, value)
    if not spans:
        return []
    values = [(span,) for span in spans] if family.is_many else [spans]
    return [_hit_of(family, text, one) for one in values]


def _hit_of(family: Family, text: bytes, spans: tuple[TextSpan, ...]) -> Hit:
    found = b"".join(text[span.start : span.end] for span in spans)
    return Hit(family.kind, family.label, family.canonical(found), spans, _hint_of(family, found))


def _hint_of(family: Family, value: bytes) -> str:
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
    found = re2.compile(expression, options)
    re2.purge()  # else it keeps a hundred of them, also those that nobody asks any more
    return found
