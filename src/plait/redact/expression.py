"""One search expression for many families of secrets, and the hits it finds in a text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import islice
from typing import Any, Literal

from plait.redact.likelihood import extend_over_break, extend_to_quote, is_harmless
from plait.redact.model import Family, Hit, TextSpan
from plait.redact.people import ALSO

try:
    import re2  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform: slower, with the same results
    re2 = None

Engine = Literal["re2", "re"]
BEST: Engine = "re2" if re2 else "re"
MEMORY = 128 << 20  # memory for the automaton's states; with the default 8 MB it restarts too often
VALUE = re.compile(r"\(\?P<v>")
BEGINNING = re.compile(r"(?<!\\)((?:\\\\)*)\\A")
"""The beginning of a text; in joined texts, after what joins them."""
HINT = 4
BREAKABLE = frozenset(
    (
        "secret in a setting",
        "password of a command",
        "password in an address",
        "token in an address",
        "authorization header",
        "azure signature",
        "docker login",
        "cookie",
    )
)
"""Labels of values whose end is unknown: they may continue in the next line."""
NAMED_BY_LABEL = frozenset(("secret in a setting", "password of a command"))
"""Labels of values that only their surroundings reveal."""
NEAR = 48
"""How far before its value a match may begin without hiding another one in between."""
LONGEST = 8192  # no secret is longer; of a private key only the first line is matched
PATIENCE = 64
"""How often a text is read again because a match was rejected, before such matches are skipped:
only adversarial texts need more.
"""


class Search:
    """The matches of several expressions in one text, found as if they were one."""

    def __init__(self, finders: Sequence[Any], text: bytes) -> None:
        self._finders, self._text = finders, text
        self._found: list[TextSpan | None] = [NOT_ASKED] * len(finders)

    def next(self, place: int) -> TextSpan | None:
        """Return the leftmost match after a position, which must not decrease between calls.

        Of several that begin together it is the one of the first expression. An expression that
        matched further on is not searched again.
        """
        first: TextSpan | None = None
        for number, found in enumerate(self._found):
            if found is not None and found.start < place:
                match = self._finders[number].search(self._text, place)
                found = self._found[number] = TextSpan(*match.span()) if match else None
            if found is not None and (first is None or found.start < first.start):
                first = found
        return first

    def matches_at(self, place: int) -> list[int]:
        """Return the numbers of the expressions that match at the position of the last match."""
        return [
            n for n, found in enumerate(self._found) if found is not None and found.start == place
        ]


NOT_ASKED = TextSpan(-1, -1)


class Expression:
    """One expression for many families, searched in groups of them."""

    def __init__(self, *rows: Sequence[Family], engine: Engine = BEST) -> None:
        self.families = tuple(family for row in rows for family in row)
        self.engine = engine
        self._sizes = [len(row) for row in rows]
        self._candidates: dict[tuple[int, bytes], tuple[int, ...]] = {}

    @cached_property
    def triggers(self) -> list[dict[str, list[int]]]:
        """How matches begin, group by group, each with the numbers of the families that may
        follow.
        """
        rows: list[dict[str, list[int]]] = []
        numbers = iter(enumerate(self.families))
        for size in self._sizes:
            found: dict[str, list[int]] = {}
            for number, family in islice(numbers, size):
                trigger = VALUE.sub("(?:", family.trigger or family.expression)
                trigger = BEGINNING.sub(r"\1(?:\\A|[\\x00\\n])", trigger)
                found.setdefault(_without_limits(trigger), []).append(number)
            rows.append(found)
        return [row for row in rows if row]

    @cached_property
    def finders(self) -> list[Any]:
        """The compiled expressions of all groups."""
        return [compile_expression("|".join(row).encode(), self.engine) for row in self.triggers]

    @cached_property
    def ranges(self) -> list[list[tuple[int, bytes, bytes]]]:
        """The families of each group, each with the range of its beginnings."""
        return [
            [
                (number, *_first_letters(trigger.encode()))
                for trigger, numbers in row.items()
                for number in numbers
            ]
            for row in self.triggers
        ]

    def candidates(self, row: int, start: bytes) -> tuple[int, ...]:
        """Return the numbers of the families of a group that may begin with two characters, in
        order.
        """
        found = self._candidates.get((row, start))
        if found is None:
            ranges = self.ranges[row]
            found = tuple(number for number, least, most in ranges if least <= start <= most)
            self._candidates[row, start] = found
        return found

    def hits(self, text: bytes, place: int = 0) -> Iterator[Hit]:
        """Yield what a text contains after a position, in order."""
        search = Search(self.finders, text)
        patience = PATIENCE * (len(text) + PATIENCE)
        while match := search.next(place):
            hits = self.second_look(text, match.start, search.matches_at(match.start))
            yield from hits
            place = _behind(match, hits)
            if place < match.end and patience <= 0:
                place = match.end
            patience -= max(0, match.end - place)

    def second_look(self, text: bytes, start: int, rows: Iterable[int] | None = None) -> list[Hit]:
        """Return what begins at a position, by the first matching family of some groups."""
        letters = text[start : start + 2]
        for row in range(len(self.triggers)) if rows is None else rows:
            for number in self.candidates(row, letters):
                if hits := _matched_end(self.families[number], text, start):
                    return hits
        return []


def _matched_end(family: Family, text: bytes, start: int) -> list[Hit]:
    match = _pattern(family.expression).match(text, start)
    if match is None or match.end() - start > LONGEST:
        return []
    span = TextSpan(*match.span())
    value = TextSpan(*match.span("v")) if match.re.groups else span
    hits = _hits_of(family, text, span, value)
    also = ALSO.get(family.name) if hits else None
    return [*_hits_of(also, text, span, value), *hits] if also else hits


def _behind(match: TextSpan, hits: list[Hit]) -> int:
    """Return where to continue: after the match, if it was near, or right after its start."""
    if not hits or hits[0].start - match.start > NEAR:
        return match.start + 1
    is_row = len(hits) > 1 and hits[0].kind == hits[-1].kind
    return max(hits[0 if is_row else -1].end, match.start + 1)


def _first_letters(trigger: bytes) -> tuple[bytes, bytes]:
    """Return the range of the first characters of a match."""
    if plain := PLAIN.match(trigger) if b"|" not in trigger else None:
        return plain[0], plain[0]
    if re2 is None:
        return ANY
    try:
        least, most = compile_expression(trigger, "re2").possiblematchrange(2)
    except re2.error:  # anything
        return ANY
    return least[:2], most[:2] or ANY[1]


ANY = (b"", b"\xff\xff")
PLAIN = re.compile(rb"[A-Za-z0-9_-]{2}(?![*+?{])")
"""Two characters that match only themselves, so that the possible families are known."""


@cache
def _pattern(expression: str) -> re.Pattern[bytes]:
    return re.compile(expression.encode())


NONE_OR, PLUS, SOME_OR = (
    re.compile(r"\{0,[0-9]+\}"),
    re.compile(r"\{1,[0-9]+\}"),
    re.compile(r"\{([0-9]+),[0-9]+\}"),
)


def _without_limits(expression: str) -> str:
    """Return an expression that matches more: every count in it costs the automaton states."""
    return SOME_OR.sub(r"{\1,}", PLUS.sub("+", NONE_OR.sub("*", expression)))


def _hits_of(family: Family, text: bytes, match: TextSpan, value: TextSpan) -> list[Hit]:
    spans = family.look(text, match, value)
    if family.label in NAMED_BY_LABEL:
        spans = tuple(span for span in spans if not is_harmless(text[slice(*span)]))
    if not spans:
        return []
    values = [(span,) for span in spans] if family.is_many else [spans]
    if family.kind == "secret" and family.label in BREAKABLE:
        values = [(*value[:-1], extend_to_quote(text, value[-1])) for value in values]
        values = [extend_over_break(text, value) for value in values]
    return [_hit_of(family, text, span) for span in values]


def _hit_of(family: Family, text: bytes, spans: tuple[TextSpan, ...]) -> Hit:
    found = b"".join(text[span.start : span.end] for span in spans)
    return Hit(family.kind, family.label, family.canonical(found), spans, _hint_of(family, found))


def _hint_of(family: Family, value: bytes) -> str:
    head = re.match(family.head.encode(), value)
    return head[0][:HINT].decode() if head and len(head[0]) >= HINT - 1 else ""


def compile_expression(expression: bytes, engine: Engine = BEST) -> Any:
    """Return an expression that searches bytes."""
    if engine == "re" or re2 is None:
        return re.compile(expression)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = MEMORY
    options.never_capture = True
    found = re2.compile(expression, options)
    re2.purge()  # otherwise it caches a hundred of them, including unused ones
    return found
