"""Text to all that is found in it: as it stands, as a reader sees it, and in base64."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol, TypeAlias

from plait.redact.authors import AUTHORS
from plait.redact.contexts import CONTEXTS
from plait.redact.encoded import ENCODED, LABEL, decoded
from plait.redact.expression import BEST, Engine, Expression, Search
from plait.redact.known_tokens import KEYS
from plait.redact.logins import LOGINS, MACHINES
from plait.redact.look_alikes import STAND_IN
from plait.redact.model import GROUP_OF, GROUPS, Family, Group, Hit, Island, Kind, TextSpan
from plait.redact.numbers import NUMBERS
from plait.redact.people import PEOPLE
from plait.redact.strict import STRICT, SUSPECTED
from plait.redact.wrapped import WRAPPING, is_wrapped, unwrap

Rows: TypeAlias = tuple[tuple[Family, ...], ...]
# What begins at one place is told by the first family of a part that takes it. Each row is an
# expression of its own: the states of an automaton grow with the product of what it looks for.
PARTS: tuple[Rows, ...] = (
    ((*PEOPLE, *KEYS), *CONTEXTS),
    (LOGINS, (*MACHINES, *AUTHORS), (*NUMBERS, *ENCODED)),
)
ROWS: Rows = tuple(chain.from_iterable(PARTS))
FAMILIES: tuple[Family, ...] = tuple(chain.from_iterable(ROWS))
MOST_LAYERS = 3
TOLD = frozenset((SUSPECTED, *(family.label for family in chain.from_iterable(CONTEXTS))))
STAND_INS = re.compile(STAND_IN)


class Texts(Protocol):
    """Texts that are joined, and where each of them lies."""

    @property
    def data(self) -> bytes:
        """All texts, joined."""

    @property
    def islands(self) -> Sequence[Island]:
        """Where they lie."""


class Scanner:
    """Looks for some groups of things."""

    def __init__(
        self, groups: Collection[Group] = GROUPS, engine: Engine = BEST, *, strict: bool = False
    ) -> None:
        kinds = frozenset(kind for kind, group in GROUP_OF.items() if group in groups)
        self.engine = engine
        parts = (*PARTS, (STRICT,)) if strict else PARTS
        expressions = (_expression_of(kinds, engine, part) for part in parts)
        self.expressions = [one for one in expressions if one.families]
        self.keys = _keys_of(engine)

    def hits_in(self, source: Texts) -> Iterator[Hit]:
        """Yields what the stretches of a joined text hold, each read as if it stood alone.

        The whole is searched once for how things begin; a stretch is read from there on.
        """
        for expression in self.expressions:
            for island, place in _touched(source, expression.finders):
                yield from self._hits_of(expression, source.data, island.span, place)
                for part in touched_parts(island, place, source.data, expression.finders):
                    yield from self._hits_of(expression, source.data, part, 0)
        wrapped = _touched(source, (WRAPPING,)) if is_wrapped(source.data) else ()
        for (span, parts), _ in wrapped:
            for start, end in (span, *parts):
                yield from (hit.moved(start) for hit in self._seen_hits(source.data[start:end]))

    def _hits_of(
        self, expression: Expression, text: bytes, span: TextSpan, place: int
    ) -> Iterator[Hit]:
        inner = text[span.start : span.end]
        for hit in self._named(expression.hits(inner, place), inner):
            yield hit.moved(span.start)

    def hits(self, text: bytes) -> list[Hit]:
        """Returns what a text holds: it may be there twice, as it stands and as it is read."""
        found = self.named_hits(text)
        if is_wrapped(text):
            found += self._seen_hits(text)
        return found

    def named_hits(self, text: bytes) -> list[Hit]:
        """Returns what a text holds as it stands, each by its most telling name."""
        found = (self._named(one.hits(text), text) for one in self.expressions)
        return list(chain.from_iterable(found))

    def _seen_hits(self, text: bytes) -> Iterator[Hit]:
        seen = unwrap(text)
        for hit in self.named_hits(seen.text):
            yield hit._replace(spans=tuple(seen.source(span) for span in hit.spans))

    def _named(self, hits: Iterable[Hit], text: bytes) -> Iterator[Hit]:
        for hit in hits:
            named = self.opened(hit) if hit.label == LABEL else self.renamed(hit, text)
            if named:
                yield named

    def renamed(self, hit: Hit, text: bytes) -> Hit:
        """Returns a hit that its surroundings told, by what the value itself tells."""
        if hit.kind != "secret" or hit.label not in TOLD:
            return hit
        key = next(iter(self.keys.second_look(text, hit.start)), None)
        return key if key and key.end >= hit.end else hit

    def opened(self, hit: Hit, layers: int = MOST_LAYERS) -> Hit | None:
        """Returns the secret that an encoded text holds, None where it holds none."""
        text = decoded(hit.value)
        inner = self._secret_in(text, layers) if text else None
        return hit._replace(label=inner.label, value=inner.value, hint="") if inner else None

    def _secret_in(self, text: bytes, layers: int) -> Hit | None:
        secrets = _expression_of(frozenset(["secret"]), self.engine, ROWS)
        texts = (text, unwrap(text).text) if is_wrapped(text) else (text,)
        for hit in chain.from_iterable(secrets.hits(one) for one in texts):
            if hit.label != LABEL:
                return hit
            if layers and (inner := self.opened(hit, layers - 1)):
                return inner
        return None


def _touched(source: Texts, finders: Sequence[Any]) -> Iterator[tuple[Island, int]]:
    """Yields the stretches in which a match begins or ends, and where the first is in them."""
    search = Search(finders, source.data)
    match = search.next(0)
    starts = [island.span.start for island in source.islands] if match else []
    done = 0
    while match and done < len(starts):
        first = max(bisect_right(starts, match.start) - 1, done)
        last = max(bisect_right(starts, match.end - 1) - 1, first)
        for number in range(first, last + 1):
            if match.start < source.islands[number].span.end:
                yield source.islands[number], max(0, match.start - starts[number])
        done = last + 1
        match = search.next(max(source.islands[last].span.end, match.start + 1))


def touched_parts(
    island: Island, place: int, text: bytes, finders: Sequence[Any]
) -> Iterator[TextSpan]:
    """Yields the texts of a stretch in which anything may be found that is read alone.

    What begins in such a text begins in the stretch too, or with the break before it.
    """
    first, end = island.span
    if any(part.start > first and text[part.start - 1] not in b"\n\0" for part in island.parts):
        yield from island.parts
        return
    starts = [part.start - first for part in island.parts]
    search = Search(finders, text[first:end] if starts else b"")
    while match := search.next(place):
        part = island.parts[max(0, bisect_right(starts, match.start + 1) - 1)]
        yield part
        place = max(match.start + 1, part.end - first)


@lru_cache
def _keys_of(engine: Engine) -> Expression:
    return Expression(KEYS, engine=engine)


@lru_cache
def _expression_of(kinds: frozenset[Kind], engine: Engine, rows: Rows) -> Expression:
    chosen = ([family for family in row if family.kind in kinds] for row in rows)
    return Expression(*chosen, engine=engine)


def stand_ins_in(text: bytes) -> list[tuple[int, int]]:
    """Returns where stand-ins of an earlier run stand."""
    if b"\xe2\x80\xb9" not in text:
        return []
    return [match.span() for match in STAND_INS.finditer(text)]


def apart(hits: Iterable[Hit], taken: Iterable[tuple[int, int]] = ()) -> list[Hit]:
    """Returns hits in order: what touches an earlier one is left out, or cut where it goes on."""
    kept: list[Hit] = []
    places = deque(sorted(taken))
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if kept and hit.start < kept[-1].end:
            rest = _behind(hit, kept[-1].end)
            if rest is None:
                continue
            hit = rest
        while places and places[0][1] <= hit.start:
            places.popleft()
        if not places or places[0][0] >= hit.end:
            kept.append(hit)
    return kept


def _behind(hit: Hit, place: int) -> Hit | None:
    """Returns what is left of a hit behind a place, None where that is nothing."""
    length = hit.end - hit.start
    if hit.end <= place or len(hit.spans) > 1 or len(hit.value) != length:
        return None
    return hit._replace(value=hit.value[place - hit.start :], spans=(TextSpan(place, hit.end),))
